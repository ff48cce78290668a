import { defineCapability, input, named } from "../define.ts";
import { withDefaults } from "../params.ts";
import { inSteps, pipelineParams } from "../steps.ts";

import { operation as crop } from "./crop.ts";
import { encodeVideo, openDeepScene, OUTPUT, outputRules, VIDEO_PRICE, CLIP } from "./encode.ts";
import { probeVideo } from "./facts.ts";
import type { VideoOperation } from "./operation.ts";
import { operation as resize } from "./resize.ts";
import { operation as rotate } from "./rotate.ts";
import { checkScene, evened } from "./scene.ts";
import { operation as setAudio } from "./set-audio.ts";
import { operation as speed } from "./speed.ts";
import { operation as subtitle } from "./subtitle.ts";
import { operation as text } from "./text.ts";
import { operation as trim } from "./trim.ts";
import { operation as watermark } from "./watermark.ts";

/** Operations by name. Each operation is also the capability `video.<name>`. */
const OPERATIONS = {
  trim,
  resize,
  crop,
  rotate,
  speed,
  watermark,
  text,
  subtitle,
  set_audio: setAudio,
} as unknown as Readonly<Record<string, VideoOperation>>;

export default defineCapability({
  id: "video.pipeline",
  display_name: "Video pipeline",
  description: "Applies several operations to a video in order and encodes the result once.",
  long_description:
    "Each operation is the capability of the same name without `video.`, with the same `params` except for the output params, which are " +
    "given once in `output`. Operations are applied strictly in order, in one filter graph with a single encode at the end, so that no " +
    "quality is lost in between. Times and sizes refer to the result of the previous operations. Second inputs are named in `input.assets` " +
    "and referenced by `asset`: the logo of `watermark`, the subtitles of `subtitle` (always burnt in) and the audio of `set_audio`. Limits " +
    "on size and duration apply after every operation.",
  output_modality: "video",
  composite: true,
  input: {
    video: input("video", "The video."),
    assets: named("any", "Second inputs (logos, subtitles, audio), by the names that operations use.", 20, {
      takesText: true,
    }),
  },
  params: pipelineParams(OPERATIONS, OUTPUT),
  rules: outputRules("params.output"),
  sample_input: {
    ...CLIP,
    assets: {
      logo: { file_id: "file-sample-chart" },
      lines: { text: "1\n00:00:00,000 --> 00:00:02,000\nThree boxes of tea.\n" },
    },
  },
  examples: [
    { title: "The first second", params: { operations: [{ operation: "trim", params: { duration: 1 } }] } },
    {
      title: "Portrait, with a logo and subtitles, muted",
      params: {
        operations: [
          { operation: "trim", params: { start: 0.5 } },
          { operation: "resize", params: { aspect_ratio: "9:16", fit: "cover" } },
          { operation: "watermark", params: { asset: "logo", scale: 30, gravity: "northeast" } },
          { operation: "subtitle", params: { asset: "lines", size: 12 } },
          { operation: "set_audio", params: { mode: "mute" } },
        ],
        output: { format: "webm" },
      },
    },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeVideo(inputs.video);
    const keepsDepth = params.operations.every(({ operation: name, params: own = {} }) => {
      const operation = OPERATIONS[name];
      return operation?.keepsDepth?.(withDefaults(operation.params, own)) === true;
    });
    let scene = openDeepScene(facts, params.output, keepsDepth);
    await inSteps(OPERATIONS, params.operations, inputs.assets, async ({ operation, params: own, second, at }) => {
      scene = evened(await operation.apply({ facts, scene, second, folder, at }, own));
      checkScene(scene);
    });
    return encodeVideo({ folder, scene, format: facts.format, output: params.output, progress });
  },
});
