/** Shared parts of the families that transcribe. */
import type { MediaUsage, TranscriptionInput, Transcript } from "./media.ts";
import { ProviderError } from "./provider.ts";

export type TimedWord = NonNullable<Transcript["words"]>[number];
export type TimedSegment = NonNullable<Transcript["segments"]>[number];

/** A duration beyond a month is no report of audio but a fault; it must never reach the ledger. */
const SECONDS_MAX = 2_678_400;

/** A length of audio that can be true; undefined for everything else. */
export function secondsOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= SECONDS_MAX ? value : undefined;
}

/** Start and end as numbers, the end not before the start; undefined for what has no times. */
export function spanOf(start: unknown, end: unknown): { start: number; end: number } | undefined {
  const from = secondsOf(start);
  const to = secondsOf(end);
  return from === undefined || to === undefined ? undefined : { start: from, end: Math.max(from, to) };
}

/** Seconds where a provider named them; nothing where they are to be measured by us. */
export function secondsUsed(seconds: number | undefined): MediaUsage {
  return seconds === undefined ? {} : { seconds };
}

/** Names of the languages of a call: `en`, `yue`, `pt-BR`, `zh-Hant`; words such as `multi` are none. */
const LANGUAGE = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$/;

/** @throws ProviderError `rejected` when this is no code of a language */
export function languageCode(language: string): string {
  if (LANGUAGE.test(language)) return language.replaceAll("_", "-");
  const say = "Expected the code of a language such as en or pt-BR.";
  throw new ProviderError("rejected", say, { code: "unsupported_value", param: "language", say });
}

/** Audio that a provider cannot read. */
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
 * The audio as a part of a form. Servers go by the ending of its name, so it gets the one of its type; the name itself
 * is the caller's own affair and stays here.
 */
export function audioPart({ bytes, contentType, filename }: TranscriptionInput["audio"]): File {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  const own = /\.([A-Za-z0-9]{1,5})$/.exec(filename)?.[1]?.toLowerCase();
  const extension = Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : own;
  return new File([bytes], extension === undefined ? "audio" : `audio.${extension}`, {
    type,
  });
}

/** A body as a form: lists as `name[]`, one part for each member, as OpenAI's clients write them. */
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
