/** Where each format keeps the sandbox's marker, and how it is got out without decoding where that can be. */
import type { AudioFacts } from "#shared/media/probe/facts.ts";
import { createCursor } from "#shared/media/probe/facts.ts";
import { adtsFrame, id3Length } from "#shared/media/probe/frames.ts";
import { readWav } from "#shared/media/probe/wav.ts";
import { samplesOf } from "../own-sound.ts";
import { MARKER_NAME } from "../speech/containers.ts";
import { SAMPLE_RATE } from "../speech/synthesise.ts";
import { readLowBits } from "./low-bits.ts";
import { decodePackets, type MarkedPiece } from "./payload.ts";

/**
 * Pieces the sandbox has spoken, in their order; none for other sound.
 * @param decode called for formats that keep the samples themselves, compressed
 */
export async function findMarker(
  bytes: Uint8Array,
  { format, sampleRate, channels }: AudioFacts,
  decode: () => Promise<Int16Array>,
): Promise<readonly MarkedPiece[]> {
  const comment = readComment(bytes);
  if (comment.length > 0) return comment;
  switch (format) {
    case "pcm":
      return readLowBits(samplesOf(bytes));
    case "wav": {
      const { code, bits, dataStart, dataEnd } = readWav(createCursor(bytes));
      return code === 1 && bits === 16 && channels === 1
        ? readLowBits(samplesOf(bytes.subarray(dataStart, dataEnd)))
        : [];
    }
    case "flac":
      // Only what can be ours is decoded as a whole: half a megabyte of foreign silence is an hour in eight channels.
      return sampleRate === SAMPLE_RATE && channels === 1 ? readLowBits(await decode()) : [];
    case "mp3":
      return readApeTag(bytes);
    case "aac":
      return readDataElements(bytes);
    default:
      return [];
  }
}

/** NAME=base64, as Ogg and FLAC write comments. */
function readComment(bytes: Uint8Array): readonly MarkedPiece[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = file.indexOf(`${MARKER_NAME}=`);
  if (at < 0) return [];
  const start = at + MARKER_NAME.length + 1;
  const [text = ""] = /^[A-Za-z0-9+/=]*/.exec(file.toString("latin1", start, start + COMMENT_CHARACTERS_MAX)) ?? [];
  return decodePackets(Buffer.from(text, "base64"));
}

/** Base64 of the largest marker there can be. */
const COMMENT_CHARACTERS_MAX = 128 * 1_024;
/** Tags stand at the end, with little behind them. */
const TAIL_BYTES = 256 * 1_024;

function readApeTag(bytes: Uint8Array): readonly MarkedPiece[] {
  const tail = bytes.subarray(Math.max(0, bytes.byteLength - TAIL_BYTES));
  const file = Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength);
  const at = file.indexOf(`${MARKER_NAME}\0`);
  return at < 0 ? [] : decodePackets(file.subarray(at + MARKER_NAME.length + 1));
}

/** The first element of each frame, where it is a data stream element of ours. */
function readDataElements(bytes: Uint8Array): readonly MarkedPiece[] {
  const cursor = createCursor(bytes);
  const parts: Uint8Array[] = [];
  for (let at = id3Length(cursor); ;) {
    const frame = adtsFrame(cursor, at);
    if (frame === null || bytes[at + 7] !== 0x80) break;
    const length = bytes[at + 8] ?? 0;
    parts.push(bytes.subarray(at + 9, at + 9 + length));
    at += frame.length;
    cursor.step();
  }
  return decodePackets(Buffer.concat(parts));
}
