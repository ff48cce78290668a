/** Code shared by all transcription families. */
import type { MediaUsage, TranscriptionInput, Transcript } from "./media.ts";
import { ProviderError } from "./provider.ts";

export type TimedWord = NonNullable<Transcript["words"]>[number];
export type TimedSegment = NonNullable<Transcript["segments"]>[number];

/** Maximum plausible duration of audio, in seconds: one month. A longer report is a fault and must never reach the ledger. */
const SECONDS_MAX = 2_678_400;

/** Returns the value if it is a plausible duration of audio in seconds; otherwise undefined. */
export function secondsOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= SECONDS_MAX ? value : undefined;
}

/** Returns start and end as numbers, in seconds. The end is never before the start. Undefined if a time is missing. */
export function spanOf(start: unknown, end: unknown): { start: number; end: number } | undefined {
  const from = secondsOf(start);
  const to = secondsOf(end);
  return from === undefined || to === undefined ? undefined : { start: from, end: Math.max(from, to) };
}

/** Returns the seconds that a provider reported. Empty without a report, so that we measure the duration. */
export function secondsUsed(seconds: number | undefined): MediaUsage {
  return seconds === undefined ? {} : { seconds };
}

/** Matches language codes of a call: `en`, `yue`, `pt-BR`, `zh-Hant`. Names such as `multi` do not match. */
const LANGUAGE = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$/;

/**
 * Returns a language code with hyphens.
 * @throws ProviderError `rejected` for a text that is no language code
 */
export function languageCode(language: string): string {
  if (LANGUAGE.test(language)) return language.replaceAll("_", "-");
  const say = "Expected the code of a language such as en or pt-BR.";
  throw new ProviderError("rejected", say, { code: "unsupported_value", param: "language", say });
}

/** Returns the error for audio that a provider cannot read. */
export function unreadable(detail: string, status?: number): ProviderError {
  return new ProviderError("rejected", detail, {
    code: "unprocessable_input",
    param: "file",
    say: "The audio is damaged, or its format is not supported by this model.",
    ...(status === undefined ? {} : { status }),
  });
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/wav": "wav",
  "audio/wave": "wav",
  "audio/x-wav": "wav",
  "audio/vnd.wave": "wav",
  "audio/ogg": "ogg",
  "audio/opus": "ogg",
  "application/ogg": "ogg",
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/mp4": "m4a",
  "audio/m4a": "m4a",
  "audio/x-m4a": "m4a",
  "video/mp4": "mp4",
  "audio/webm": "webm",
  "video/webm": "webm",
  "audio/aac": "aac",
};

/**
 * Returns the audio as a file for a form. Servers use the file extension, so the name gets the extension of the media type. The caller's
 * file name is not sent.
 */
export function audioPart({ bytes, contentType, filename }: TranscriptionInput["audio"]): File {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  const own = /\.([A-Za-z0-9]{1,5})$/.exec(filename)?.[1]?.toLowerCase();
  const extension = Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : own;
  return new File([bytes], extension === undefined ? "audio" : `audio.${extension}`, {
    type,
  });
}

/** Converts a body to a form, as OpenAI's clients send it. Each member is one part, and a list is named `name[]`. */
export function formOf(body: Readonly<Record<string, unknown>>, listSuffix = "[]"): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) for (const item of value) form.append(name + listSuffix, fieldText(item));
    else form.append(name, fieldText(value));
  }
  return form;
}

function fieldText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
