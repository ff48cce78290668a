/**
 * The marker that the sandbox leaves in sound it has spoken: for each piece its text and the times of its words. A packet
 * is `SLu1`, two bytes of length, a CRC-32 of the content, the content; numbers in the content are LEB128.
 */
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { wordsOf } from "../speech/synthesise.ts";

export interface MarkedWord {
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface MarkedPiece {
  /** 0 for the first of a text. */
  readonly index: number;
  /** In the whole speech. */
  readonly startMs: number;
  readonly endMs: number;
  /** With the white space after it: pieces put together are the text. */
  readonly text: string;
  readonly words: readonly MarkedWord[];
}

export const PACKET_MAGIC = 0x534c7531;
export const PACKET_HEAD_BYTES = 10;

export function encodePacket(piece: MarkedPiece): Uint8Array {
  const numbers: number[] = [piece.index, piece.startMs, piece.endMs - piece.startMs];
  let before = 0;
  for (const { startMs, endMs } of piece.words) {
    numbers.push(Math.max(0, startMs - before), Math.max(0, endMs - startMs));
    before = Math.max(before, startMs);
  }
  const text = new TextEncoder().encode(piece.text);
  const plain = Uint8Array.from([...leb128([text.length]), ...text, ...leb128(numbers)]);
  const packed = deflateRawSync(plain, { level: 9 });
  const content = packed.length < plain.length ? Uint8Array.of(1, ...packed) : Uint8Array.of(0, ...plain);
  const packet = new Uint8Array(PACKET_HEAD_BYTES + content.length);
  const view = new DataView(packet.buffer);
  view.setUint32(0, PACKET_MAGIC);
  view.setUint16(4, content.length);
  view.setUint32(6, crc32(content));
  packet.set(content, PACKET_HEAD_BYTES);
  return packet;
}

/** The packet that begins at `at`; null where none does, or a damaged or forged one. */
export function decodePacket(
  bytes: Uint8Array,
  at = 0,
): { readonly piece: MarkedPiece; readonly length: number } | null {
  if (bytes.byteLength < at + PACKET_HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at);
  const length = view.getUint16(4);
  if (view.getUint32(0) !== PACKET_MAGIC || bytes.byteLength < at + PACKET_HEAD_BYTES + length) return null;
  const content = bytes.subarray(at + PACKET_HEAD_BYTES, at + PACKET_HEAD_BYTES + length);
  if (crc32(content) !== view.getUint32(6)) return null;
  try {
    const piece = readContent(content);
    return { piece, length: PACKET_HEAD_BYTES + length };
  } catch {
    return null;
  }
}

/** Packets that stand one after the other. */
export function decodePackets(bytes: Uint8Array): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  for (let at = 0; ;) {
    const found = decodePacket(bytes, at);
    if (found === null) return pieces;
    pieces.push(found.piece);
    at += found.length;
  }
}

function readContent(content: Uint8Array): MarkedPiece {
  const body = content.subarray(1);
  const plain =
    content[0] === 1 ? new Uint8Array(inflateRawSync(body, { maxOutputLength: MEDIA_LIMITS.markerBytesMax })) : body;
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = plain[at];
      if (byte === undefined) break;
      at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error("no number");
  };
  const length = number();
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain.subarray(at, at + length));
  at += length;
  const index = number();
  const startMs = number();
  const endMs = startMs + number();
  let before = 0;
  const words = wordsOf(text).map((word) => {
    const wordStart = before + number();
    before = wordStart;
    return { word, startMs: startMs + wordStart, endMs: startMs + wordStart + number() };
  });
  return { index, startMs, endMs, text, words };
}

function leb128(numbers: readonly number[]): number[] {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = Math.max(0, Math.round(number));
    while (rest > 0x7f) {
      bytes.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    bytes.push(rest);
  }
  return bytes;
}
