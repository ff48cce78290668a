import { number } from "../params.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";
import { tempo } from "./tempo.ts";

const params = {
  rate: number("1 is as fast as it is.", { min: 0.25, max: 4, default: 1 }),
  pitch: number("How much higher, in semitones.", { min: -12, max: 12, default: 0 }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  apply({ facts, seconds }, { rate, pitch }) {
    const factor = 2 ** (pitch / 12);
    const higher =
      pitch === 0
        ? []
        : [
            `aresample=${facts.sampleRate}`,
            `asetrate=${Math.round(facts.sampleRate * factor)}`,
            `aresample=${facts.sampleRate}`,
          ];
    return { filters: [...higher, ...tempo(rate / factor)], seconds: seconds / rate };
  },
};

export default audioCapability(operation, {
  id: "audio.speed",
  display_name: "Change speed",
  description: "Plays audio faster or slower at its pitch, or changes the pitch.",
  examples: [
    { title: "Half as fast again", params: { rate: 1.5 } },
    { title: "Three semitones lower", params: { pitch: -3, format: "wav" } },
  ],
});
