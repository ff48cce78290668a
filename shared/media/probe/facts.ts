/** Result of an audio probe, and the byte reader that all probes share. */
import { MediaError } from "#shared/children/media-error.ts";

import { PROBE_LIMITS } from "../limits.ts";

export type AudioFormat = "pcm" | "wav" | "mp3" | "aac" | "flac" | "ogg" | "mp4" | "webm";

export interface AudioFacts {
  readonly format: AudioFormat;
  /** Duration in seconds, counted from the audio itself if the format allows. A duration in a header is only the caller's claim. */
  readonly seconds: number;
  /** Sampling rate in hertz, of one channel. */
  readonly sampleRate: number;
  readonly channels: number;
}

/** Kind of file that error messages name. */
type Subject = "audio" | "video";

/** Bounds-checked reader, which throws `corrupt` when it reads past the end. Counts its steps, so that no file causes unlimited work. */
export interface Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly length: number;
  /** Counts one step of the probe. @throws MediaError corrupt, after more steps than a real file needs */
  step(): void;
  /** Counts bytes that looked like a frame but are none. @throws MediaError corrupt, after more than expected by chance */
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

/** Returns the properties of audio. @throws MediaError corrupt, if no player could play the audio */
export function facts(format: AudioFormat, seconds: number, sampleRate: number, channels: number): AudioFacts {
  if (!(sampleRate >= 1 && sampleRate <= 768_000)) throw corrupt("has an invalid sample rate");
  if (!(channels >= 1 && channels <= 255)) throw corrupt("has an invalid number of channels");
  if (!Number.isFinite(seconds) || seconds <= 0) throw corrupt("contains no audio");
  return { format, seconds, sampleRate, channels };
}

/**
 * Maximum encoder padding that players cut, in seconds. A duration in the header is accepted if it is at most this much shorter than the
 * counted one.
 */
const TRIM_SECONDS_MAX = 1;

/**
 * Decides between the duration in the header and the counted one.
 * @returns the stated duration, if it is plausible as the counted one without encoder padding; otherwise the counted one
 */
export function trimmed(statedSeconds: number, countedSeconds: number): number {
  const cut = countedSeconds - statedSeconds;
  return cut >= 0 && cut <= Math.min(TRIM_SECONDS_MAX, countedSeconds / 2) ? statedSeconds : countedSeconds;
}

/** Returns the duration of audio in a container whose timestamps may leave gaps, because silence is not stored. */
export function withGaps(statedSeconds: number, countedSeconds: number): number {
  return statedSeconds > countedSeconds ? statedSeconds : trimmed(statedSeconds, countedSeconds);
}
