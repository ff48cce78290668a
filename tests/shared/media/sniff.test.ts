import { expect, test } from "bun:test";

import fc from "fast-check";
import sharp from "sharp";

import { isLegacyText, isText, sniffMediaType, SNIFF_BYTES } from "#shared/media/sniff.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text.padEnd(64, "\u0001"), "latin1");
const box = (brand: string): Uint8Array => bytes(`\0\0\0\u0018ftyp${brand}`);
/** An EBML head that names its kind of document. */
const ebml = (kind: string): Uint8Array =>
  bytes(
    `\u001aE\u00df\u00a3${String.fromCharCode(0x80 + kind.length + 3)}B\u0082${String.fromCharCode(0x80 + kind.length)}${kind}`,
  );
/** A page of Ogg with the first packet of a codec. */
const ogg = (packet: string): Uint8Array => bytes(`OggS\0\u0002${"\0".repeat(20)}\u0001\u0013${packet}`);

const SAMPLES: readonly (readonly [name: string, bytes: Uint8Array, type: string | undefined])[] = [
  ["JPEG", bytes("\u00ff\u00d8\u00ff\u00e0"), "image/jpeg"],
  ["GIF", bytes("GIF89a"), "image/gif"],
  ["WebP", bytes("RIFF1234WEBP"), "image/webp"],
  ["AVIF", box("avif"), "image/avif"],
  ["HEIC", box("heic"), "image/heic"],
  ["HEIF", box("mif1"), "image/heic"],
  ["TIFF", bytes("MM\0*"), "image/tiff"],
  ["PDF", bytes("%PDF-1.7"), "application/pdf"],
  ["WAV", bytes("RIFF1234WAVE"), "audio/wav"],
  ["WAV of 64 bits", bytes("RF641234WAVE"), "audio/wav"],
  ["FLAC", bytes("fLaC"), "audio/flac"],
  ["MP3", bytes("\u00ff\u00fb\u0090\u0064"), "audio/mpeg"],
  ["MP3 with padding behind its tag", bytes("ID3\u0003\0\0\0\0\0\u0005"), "audio/mpeg"],
  ["AAC", bytes("\u00ff\u00f1\u0050\u0080"), "audio/aac"],
  ["AIFF", bytes("FORM\u0000\u0000\u0000\u0020AIFFCOMM"), "audio/aiff"],
  ["AIFF beyond 16 MiB", bytes("FORM\u0001\u0000\u0000\u0020AIFCFVER"), "audio/aiff"],
  ["AAC behind a tag", bytes("ID3\u0003\0\0\0\0\0\u0000\u00ff\u00f1\u0050\u0080"), "audio/aac"],
  ["Opus", ogg("OpusHead"), "audio/ogg"],
  ["Vorbis", ogg("\u0001vorbis"), "audio/ogg"],
  ["Theora", ogg("\u0080theora"), "video/ogg"],
  ["M4A", box("M4A "), "audio/mp4"],
  ["MP4", box("isom"), "video/mp4"],
  ["3GP", box("3gp5"), "video/mp4"],
  ["3GP2", box("3g2a"), "video/mp4"],
  ["QuickTime", box("qt  "), "video/quicktime"],
  ["WebM", ebml("webm"), "video/webm"],
  ["Matroska", ebml("matroska"), "video/x-matroska"],
  ["AVI", bytes("RIFF1234AVI "), "video/x-msvideo"],
  ["WMA and WMV", bytes("0&\u00b2u\u008ef\u00cf\u0011\u00a6\u00d9"), "application/vnd.ms-asf"],
  ["CAF", bytes("caff\0\u0001\0\0"), "audio/x-caf"],
  ["AC-3", bytes("\u000bw\0\0\u0014@"), "audio/ac3"],
  ["E-AC-3", bytes("\u000bw\0\u0080\u003f\u0080"), "audio/eac3"],
  ["bytes that begin like AC-3", bytes("\u000bw\0\0\u00ff\u00ff"), undefined],
  ["FLV", bytes("FLV\u0001\u0005\0\0\0\t"), "video/x-flv"],
  [
    "MPEG-TS",
    Buffer.concat(Array<Buffer>(4).fill(Buffer.from(`G@\0\u0010${"\0".repeat(184)}`, "latin1"))),
    "video/mp2t",
  ],
  ["BMP", bytes("BM\u003c\0\0\0\0\0\0\0\u0036\0\0\0\u0028\0\0\0"), "image/bmp"],
  ["text that begins like BMP", Buffer.from("BMW builds cars (and motorbikes) in Munich"), undefined],
  ["xz", bytes("\u00fd7zXZ\0"), "application/x-xz"],
  ["bzip2", bytes("BZh91AY&SY"), "application/x-bzip2"],
  ["PDF behind other bytes", bytes(`${"junk\n".repeat(200)}%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n`), "application/pdf"],
  ["bytes that name PDF too late", bytes(`\u0080${"\n".repeat(1_024)}%PDF-1.4\n`), undefined],
  ["text on PDF", Buffer.from("The first line is\n%PDF-1.7\nthey say."), undefined],
  ["GLB", bytes("glTF\u0002\0\0\0"), "model/gltf-binary"],
  ["FBX", bytes("Kaydara FBX Binary  \0\u001a\0"), "model/vnd.fbx"],
  ["ZIP", bytes("PK\u0003\u0004"), "application/zip"],
  ["gzip", bytes("\u001f\u008b\b"), "application/gzip"],
  ["a packed document", bytes("PK\u0003\u0004\u0014\0\u0006\0\b\0"), "application/zip"],
  ["text", Buffer.from("plain words"), undefined],
  ["text that begins like GIF", Buffer.from("GIF files hold images"), undefined],
  ["text that begins like a box", Buffer.from("The free trial ends soon"), undefined],
  ["text that begins like another box", Buffer.from("Our wide range of goods"), undefined],
  ["SVG", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), undefined],
  ["JSON", Buffer.from('{"a": 1}'), undefined],
  ["nothing", new Uint8Array(0), undefined],
];

