/**
 * Determines durations of audio packets from the packets themselves. Decoders use the same bytes, so that a false duration would damage the
 * recording. Timestamps of a container are only the caller's claim.
 */
import type { Cursor } from "./facts.ts";
import { flacFrame } from "./flac.ts";
import { mpegFrame } from "./frames.ts";

/** Returns the duration of the packet in these bytes, in seconds; 0 without audio. The result may depend on earlier packets. */
export type PacketClock = (cursor: Cursor, at: number, end: number) => number;

export const OPUS_RATE = 48_000;

/** Returns the duration of an Opus packet, from its first two bytes (RFC 6716, 3.1 and 3.2). */
export const opusClock: PacketClock = ({ bytes }, at, end) => {
  if (at >= end || at >= bytes.length) return 0;
  const toc = bytes[at] ?? 0;
  const config = toc >> 3;
  const sizes = config < 12 ? [480, 960, 1_920, 2_880] : config < 16 ? [480, 960] : [120, 240, 480, 960];
  const size = sizes[config < 12 ? config & 3 : config < 16 ? config & 1 : config & 3] ?? 960;
  const code = toc & 3;
  return (size * (code === 0 ? 1 : code === 3 ? (bytes[at + 1] ?? 0) & 0x3f : 2)) / OPUS_RATE;
};

/** Returns a clock for packets of constant duration, such as those of AAC. */
export function evenClock(seconds: number): PacketClock {
  return ({ length }, at) => (at < length ? seconds : 0);
}

/** Returns a clock for uncompressed audio, whose duration depends only on its size. */
export function plainClock(bitsPerSecond: number): PacketClock {
  return ({ length }, at, end) => (Math.max(0, Math.min(end, length) - at) * 8) / bitsPerSecond;
}

/** Returns a clock for FLAC packets of one frame. @param sampleRate for frames that state none */
export function flacClock(sampleRate: number): PacketClock {
  return (cursor, at) => {
    const frame = flacFrame(cursor, at);
    return frame === null ? 0 : frame.samples / (frame.sampleRate || sampleRate);
  };
}

/** Returns the duration of an MPEG audio packet (layers I to III) with one or more frames. */
export const mpegClock: PacketClock = (cursor, from, end) => {
  let seconds = 0;
  for (let at = from; at < end;) {
    const frame = mpegFrame(cursor, at);
    if (frame === null) break;
    cursor.step();
    seconds += frame.samples / frame.sampleRate;
    at += frame.length;
  }
  return seconds;
};

/** Size of an AMR frame with its header, in bytes, by frame type. Each frame lasts 20 ms (3GPP TS 26.101 and 26.201, RFC 4867). */
const AMR_NARROW = [13, 14, 16, 18, 20, 21, 27, 32, 6];
const AMR_WIDE = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6];

export function amrClock(isWide: boolean): PacketClock {
  const lengths = isWide ? AMR_WIDE : AMR_NARROW;
  return (cursor, from, end) => {
    let frames = 0;
    for (let at = from; at < Math.min(end, cursor.length); frames += 1) {
      cursor.step();
      at += lengths[((cursor.bytes[at] ?? 0) >> 3) & 15] ?? 1;
    }
    return frames * 0.02;
  };
}

/** Maximum bits per second of AC-3. For E-AC-3, the maximum in practice plus a margin. */
const AC3_BITS = 640_000;
const EAC3_BITS = 2_048_000;
const AC3_RATES = [48_000, 44_100, 32_000];
const AC3_BLOCK = 256;

/**
 * Returns the duration of an AC-3 or E-AC-3 packet from its first frame (ETSI TS 102 366). A packet too large for one frame contains
 * several.
 */
export const ac3Clock: PacketClock = ({ bytes, length }, at, end) => {
  if (at + 6 > Math.min(end, length) || bytes[at] !== 0x0b || bytes[at + 1] !== 0x77) return 0;
  const [code = 0, version = 0] = bytes.subarray(at + 4, at + 6);
  const isExtended = version >> 3 > 10;
  const rate = AC3_RATES[code >> 6] ?? (AC3_RATES[(code >> 4) & 3] ?? 48_000) / 2;
  const blocks = isExtended && code >> 6 !== 3 ? ([1, 2, 3, 6][(code >> 4) & 3] ?? 6) : 6;
  return Math.max((blocks * AC3_BLOCK) / rate, ((end - at) * 8) / (isExtended ? EAC3_BITS : AC3_BITS));
};
