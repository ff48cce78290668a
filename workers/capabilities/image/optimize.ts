import { stat } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { optimize } from "svgo";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type InputFile, type RunOutput } from "../define.ts";
import { choice, integer } from "../params.ts";
import { textOf } from "../text.ts";
import { MEGAPIXEL_PRICE, PHOTO } from "./operation.ts";
import { type Format, framesOf, MEDIA_TYPES, nameOf, type OpenedImage, openImage, writeImage } from "./sharp.ts";

export default defineCapability({
  id: "image.optimize",
  display_name: "Optimize image",
  description:
    "Makes an image file smaller without visible changes. SVG stays SVG. With `format` same or auto, the result is never larger than the input: if encoding does not help, only metadata is removed.",
  output_modality: "image",
  input: { image: input("image", "The image.") },
  params: {
    format: choice(
      "`same` keeps the format (TIFF and still GIF become PNG); `auto` picks the smaller of WebP and AVIF.",
      ["same", "auto", "jpeg", "webp", "avif", "png"],
      {
        default: "same",
      },
    ),
    max_bytes: integer("Lower the quality until the file is at most this large.", {
      min: 200,
      max: 50_000_000,
      unit: "bytes",
    }),
    min_quality: integer("Minimum quality for `max_bytes`.", { min: 1, max: 100, default: 40 }),
  },
  sample_input: PHOTO,
  examples: [
    { title: "In its own format", params: {} },
    { title: "At most 20 kB, in the smaller format", params: { format: "auto", max_bytes: 20_000 } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs, folder }) {
    if (inputs.image.mediaType === "image/svg+xml") return optimizedSvg(inputs.image, folder, params.max_bytes);
    const { format } = params;
    const isTiff = inputs.image.mediaType === "image/tiff";
    const frames = !isTiff && (format === "same" || format === "auto" || format === "webp");
    const opened = await openImage(inputs.image, { frames });
    const isStill = opened.pages === 1;
    const own = isTiff || (isStill && opened.format === "gif") ? "png" : opened.format;
    const auto: readonly Format[] = isStill ? ["webp", "avif"] : ["webp"];
    const formats = format === "auto" ? auto : [format === "same" ? own : format];
    const tried = await Promise.allSettled(formats.map((one) => smallest(opened, inputs.image, one, folder, params)));
    const encoded = tried.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    // One format can fail while another succeeds, for example for an image above a format's maximum side.
    const failed = tried.find((one) => one.status === "rejected");
    if (encoded.length === 0 && failed) throw failed.reason;
    const [best] = encoded.toSorted((one, other) => one.bytes - other.bytes);
    const { bytes } = inputs.image;
    // A result with fewer frames than the input does not count as smaller.
    const least = opened.dropped > 0 ? Infinity : (best?.bytes ?? 0);
    const most = Math.min(least, params.max_bytes ?? Infinity);
    const stays = format === "same" || format === "auto" || format === opened.format;
    const kept = stays ? await leastTouched(inputs.image, opened, folder, most) : undefined;
    if (kept) return kept;
    if (!best || (params.max_bytes !== undefined && best.bytes > params.max_bytes)) {
      const got = `${best?.bytes ?? 0} at quality ${params.min_quality}`;
      throw new MediaError(
        "invalid",
        `This image cannot be reduced to params.max_bytes ${params.max_bytes}; its smallest size is ${got}.`,
      );
    }
    return { ...best.result, output: { ...best.result.output, bytes: best.bytes, saved: bytes - best.bytes } };
  },
});

interface Tried {
  readonly format: Format;
  readonly result: RunOutput;
  readonly bytes: number;
}

/**
 * Encodes an image with a quality that has no visible loss. If the result exceeds `max_bytes`, searches for the highest quality that fits.
 * If none fits, uses the minimum quality.
 */
