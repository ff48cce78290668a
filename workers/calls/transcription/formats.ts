/**
 * Renders a transcript in the five formats of `POST /v1/audio/transcriptions`. Sources are always asked for their data, never for one of
 * these formats. Subtitles have the same layout as those of Whisper.
 */
import { creditsNumber } from "#shared/base/money.ts";

import type { MediaUsage, Transcript } from "../../providers/media.ts";

export type TranscriptFormat = "json" | "text" | "srt" | "vtt" | "verbose_json";

export interface TranscriptOptions {
  /** Charged usage; included in the two JSON formats. */
  readonly usage?: MediaUsage;
  /** Charge of the call in nano-credits; included with the usage. */
  readonly creditsNano?: bigint;
  /** True if `verbose_json` contains words with their times. `wantsSegments` does the same for segments. */
  readonly wantsWords: boolean;
  readonly wantsSegments: boolean;
}

const CONTENT_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: "application/json",
  verbose_json: "application/json",
  text: "text/plain; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
};

/**
 * Returns the body and content type of a response. Formats with times need segments or words; with `seconds` alone, the result is one cue
 * from 0.
 */
export function renderTranscript(
  transcript: Transcript,
  format: TranscriptFormat,
  options: TranscriptOptions,
): { readonly body: string; readonly contentType: string } {
  return { body: RENDERERS[format](transcript, options), contentType: CONTENT_TYPES[format] };
}

/**
 * Returns the last events of `stream: true`: the remaining text, then the whole transcript with the charged usage.
 * @param sentText beginning of the text that the caller has received
 */
export function streamTranscript(
  { text }: Transcript,
  options: Pick<TranscriptOptions, "usage" | "creditsNano">,
  sentText = "",
): string[] {
  const remainder = text.startsWith(sentText) ? text.slice(sentText.length) : "";
  const done = { type: "transcript.text.done", text, ...usageMember(options) };
  return [...(remainder === "" ? [] : [transcriptDelta(remainder)]), `${event(done)}data: [DONE]\n\n`];
}

