import { defineCapability, input } from "../define.ts";
import { choice, number } from "../params.ts";
import { spanOf } from "../span.ts";

import { copyRules, copyVideo } from "./copy.ts";
import { CLIP, OUTPUT, outputRules, VIDEO_PRICE } from "./encode.ts";
import { probeVideo } from "./facts.ts";
import { runOperation, type VideoOperation } from "./operation.ts";
import { pieceOf } from "./piece.ts";
import { VIDEO_SECONDS_MAX } from "./limits.ts";

const TIME = { min: 0, max: VIDEO_SECONDS_MAX, unit: "s" } as const;

const params = {
  start: number("Start of the section in seconds.", { ...TIME, default: 0 }),
  end: number("End of the section in seconds. Default: end of the video.", TIME),
  duration: number("Duration of the section in seconds, instead of `end`.", {
    min: 0.01,
    max: VIDEO_SECONDS_MAX,
    unit: "s",
  }),
};

export const operation: VideoOperation<typeof params> = {
  params,
  keepsDepth: () => true,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  valueSources: ["end", "duration"],
  apply({ scene, facts }, wanted) {
    return pieceOf(facts, scene, { start: wanted.start, ...spanOf(scene.seconds, wanted) });
  },
};

export default defineCapability({
  id: "video.trim",
  display_name: "Trim video",
  description: "Cuts a section out of a video.",
  output_modality: "video",
  input: { video: input("video", "The video.") },
  params: {
    ...params,
    mode: choice(
      "`exact` re-encodes and cuts at the exact times. `copy` is fast and lossless, but starts at the last key frame at or before `start`; `output.start` contains the actual start. `copy` ignores the encoding params.",
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
    { title: "From 1 second to the end, as WebM", params: { start: 1, format: "webm" } },
    { title: "The first second, without re-encoding", params: { duration: 1, mode: "copy" } },
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
