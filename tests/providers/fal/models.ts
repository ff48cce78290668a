/**
 * What fal's models take and give, from their own pages and the types of fal's client (August 2026); fields that a model
 * does not know are refused here, so that ours are right.
 */

export type Check = (value: unknown) => boolean;
type Members = Readonly<Record<string, unknown>>;

/** The member that a model hands its files over in, and what they are. */
export type Gives =
  | "images"
  | "video"
  | "videos"
  | "audio"
  | "audio_file"
  | "model_mesh"
  | "model_glb"
  | "model_glb and model_urls";

export interface ModelFacts {
  readonly takes: Readonly<Record<string, Check>>;
  readonly needs: readonly string[];
  readonly gives: Gives;
}

const isText: Check = (value) => typeof value === "string" && value !== "";
const whole =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
/** A text among these: a number is none. */
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    typeof value === "string" && values.includes(value);
const isFlag: Check = (value) => typeof value === "boolean";
const isSize: Check = (value) => {
  if (typeof value === "string") return ["square_hd", "square", "landscape_4_3", "portrait_4_3"].includes(value);
  const { width, height, ...rest } = (value ?? {}) as Members;
  return whole(64, 14_142)(width) && whole(64, 14_142)(height) && Object.keys(rest).length === 0;
};
const addressOf =
  (family: string): Check =>
  (value) =>
    typeof value === "string" && new RegExp(`^(https?://|data:${family}/[a-z0-9.+-]+;base64,)`).test(value);
const isPicture = addressOf("image");
const seed = whole(0, Number.MAX_SAFE_INTEGER);

const FLUX = {
  prompt: isText,
  num_images: whole(1, 4),
  image_size: isSize,
  seed,
  output_format: oneOf("jpeg", "png"),
  enable_safety_checker: isFlag,
};
const KLING = { prompt: isText, duration: oneOf("5", "10"), negative_prompt: isText };
const WAN = { ...KLING, resolution: oneOf("480p", "720p", "1080p"), seed };
const WIDE = oneOf("16:9", "9:16", "1:1");
const TURBO = { prompt: isText, resolution: oneOf("480p", "580p", "720p"), aspect_ratio: WIDE, seed };

const picture = (takes: ModelFacts["takes"], ...needs: readonly string[]): ModelFacts => ({
  takes,
  needs: ["prompt", ...needs],
  gives: "images",
});
const video = (takes: ModelFacts["takes"], ...needs: readonly string[]): ModelFacts => ({
  takes,
  needs: ["prompt", ...needs],
  gives: "video",
});

