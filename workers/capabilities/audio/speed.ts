import { number } from "../params.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";
import { lengthOf } from "./length.ts";
import { tempo } from "./tempo.ts";

/**
 * Length of the silence that is added to the audio, in seconds. It is longer than the filter's buffer, which contains 0.25 s at the slowest
 * speed, or 0.5 s of audio at four times the speed.
 */
const PAD_SECONDS = 1;

const params = {
  rate: number("Speed factor: 2 is twice as fast, 0.5 half as fast.", { min: 0.25, max: 4, default: 1 }),
  pitch: number("Pitch shift in semitones; negative values lower it.", { min: -12, max: 12, default: 0 }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  async apply(before, { rate, pitch }) {
    const { facts } = before;
    if (rate === 1 && pitch === 0) return { filters: [], seconds: before.seconds };
    const seconds = (await lengthOf(before)) / rate;
    const factor = 2 ** (pitch / 12);
    const higher =
      pitch === 0
        ? []
        : [
            `aresample=${facts.sampleRate}`,
            `asetrate=${Math.round(facts.sampleRate * factor)}`,
            `aresample=${facts.sampleRate}`,
          ];
    // The filter does not output its last buffer, so silence is appended.
    const whole = [`apad=pad_dur=${PAD_SECONDS}`, ...higher, ...tempo(rate / factor)];
    return { filters: [...whole, `atrim=end=${seconds.toFixed(6)}`], seconds };
  },
};

export default audioCapability(operation, {
  id: "audio.speed",
  display_name: "Change speed",
  description: "Changes the speed of audio without changing its pitch, or the pitch without changing the speed.",
  examples: [
    { title: "1.5 times as fast", params: { rate: 1.5 } },
    { title: "Three semitones lower", params: { pitch: -3, format: "wav" } },
  ],
});
