/** Transcription adapter of ElevenLabs. Source: elevenlabs.io/docs/api-reference/speech-to-text/convert. */
import { type Endpoint, post } from "../http.ts";
import { parseObject } from "../json.ts";
import type { DirectAdapter, MediaCall, MediaResult, Transcript, TranscriptionInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { audioPart, formOf, languageCode, secondsOf, secondsUsed, spanOf, type TimedWord } from "../transcription.ts";
import { classifyAnswer } from "./errors.ts";

export function createElevenLabsTranscription(endpoint: Endpoint): DirectAdapter<TranscriptionInput, Transcript> {
  return {
    async run(call) {
      const request = { path: "/speech-to-text", body: transcriptionForm(call) };
      const { status, headers, text } = await post(endpoint, request, call.signal);
      if (status < 200 || status > 299) throw classifyAnswer(status, headers, text);
      return transcriptionResult(text);
    },
  };
}

/** Builds the form. ElevenLabs returns no segments, so words are always requested and grouped into segments. Prompts are not supported. */
function transcriptionForm({ input, sourceModel, adapt }: MediaCall<TranscriptionInput>): FormData {
  const body: Record<string, unknown> = {
    model_id: sourceModel,
    timestamps_granularity: "word",
    // No other source adds "(laughter)" to the text.
    tag_audio_events: false,
    // ElevenLabs accepts languages without region.
    ...(input.language === undefined ? {} : { language_code: languageCode(input.language).split("-", 1)[0] }),
    ...(input.temperature === undefined ? {} : { temperature: input.temperature }),
  };
  adapt(body);
  const form = formOf(body, "");
  form.append("file", audioPart(input.audio));
  return form;
}

/**
 * Parses the text of a response into a transcript.
 * @throws ProviderError `failed` for a text that is no transcription
 */
function transcriptionResult(text: string): MediaResult<Transcript> {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  const said = answer["text"];
  if (typeof said !== "string") throw new ProviderError("failed", "the answer has no text");
  const language = answer["language_code"];
  const seconds = secondsOf(answer["audio_duration_secs"]);
  const output: Transcript = {
    text: said.trim(),
    ...(typeof language === "string" && language !== "" ? { language } : {}),
    ...(seconds === undefined ? {} : { seconds }),
    ...(Array.isArray(answer["words"]) ? { words: wordsOf(answer["words"]) } : {}),
  };
  // The last word may end before the audio does: without a report, we measure the duration.
  return { output, usage: secondsUsed(seconds) };
}

/** Returns only the words of a list that also contains spaces and sounds. */
function wordsOf(values: readonly unknown[]): TimedWord[] {
  return values.flatMap((value) => {
    const { text, type, start, end } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const span = spanOf(start, end);
    return type === "word" && typeof text === "string" && span ? [{ word: text, ...span }] : [];
  });
}