/** By app and sub-path. */
export const MODELS: Readonly<Record<string, ModelFacts>> = {
  "fal-ai/flux/schnell": picture({ ...FLUX, num_inference_steps: whole(1, 12) }),
  "fal-ai/flux/dev": picture({ ...FLUX, num_inference_steps: whole(1, 50) }),
  "fal-ai/flux-pro/v1.1": picture(FLUX),
  "fal-ai/flux-pro/kontext": picture(
    {
      prompt: isText,
      num_images: whole(1, 4),
      seed,
      output_format: FLUX.output_format,
      aspect_ratio: oneOf("21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"),
      image_url: isPicture,
    },
    "image_url",
  ),
  "fal-ai/qwen-image": picture({ ...FLUX, num_inference_steps: whole(2, 250), negative_prompt: () => true }),
  "fal-ai/kling-video/v2.5-turbo/pro/text-to-video": video({ ...KLING, aspect_ratio: WIDE }),
  "fal-ai/kling-video/v2.5-turbo/pro/image-to-video": video({ ...KLING, image_url: isPicture }, "image_url"),
  "fal-ai/kling-video/v2.5-turbo/standard/image-to-video": video({ ...KLING, image_url: isPicture }, "image_url"),
  "fal-ai/wan-25-preview/text-to-video": video({ ...WAN, aspect_ratio: WIDE }),
  "fal-ai/wan-25-preview/image-to-video": video({ ...WAN, image_url: isPicture }, "image_url"),
  "fal-ai/wan/v2.2-a14b/text-to-video/turbo": video(TURBO),
  "fal-ai/wan/v2.2-a14b/image-to-video/turbo": video({ ...TURBO, image_url: isPicture }, "image_url"),
  "fal-ai/minimax/hailuo-02/pro/text-to-video": video({ prompt: isText, prompt_optimizer: isFlag }),
  "fal-ai/minimax/hailuo-02/standard/text-to-video": video({
    prompt: isText,
    prompt_optimizer: isFlag,
    duration: oneOf("6", "10"),
  }),
  "xai/grok-imagine-video/text-to-video": video({
    prompt: isText,
    duration: whole(1, 15),
    resolution: oneOf("480p", "720p"),
    aspect_ratio: oneOf("16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16"),
  }),
  "fal-ai/ace-step": {
    takes: { tags: isText, lyrics: isText, duration: whole(5, 240), seed },
    needs: ["tags"],
    gives: "audio",
  },
  "fal-ai/stable-audio-25/text-to-audio": {
    takes: { prompt: isText, seconds_total: whole(1, 190), seed },
    needs: ["prompt"],
    gives: "audio",
  },
  "fal-ai/minimax-music/v1.5": {
    takes: { prompt: isText, lyrics_prompt: isText },
    needs: ["prompt", "lyrics_prompt"],
    gives: "audio",
  },
  "fal-ai/trellis": { takes: { image_url: isPicture, seed }, needs: ["image_url"], gives: "model_mesh" },
  "fal-ai/trellis-2": {
    takes: { image_url: isPicture, seed, resolution: (value) => value === 512 || value === 1_024 || value === 1_536 },
    needs: ["image_url"],
    gives: "model_glb",
  },
  "fal-ai/hyper3d/rodin": {
    takes: {
      prompt: isText,
      input_image_urls: (value) => Array.isArray(value) && value.every(isPicture),
      seed: whole(0, 65_535),
      geometry_file_format: oneOf("glb", "usdz", "fbx", "obj", "stl"),
    },
    needs: [],
    gives: "model_mesh",
  },
  "fal-ai/meshy/v5/remesh": {
    takes: {
      model_url: addressOf("(?:model|application)"),
      target_formats: (value) =>
        Array.isArray(value) && value.every(oneOf("glb", "fbx", "obj", "usdz", "blend", "stl")),
    },
    needs: ["model_url"],
    gives: "model_glb and model_urls",
  },
  /** For tests of fields that lie deeper or are lists. */
  "acme/painter/edit": picture({
    prompt: isText,
    image_urls: (value) => Array.isArray(value) && value.every(isPicture),
    mask_url: isPicture,
    strength: (value) => typeof value === "number",
    options: () => true,
    resolution: isText,
    num_images: whole(1, 4),
  }),
  /** For tests of a source that says nothing of fields. */
  "acme/filmer": {
    takes: {
      prompt: isText,
      image_url: isPicture,
      video_url: addressOf("video"),
      duration: whole(1, 60),
      resolution: isText,
      aspect_ratio: isText,
      seed,
      negative_prompt: isText,
    },
    needs: ["prompt"],
    gives: "videos",
  },
  "acme/band": {
    takes: { prompt: isText, lyrics: isText, duration: whole(1, 600), seed },
    needs: ["prompt"],
    gives: "audio_file",
  },
  "acme/sculptor": {
    takes: { prompt: isText, image_url: isPicture, model_url: addressOf("model"), seed },
    needs: [],
    gives: "model_glb",
  },
};

/** As a model answers a body it refuses: the first error, or null. */
export function checkInput(model: string, body: unknown): Members | null {
  const facts = MODELS[model];
  if (!facts) return null;
  const input = (body ?? {}) as Members;
  const missing = facts.needs.find((name) => input[name] === undefined);
  if (missing !== undefined) return modelError("missing", missing, "Field required");
  const bad = Object.keys(input).find((name) => facts.takes[name]?.(input[name]) !== true);
  if (bad === undefined) return null;
  return facts.takes[bad]
    ? modelError("value_error", bad, "Bad value")
    : modelError("extra_forbidden", bad, "Not permitted");
}

export function modelError(type: string, field: string | null, msg: string): Members {
  const loc = field === null ? ["body"] : ["body", field];
  return { loc, msg: `${msg} (${VENDOR_MARK})`, type, url: `https://docs.fal.ai/errors#${type}`, ctx: {} };
}

/** Marker in every vendor message: a client of ours must never see it (SEC, PRO-10). */
export const VENDOR_MARK = "vendor-internal-detail";
