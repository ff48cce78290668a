/** Speech adapter for OpenAI's wire format. Source: platform.openai.com/docs/api-reference/audio/createSpeech. */
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";

import { answerStream } from "../answer-stream.ts";
import {
  type Endpoint,
  type JsonRequest,
  type ReserveBytes,
  postStream,
  reserverOf,
  PROVIDER_BYTES_MAX,
} from "../http.ts";
import { parseObject } from "../json.ts";
import type { Artifact, DirectAdapter, MediaCall, SpeechFormat, SpeechInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { characters, isSpeechFormat, openSpoken, spokenArtifact, takeVoice } from "../speech.ts";
import { SseParser } from "../sse.ts";
import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { speechTokens } from "./speech-usage.ts";

/** Default voice for OpenAI, which requires one. The default of other servers is the first voice that the catalogue lists. */
const VOICE = "alloy";

export function createOpenAiSpeech(endpoint: Endpoint): DirectAdapter<SpeechInput, Artifact> {
  return {
    async run(call) {
      const { request, format } = speechRequest(call);
      const { status, headers, body, text } = await postStream(endpoint, request, call.signal);
      if (body === null) throw sharpened(classifyAnswer(status, headers, text));
      const { output, tokens } = await readAnswer(body, headers, format, call);
      return { output, usage: { characters: characters(call.input.text), ...(tokens ? { tokens } : {}) } };
    },
  };
}

/**
 * Builds the request. Sources with a single format set `response_format` in their overrides. Sources that report tokens set `stream_format:
 * sse`, because the plain response contains no usage.
 */
function speechRequest(call: Pick<MediaCall<SpeechInput>, "input" | "sourceModel" | "adapt">): {
  request: JsonRequest;
  format: SpeechFormat;
} {
  const { input } = call;
  const body: Record<string, unknown> = {
    model: call.sourceModel,
    input: input.text,
    ...(input.voice === undefined ? {} : { voice: input.voice }),
    response_format: input.format,
    ...(input.speed === 1 ? {} : { speed: input.speed }),
    ...(input.instructions === undefined ? {} : { instructions: input.instructions }),
  };
  call.adapt(body);
  body["voice"] = takeVoice(body).id ?? VOICE;
  const format = body["response_format"];
  return {
    request: { path: "/audio/speech", body: JSON.stringify(body) },
    format: isSpeechFormat(format) ? format : input.format,
  };
}

interface Spoken {
  readonly output: Artifact;
  readonly tokens?: TokenUsage;
}

async function readAnswer(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  format: SpeechFormat,
  { signal, reserveBytes }: Pick<MediaCall<SpeechInput>, "signal" | "reserveBytes">,
): Promise<Spoken> {
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  // The last event contains the usage, so all events are read before any audio is returned.
  if (isStream) return readEvents(answerStream(body.getReader(), signal), format, reserveBytes);
  return { output: await openSpoken(body, headers, format, signal) };
}

/**
 * Reads the events of streamed speech.
 * @throws ProviderError `failed` when the event stream has no valid end
 */
async function readEvents(
  body: ReadableStream<Uint8Array>,
  format: SpeechFormat,
  reserveBytes: ReserveBytes | undefined,
): Promise<Spoken> {
  const parser = new SseParser();
  const pieces: Uint8Array[] = [];
  let done: Record<string, unknown> | undefined;
  let size = 0;
  const take = ({ data }: { readonly data: string }): void => {
    if (data === "[DONE]") return;
    const event = parseObject(data);
    if (event?.["error"]) throw sharpened(classifyErrorMember(event["error"]));
    if (event?.["type"] === "speech.audio.delta") pieces.push(fromBase64(event["audio"]));
    else if (event?.["type"] === "speech.audio.done") done = event;
  };
  const reserve = reserveBytes && reserverOf(reserveBytes, PROVIDER_BYTES_MAX);
  for await (const bytes of body) {
    size += bytes.length;
    if (size > PROVIDER_BYTES_MAX) throw new ProviderError("failed", "the speech is over the limit");
    await reserve?.(size);
    parser.push(bytes).forEach(take);
  }
  parser.end().forEach(take);
  if (!done) throw new ProviderError("failed", "the speech ended without its last event");
  const tokens = speechTokens(done["usage"]);
  return { output: await spokenArtifact(Buffer.concat(pieces), new Headers(), format), ...(tokens ? { tokens } : {}) };
}

function fromBase64(value: unknown): Uint8Array {
  try {
    if (typeof value === "string") return Uint8Array.fromBase64(value);
  } catch {
    // Thrown below.
  }
  throw new ProviderError("failed", "a piece of the speech is no base64");
}

/** Adds the missing error code to OpenAI's error for an unknown voice or a too long text. */
function sharpened(error: ProviderError): ProviderError {
  if (error.kind !== "rejected" || error.code !== undefined) return error;
  const { detail } = error;
  const status = error.status === undefined ? {} : { status: error.status };
  if (
    error.param === "voice" ||
    /['"]voice['"]|\bvoice\b.*\b(?:not|invalid|unknown)\b|\binvalid voice\b/i.test(detail)
  ) {
    const say = "The model has no voice with this name; GET /v1/models lists its voices.";
    return new ProviderError("rejected", detail, {
      code: "unsupported_value",
      param: "voice",
      say,
      ...status,
      cause: error,
    });
  }
  if (/string_(?:too_long|above_max_length)|at most \d+ characters|maximum length/i.test(detail)) {
    const param = error.param ?? "input";
    const say = "The text is longer than this model accepts in one call.";
    return new ProviderError("rejected", detail, { code: "invalid_request", param, say, ...status, cause: error });
  }
  return error;
}
