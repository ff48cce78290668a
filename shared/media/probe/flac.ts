/** Reads FLAC (RFC 9639). Frames are counted one by one. */
import { corrupt, facts, trimmed, type AudioFacts, type Cursor } from "./facts.ts";
import { id3Length } from "./frames.ts";

const BLOCKS = [0, 192, 576, 1_152, 2_304, 4_608, 0, 0, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768];
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const RATE_BY_THOUSANDS = 12;
const RATE_BY_TENS = 14;
/** Bits per sample, by code. 0: as stated in the file's header. Undefined: invalid code. */
const BITS = [0, 8, 12, undefined, 16, 20, 24, 32];

/** Returns audio properties from STREAMINFO; undefined if the file ends within it. @param at offset of the content of STREAMINFO */
export function flacInfo(
  { view, length }: Cursor,
  at: number,
): Readonly<Record<"sampleRate" | "channels" | "bits" | "samples", number>> | undefined {
  if (at + 34 > length) return undefined;
  const packed = view.getUint32(at + 10);
  return {
    sampleRate: packed >>> 12,
    channels: ((packed >>> 9) & 7) + 1,
    bits: ((packed >>> 4) & 31) + 1,
    samples: (packed & 15) * 2 ** 32 + view.getUint32(at + 14),
  };
}

export function probeFlac(cursor: Cursor): AudioFacts {
  const { view } = cursor;
  let at = id3Length(cursor) + 4;
  const info = flacInfo(cursor, at + 4);
  if (info === undefined || (view.getUint8(at) & 0x7f) !== 0) throw corrupt("has no STREAMINFO");
  for (let isLast = false; !isLast && at + 4 <= cursor.length;) {
    cursor.step();
    const head = view.getUint32(at);
    isLast = head >>> 31 === 1;
    at += 4 + (head & 0xff_ffff);
  }
  // Decoders play frames in file order, so frame numbers are ignored. False frame headers, about one in 100 MB, are tolerated by the stated
  // length.
  let counted = 0;
  for (;;) {
    at = cursor.bytes.indexOf(0xff, at);
    if (at < 0 || at + 6 > cursor.length) break;
    const frame = flacFrame(cursor, at);
    if (frame !== null) cursor.step();
    if (frame !== null && (frame.bits === 0 || frame.bits === info.bits)) {
      counted += frame.samples / (frame.sampleRate || info.sampleRate);
    } else cursor.miss();
    at += 1;
  }
  return facts("flac", trimmed(info.samples / info.sampleRate, counted), info.sampleRate, info.channels);
}

interface Frame {
  readonly samples: number;
  /** Sampling rate in hertz. 0: as stated in the file's header. The same applies to `bits`. */
  readonly sampleRate: number;
  readonly bits: number;
}

/** Reads a frame header and verifies its checksum. Returns null if there is no frame at the offset. */
export function flacFrame(cursor: Cursor, at: number): Frame | null {
  const { bytes } = cursor;
  const byte = (index: number): number => bytes[at + index] ?? 0;
  if (byte(0) !== 0xff || (byte(1) & 0xfe) !== 0xf8 || (byte(3) & 1) !== 0 || byte(3) >> 4 > 10) return null;
  const bits = BITS[(byte(3) >> 1) & 7];
  const [blockCode, rateCode] = [byte(2) >> 4, byte(2) & 15];
  const numberLength = utf8Length(bytes, at + 4);
  if (bits === undefined || blockCode === 0 || rateCode === 15 || numberLength === 0) return null;
  let end = 4 + numberLength;
  let samples = BLOCKS[blockCode] ?? 0;
  if (blockCode === 6) samples = byte(end++) + 1;
  else if (blockCode === 7) {
    samples = ((byte(end) << 8) | byte(end + 1)) + 1;
    end += 2;
  }
  let sampleRate = RATES[rateCode] ?? 0;
  if (rateCode === RATE_BY_THOUSANDS) sampleRate = 1_000 * byte(end++);
  else if (rateCode > RATE_BY_THOUSANDS) {
    sampleRate = ((byte(end) << 8) | byte(end + 1)) * (rateCode === RATE_BY_TENS ? 10 : 1);
    end += 2;
  }
  if (at + end >= cursor.length || crc8(bytes, at, end) !== byte(end)) return null;
  return { samples, sampleRate, bits };
}

/** Returns the length of a frame number in bytes; 0 if invalid. Frame numbers are encoded like UTF-8 characters, in up to seven bytes. */
function utf8Length(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0xff;
  if (first < 0x80) return 1;
  const length = Math.clz32(~(first << 24));
  if (length < 2 || length > 7) return 0;
  for (let index = 1; index < length; index += 1) if ((bytes[at + index] ?? 0) >> 6 !== 2) return 0;
  return length;
}

function crc8(bytes: Uint8Array, at: number, length: number): number {
  let crc = 0;
  for (let index = at; index < at + length; index += 1) {
    crc ^= bytes[index] ?? 0;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}