async function smallest(
  opened: OpenedImage,
  file: InputFile,
  format: Format,
  folder: string,
  { max_bytes: bytesMax, min_quality: least }: { readonly max_bytes: number | undefined; readonly min_quality: number },
): Promise<Tried> {
  const at = async (quality: number): Promise<Tried> => {
    const fresh = await openImage(file, { frames: opened.pages > 1, depthFor: { format } });
    const output = { format, quality, lossless: false, background: "white", keep_metadata: false };
    const result = await writeImage(folder, fresh.image, fresh, output);
    return { format, result, bytes: (await stat(result.files?.[0]?.path ?? "")).size };
  };
  let best = await at(Math.max(least, 78));
  if (bytesMax === undefined || best.bytes <= bytesMax || format === "png" || format === "gif") return best;
  for (let [low, high] = [least, Math.max(least, 78)]; low < high;) {
    const middle = Math.floor((low + high) / 2);
    best = await at(middle);
    if (best.bytes > bytesMax) high = middle;
    else low = middle + 1;
  }
  return best.bytes <= bytesMax ? best : at(least);
}

/**
 * Writes the input file without metadata to the folder, with its encoded pixels unchanged. If metadata cannot be removed from its format,
 * writes an unchanged copy. Returns undefined if the file exceeds `bytesMax`.
 */
async function leastTouched(
  file: InputFile,
  opened: OpenedImage,
  folder: string,
  bytesMax: number,
): Promise<RunOutput | undefined> {
  const { exif, xmp, iptc, orientation = 1 } = await sharp(file.path).metadata();
  const source = Buffer.from(await Bun.file(file.path).arrayBuffer());
  const bare = withoutMetadata(source, orientation);
  const bytes = bare?.length ?? source.length;
  if (bytes > bytesMax) return undefined;
  const { width, height, format, pages } = opened;
  const name = nameOf("image", format);
  const path = join(folder, `same-${name}`);
  await Bun.write(path, bare ?? source);
  const hasMetadata = bare === undefined && [exif, xmp, iptc].some((one) => one !== undefined);
  return {
    output: {
      width,
      height,
      format,
      ...framesOf(pages),
      bytes,
      saved: source.length - bytes,
      ...(hasMetadata ? { metadata: "kept" } : {}),
    },
    files: [{ path, mediaType: MEDIA_TYPES[format], name }],
    pixels: width * height * pages,
  };
}

async function optimizedSvg(file: InputFile, folder: string, bytesMax: number | undefined): Promise<RunOutput> {
  let data: string;
  try {
    ({ data } = optimize(await textOf(file), { multipass: true }));
  } catch (error) {
    throw new MediaError("corrupt", "The SVG cannot be read.", { cause: error });
  }
  const path = join(folder, "image.svg");
  await Bun.write(path, data);
  const bytes = Buffer.byteLength(data);
  if (bytesMax !== undefined && bytes > bytesMax) {
    throw new MediaError(
      "invalid",
      `This SVG cannot be reduced to params.max_bytes ${bytesMax}; its smallest size is ${bytes}.`,
    );
  }
  return {
    output: { format: "svg", bytes, saved: file.bytes - bytes },
    files: [{ path, mediaType: "image/svg+xml", name: "image.svg" }],
  };
}

/** Removes metadata of cameras and editors from image files. Encoded pixels are not changed. */

/**
 * Removes metadata from a JPEG (T.81), PNG (W3C) or WebP (RFC 9649) file. Returns undefined for any other format, and for a truncated file.
 */
