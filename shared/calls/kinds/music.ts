/** Checks a music call against its model's declarations and calculates its maximum cost. Pure. */
import type { MusicGenerationRequest } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { boundMedia, ONE_RESULT, type Quantities } from "#shared/calls/pricing/media.ts";
import { priceOf } from "#shared/calls/pricing/price.ts";

import { type CheckedMedia, member, only, refuseFormat, refuseUntaken, timeBound, usualTime } from "./media-check.ts";
import { CALL_UNITS, type MediaKind, NO_INPUTS } from "./kind.ts";
import type { SpokenFormat } from "./speech.ts";
import { lengthOf } from "./video.ts";

export interface MusicParams {
  readonly prompt: string;
  readonly lyrics?: string;
  /** Length in whole seconds. */
  readonly duration?: number;
  readonly seed?: number;
  readonly format: SpokenFormat;
}

/** Maximum length of music, in seconds, for a model that declares no lengths. */
const SECONDS_MAX = 300;

export const MUSIC: MediaKind<MusicGenerationRequest, CheckedMedia<MusicParams>> = {
  name: "music",
  endpoint: "/v1/music/generations",
  pool: "audio",
  afterCrash: "resume",
  keepsFiles: true,
  keepsRecord: true,
  read: (body) => parse("MusicGenerationRequest", body),
  modality: "music",
  units: ["per_second", "per_minute", ...CALL_UNITS],
  hasLength: true,
  writes: "output",
  nouns: { one: "a music model", all: "music models" },
  isOfKind: ({ modality }) => modality === "music",
  check: checkMusic,
  inputs: NO_INPUTS,
  route: {
    operationId: "createMusic",
    summary: "Create music",
    description:
      "Generates music and waits for the result. A call that exceeds the wait limit fails with `job_timeout` and " +
      "the job's id. With the query parameter `stream=true` the response is an event stream of states, as for " +
      "images.",
    tag: "Audio",
    request: { schema: "MusicGenerationRequest" },
    answers: "results",
    answersInline: true,
    answer: { description: "The music, or a stream of states", schema: "MediaResults", stream: "MediaState" },
    statesBy: "query",
  },
};

/**
 * Checks a music call and returns its parameters and maximum usage.
 * @throws ApiError 400 that names the parameter which the model does not support
 */
export function checkMusic(request: MusicGenerationRequest, model: Model): CheckedMedia<MusicParams> {
  const allowed = model.allowed_params;
  const asked = { ...allowed.default_params, ...request };
  if (asked.prompt.trim() === "") {
    throw new ApiError("missing_required_parameter", "Expected a prompt that is not blank.", { param: "prompt" });
  }
  refuseUntaken(request, model, "music");
  if (request.output_format !== "mp3") refuseFormat(request.output_format, model);
  const duration = lengthOf(asked.duration, model);
  const seconds = duration ?? allowed.max_duration_seconds ?? SECONDS_MAX;
  const params: MusicParams = {
    prompt: asked.prompt,
    ...only("lyrics", asked.lyrics),
    ...only("duration", duration),
    ...only("seed", asked.seed),
    format: member("output_format", asked.output_format ?? "mp3", allowed.output_formats) ?? "mp3",
  };
  member("response_format", asked.response_format, allowed.response_formats);
  const price = priceOf(model, { duration });
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
