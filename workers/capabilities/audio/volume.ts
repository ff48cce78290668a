import { flag, number } from "../params.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";

const params = {
  gain: number("Gain in dB; negative values make it quieter.", { min: -60, max: 30, unit: "dB", default: 0 }),
  limiter: flag("Limit peaks so that they do not clip.", true),
};

export const operation: AudioOperation<typeof params> = {
  params,
  // Compensates the limiter's latency of 5 ms, which would otherwise delay the audio and cut off its end.
  apply: ({ seconds }, { gain, limiter }) => ({
    filters: [`volume=${gain}dB`, ...(limiter ? ["alimiter=limit=0.98:level=0:latency=1"] : [])],
    seconds,
  }),
};

export default audioCapability(operation, {
  id: "audio.volume",
  display_name: "Change volume",
  description: "Makes audio louder or quieter.",
  examples: [
    { title: "6 dB louder", params: { gain: 6 } },
    { title: "6 dB quieter, without a limiter", params: { gain: -6, limiter: false } },
  ],
});
