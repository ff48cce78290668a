/** Checks a transcription call against its model's declarations and calculates its maximum cost. Pure. */
import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import schema from "#schemas/requests/transcription.schema.json" with { type: "json" };
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { boundMedia, ONE_RESULT, type Quantities, wholeMilliseconds } from "#shared/calls/pricing/media.ts";
import { priceOf } from "#shared/calls/pricing/price.ts";

import { CALL_UNITS, type FormParts, type PricedKind } from "./kind.ts";
import { type CheckedMedia, member, only, refusal } from "./media-check.ts";

export type TranscriptFormat = NonNullable<TranscriptionRequest["response_format"]>;

export interface TranscriptionParams {
  readonly language?: string;
  readonly prompt?: string;
  readonly temperature?: number;
  readonly format: TranscriptFormat;
  readonly wantsWords: boolean;
  readonly wantsSegments: boolean;
}

/** Size and length of received audio. The service measures them and ignores the caller's claims. */
export interface MeasuredAudio {
  readonly bytes: number;
  readonly seconds: number;
  /** Member of the request that contained the audio. */
  readonly param: "file" | "audio_base64" | "file_id";
}

/** Number of tokens held per second of audio. The values of vendors are between 10 and 32. */
const TOKENS_A_SECOND = 64;
const PROMPT_MARKS = 64;
/** Response formats that can be streamed. */
const STREAMED: readonly TranscriptFormat[] = ["json", "text"];

/** Description of the form. A binary part contains the audio, so the form has no fields for the JSON members that contain audio. */
const { audio_base64: _base64, mime_type: _type, file_id: _id, ...FORM_MEMBERS } = schema.properties;
export const TRANSCRIPTION_FORM: FormParts = { members: FORM_MEMBERS, files: { file: { isRequired: true } } };

export const TRANSCRIPTION: PricedKind<TranscriptionRequest, CheckedMedia<TranscriptionParams>> = {
  name: "transcription",
  endpoint: "/v1/audio/transcriptions",
  pool: "audio",
  afterCrash: "report_lost",
  keepsFiles: false,
  keepsRecord: true,
  read: (body) => parse("TranscriptionRequest", body),
  modality: "stt",
  units: ["per_minute", "per_second", "per_token", ...CALL_UNITS],
  hasLength: true,
  bringsRecording: true,
  writes: "output",
  nouns: { one: "a transcription model", all: "transcription models" },
  isOfKind: ({ modality }) => modality === "stt",
  check(request, model, { recording }) {
    if (recording) return checkTranscription(request, model, recording);
    const message = "Missing required parameter: audio_base64 or file_id.";
    throw new ApiError("missing_required_parameter", message, { param: "file" });
  },
  route: {
    operationId: "createTranscription",
    summary: "Create transcription",
    description:
      "Transcribes audio: a form with the part `file`, or JSON with `audio_base64` or `file_id`. `response_format` " +
      "selects JSON, plain text or subtitles. With `stream: true` the response is an event stream that ends with " +
      "`[DONE]`.",
    tag: "Audio",
    request: { schema: "TranscriptionRequest", form: TRANSCRIPTION_FORM },
    answers: "live",
    answer: {
      description: "The transcription",
      schema: "Transcription",
      texts: ["text/plain", "application/x-subrip", "text/vtt"],
      stream: ["TranscriptionEvent", "ErrorEnvelope"],
    },
    does: ["reads_files"],
  },
};

/**
 * Checks a transcription call and returns its maximum usage.
 * @throws ApiError 400 that names the parameter which the model does not support, `unprocessable_input` for audio above its limits
 */
function checkTranscription(
  request: TranscriptionRequest,
  model: Model,
  { bytes, seconds, param }: MeasuredAudio,
): CheckedMedia<TranscriptionParams> {
  const allowed = model.allowed_params;
  const asked = { ...allowed.default_params, ...request };
  const format = member("response_format", asked.response_format ?? "json", allowed.response_formats) ?? "json";
  if (asked.stream === true && !STREAMED.includes(format)) {
    throw refusal("stream", `Expected response_format json or text with stream, got ${format}.`);
  }
  const granularities = asked.timestamp_granularities;
  if (granularities !== undefined && granularities.length > 0 && format !== "verbose_json") {
    throw refusal("timestamp_granularities", "Expected response_format verbose_json with timestamp_granularities.");
  }
  const { max_audio_size_bytes: bytesMax, max_audio_duration_seconds: secondsMax } = allowed;
  if (bytesMax !== undefined && bytes > bytesMax) {
    throw refusal(param, `This model accepts audio of at most ${bytesMax} bytes, got ${bytes}.`);
  }
  if (secondsMax !== undefined && seconds > secondsMax) {
    throw refusal(param, `This model accepts audio of at most ${secondsMax} seconds, got ${Math.ceil(seconds)}.`);
  }
  const needsTimes = format === "srt" || format === "vtt";
  const params: TranscriptionParams = {
    ...only("language", asked.language === "" ? undefined : asked.language),
    ...only("prompt", asked.prompt),
    ...only("temperature", asked.temperature),
    format,
    wantsWords: granularities?.includes("word") === true,
    wantsSegments: needsTimes || (format === "verbose_json" && granularities?.includes("segment") !== false),
  };
  const price = priceOf(model, {});
  const most: Quantities = { ...ONE_RESULT, milliseconds: wholeMilliseconds(seconds) };
  const isByToken = price.unit === "per_token";
  const input = Buffer.byteLength(asked.prompt ?? "") + PROMPT_MARKS;
  const audioInput = Math.ceil(seconds * TOKENS_A_SECOND);
  const output = model.max_output_tokens;
  return {
    params,
    price,
    most,
    usual: most,
    bound: {
      holdNano: boundMedia(price, most, { input, audioInput, output }),
      outputTokensMax: isByToken ? output : 0,
      mayExceed: false,
      tokensMax: isByToken ? input + audioInput + output : 0,
    },
  };
}

/**
 * Returns the audio of a JSON request: base64 or the id of a file.
 * @throws ApiError unless the request contains exactly one of them
 */
export function audioOf(request: TranscriptionRequest): { readonly base64: string } | { readonly fileId: string } {
  const { audio_base64: base64, file_id: fileId } = request;
  if (base64 !== undefined && fileId !== undefined) {
    throw new ApiError("invalid_request", "Expected audio_base64 or file_id, got both.", { param: "file_id" });
  }
  if (base64 !== undefined) return { base64 };
  if (fileId !== undefined) return { fileId };
  throw new ApiError(
    "missing_required_parameter",
    "Missing required parameter: audio_base64, file_id, or the part `file` of a form.",
    {
      param: "file",
    },
  );
}
