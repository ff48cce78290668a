import { number } from "../params.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";

const params = {
  strength: number("Noise reduction in dB.", { min: 1, max: 40, unit: "dB", default: 12 }),
  noise_floor: number("Level of the noise in dB.", { min: -80, max: -20, unit: "dB", default: -25 }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  apply({ facts, seconds }, { strength, noise_floor: floor }) {
    // The filter delays audio by two of its blocks, of 1/80 s each.
    const late = 2 * Math.floor(facts.sampleRate / 80);
    return {
      filters: [
        `apad=pad_len=${late}`,
        `afftdn=nr=${strength}:nf=${floor}`,
        `atrim=start_sample=${late}`,
        "asetpts=PTS-STARTPTS",
      ],
      seconds,
    };
  },
};

export default audioCapability(operation, {
  id: "audio.denoise",
  display_name: "Reduce noise",
  description: "Reduces steady background noise.",
  examples: [
    { title: "Light", params: {} },
    { title: "Strong, for loud noise", params: { strength: 30, noise_floor: -20 } },
  ],
});
