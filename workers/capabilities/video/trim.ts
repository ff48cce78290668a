import { LIMITS } from "#shared/limits.ts";

import { defineCapability, input } from "../define.ts";
import { choice, number } from "../params.ts";
import { spanOf } from "../span.ts";

import { copyRules, copyVideo } from "./copy.ts";
import { CLIP, OUTPUT, outputRules, VIDEO_PRICE } from "./encode.ts";
import { probeVideo } from "./facts.ts";
import { runOperation, type VideoOperation } from "./operation.ts";
import { pieceOf } from "./piece.ts";

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
  apply({ scene, facts }, wanted) {
    return pieceOf(facts, scene, { start: wanted.start, ...spanOf(scene.seconds, wanted) });
  },
};

export default defineCapability({
  id: "video.trim",
  display_name: "Trim video",
  description: "Keeps a piece of a video.",
  output_modality: "video",
  input: { video: input("video", "The video.") },
  params: {
    ...params,
    mode: choice(
      "`exact` encodes anew; `copy` is quick and loses nothing, but begins at the key frame at or before the start: the output's `start` says where. The params of encoding are ignored then.",
      ["exact", "copy"],
      { default: "exact" },
    ),
    ...OUTPUT,
  },
  rules: [...(operation.rules ?? []), ...outputRules(), ...copyRules("copy")],
  valueSources: operation.valueSources ?? [],
  sample_input: CLIP,
  examples: [
    { title: "The first second", params: { duration: 1 } },
    { title: "From one second on, as WebM", params: { start: 1, format: "webm" } },
    { title: "The first second, as it is", params: { duration: 1, mode: "copy" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run(run) {
    const { params: own, inputs, folder, progress } = run;
    if (own.mode === "exact") return runOperation(operation, run);
    const facts = await probeVideo(inputs.video);
    const { until } = spanOf(facts.seconds, own);
    const span = { from: own.start, ...(until === undefined ? {} : { until }) };
    return copyVideo({ folder, facts, format: own.format ?? facts.format, mode: "copy", progress, ...span });
  },
});
