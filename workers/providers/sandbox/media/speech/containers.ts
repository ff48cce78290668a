/** Bare packets as files: what a player expects around them, and where the marker goes in each. */
import { createHash } from "node:crypto";

import type { AudioPacket } from "#workers/children/audio-encoder.ts";
import { createOggWriter, opusTags } from "#workers/children/ogg.ts";

import { SAMPLE_RATE } from "./synthesise.ts";

/** Name of the marker where a format has named comments; FFmpeg carries it along when it converts. */
export const MARKER_NAME = "SLUICE_SPEECH";

/** @param dataBytes null while the length is not known: then it says "until the end" */
export function wavHeader(dataBytes: number | null): Uint8Array {
  const head = new Uint8Array(44);
  const view = new DataView(head.buffer);
  const ascii = (at: number, text: string): void => head.set(new TextEncoder().encode(text), at);
  ascii(0, "RIFF");
  view.setUint32(4, dataBytes === null ? 0xffff_ffff : 36 + dataBytes, true);
  ascii(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLE_RATE, true);
  view.setUint32(28, 2 * SAMPLE_RATE, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  ascii(36, "data");
  view.setUint32(40, dataBytes ?? 0xffff_ffff, true);
  return head;
}

/** Samples as little-endian bytes, which is what OpenAI calls pcm. */
export function pcmBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(2 * samples.length);
  const view = new DataView(bytes.buffer);
  samples.forEach((sample, index) => view.setInt16(2 * index, sample, true));
  return bytes;
}

/** An APEv2 tag for the end of an MP3 file, with one binary item. Players read it as a tag, not as sound. */
export function apeTag(content: Uint8Array): Uint8Array {
  const encoder = new TextEncoder();
  const item = Buffer.concat([
    littleEndian(content.length),
    littleEndian(2),
    encoder.encode(`${MARKER_NAME}\0`),
    content,
  ]);
  const frame = (flags: number): Buffer =>
    Buffer.concat([
      encoder.encode("APETAGEX"),
      littleEndian(2_000),
      littleEndian(item.length + 32),
      littleEndian(1),
      littleEndian(flags),
      new Uint8Array(8),
    ]);
  return new Uint8Array(Buffer.concat([frame(0xa000_0000), item, frame(0x8000_0000)]));
}

/** STREAMINFO as the encoder knows it at its start, with what only the end knows: length and MD5 of the sound. */
export function flacFile(setup: Uint8Array, packets: readonly AudioPacket[], samples: Int16Array): Uint8Array {
  const info = setup.slice(0, 34);
  const view = new DataView(info.buffer);
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of length: the lower 32 of it stand alone.
  view.setUint32(14, samples.length);
  info.set(createHash("md5").update(pcmBytes(samples)).digest(), 18);
  const head = Buffer.concat([new TextEncoder().encode("fLaC"), Uint8Array.of(0x80, 0, 0, 34), info]);
  return new Uint8Array(Buffer.concat([head, ...packets.map(({ bytes }) => bytes)]));
}

/** Granule positions of Opus count at 48 kHz, whatever the rate of the encoder. */
const OPUS_RATE = 48_000;

export function opusFile(
  setup: Uint8Array,
  packets: readonly AudioPacket[],
  samples: number,
  marker: string,
): Uint8Array {
  const writer = createOggWriter();
  const unit = OPUS_RATE / SAMPLE_RATE;
  const skipped = new DataView(setup.buffer, setup.byteOffset).getUint16(10, true);
  const end = BigInt(skipped + samples * unit);
  writer.packet(setup, 0n, { endsPage: true });
  writer.packet(opusTags([`${MARKER_NAME}=${marker}`]), 0n, { endsPage: true });
  let position = 0n;
  packets.forEach((packet, index) => {
    const isLast = index === packets.length - 1;
    position += BigInt(opusPacketSamples(packet.bytes));
    // A page a second; the last one says where the sound really ends.
    writer.packet(packet.bytes, isLast && end < position ? end : position, { isLast, endsPage: index % 50 === 49 });
  });
  return writer.finish();
}

/** Samples of a packet at 48 kHz, from its first byte (RFC 6716, 3.1); a packet of ours has one frame. */
function opusPacketSamples(packet: Uint8Array): number {
  const config = (packet[0] ?? 0) >> 3;
  if (config < 12) return [480, 960, 1_920, 2_880][config & 3] ?? 960;
  if (config < 16) return [480, 960][config & 1] ?? 960;
  return [120, 240, 480, 960][config & 3] ?? 960;
}

/** The 7-byte header of ISO 13818-7 says the frame's length in 13 bits. */
const ADTS_HEADER_BYTES = 7;
const RATE_INDEX_24000 = 6;
/** Bytes of marker in one frame: with them it stays below what a decoder must be able to take (768 a channel). */
const DATA_BYTES = 120;

/**
 * AAC as ADTS. The marker travels in data stream elements, which decoders are told to skip: one before the sound of each
 * frame until it is all said.
 */
export function adtsFile(packets: readonly AudioPacket[], marker: Uint8Array): Uint8Array {
  const frames: Uint8Array[] = [];
  packets.forEach(({ bytes }, index) => {
    const chunk = marker.subarray(index * DATA_BYTES, (index + 1) * DATA_BYTES);
    // Element kind 4, instance 0, not byte-aligned, then its length: sixteen bits, so what follows keeps its alignment.
    const data = chunk.length === 0 ? new Uint8Array(0) : Uint8Array.of(0x80, chunk.length, ...chunk);
    frames.push(adtsHeader(ADTS_HEADER_BYTES + data.length + bytes.length), data, bytes);
  });
  return new Uint8Array(Buffer.concat(frames));
}

function adtsHeader(length: number): Uint8Array {
  return Uint8Array.of(
    0xff,
    0xf1,
    (1 << 6) | (RATE_INDEX_24000 << 2),
    (1 << 6) | (length >> 11),
    (length >> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  );
}

function littleEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}
