/**
 * Inputs and outputs of Replicate's models, from their own pages; inputs that a model does not know are refused here, so
 * that ours are right.
 */

import { type Members, VENDOR_MARK } from "../engine/behaviour.ts";
import { type Check, faultIn, isFlag, isNumber, isSeed as seed, isText, listOf, oneOf, whole } from "../engine/jobs.ts";

export interface ModelFacts {
  /** Run under its name; all others by a version only. */
  readonly isOfficial: boolean;
  readonly takes: Readonly<Record<string, Check>>;
  readonly needs: readonly string[];
  readonly output: (at: (name: string) => string, input: Members) => unknown;
  /** Beside `predict_time`. */
  readonly metrics?: Members;
}

/** Larger data URLs are refused: Replicate wants those as files. */
const isMedia: Check = (value) =>
  typeof value === "string" && (/^https?:\/\//.test(value) || (value.startsWith("data:") && value.length < 360_000));

export const TRELLIS = "firtoz/trellis:e8f6c45206993f297372f5436b90350817bd9b4a0d52d2a76df50c1c8afa2b3c";

export const MODELS: Readonly<Record<string, ModelFacts>> = {
  "kwaivgi/kling-v2.5-turbo-pro": {
    isOfficial: true,
    takes: {
      prompt: isText,
      negative_prompt: isText,
      start_image: isMedia,
      duration: oneOf(5, 10),
      aspect_ratio: oneOf("16:9", "9:16", "1:1"),
      guidance_scale: () => true,
    },
    needs: ["prompt"],
    output: (at) => at("0.mp4"),
    metrics: { video_output_duration_seconds: 5 },
  },
  "bytedance/seedance-1.5-pro": {
    isOfficial: true,
    takes: {
      prompt: isText,
      image: isMedia,
      duration: whole(2, 12),
      resolution: oneOf("480p", "720p", "1080p"),
      aspect_ratio: oneOf("16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "9:21"),
      generate_audio: isFlag,
    },
    needs: ["prompt"],
    output: (at) => at("0.mp4"),
    metrics: { video_output_duration_seconds: 5, resolution_target: "720p" },
  },
  "stability-ai/stable-audio-2.5": {
    isOfficial: true,
    takes: { prompt: isText, duration: whole(1, 190), seed, steps: whole(4, 8) },
    needs: ["prompt"],
    output: (at) => at("0-3s.wav"),
    metrics: { audio_output_duration_seconds: 3 },
  },
  "minimax/music-1.5": {
    isOfficial: true,
    takes: { prompt: isText, lyrics: isText, audio_format: oneOf("mp3", "wav", "pcm") },
    needs: ["prompt", "lyrics"],
    output: (at) => at("0-3s.wav"),
  },
  [TRELLIS]: {
    isOfficial: false,
    takes: {
      images: listOf(isMedia),
      seed,
      randomize_seed: isFlag,
      generate_model: isFlag,
      generate_color: isFlag,
    },
    needs: ["images"],
    output: (at, input) => ({
      model_file: input["generate_model"] === true ? at("output.glb") : null,
      color_video: null,
      combined_video: at("preview.mp4"),
      gaussian_ply: null,
      no_background_images: [],
      normal_video: null,
    }),
  },
  "acme/painter": {
    isOfficial: true,
    takes: {
      prompt: isText,
      negative_prompt: isText,
      num_outputs: whole(1, 4),
      aspect_ratio: isText,
      seed,
      image: isMedia,
      mask: isMedia,
      strength: isNumber,
      output_format: oneOf("webp", "jpg", "png"),
    },
    needs: ["prompt"],
    output: (at, { num_outputs: count = 1 }) =>
      Array.from({ length: Number(count) }, (_, index) => at(`${index}-64x64.png`)),
    metrics: { image_output_count: 1 },
  },
};

/** Returns the API's answer to an input it refuses; null for one that it takes. */
export function checkInput(facts: ModelFacts, input: Members): Members | null {
  const { name = "", how } = faultIn(input, facts.takes, facts.needs) ?? {};
  if (how === undefined) return null;
  if (how === "missing") return invalid("required", "input", `${name} is required`);
  return how === "wrong"
    ? invalid("enum", `input.${name}`, `${name} must be one of the following: ${VENDOR_MARK}`)
    : invalid("additional_property_not_allowed", "input", `Additional property ${name} is not allowed`);
}

/** The shape of Replicate's own: each fault in words and as members. */
export function invalid(type: string, field: string, description: string): Members {
  return {
    detail: `- ${field === "" ? "" : `${field}: `}${description}\n`,
    status: 422,
    title: "Input validation failed",
    invalid_fields: [{ type, field, description }],
  };
}
