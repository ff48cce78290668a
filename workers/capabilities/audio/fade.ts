import { MediaError } from "#shared/children/media-error.ts";

import { choice, number } from "../params.ts";
import { round } from "./graph.ts";
import { lengthOf } from "./length.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";

const CURVES = { linear: "tri", quarter_sine: "qsin", exponential: "exp", logarithmic: "log" } as const;

const params = {
  in: number("Fade-in duration in seconds; at most the duration of the audio.", {
    min: 0,
    max: 60,
    unit: "s",
    default: 0,
  }),
  out: number("Fade-out duration in seconds; at most the duration of the audio.", {
    min: 0,
    max: 60,
    unit: "s",
    default: 0,
  }),
  curve: choice("Shape of the fades.", ["linear", "quarter_sine", "exponential", "logarithmic"], {
    default: "linear",
  }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  async apply(before, { in: come, out: go, curve }) {
    if (come === 0 && go === 0) return { filters: [], seconds: before.seconds };
    const seconds = await lengthOf(before);
    for (const [name, wanted] of [
      ["in", come],
      ["out", go],
    ] as const) {
      if (wanted <= seconds) continue;
      const most = `${round(seconds)}, the seconds of the audio`;
      throw new MediaError("invalid", `Expected params.${name} to be at most ${most}, got ${wanted}.`);
    }
    const shape = `curve=${CURVES[curve]}`;
    return {
      filters: [
        ...(come > 0 ? [`afade=t=in:d=${come}:${shape}`] : []),
        ...(go > 0 ? [`afade=t=out:st=${Math.max(0, seconds - go)}:d=${go}:${shape}`] : []),
      ],
      seconds,
    };
  },
};

export default audioCapability(operation, {
  id: "audio.fade",
  display_name: "Fade audio",
  description: "Fades audio in and out.",
  examples: [
    { title: "Fade out over one second", params: { out: 1 } },
    { title: "Fade in and out, logarithmic", params: { in: 0.5, out: 0.5, curve: "quarter_sine" } },
  ],
});
