import { MediaError } from "#shared/media/media-error.ts";

import { number } from "../params.ts";
import { SECONDS_MAX } from "./graph.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";

const TIME = { min: 0, max: SECONDS_MAX, unit: "s" } as const;

const params = {
  start: number("Where it begins.", { ...TIME, default: 0 }),
  end: number("Where it ends; at the end of the audio where it is not given.", TIME),
  duration: number("How long it is, in place of an end.", { min: 0.01, max: SECONDS_MAX, unit: "s" }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  valueSources: ["end", "duration"],
  apply({ seconds: all }, { start, end, duration }) {
    const until = end ?? (duration === undefined ? undefined : start + duration);
    if (all > 0 && start >= all)
      throw new MediaError("invalid", `Expected params.start before the end at ${all} s, got ${start}.`);
    const to = until === undefined ? "" : `:end=${until}`;
    return {
      filters: [`atrim=start=${start}${to}`, "asetpts=PTS-STARTPTS"],
      seconds: Math.max(0, Math.min(until ?? all, all) - start),
    };
  },
};

export default audioCapability(operation, {
  id: "audio.trim",
  display_name: "Trim audio",
  description: "Keeps a piece of audio.",
  examples: [
    { title: "The first second", params: { duration: 1 } },
    { title: "From half a second on, as WAV", params: { start: 0.5, format: "wav" } },
  ],
});
