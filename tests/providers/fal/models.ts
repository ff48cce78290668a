/**
 * Inputs and outputs of fal's models, from their own pages and the types of fal's client (August 2026); fields that a model
 * does not know are refused here, so that ours are right.
 */
import { type Members, VENDOR_MARK } from "../engine/behaviour.ts";
import { type Check, faultIn, isFlag, isNumber, isSeed as seed, isText, listOf, oneOf, whole } from "../engine/jobs.ts";
import type { Gives } from "./results.ts";

export interface ModelFacts {
  readonly takes: Readonly<Record<string, Check>>;
  readonly needs: readonly string[];
  readonly gives: Gives;
}

const isAny: Check = () => true;
const isSize: Check = (value) => {
  if (typeof value === "string") return ["square_hd", "square", "landscape_4_3", "portrait_4_3"].includes(value);
  const { width, height, ...rest } = (value ?? {}) as Members;
  return whole(64, 14_142)(width) && whole(64, 14_142)(height) && Object.keys(rest).length === 0;
};
const addressOf =
  (family: string): Check =>
  (value) =>
    typeof value === "string" && new RegExp(`^(https?://|data:${family}/[a-z0-9.+-]+;base64,)`).test(value);
const isImage = addressOf("image");
const FORMAT = oneOf("jpeg", "png");

const FLUX = {
  prompt: isText,
  num_images: whole(1, 4),
  image_size: isSize,
  seed,
  output_format: FORMAT,
  enable_safety_checker: isFlag,
};
const KLING = { prompt: isText, duration: oneOf("5", "10"), negative_prompt: isText };
const WAN = { ...KLING, resolution: oneOf("480p", "720p", "1080p"), seed };
const WIDE = oneOf("16:9", "9:16", "1:1");
const TURBO = { prompt: isText, resolution: oneOf("480p", "580p", "720p"), aspect_ratio: WIDE, seed };
const HAILUO = { prompt: isText, prompt_optimizer: isFlag };

const giving =
  (gives: Gives) =>
  (takes: ModelFacts["takes"], ...needs: readonly string[]): ModelFacts => ({ takes, needs, gives });
const image = giving("images");
const video = giving("video");
const audio = giving("audio");

/** By app and sub-path. */
export const MODELS: Readonly<Record<string, ModelFacts>> = {
  "fal-ai/flux/schnell": image({ ...FLUX, num_inference_steps: whole(1, 12) }, "prompt"),
  "fal-ai/flux/dev": image({ ...FLUX, num_inference_steps: whole(1, 50) }, "prompt"),
  "fal-ai/flux-pro/v1.1": image(FLUX, "prompt"),
  "fal-ai/flux-pro/kontext": image(
    {
      prompt: isText,
      num_images: whole(1, 4),
      seed,
      output_format: FORMAT,
      image_url: isImage,
      aspect_ratio: oneOf("21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"),
    },
    "prompt",
    "image_url",
  ),
  "fal-ai/qwen-image": image({ ...FLUX, num_inference_steps: whole(2, 250), negative_prompt: isAny }, "prompt"),
  "fal-ai/kling-video/v2.5-turbo/pro/text-to-video": video({ ...KLING, aspect_ratio: WIDE }, "prompt"),
  "fal-ai/kling-video/v2.5-turbo/pro/image-to-video": video({ ...KLING, image_url: isImage }, "prompt", "image_url"),
  "fal-ai/kling-video/v2.5-turbo/standard/image-to-video": video(
    { ...KLING, image_url: isImage },
    "prompt",
    "image_url",
  ),
  "fal-ai/wan-25-preview/text-to-video": video({ ...WAN, aspect_ratio: WIDE }, "prompt"),
  "fal-ai/wan-25-preview/image-to-video": video({ ...WAN, image_url: isImage }, "prompt", "image_url"),
  "fal-ai/wan/v2.2-a14b/text-to-video/turbo": video(TURBO, "prompt"),
  "fal-ai/wan/v2.2-a14b/image-to-video/turbo": video({ ...TURBO, image_url: isImage }, "prompt", "image_url"),
  "fal-ai/minimax/hailuo-02/pro/text-to-video": video(HAILUO, "prompt"),
  "fal-ai/minimax/hailuo-02/standard/text-to-video": video({ ...HAILUO, duration: oneOf("6", "10") }, "prompt"),
  "xai/grok-imagine-video/text-to-video": video(
    {
      prompt: isText,
      duration: whole(1, 15),
      resolution: oneOf("480p", "720p"),
      aspect_ratio: oneOf("16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16"),
    },
    "prompt",
  ),
  "fal-ai/ace-step": audio({ tags: isText, lyrics: isText, duration: whole(5, 240), seed }, "tags"),
  "fal-ai/stable-audio-25/text-to-audio": audio({ prompt: isText, seconds_total: whole(1, 190), seed }, "prompt"),
  "fal-ai/minimax-music/v1.5": audio({ prompt: isText, lyrics_prompt: isText }, "prompt", "lyrics_prompt"),
  "fal-ai/trellis": giving("model_mesh")({ image_url: isImage, seed }, "image_url"),
  "fal-ai/trellis-2": giving("model_glb")(
    { image_url: isImage, seed, resolution: oneOf(512, 1_024, 1_536) },
    "image_url",
  ),
  "fal-ai/hyper3d/rodin": giving("model_mesh")({
    prompt: isText,
    input_image_urls: listOf(isImage),
    seed: whole(0, 65_535),
    geometry_file_format: oneOf("glb", "usdz", "fbx", "obj", "stl"),
  }),
  "fal-ai/meshy/v5/remesh": giving("model_glb and model_urls")(
    {
      model_url: addressOf("(?:model|application)"),
      target_formats: listOf(oneOf("glb", "fbx", "obj", "usdz", "blend", "stl")),
    },
    "model_url",
  ),
  /** For tests of fields that lie deeper or are lists. */
  "acme/painter/edit": image(
    {
      prompt: isText,
      image_urls: listOf(isImage),
      mask_url: isImage,
      strength: isNumber,
      options: isAny,
      resolution: isText,
      num_images: whole(1, 4),
    },
    "prompt",
  ),
  /** For tests of a source that says nothing of fields. */
  "acme/filmer": giving("videos")(
    {
      prompt: isText,
      image_url: isImage,
      video_url: addressOf("video"),
      duration: whole(1, 60),
      resolution: isText,
      aspect_ratio: isText,
      seed,
      negative_prompt: isText,
    },
    "prompt",
  ),
  "acme/band": giving("audio_file")({ prompt: isText, lyrics: isText, duration: whole(1, 600), seed }, "prompt"),
  "acme/sculptor": giving("model_glb")({ prompt: isText, image_url: isImage, model_url: addressOf("model"), seed }),
};

const WORDS = {
  missing: ["missing", "Field required"],
  wrong: ["value_error", "Bad value"],
  unknown: ["extra_forbidden", "Not permitted"],
} as const;

/** Returns a model's answer to a body it refuses, which is the first error; null for others. */
export function checkInput(model: string, body: unknown): Members | null {
  const facts = MODELS[model];
  const fault = facts && faultIn((body ?? {}) as Members, facts.takes, facts.needs);
  if (!fault) return null;
  const [type, message] = WORDS[fault.how];
  return modelError(type, fault.name, message);
}

export function modelError(type: string, field: string | null, message: string): Members {
  const loc = field === null ? ["body"] : ["body", field];
  return { loc, msg: `${message} (${VENDOR_MARK})`, type, url: `https://docs.fal.ai/errors#${type}`, ctx: {} };
}