test.each(SAMPLES)("detects %s", async (_name, sample, type) => {
  expect(await sniffMediaType(sample)).toBe(type);
});

test.each(["png", "jpeg", "webp", "gif", "avif", "tiff"] as const)(
  "detects a complete %s by its header",
  async (format) => {
    const image = await sharp({ create: { width: 300, height: 200, channels: 3, background: "teal" } })
      .toFormat(format)
      .toBuffer();
    expect(await sniffMediaType(image)).toBe(`image/${format}`);
    expect(await sniffMediaType(image.subarray(0, 64))).toBe(`image/${format}`);
  },
);

test("answers for any bytes after a known start", async () => {
  const starts = SAMPLES.map(([, sample]) => Buffer.from(sample.subarray(0, 32)));
  const hostile = fc
    .tuple(fc.constantFrom(...starts), fc.nat(32), fc.uint8Array({ maxLength: SNIFF_BYTES }))
    .map(([start, kept, rest]) => Buffer.concat([start.subarray(0, kept), rest]));
  await fc.assert(
    fc.asyncProperty(hostile, async (sample) => {
      const type = await sniffMediaType(sample);
      expect(type === undefined || /^[a-z]+\/[\w.+-]+$/.test(type)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("reads the header only", async () => {
  const sample = Buffer.concat([Buffer.alloc(SNIFF_BYTES, "a"), bytes("\u00ff\u00fb\u0090\u0064")]);
  expect(await sniffMediaType(sample)).toBeUndefined();
});

test("text is UTF-8 without NUL, or UTF-16 by its mark", () => {
  expect(isText(Buffer.from("grün"))).toBe(true);
  expect(isText(Buffer.from("\ufeffab", "utf16le"))).toBe(true);
  expect(isText(Buffer.from("a\0b"))).toBe(false);
  expect(isText(Buffer.from("grün", "latin1"))).toBe(false);
  expect(isLegacyText(Buffer.from("grün\t\f\r\n\u001b", "latin1"))).toBe(true);
  expect(isLegacyText(Buffer.from("gr\u0001n", "latin1"))).toBe(false);
});

test("a character truncated by the header's end is valid", () => {
  const cut = Buffer.from("grü").subarray(0, 3);
  expect([isText(cut), isText(cut, true)]).toEqual([false, true]);
});