/** Returns the stream event for a chunk of the text. */
export function transcriptDelta(delta: string): string {
  return event({ type: "transcript.text.delta", delta });
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

const RENDERERS: Readonly<Record<TranscriptFormat, (transcript: Transcript, options: TranscriptOptions) => string>> = {
  json: ({ text }, options) => JSON.stringify({ text, ...usageMember(options) }),
  text: ({ text }) => `${text}\n`,
  srt: (transcript) => cuesOf(transcript).map(srtCue).join(""),
  vtt: (transcript) => `WEBVTT\n\n${cuesOf(transcript).map(vttCue).join("")}`,
  verbose_json: verboseJson,
};

function verboseJson(transcript: Transcript, options: TranscriptOptions): string {
  const { usage, wantsWords, wantsSegments } = options;
  const { text, language, words = [] } = transcript;
  const cues = cuesOf(transcript);
  const seconds = transcript.seconds ?? usage?.seconds ?? Math.max(words.at(-1)?.end ?? 0, cues.at(-1)?.end ?? 0);
  return JSON.stringify({
    task: "transcribe",
    language: language === undefined ? "" : languageName(language),
    duration: toMilliseconds(seconds),
    text,
    ...(wantsWords
      ? {
          words: words.map(({ word, start, end }) => ({
            word,
            start: toMilliseconds(start),
            end: toMilliseconds(end),
          })),
        }
      : {}),
    ...(wantsSegments ? { segments: cues.map(segmentOf) } : {}),
    ...usageMember(options),
  });
}

/** Rounds seconds to milliseconds, which removes artefacts of a source's arithmetic. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/**
 * Returns a segment in OpenAI's format, whose schema requires all members. Only Whisper models have real values for the members after
 * `text`.
 */
function segmentOf({ text, start, end, details }: Cue, id: number): Record<string, unknown> {
  const {
    seek = 0,
    tokens = [],
    temperature = 0,
    avg_logprob = 0,
    compression_ratio = 0,
    no_speech_prob = 0,
  } = details ?? {};
  return {
    id,
    seek,
    start: toMilliseconds(start),
    end: toMilliseconds(end),
    text,
    tokens,
    temperature,
    avg_logprob,
    compression_ratio,
    no_speech_prob,
  };
}

/** Converts the usage to OpenAI's format: tokens if tokens are charged, seconds otherwise. Adds the charge. */
function usageMember({ usage, creditsNano }: Pick<TranscriptOptions, "usage" | "creditsNano">): {
  usage?: Record<string, unknown>;
} {
  const credits = creditsNano === undefined ? {} : { credits: creditsNumber(creditsNano) };
  if (usage?.tokens) {
    const { input, audioInput, output } = usage.tokens;
    return {
      usage: {
        type: "tokens",
        input_tokens: input + audioInput,
        input_token_details: { text_tokens: input, audio_tokens: audioInput },
        output_tokens: output,
        total_tokens: input + audioInput + output,
        ...credits,
      },
    };
  }
  return usage?.seconds === undefined
    ? {}
    : { usage: { type: "duration", seconds: toMilliseconds(usage.seconds), ...credits } };
}

const NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** Returns the English name of a language. Whisper reports `english`; other sources report `en`, `eng` or `en-US`. */
function languageName(language: string): string {
  if (!/^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) return language;
  try {
    return NAMES.of(language.split("-", 1)[0]!)?.toLowerCase() ?? language;
  } catch {
    return language;
  }
}

function srtCue({ text, start, end }: Cue, at: number): string {
  // Arrows cannot be escaped. A shorter arrow is not read as the separator of two times.
  const safe = oneLine(text).replaceAll(/-{2,}>/g, "->");
  return `${at + 1}\n${timestamp(start, ",")} --> ${timestamp(end, ",")}\n${safe}\n\n`;
}

function vttCue({ text, start, end }: Cue): string {
  const safe = oneLine(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `${timestamp(start, ".")} --> ${timestamp(end, ".")}\n${safe}\n\n`;
}

/** Joins the lines of a text into one, because an empty line would end the cue. */
function oneLine(text: string): string {
  const lines = text.split(/[\r\n\v\f\u0085\u2028\u2029]/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** Formats seconds as `01:02:03,004`. Hours have at least two digits. */
function timestamp(seconds: number, mark: "," | "."): string {
  const total = Math.round(seconds * 1_000);
  const padded = (value: number, digits: number): string => String(value).padStart(digits, "0");
  const hours = padded(Math.floor(total / 3_600_000), 2);
  const minutes = padded(Math.floor(total / 60_000) % 60, 2);
  return `${hours}:${minutes}:${padded(Math.floor(total / 1_000) % 60, 2)}${mark}${padded(total % 1_000, 3)}`;
}

// Cues of a transcript: the source's own segments, or segments built from its words.

type Cue = NonNullable<Transcript["segments"]>[number];
type Word = NonNullable<Transcript["words"]>[number];

/** Maximum characters of a cue: two lines of subtitles, as broadcasters set them. */
const CHARACTERS_MAX = 84;
/** Maximum display time of a cue, in seconds. */
const SECONDS_MAX = 7;
/** Minimum length of a silence that ends a cue, in seconds. */
const PAUSE_SECONDS = 0.8;
/** Minimum characters of a cue for a sentence end to close it. Such a cue is long enough to read alone, and longer than "Mr.". */
const SENTENCE_CHARACTERS_MIN = 20;
/** Maximum characters of the text that are skipped to find the next word. */
const SEARCH_CHARACTERS = 80;

const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*\s*$/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/**
 * Returns the cues of a transcript in order of time, without empty cues. If the transcript has no times, returns one cue from 0 to the end
 * of the audio.
 */
function cuesOf(transcript: Transcript): readonly Cue[] {
  const { segments = [], words = [], text, seconds = 0 } = transcript;
  const cues =
    segments.length > 0 ? segments : words.length > 0 ? cuesOfWords(words, text) : [{ text, start: 0, end: seconds }];
  return cues.filter((cue) => cue.text.trim() !== "");
}

/**
 * Builds cues from words with times. If at least half of the words are found in the text, the cues are sections of the text with its
 * punctuation. Otherwise the words are joined.
 */
function cuesOfWords(words: readonly Word[], text: string): Cue[] {
  const places = placesOf(words, text);
  const found = places.filter((place) => place !== undefined).length;
  return found * 2 >= words.length ? cutText(words, places, text) : joinWords(words);
}

/** Returns the offset of each word in the text; undefined for a word that is not found near its position. */
function placesOf(words: readonly Word[], text: string): (number | undefined)[] {
  let from = 0;
  return words.map(({ word }) => {
    const within = text.slice(from, from + SEARCH_CHARACTERS + word.length).indexOf(word);
    if (word === "" || within < 0) return undefined;
    const place = from + within;
    from = place + word.length;
    return place;
  });
}

function cutText(words: readonly Word[], places: readonly (number | undefined)[], text: string): Cue[] {
  const cues: Cue[] = [];
  let first = 0;
  let begin = 0;
  for (let next = 1; next <= words.length; next += 1) {
    const place = next === words.length ? text.length : places[next];
    // A cue cannot begin with a word whose offset is unknown.
    if (place === undefined) continue;
    const piece = text.slice(begin, place);
    if (next < words.length && !endsPiece(words, first, next, piece)) continue;
    cues.push({ text: piece.trim(), start: words[first]!.start, end: words[next - 1]!.end });
    first = next;
    begin = place;
  }
  return cues;
}

function joinWords(words: readonly Word[]): Cue[] {
  const cues: Cue[] = [];
  let first = 0;
  let piece = "";
  for (const [at, { word, end }] of words.entries()) {
    const isUnspaced = UNSPACED.test(piece.slice(-1)) && UNSPACED.test(word.slice(0, 1));
    piece += piece === "" || isUnspaced ? word : ` ${word}`;
    if (at + 1 < words.length && !endsPiece(words, first, at + 1, piece)) continue;
    cues.push({ text: piece, start: words[first]!.start, end });
    first = at + 1;
    piece = "";
  }
  return cues;
}

/** True if a cue that begins with word `first` must end before word `next`. */
function endsPiece(words: readonly Word[], first: number, next: number, piece: string): boolean {
  const begin = words[first]!;
  const last = words[next - 1]!;
  const coming = words[next]!;
  return (
    coming.start - last.end >= PAUSE_SECONDS ||
    coming.end - begin.start > SECONDS_MAX ||
    piece.trimEnd().length + 1 + coming.word.length > CHARACTERS_MAX ||
    (piece.trimEnd().length >= SENTENCE_CHARACTERS_MIN && SENTENCE_END.test(piece))
  );
}
