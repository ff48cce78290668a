/** Creates audio files with false headers, and a valid WAV for comparison. */
import { oggChecksum } from "../ogg.ts";
import { be, bytesOf, checksumOf, ebml, le, type Part } from "../file-parts.ts";

export interface WavHead {
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly code?: number;
  readonly blockBytes?: number;
  readonly byteRate?: number;
  readonly dataBytes?: number;
  readonly riffBytes?: number;
  readonly formatBytes?: number;
  /** Bytes that follow the 16 standard bytes of the format chunk. */
  readonly extension?: Part;
  /** Chunks before the samples. */
  readonly chunks?: Part;
}

/** Returns a WAV with any header. Its sound is one second of a tone at 8 kHz and 16 bits by default. */
export function wav(head: WavHead = {}, sound: Uint8Array = tone(8_000)): Buffer {
  const { rate = 8_000, channels = 1, bits = 16, code = 1, extension = "", chunks = "" } = head;
  const { blockBytes = Math.ceil((channels * bits) / 8), dataBytes = sound.length } = head;
  const { byteRate = rate * blockBytes, formatBytes = 16 + extension.length } = head;
  const format = [le(code, 2), le(channels, 2), le(rate, 4), le(byteRate, 4), le(blockBytes, 2), le(bits, 2)];
  return bytesOf(
    "RIFF",
    le(head.riffBytes ?? 36 + extension.length + chunks.length + sound.length, 4),
    "WAVEfmt ",
    le(formatBytes, 4),
    ...format,
    extension,
    chunks,
    "data",
    le(dataBytes, 4),
    sound,
  );
}

function tone(samples: number): Buffer {
  const bytes = Buffer.alloc(2 * samples);
  for (let at = 0; at < samples; at += 1) bytes.writeInt16LE(Math.round(8_000 * Math.sin(at / 3)), 2 * at);
  return bytes;
}

/** Returns an MP3 whose tag states millions of frames, equal to hours. @param mp3 frames without a tag */
export function mp3OfHours(mp3: Uint8Array): Buffer {
  const first = Buffer.alloc(1_152);
  first.set(mp3.subarray(0, 4));
  const index = bytesOf("Xing", be(3, 4), be(0x7fffffff, 4), be(0x7fffffff, 4));
  for (const at of [13, 21, 36]) first.set(index, at);
  // The first frame, up to the start of the next one.
  return bytesOf(first.subarray(0, Buffer.from(mp3).indexOf(mp3.subarray(0, 2), 4)), mp3);
}

/** Returns a FLAC of silence in eight channels. Half a megabyte lasts an hour, and decodes to gigabytes. */
export function flacOfSilence(frames: number, rate: number): Buffer {
  const info = Buffer.alloc(34);
  info.fill(0xff, 0, 4);
  info.writeBigUInt64BE((BigInt(rate) << 44n) | (7n << 41n) | (15n << 36n), 10);
  const channels = Buffer.alloc(3 * 8);
  const all = Array.from({ length: frames }, (_, at) => {
    // A frame number is encoded like a character, but some numbers are not characters.
    const number = Buffer.from(String.fromCodePoint(at));
    const head = bytesOf([0xff, 0xf8, 0x70, 0x70], number, [0xff, 0xfe]);
    const body = bytesOf(head, [checksumOf(head, 0x07, 8)], channels);
    return bytesOf(body, be(checksumOf(body, 0x8005, 16), 2));
  });
  return bytesOf("fLaC", [0x80, 0, 0, 34], info, ...all);
}

/** Returns a copy of a FLAC whose STREAMINFO states 2³⁶ - 1 samples. */
export function flacOfHours(flac: Uint8Array): Buffer {
  const bytes = Buffer.from(flac);
  bytes[21] = (bytes[21] ?? 0) | 0x0f;
  bytes.fill(0xff, 22, 26);
  return bytes;
}

/** Returns a copy of an Ogg file whose pages state a position after hours. Their checksums are valid. */
export function oggOfHours(ogg: Uint8Array): Buffer {
  const bytes = Buffer.from(ogg);
  for (let at = bytes.indexOf("OggS"); at >= 0; at = bytes.indexOf("OggS", at + 4)) {
    if (bytes.readBigInt64LE(at + 6) > 0n) bytes.writeBigInt64LE(0x7000_0000_0000n, at + 6);
    bytes.writeUInt32LE(0, at + 22);
    const end = at + 27 + (bytes[at + 26] ?? 0);
    const length = bytes.subarray(at + 27, end).reduce((sum, one) => sum + one, 0);
    bytes.writeUInt32LE(oggChecksum(bytes.subarray(at, end + length)), at + 22);
  }
  return bytes;
}

const HUGE = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe];
const EBML_HEAD = ebml(0x1a45dfa3, [0x42, 0x86, 0x81, 0x01]);

/** Returns a Matroska file with nested elements that state a size of 2⁵⁶ bytes. */
export function matroskaOfHugeSizes(): Buffer {
  const track = bytesOf(ebml(0xd7, [1]), ebml(0x83, [2]), ebml(0x63a2, Buffer.alloc(64), HUGE));
  const tracks = ebml(0x1654ae6b, ebml(0xae, track, HUGE), HUGE);
  return bytesOf(EBML_HEAD, ebml(0x18538067, tracks, HUGE), Buffer.alloc(4_096, 0xff));
}

/** Returns a Matroska file with thousands of nested elements of "unknown" size, which only some elements may have. */
export function matroskaOfNests(): Buffer {
  const open = ebml(0x1f43b675, "", null);
  return bytesOf(EBML_HEAD, ebml(0x18538067, "", null), ...Array<Buffer>(20_000).fill(open));
}
