/** Transcription adapter of Deepgram. Source: developers.deepgram.com/reference/speech-to-text/listen-pre-recorded. */
import { type Endpoint, post, type ProviderRequest } from "../http.ts";
import { type Members, objectOf, parseObject } from "../json.ts";
import type { DirectAdapter, MediaCall, MediaResult, Transcript, TranscriptionInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { languageCode, secondsOf, secondsUsed, spanOf, type TimedSegment, type TimedWord } from "../transcription.ts";
import { classifyAnswer } from "./errors.ts";
import { queryOf } from "./query.ts";

export function createDeepgramTranscription(endpoint: Endpoint): DirectAdapter<TranscriptionInput, Transcript> {
  return {
    async run(call) {
      const { status, headers, text } = await post(endpoint, transcriptionRequest(call), call.signal);
      if (status < 200 || status > 299) {
        const hasLanguage = call.input.language !== undefined;
        throw classifyAnswer(status, headers, text, { param: "file", hasLanguage });
      }
      return transcriptionResult(text, call.input.language);
    },
  };
}

/** Builds the request. Deepgram does not support prompt and temperature, so they are omitted. */
function transcriptionRequest({ input, sourceModel, adapt }: MediaCall<TranscriptionInput>): ProviderRequest {
  const query: Record<string, unknown> = {
    model: sourceModel,
    smart_format: true,
    utterances: true,
    ...(input.language === undefined ? { detect_language: true } : { language: languageCode(input.language) }),
  };
  adapt(query);
  return {
    path: `/listen?${queryOf(query)}`,
    body: input.audio.bytes,
    headers: { "content-type": input.audio.contentType },
  };
}

/**
 * Parses the text of a response into a transcript.
 * @throws ProviderError `failed` for a text that is no transcription
 */
function transcriptionResult(text: string, asked: string | undefined): MediaResult<Transcript> {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  const results = objectOf(answer["results"]);
  // Deepgram mixes several channels into one by default.
  const channel = listOf(results["channels"])[0];
  const best = listOf(channel?.["alternatives"])[0];
  const said = best?.["transcript"];
  if (typeof said !== "string") throw new ProviderError("failed", "the answer has no transcript");
  const seconds = secondsOf(objectOf(answer["metadata"])["duration"]);
  const detected = channel?.["detected_language"];
  const language = typeof detected === "string" && detected !== "" ? detected : asked;
  const output: Transcript = {
    text: said.trim(),
    ...(language === undefined ? {} : { language }),
    ...(seconds === undefined ? {} : { seconds }),
    words: listOf(best?.["words"]).flatMap(wordOf),
    ...(Array.isArray(results["utterances"]) ? { segments: listOf(results["utterances"]).flatMap(segmentOf) } : {}),
  };
  return { output, usage: secondsUsed(seconds) };
}

function wordOf({ word, punctuated_word: written, start, end }: Members): TimedWord[] {
  const text = typeof written === "string" ? written : word;
  const span = spanOf(start, end);
  return typeof text === "string" && span ? [{ word: text, ...span }] : [];
}

function segmentOf({ transcript, start, end }: Members): TimedSegment[] {
  const span = spanOf(start, end);
  return typeof transcript === "string" && span ? [{ text: transcript.trim(), ...span }] : [];
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
