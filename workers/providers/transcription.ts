/** Shared parts of transcription families. */
import type { MediaUsage, TranscriptionInput, Transcript } from "./media.ts";
import { ProviderError } from "./provider.ts";

export type TimedWord = NonNullable<Transcript["words"]>[number];
export type TimedSegment = NonNullable<Transcript["segments"]>[number];

/** Longest plausible duration, in seconds (a month). A longer report is a fault and must never reach the ledger. */
const SECONDS_MAX = 2_678_400;

/** Returns a plausible duration of audio in seconds; undefined for any other value. */
export function secondsOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= SECONDS_MAX ? value : undefined;
}

/** Returns start and end as numbers, with the end not before the start; undefined without times. */
export function spanOf(start: unknown, end: unknown): { start: number; end: number } | undefined {
  const from = secondsOf(start);
  const to = secondsOf(end);
  return from === undefined || to === undefined ? undefined : { start: from, end: Math.max(from, to) };
}

/** Returns the seconds that a provider reported; nothing if we measure them. */
export function secondsUsed(seconds: number | undefined): MediaUsage {
  return seconds === undefined ? {} : { seconds };
}

/** Language codes of a call: `en`, `yue`, `pt-BR`, `zh-Hant`; names such as `multi` do not match. */
const LANGUAGE = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$/;

/** @throws ProviderError `rejected` for a text that is no language code */
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
 * Returns the audio as a part of a form. Servers use the file extension, so the name gets the extension of the type; the caller's file name
 * is not sent.
 */
export function audioPart({ bytes, contentType, filename }: TranscriptionInput["audio"]): File {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  const own = /\.([A-Za-z0-9]{1,5})$/.exec(filename)?.[1]?.toLowerCase();
  const extension = Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : own;
  return new File([bytes], extension === undefined ? "audio" : `audio.${extension}`, {
    type,
  });
}

/** Returns a body as a form: lists as `name[]`, one part per member, as OpenAI's clients send them. */
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
