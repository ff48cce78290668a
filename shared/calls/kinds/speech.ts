/** Checks a speech call against its model's declarations and calculates its maximum cost. Pure. */
import type { SpeechRequest } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { boundMedia, ONE_RESULT, type Quantities } from "#shared/calls/pricing/media.ts";
import { priceOf } from "#shared/calls/pricing/price.ts";

import { type CheckedMedia, member, only, refusal, timeBound, usualTime } from "./media-check.ts";
import { CALL_UNITS, type MediaKind, NO_INPUTS } from "./kind.ts";

export type SpokenFormat = NonNullable<SpeechRequest["response_format"]>;

/** Request parameters that a source of the model receives, with the names of our API. */
export interface SpeechParams {
  readonly text: string;
  readonly voice?: string;
  readonly instructions?: string;
  readonly format: SpokenFormat;
  readonly speed: number;
}

/** Number of tokens that a template adds to a text. The text itself has at most one token per byte. */
const PROMPT_MARKS = 64;
/** Seconds of audio per character, for prices by length: the maximum and the usual value. */
const SECONDS_A_CHARACTER_MAX = 0.5;
const SECONDS_A_CHARACTER_USUAL = 0.07;

export const SPEECH: MediaKind<SpeechRequest, CheckedMedia<SpeechParams>> = {
  name: "speech",
  endpoint: "/v1/audio/speech",
  pool: "audio",
  afterCrash: "report_lost",
  keepsFiles: true,
  keepsRecord: true,
  read: (body) => parse("SpeechRequest", body),
  modality: "audio",
  units: ["per_character", "per_token", "per_second", "per_minute", ...CALL_UNITS],
  hasLength: true,
  writes: "audioOutput",
  nouns: { one: "a speech model", all: "speech models" },
  isOfKind: ({ modality }) => modality === "audio",
  check: checkSpeech,
  inputs: NO_INPUTS,
  route: {
    operationId: "createSpeech",
    summary: "Create speech",
    description:
      "Returns audio: `audio/mpeg`, `audio/ogg` (opus), `audio/aac`, `audio/flac`, `audio/wav` or `audio/pcm`. The " +
      "audio is streamed while it is generated when its price is known in advance. It is also stored as a file of " +
      "the job named by `x-request-id`. With `stream_format: sse` the response is an event stream of base64 chunks " +
      "that ends with `speech.audio.done`. The model's default voice replaces an unknown voice; `x-voice-used` " +
      "returns the voice used.",
    tag: "Audio",
    request: { schema: "SpeechRequest", example: { model: "sandbox-tts", input: "It works." } },
    answers: "audio",
    answer: {
      description: "The audio",
      bytes: ["audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"],
      stream: "SpeechEvent",
      headers: ["x-voice-used"],
    },
    codes: ["artifact_unreadable"],
  },
};

/**
 * Checks a speech call and returns its parameters and maximum usage.
 * @throws ApiError 400 that names the parameter which the model does not support
 */
export function checkSpeech(request: SpeechRequest, model: Model): CheckedMedia<SpeechParams> {
  const allowed = model.allowed_params;
  if (allowed.requires_voice_instructions === true && (request.instructions ?? "").trim() === "") {
    throw new ApiError(
      "missing_required_parameter",
      "Missing required parameter: instructions. This model designs its voice from them.",
      {
        param: "instructions",
      },
    );
  }
  const asked = { ...allowed.default_params, ...request };
  const takesInstructions = allowed.accepts_voice_instructions === true || allowed.requires_voice_instructions === true;
  const format = member("response_format", asked.response_format ?? "mp3", allowed.response_formats) ?? "mp3";
  const speed = asked.speed ?? 1;
  checkSpeed(speed, allowed.speed);
  const params: SpeechParams = {
    text: asked.input,
    ...only("voice", voiceOf(request.voice, allowed)),
    ...only("instructions", takesInstructions ? asked.instructions : undefined),
    format,
    speed,
  };
  const price = priceOf(model, {});
  const characters = codePoints(asked.input);
  const length = (each: number): number => Math.ceil((characters * each) / speed);
  const counted: Quantities = { ...ONE_RESULT, characters };
  const most = { ...counted, milliseconds: timeBound(model, length(SECONDS_A_CHARACTER_MAX)) };
  const isByToken = price.unit === "per_token";
  const input = Buffer.byteLength(asked.input) + Buffer.byteLength(params.instructions ?? "") + PROMPT_MARKS;
  const output = model.max_output_tokens;
  return {
    params,
    price,
    most,
    usual: { ...counted, milliseconds: usualTime(model, length(SECONDS_A_CHARACTER_USUAL)) },
    bound: {
      holdNano: boundMedia(price, most, { input, output }),
      outputTokensMax: isByToken ? output : 0,
      mayExceed: false,
      tokensMax: isByToken ? input + output : 0,
    },
  };
}

/** Returns the voice for a call. The model's default voice replaces an unknown one. */
export function voiceOf(asked: string | undefined, { voices = [], default_params: usual }: Model["allowed_params"]) {
  return [asked, usual?.["voice"]].find(
    (voice): voice is string => typeof voice === "string" && voices.includes(voice),
  );
}

function checkSpeed(speed: number, range: Model["allowed_params"]["speed"]): void {
  if (range === undefined || (speed >= range.min && speed <= range.max)) return;
  throw refusal("speed", `Expected speed to be from ${range.min} to ${range.max} for this model, got ${speed}.`);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
