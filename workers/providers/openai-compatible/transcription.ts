/** Transcription adapter for OpenAI's wire format. Source: platform.openai.com/docs/api-reference/audio/createTranscription. */

import {
  connectionError,
  type Endpoint,
  post,
  postStream,
  type ProviderRequest,
  readText,
  PROVIDER_BYTES_MAX,
} from "../http.ts";
import { parseObject } from "../json.ts";
import type { DirectAdapter, MediaCall, MediaResult, MediaUsage, Transcript, TranscriptionInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { type SseEvent, SseParser } from "../sse.ts";
import {
  audioPart,
  formOf,
  languageCode,
  secondsOf,
  secondsUsed,
  spanOf,
  type TimedSegment,
  type TimedWord,
  unreadable,
} from "../transcription.ts";

import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { transcriptionTokens } from "./speech-usage.ts";

type Call = Pick<MediaCall<TranscriptionInput>, "input" | "sourceModel" | "adapt" | "onText">;

export function createOpenAiTranscription(endpoint: Endpoint): DirectAdapter<TranscriptionInput, Transcript> {
  return {
    async run(call) {
      const { form, format, isStreamed } = transcriptionRequest(call);
      const request = { path: "/audio/transcriptions", body: form };
      if (isStreamed) return readAlong(endpoint, request, call);
      const { status, headers, text } = await post(endpoint, request, call.signal);
      if (status < 200 || status > 299) throw sharpened(classifyAnswer(status, headers, text));
      return format === "text" ? { output: { text: text.trim() }, usage: {} } : transcriptionResult(text);
    },
  };
}

/** Streams the text of models that return text without timestamps. Servers without streaming return a complete response. */
async function readAlong(
  endpoint: Endpoint,
  request: ProviderRequest,
  { signal, onText = () => undefined }: Pick<MediaCall<TranscriptionInput>, "signal" | "onText">,
): Promise<MediaResult<Transcript>> {
  const { status, headers, body, text } = await postStream(endpoint, request, signal);
  if (!body) throw sharpened(classifyAnswer(status, headers, text));
  if (!/^text\/event-stream\b/i.test(headers.get("content-type") ?? "")) {
    return transcriptionResult(await readText(new Response(body), PROVIDER_BYTES_MAX, signal));
  }
  const { text: whole, usage } = await readTextEvents(body, onText, signal);
  return { output: { text: whole }, usage: usageOf(usage, undefined) };
}

/**
 * Builds the request for the most detailed format. A model without that format has the override `response_format: json` in the catalogue,
 * and no timestamps are requested from it.
 * @throws ProviderError `rejected` when the caller requests timestamps from such a model
 */
function transcriptionRequest({ input, sourceModel, adapt, onText }: Call): {
  form: FormData;
  format: unknown;
  isStreamed: boolean;
} {
  const granularities = [...(input.wantsWords ? ["word"] : []), ...(input.wantsSegments ? ["segment"] : [])];
  const body: Record<string, unknown> = {
    model: sourceModel,
    response_format: "verbose_json",
    ...(granularities.length === 0 ? {} : { timestamp_granularities: granularities }),
    ...(input.language === undefined ? {} : { language: languageCode(input.language) }),
    ...(input.prompt === undefined ? {} : { prompt: input.prompt }),
    ...(input.temperature === undefined ? {} : { temperature: input.temperature }),
  };
  if (onText) body["stream"] = true;
  adapt(body);
  const format = body["response_format"];
  if (format !== "verbose_json") {
    if (granularities.length > 0) throw withoutTimes();
    delete body["timestamp_granularities"];
  }
  // Only complete responses contain times.
  if (format !== "json") delete body["stream"];
  const form = formOf(body);
  form.append("file", audioPart(input.audio));
  return { form, format, isStreamed: body["stream"] === true };
}

function withoutTimes(): ProviderError {
  const say = "This model returns no timestamps; set response_format to json or text.";
  return new ProviderError("rejected", say, { code: "unsupported_value", param: "response_format", say });
}

/**
 * Parses the text of a response into a transcript.
 * @throws ProviderError `failed` for a text that is no transcription
 */
function transcriptionResult(text: string): MediaResult<Transcript> {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw sharpened(classifyErrorMember(answer["error"]));
  const transcriptText = answer["text"];
  if (typeof transcriptText !== "string") throw new ProviderError("failed", "the answer has no text");
  const seconds = secondsOf(answer["duration"]);
  const language = languageOf(answer);
  const output: Transcript = {
    text: transcriptText.trim(),
    ...(language === undefined ? {} : { language }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(Array.isArray(answer["words"]) ? { words: wordsOf(answer["words"]) } : {}),
    ...(Array.isArray(answer["segments"]) ? { segments: segmentsOf(answer["segments"]) } : {}),
  };
  return { output, usage: usageOf(answer["usage"], seconds) };
}

/** Returns the language of a transcript. If the model returns a list of languages, the first code is used. */
function languageOf({ language, languages }: Readonly<Record<string, unknown>>): string | undefined {
  const first = (Array.isArray(languages) ? languages[0] : undefined) as { code?: unknown } | null | undefined;
  return [language, first?.code].find((value) => typeof value === "string" && value !== "") as string | undefined;
}

/** Returns the usage that the source bills, which may be rounded. If the source reports none, returns the duration of the audio. */
function usageOf(value: unknown, seconds: number | undefined): MediaUsage {
  const report = (value ?? {}) as Readonly<Record<string, unknown>>;
  const tokens = report["type"] === "duration" ? undefined : transcriptionTokens(report);
  return { ...secondsUsed(secondsOf(report["seconds"]) ?? seconds), ...(tokens ? { tokens } : {}) };
}

function wordsOf(values: readonly unknown[]): TimedWord[] {
  return values.flatMap((value) => {
    const { word, start, end } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const span = spanOf(start, end);
    return typeof word === "string" && span ? [{ word: word.trim(), ...span }] : [];
  });
}

function segmentsOf(values: readonly unknown[]): TimedSegment[] {
  return values.flatMap((value) => {
    const segment = (value ?? {}) as Readonly<Record<string, unknown>>;
    const { text, start, end } = segment;
    const span = spanOf(start, end);
    if (typeof text !== "string" || !span) return [];
    const details = detailsOf(segment);
    return [{ text: text.trim(), ...span, ...(details ? { details } : {}) }];
  });
}

const NUMBERS = ["seek", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"] as const;

/** Returns the additional values that Whisper reports for a segment. Undefined for other models, such as those with speaker names. */
function detailsOf(segment: Readonly<Record<string, unknown>>): TimedSegment["details"] {
  const { tokens } = segment;
  const isNumber = (value: unknown): value is number => typeof value === "number";
  const known = NUMBERS.flatMap((name) => (isNumber(segment[name]) ? [[name, segment[name]] as const] : []));
  if (known.length === 0) return undefined;
  return { ...Object.fromEntries(known), ...(Array.isArray(tokens) && tokens.every(isNumber) ? { tokens } : {}) };
}

/** Matches messages of OpenAI and compatible servers about unreadable audio. */
const UNREADABLE =
  /\b(?:could not be decoded|invalid file format|unrecognized file format|unsupported file format|corrupted|too short|decoding audio)\b/i;

/**
 * Adds an error code to the error for unreadable audio, because the provider sends none. An error about the response format is a fault of
 * our setup, because we chose the format.
 */
function sharpened(error: ProviderError): ProviderError {
  if (error.kind !== "rejected") return error;
  const { detail, status } = error;
  if (UNREADABLE.test(detail)) return unreadable(detail, status);
  const about = { ...(status === undefined ? {} : { status }), cause: error };
  if (error.param === "response_format" || error.param?.startsWith("timestamp_granularities")) {
    return new ProviderError("misconfigured", detail, about);
  }
  const isTooLarge = status === 413 || /maximum content size|longer than \d+ seconds|larger than/i.test(detail);
  if (!isTooLarge) return error;
  const say = "The audio is larger or longer than this model accepts.";
  return new ProviderError("rejected", detail, { code: "invalid_request", param: "file", say, ...about });
}

// Transcripts as events. Source: openai/openai-openapi, TranscriptTextDeltaEvent and TranscriptTextDoneEvent.

/** Whole text from the last event of a transcript stream, and the usage report as received. */
interface StreamedText {
  readonly text: string;
  readonly usage: unknown;
}

/**
 * Reads events up to the one that contains the whole text.
 * @throws ProviderError `failed` for a stream that ends early or breaks; the error of an error event; `aborted` when the signal fires
 */
async function readTextEvents(
  body: ReadableStream<Uint8Array>,
  onText: (piece: string) => void,
  signal: AbortSignal,
): Promise<StreamedText> {
  const parser = new SseParser();
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > PROVIDER_BYTES_MAX) throw new ProviderError("failed", "the transcript is too large");
      for (const event of parser.push(piece)) {
        const done = read(event, onText);
        if (done) return done;
      }
    }
    const done = parser.end().flatMap((event) => read(event, onText) ?? [])[0];
    if (done) return done;
  } catch (error) {
    throw error instanceof ProviderError ? error : connectionError(error, signal);
  }
  throw new ProviderError("failed", "the stream ended before the text did");
}

function read({ data }: SseEvent, onText: (piece: string) => void): StreamedText | undefined {
  const event = parseObject(data);
  if (!event) return undefined;
  if (event["error"]) throw classifyErrorMember(event["error"]);
  const { type, delta, text, usage } = event;
  if (type === "transcript.text.delta" && typeof delta === "string") onText(delta);
  return type === "transcript.text.done" && typeof text === "string" ? { text, usage } : undefined;
}
