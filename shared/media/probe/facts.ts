/** The result of an audio probe, and the byte reader that all probes share. */
import { MediaError } from "#shared/children/media-error.ts";

import { PROBE_LIMITS } from "../limits.ts";

export type AudioFormat = "pcm" | "wav" | "mp3" | "aac" | "flac" | "ogg" | "mp4" | "webm";

export interface AudioFacts {
  readonly format: AudioFormat;
  /** Counted from the audio itself where the format lets us: what a header claims is the caller's word. */
  readonly seconds: number;
  /** Samples a second of one channel. */
  readonly sampleRate: number;
  readonly channels: number;
}

/** Name for the file in error messages. */
type Subject = "audio" | "video";

/** Reads within bounds; past the end it throws `corrupt`. Counts its steps, so that no file keeps it busy. */
export interface Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly length: number;
  /** @throws MediaError corrupt, after more steps than a real file has */
  step(): void;
  /** Counts what looked like a frame and was none. @throws MediaError corrupt, after more than chance brings about */
  miss(): void;
  ascii(at: number, length: number): string;
  corrupt(what: string): MediaError;
}

export function createCursor(bytes: Uint8Array, subject: Subject = "audio"): Cursor {
  let steps = 0;
  let misses = 0;
  const missesMax = PROBE_LIMITS.missesMax + bytes.byteLength / PROBE_LIMITS.bytesPerMiss;
  return {
    bytes,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    length: bytes.byteLength,
    step: () => {
      steps += 1;
      if (steps > PROBE_LIMITS.stepsMax) throw corrupt("has too many parts", subject);
    },
    miss: () => {
      misses += 1;
      if (misses > missesMax) throw corrupt("contains mostly data that is not audio", subject);
    },
    ascii: (at, length) => {
      let text = "";
      for (let index = at; index < Math.min(bytes.byteLength, at + length); index += 1) {
        text += String.fromCharCode(bytes[index] ?? 0);
      }
      return text;
    },
    corrupt: (what) => corrupt(what, subject),
  };
}

export function corrupt(what: string, subject: Subject = "audio"): MediaError {
  return new MediaError("corrupt", `The ${subject} cannot be read: it ${what}.`);
}

/** @throws MediaError corrupt, when no player could play it */
export function facts(format: AudioFormat, seconds: number, sampleRate: number, channels: number): AudioFacts {
  if (!(sampleRate >= 1 && sampleRate <= 768_000)) throw corrupt("has an invalid sample rate");
  if (!(channels >= 1 && channels <= 255)) throw corrupt("has an invalid number of channels");
  if (!Number.isFinite(seconds) || seconds <= 0) throw corrupt("contains no audio");
  return { format, seconds, sampleRate, channels };
}

/** A player cuts what an encoder has filled up: a told length is believed when it is no further below what was counted. */
const TRIM_SECONDS_MAX = 1;

/** @returns the told length, if that is what a player leaves of the counted one; else the counted one */
export function trimmed(toldSeconds: number, countedSeconds: number): number {
  const cut = countedSeconds - toldSeconds;
  return cut >= 0 && cut <= Math.min(TRIM_SECONDS_MAX, countedSeconds / 2) ? toldSeconds : countedSeconds;
}

/** For containers whose times may leave gaps: silence that nobody stored. */
export function withGaps(toldSeconds: number, countedSeconds: number): number {
  return toldSeconds > countedSeconds ? toldSeconds : trimmed(toldSeconds, countedSeconds);
}
