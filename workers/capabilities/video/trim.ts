import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { number } from "../params.ts";

import { videoCapability, type VideoOperation } from "./operation.ts";
import { onAudio, onVideo } from "./scene.ts";

const TIME = { min: 0, max: LIMITS.videoSecondsMax, unit: "s" } as const;

const params = {
  start: number("Where it begins.", { ...TIME, default: 0 }),
  end: number("Where it ends; at the end of the video where it is not given.", TIME),
  duration: number("How long it is, in place of an end.", { min: 0.01, max: LIMITS.videoSecondsMax, unit: "s" }),
};

export const operation: VideoOperation<typeof params> = {
  params,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  valueSources: ["end", "duration"],
  apply({ scene }, { start, end, duration }) {
    const { seconds: all } = scene;
    const until = end ?? (duration === undefined ? undefined : start + duration);
    if (all > 0 && start >= all)
      throw new MediaError("invalid", `Expected params.start before the end at ${all} s, got ${start}.`);
    const to = until === undefined ? "" : `:end=${until}`;
    const seconds = Math.max(0, Math.min(until ?? all, all) - start);
    const shown = onVideo(scene, [`trim=start=${start}${to}`, "setpts=PTS-STARTPTS"], { seconds });
    return onAudio(shown, [`atrim=start=${start}${to}`, "asetpts=PTS-STARTPTS"]);
  },
};

export default videoCapability(operation, {
  id: "video.trim",
  display_name: "Trim video",
  description: "Keeps a piece of a video.",
  examples: [
    { title: "The first second", params: { duration: 1 } },
    { title: "From one second on, as WebM", params: { start: 1, format: "webm" } },
  ],
});
