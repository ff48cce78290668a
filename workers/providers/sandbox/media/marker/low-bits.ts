/**
 * Marker packets in the lowest bit of samples, at -90 dB: nobody hears them, and every way of keeping sound without loss
 * keeps them (WAV, FLAC, bare PCM, cutting, joining). A change of volume or rate, or a lossy codec, ends them.
 */
import { decodePacket, PACKET_HEAD_BYTES, PACKET_MAGIC, type MarkedPiece } from "./payload.ts";

/**
 * Writes a packet over and over until the piece ends, so that a piece that was cut still has it. A piece too short for
 * one packet is followed by silence.
 */
export function writeLowBits(samples: Int16Array, packet: Uint8Array): Int16Array {
  const bits = 8 * packet.length;
  const marked = new Int16Array(Math.max(samples.length, bits));
  marked.set(samples);
  for (let index = 0; index < marked.length; index += 1) {
    const bit = index % bits;
    const value = ((packet[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    marked[index] = ((marked[index] ?? 0) & ~1) | value;
  }
  return marked;
}

/** All pieces whose packet is whole somewhere, in the order they sound; repetitions are told once. */
export function readLowBits(samples: Int16Array): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  let window = 0;
  for (let index = 0; index < samples.length; index += 1) {
    window = (window << 1) | ((samples[index] ?? 0) & 1);
    if (window !== (PACKET_MAGIC | 0)) continue;
    const start = index - 31;
    const head = collect(samples, start, PACKET_HEAD_BYTES);
    const length = ((head[4] ?? 0) << 8) | (head[5] ?? 0);
    const found = decodePacket(collect(samples, start, PACKET_HEAD_BYTES + length));
    if (found === null) continue;
    const last = pieces.at(-1);
    const { piece } = found;
    const isRepeated =
      last?.index === piece.index &&
      last.startMs === piece.startMs &&
      last.endMs === piece.endMs &&
      last.text === piece.text;
    if (!isRepeated) pieces.push(piece);
    index = start + 8 * found.length - 1;
    window = 0;
  }
  return pieces;
}

function collect(samples: Int16Array, start: number, length: number): Uint8Array {
  const available = Math.max(0, Math.min(length, (samples.length - start) >> 3));
  const bytes = new Uint8Array(available);
  for (let index = 0; index < available; index += 1) {
    let byte = 0;
    for (let bit = 0; bit < 8; bit += 1) byte = (byte << 1) | ((samples[start + 8 * index + bit] ?? 0) & 1);
    bytes[index] = byte;
  }
  return bytes;
}
