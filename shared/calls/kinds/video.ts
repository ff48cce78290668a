/** Checks a video call against its model's declarations and calculates its maximum cost. Pure. */
import type { VideoGenerationRequest } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { boundMedia, ONE_RESULT, type Quantities } from "#shared/calls/pricing/media.ts";
import { priceOf } from "#shared/calls/pricing/price.ts";

import { type CheckedMedia, member, only, refusal, refuseUntaken, timeBound, usualTime } from "./media-check.ts";
import { CALL_UNITS, type MediaKind } from "./kind.ts";
import { inputsByAddress } from "./input-media.ts";

/** Request parameters that a source of the model receives, without the image and the video of the call. */
export interface VideoParams {
  readonly prompt: string;
  /** Length in whole seconds. */
  readonly duration?: number;
  /** Resolution, such as `720p`. */
  readonly resolution?: string;
  /** Aspect ratio, such as `16:9`. */
  readonly aspectRatio?: string;
  readonly seed?: number;
  readonly negativePrompt?: string;
  readonly personGeneration?: string;
}

/** Maximum length of a video, in seconds, for a model that declares no lengths. */
const SECONDS_MAX = 60;

export const VIDEO: MediaKind<VideoGenerationRequest, CheckedMedia<VideoParams>> = {
  name: "video",
  endpoint: "/v1/videos/generations",
  pool: "video",
  afterCrash: "resume",
  keepsFiles: true,
  keepsRecord: true,
  read: (body) => parse("VideoGenerationRequest", body),
  modality: "video",
  units: ["per_second", "per_minute", ...CALL_UNITS],
  hasLength: true,
  writes: "output",
  nouns: { one: "a video model", all: "video models" },
  isOfKind: ({ modality }) => modality === "video",
  check: checkVideo,
  inputs: (request, model, kept) => inputsByAddress({ ...request }, model, ["image", "video"], kept),
  route: {
    operationId: "createVideo",
    summary: "Create video",
    description: "Starts a video job and returns it immediately. Poll its state with GET /v1/videos/generations/{id}.",
    tag: "Videos",
    request: { schema: "VideoGenerationRequest" },
    answers: "job",
    answer: { description: "The started job", schema: "Job" },
    does: ["reads_files", "fetches_addresses"],
  },
};

/**
 * Checks a video call and returns its parameters and maximum usage.
 * @throws ApiError 400 that names the parameter which the model does not support
 */
export function checkVideo(request: VideoGenerationRequest, model: Model): CheckedMedia<VideoParams> {
  const allowed = model.allowed_params;
  const asked = { ...allowed.default_params, ...request };
  if (asked.prompt.trim() === "") {
    throw new ApiError("missing_required_parameter", "Expected a prompt that is not blank.", { param: "prompt" });
  }
  checkInputMedium("image", asked.image_url ?? asked.image_file_id, {
    accepts: allowed.accepts_input_image === true || allowed.requires_input_image === true,
    requires: allowed.requires_input_image === true,
  });
  checkInputMedium("video", asked.video_url ?? asked.video_file_id, {
    accepts: allowed.accepts_input_video === true || allowed.requires_input_video === true,
    requires: allowed.requires_input_video === true,
  });
  refuseUntaken(request, model, "video");
  const duration = lengthOf(asked.duration, model);
  const seconds = duration ?? allowed.max_duration_seconds ?? SECONDS_MAX;
  const params: VideoParams = {
    prompt: asked.prompt,
    ...only("duration", duration),
    ...only("resolution", declared("resolution", asked.resolution, allowed.resolutions)),
    ...only("aspectRatio", declared("aspect_ratio", asked.aspect_ratio, allowed.aspect_ratios)),
    ...only("seed", asked.seed),
    ...only("negativePrompt", asked.negative_prompt),
    ...only("personGeneration", member("person_generation", asked.person_generation, allowed.person_generation)),
  };
  const price = priceOf(model, {
    duration,
    resolution: params.resolution,
    aspect_ratio: params.aspectRatio,
  });
  const most: Quantities = { ...ONE_RESULT, milliseconds: timeBound(model, seconds) };
  return {
    params,
    price,
    most,
    usual: { ...ONE_RESULT, milliseconds: usualTime(model, seconds) },
    bound: {
      holdNano: boundMedia(price, most, { input: 0, output: 0 }),
      outputTokensMax: 0,
      mayExceed: false,
      tokensMax: 0,
    },
  };
}

/**
 * Returns the requested length, or the model's default length, in seconds. Returns undefined if the provider chooses the length. Also used
 * for music.
 * @throws ApiError `unsupported_value`
 */
export function lengthOf(asked: number | undefined, { allowed_params: allowed }: Model): number | undefined {
  const { durations, default_duration: usual, min_duration_seconds: min = 0, max_duration_seconds: max } = allowed;
  if (asked === undefined) return usual ?? durations?.[0];
  if (durations !== undefined) return member("duration", asked, durations);
  if (max === undefined && usual === undefined) {
    throw refusal("duration", "This model has a fixed duration; remove duration.");
  }
  if (asked >= min && asked <= (max ?? asked)) return asked;
  const span = max === undefined ? `at least ${min}` : min === 0 ? `at most ${max}` : `${min} to ${max}`;
  throw refusal("duration", `Expected duration to be ${span} seconds for this model, got ${asked}.`);
}

/**
 * Returns a value that the model declares. Rejects a value for which the model has no field, because omitting it would change result and
 * charge.
 */
function declared(param: string, value: string | undefined, set: readonly string[] | undefined): string | undefined {
  if (value !== undefined && set === undefined) {
    throw refusal(param, `This model does not support ${param}; remove it.`);
  }
  return member(param, value, set);
}

/** Checks an input against the model. @throws ApiError if the input is not supported, or is required and missing */
function checkInputMedium(
  name: "image" | "video" | "mesh",
  value: string | undefined,
  { accepts, requires }: { readonly accepts: boolean; readonly requires: boolean },
): void {
  if (value === undefined && requires) {
    throw new ApiError(
      "missing_required_parameter",
      `Missing required parameter: ${name}_url or ${name}_file_id. This model requires one of them.`,
      {
        param: `${name}_url`,
      },
    );
  }
  if (value !== undefined && !accepts) throw refusal(`${name}_url`, `This model does not accept ${name} input.`);
}
