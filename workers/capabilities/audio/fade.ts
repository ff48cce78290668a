import { MediaError } from "#shared/media/media-error.ts";

import { choice, number } from "../params.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";

const CURVES = { linear: "tri", quarter_sine: "qsin", exponential: "exp", logarithmic: "log" } as const;

const params = {
  in: number("How long it takes to come.", { min: 0, max: 60, unit: "s", default: 0 }),
  out: number("How long it takes to go.", { min: 0, max: 60, unit: "s", default: 0 }),
  curve: choice("How it comes and goes.", ["linear", "quarter_sine", "exponential", "logarithmic"], {
    default: "linear",
  }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  apply({ seconds }, { in: come, out: go, curve }) {
    if (go > 0 && seconds <= 0)
      throw new MediaError("invalid", "Expected audio that says how long it is, for params.out.");
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
  description: "Lets audio come and go.",
  examples: [
    { title: "Out over a second", params: { out: 1 } },
    { title: "In and out, by ear", params: { in: 0.5, out: 0.5, curve: "quarter_sine" } },
  ],
});
