/**
 * Reads and writes the marker that the sandbox stores in its own speech for its transcription. Each piece of speech has one packet with its
 * text and the times of its words. A packet is `SLu1`, two bytes of length, a CRC-32, then deflated JSON. Packets are stored in the lowest
 * bit of the samples, which raw pcm and wav keep. They are also stored in a tag of formats with tags.
 */
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { wordsOf } from "./pieces.ts";
import type { WordTime } from "./synthesise.ts";

export interface MarkedPiece {
  /** Text of the piece with following white space. All pieces joined are the whole text. */
  readonly text: string;
  readonly durationMs: number;
  /** Times of the words in `wordsOf(text)`, relative to the start of the piece. */
  readonly words: readonly WordTime[];
}

/** Name of the tag that contains the marker. */
const TAG = "SLUICE_SPEECH";
const MAGIC = Buffer.from("SLu1");
const HEAD_BYTES = 10;

export function encodePacket({ text, durationMs, words }: MarkedPiece): Uint8Array {
  const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
  const content = deflateRawSync(JSON.stringify([text, durationMs, times]));
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt16BE(content.length, 4);
  head.writeUInt32BE(crc32(content), 6);
  return Buffer.concat([head, content]);
}

/** Returns the pieces of all intact packets in the bytes, in order. */
function decodePackets(bytes: Buffer): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  for (let at = bytes.indexOf(MAGIC); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    if (at + HEAD_BYTES > bytes.length) break;
    const start = at + HEAD_BYTES;
    const content = bytes.subarray(start, start + bytes.readUInt16BE(at + 4));
    const piece = crc32(content) === bytes.readUInt32BE(at + 6) ? readContent(content) : null;
    if (piece !== null) pieces.push(piece);
  }
  return pieces;
}

/** Parses the content of a packet; null for a packet that the sandbox did not write. */
function readContent(content: Uint8Array): MarkedPiece | null {
  try {
    const json = inflateRawSync(content, { maxOutputLength: MEDIA_LIMITS.markerBytesMax }).toString();
    const [text, durationMs, times] = JSON.parse(json) as [unknown, unknown, unknown];
    if (typeof text !== "string" || !isTime(durationMs) || !Array.isArray(times) || !times.every(isTime)) return null;
    if (times.length !== 2 * wordsOf(text).length) return null;
    const words = wordsOf(text).map((_, index) => ({
      startMs: times[2 * index] ?? 0,
      endMs: times[2 * index + 1] ?? 0,
    }));
    return { text, durationMs, words };
  } catch {
    return null;
  }
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

/**
 * Stores a packet in the lowest bits of the samples and returns them. At -90 dB, the packet is inaudible. Silence is appended so that the
 * packet fits and the bits end at a whole byte.
 */
export function writeLowBits(samples: Int16Array, packet: Uint8Array): Int16Array {
  const marked = new Int16Array(8 * Math.max(packet.length, Math.ceil(samples.length / 8)));
  marked.set(samples);
  for (let bit = 0; bit < 8 * packet.length; bit += 1) {
    const value = ((packet[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    marked[bit] = ((marked[bit] ?? 0) & ~1) | value;
  }
  return marked;
}

/**
 * Returns the pieces whose packets are in the samples. Empty after resampling, mixing or lossy compression.
 * @param samples from -1 to 1
 */
export function readLowBits(samples: Float32Array): MarkedPiece[] {
  const bytes = Buffer.alloc(samples.length >> 3);
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    bytes[bit >> 3] = ((bytes[bit >> 3] ?? 0) << 1) | (((samples[bit] ?? 0) * 32_768) & 1);
  }
  return decodePackets(bytes);
}

/** Returns the packets as tags, for encoders that write tags. */
export function markerTags(packets: readonly Uint8Array[]): Record<string, string> {
  return { [TAG]: Buffer.concat(packets).toString("base64") };
}

/** Flags of an APEv2 tag: the tag has a header, and this block is the header. */
const APE_HAS_HEADER = 0x8000_0000;
const APE_IS_HEADER = 0x2000_0000;

/** Returns the tags as an APEv2 tag. It follows the last frame of an mp3, because its content is known only at the end. */
export function apeTag(tags: Readonly<Record<string, string>>): Uint8Array {
  const items = Object.entries(tags).map(([name, value]) =>
    Buffer.concat([uint32(value.length, 0), Buffer.from(`${name}\0${value}`)]),
  );
  const body = Buffer.concat(items);
  const frame = (flags: number): Buffer =>
    Buffer.concat([Buffer.from("APETAGEX"), uint32(2_000, body.length + 32, items.length, flags, 0, 0)]);
  return Buffer.concat([frame(APE_HAS_HEADER + APE_IS_HEADER), body, frame(APE_HAS_HEADER)]);
}

/** Returns the pieces in a file's tag, for any format. After the name of the tag, one character and then base64 follow. */
export function readTag(file: Uint8Array): MarkedPiece[] {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const at = bytes.indexOf(TAG);
  if (at < 0) return [];
  const start = at + TAG.length + 1;
  const [base64 = ""] = /^[\w+/=]*/.exec(bytes.toString("latin1", start, start + MEDIA_LIMITS.tagBytesMax)) ?? [];
  return decodePackets(Buffer.from(base64, "base64"));
}

function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32LE(value, 4 * index));
  return bytes;
}
