import exifr from "exifr";

import { defineCapability, input } from "../define.ts";
import { flag } from "../params.ts";
import { PHOTO } from "./operation.ts";
import { openImage, pngFrames } from "./sharp.ts";

export default defineCapability({
  id: "image.metadata",
  display_name: "Read image metadata",
  description: "Returns size, format, colour space and EXIF data of an image.",
  output_modality: "text",
  input: { image: input("image", "The image.") },
  params: {
    exif: flag("Include EXIF data (camera, exposure, location).", true),
    stats: flag("Include minimum, maximum, mean and standard deviation of each channel.", false),
  },
  sample_input: PHOTO,
  examples: [
    { title: "Everything but statistics", params: {} },
    { title: "With statistics", params: { stats: true, exif: false } },
  ],
  price: { unit: "per_operation", operation_price: "0.02" },
  engine: "sharp",
  async run({ params, inputs }) {
    const { path, bytes } = inputs.image;
    const { image, width, height } = await openImage(inputs.image, { headOnly: !params.stats });
    const facts = await image.metadata();
    const { format, space, channels, depth, density, hasAlpha, orientation, pages } = facts;
    const frames = format === "png" ? await pngFrames(path) : 1;
    const properties = { format, space, channels, depth, density, orientation, frames: frames > 1 ? frames : pages };
    return {
      output: {
        width,
        height,
        bytes,
        has_alpha: hasAlpha,
        ...Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)),
        ...(params.exif
          ? { exif: await exifOf(format === "tiff" ? path : blockOf(facts.exif ?? profileIn(facts.comments))) }
          : {}),
        ...(params.stats ? { stats: await statsOf(image) } : {}),
      },
    };
  },
});

/** Returns the EXIF block without the header that most formats put before it. The block itself is the same in all formats. */
function blockOf(exif: Buffer | undefined): Buffer | undefined {
  return exif?.subarray(0, 4).toString("latin1") === "Exif" ? exif.subarray(6) : exif;
}

/** Returns the EXIF block from PNG text chunks, into which old ImageMagick versions wrote it as two lines and hexadecimal digits. */
function profileIn(comments: readonly { readonly keyword: string; readonly text: string }[] = []): Buffer | undefined {
  const profile = comments.find(({ keyword }) => /^Raw profile type (?:exif|APP1)$/i.test(keyword))?.text;
  const [, digits] = /^\s*\w+\s+\d+\s+([\da-f\s]+)$/i.exec(profile ?? "") ?? [];
  return digits === undefined ? undefined : Buffer.from(digits.replaceAll(/\s/g, ""), "hex");
}

/** TIFF tags about the storage of pixels, which are not part of a camera's metadata. */
const skip = ["StripOffsets", "StripByteCounts", "TileOffsets", "TileByteCounts", "JPEGTables"];

/** Reads the EXIF members. Returns an empty object if EXIF is absent or unreadable. */
async function exifOf(from: string | Uint8Array | undefined): Promise<object> {
  if (from === undefined) return {};
  try {
    const found = (await exifr.parse(from, { tiff: true, exif: true, gps: true, xmp: false, icc: false, skip })) as
      | object
      | undefined;
    return (JSON.parse(JSON.stringify(found ?? {})) as object) ?? {};
  } catch {
    return {};
  }
}

async function statsOf(image: Awaited<ReturnType<typeof openImage>>["image"]): Promise<object> {
  const { channels, entropy, sharpness, dominant } = await image.stats();
  return {
    channels: channels.map(({ min, max, mean, stdev }) => ({ min, max, mean, stdev })),
    entropy,
    sharpness,
    dominant,
  };
}
