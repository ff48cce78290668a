import { stat } from "node:fs/promises";
import { join } from "node:path";

import sharp from "sharp";
import { optimize } from "svgo";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type InputFile, type RunOutput } from "../define.ts";
import { choice, integer } from "../params.ts";
import { textOf } from "../text.ts";
import { withoutMetadata } from "./bare.ts";
import { MEGAPIXEL_PRICE, PHOTO } from "./operation.ts";
import { type Format, framesOf, MEDIA_TYPES, nameOf, openImage, type OpenedImage, writeImage } from "./sharp.ts";

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
    const made = tried.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    // One format can fail while another succeeds, for example for an image above a format's maximum side.
    const failed = tried.find((one) => one.status === "rejected");
    if (made.length === 0 && failed) throw failed.reason;
    const [best] = made.toSorted((one, other) => one.bytes - other.bytes);
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
    return { ...best.made, output: { ...best.made.output, bytes: best.bytes, saved: bytes - best.bytes } };
  },
});

interface Tried {
  readonly format: Format;
  readonly made: RunOutput;
  readonly bytes: number;
}

/** Encodes with a quality without visible loss, or with the best one below `max_bytes`. */
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
    const made = await writeImage(folder, fresh.image, fresh, output);
    return { format, made, bytes: (await stat(made.files?.[0]?.path ?? "")).size };
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
 * Returns the file without metadata, or unchanged if metadata cannot be removed from its format; undefined if it is larger than the encoded
 * result.
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
  const isTold = bare === undefined && [exif, xmp, iptc].some((one) => one !== undefined);
  return {
    output: {
      width,
      height,
      format,
      ...framesOf(pages),
      bytes,
      saved: source.length - bytes,
      ...(isTold ? { metadata: "kept" } : {}),
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
