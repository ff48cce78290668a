/** Determines format and duration of audio without decoding it. */
import { MediaError } from "#shared/children/media-error.ts";

import { PROBE_LIMITS } from "../limits.ts";
import { corrupt, createCursor, type AudioFacts, type AudioFormat, type Cursor } from "./facts.ts";
import { probeFlac } from "./flac.ts";
import { adtsFrame, id3Length, mpegFrame, probeFrames } from "./frames.ts";
import { probeMp4 } from "./mp4.ts";
import { probeOgg } from "./ogg.ts";
import { probeWav } from "./wav.ts";
import { probeWebm } from "./webm.ts";

/**
 * Determines format and duration of audio. Reads only what the format needs, once and in a limited number of steps. An audio of 100 MB
 * takes well under a second, most files a few milliseconds. Ignores the caller's file name and type.
 * @throws MediaError unsupported (unknown format), corrupt, too_large
 */
export function probeAudio(bytes: Uint8Array): AudioFacts {
  if (bytes.byteLength > PROBE_LIMITS.audioBytesMax) {
    throw new MediaError(
      "too_large",
      `Expected audio of at most ${PROBE_LIMITS.audioBytesMax} bytes, got ${bytes.byteLength}.`,
    );
  }
  const cursor = createCursor(bytes);
  const format = sniffAudio(cursor);
  if (format === null) {
    throw new MediaError("unsupported", "Expected audio in MP3, AAC, FLAC, WAV, Ogg, MP4 or WebM, got another format.");
  }
  try {
    return PROBES[format](cursor);
  } catch (error) {
    // Reading past the end: the file was truncated within a header.
    if (error instanceof RangeError) throw corrupt("ends too early");
    throw error;
  }
}

const PROBES: Readonly<Record<Exclude<AudioFormat, "pcm">, (cursor: Cursor) => AudioFacts>> = {
  wav: probeWav,
  mp3: (cursor) => probeFrames(cursor, "mp3"),
  aac: (cursor) => probeFrames(cursor, "aac"),
  flac: probeFlac,
  ogg: probeOgg,
  mp4: probeMp4,
  webm: probeWebm,
};

/** Detects the audio format from the bytes alone. Returns null for anything else, including playlists. */
function sniffAudio(cursor: Cursor): Exclude<AudioFormat, "pcm"> | null {
  const head = cursor.ascii(0, 12);
  if (/^(?:RIFF|RF64)....WAVE$/s.test(head)) return "wav";
  if (head.startsWith("OggS")) return "ogg";
  if (head.slice(4, 8) === "ftyp") return "mp4";
  if (head.startsWith("\x1a\x45\xdf\xa3")) return "webm";
  const start = id3Length(cursor);
  if (cursor.ascii(start, 4) === "fLaC") return "flac";
  if (adtsFrame(cursor, start) !== null) return "aac";
  if (mpegFrame(cursor, start) !== null) return "mp3";
  // There may be padding between a tag and the first frame.
  return start > 0 && start < cursor.length ? "mp3" : null;
}