function withoutMetadata(bytes: Buffer, orientation: number): Buffer | undefined {
  try {
    if (bytes.readUInt16BE(0) === 0xffd8) return bareJpeg(bytes, orientation);
    if (bytes.readUInt32BE(0) === 0x8950_4e47) return barePng(bytes, orientation);
    if (bytes.toString("latin1", 0, 4) === "RIFF") return bareWebp(bytes, orientation);
    return undefined;
  } catch (error) {
    // A read past the end means a truncated file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns an EXIF block with only the orientation. */
function turnOf(orientation: number): Buffer {
  const block = Buffer.alloc(26);
  block.write("II*\0\u0008\0\0\0\u0001\0", 0, "latin1");
  block.writeUInt16LE(0x0112, 10);
  block.writeUInt16LE(3, 12);
  block.writeUInt32LE(1, 14);
  block.writeUInt16LE(orientation, 18);
  return block;
}

/** True if a JPEG segment is kept. These are the segments for decoding, JFIF, colour profiles and Adobe's colour encoding. */
function isKeptSegment(marker: number, body: string): boolean {
  if (marker === 0xe2) return body.startsWith("ICC_PROFILE\0");
  return marker < 0xe1 || (marker > 0xef && marker !== 0xfe) || marker === 0xee;
}

/** Copies a JPEG file without metadata, up to its end marker. Data after the end marker is another file with its own metadata. */
function bareJpeg(bytes: Buffer, orientation: number): Buffer {
  const head = Buffer.concat([
    Buffer.from([0xff, 0xe1, 0, 34]),
    Buffer.from("Exif\0\0", "latin1"),
    turnOf(orientation),
  ]);
  const kept = [bytes.subarray(0, 2), ...(orientation === 1 ? [] : [head])];
  for (let at = 2; ;) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) throw new RangeError("no marker where one has to be");
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) return Buffer.concat([...kept, bytes.subarray(at, at + 2)]);
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
    let end = at + 2 + (isAlone ? 0 : bytes.readUInt16BE(at + 2));
    if (marker === 0xda) end = endOfScan(bytes, end);
    if (isKeptSegment(marker, bytes.toString("latin1", at + 4, at + 16))) kept.push(bytes.subarray(at, end));
    at = end;
  }
}

/** Returns the offset of the next JPEG marker after the scan data. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes.readUInt8(at + 1);
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw new RangeError("a scan without an end");
}

/** Optional PNG chunks that are kept, because they affect the display of the image. */
const PNG_KEPT = new Set(["tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "pHYs", "acTL", "fcTL", "fdAT"]);

function barePng(bytes: Buffer, orientation: number): Buffer {
  const kept = [bytes.subarray(0, 8)];
  for (let at = 8; ;) {
    const end = at + 12 + bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (end > bytes.length) throw new RangeError("a chunk without an end");
    const isCritical = /^[A-Z]/.test(name);
    if (isCritical || PNG_KEPT.has(name)) kept.push(bytes.subarray(at, end));
    if (name === "IHDR" && orientation !== 1) kept.push(pngChunk("eXIf", turnOf(orientation)));
    if (name === "IEND") return Buffer.concat(kept);
    at = end;
  }
}

function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(Bun.hash.crc32(named));
  return Buffer.concat([length, named, check]);
}

const WEBP_KEPT = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);
const [EXIF_FLAG, XMP_FLAG] = [0x08, 0x04];

function bareWebp(bytes: Buffer, orientation: number): Buffer {
  const kept: Buffer[] = [];
  const end = 8 + bytes.readUInt32LE(4);
  for (let at = 12; at + 8 <= end;) {
    const next = at + 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2);
    const name = bytes.toString("latin1", at, at + 4);
    if (next > bytes.length) throw new RangeError("a chunk without an end");
    const chunk = Buffer.from(bytes.subarray(at, next));
    if (name === "VP8X") chunk.writeUInt8((chunk.readUInt8(8) & ~(EXIF_FLAG | XMP_FLAG)) | (orientation === 1 ? 0 : EXIF_FLAG), 8); // prettier-ignore
    if (WEBP_KEPT.has(name)) kept.push(chunk);
    at = next;
  }
  if (orientation !== 1) {
    const block = turnOf(orientation);
    const head = Buffer.from("EXIF\0\0\0\0", "latin1");
    head.writeUInt32LE(block.length, 4);
    kept.push(head, block);
  }
  const body = Buffer.concat(kept);
  const head = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  head.writeUInt32LE(body.length + 4, 4);
  return Buffer.concat([head, body]);
}
