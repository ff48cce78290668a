import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, type InputFile, inputs } from "../define.ts";
import { choice, integer } from "../params.ts";
import { checkSide, MEGAPIXEL_PRICE } from "./operation.ts";
import { checkColor, checkSize, openImage, OUTPUT, writeImage } from "./sharp.ts";

export default defineCapability({
  id: "image.montage",
  display_name: "Image montage",
  description: "Arranges images in a grid, or makes an animation of them. The first frame of an animation is used.",
  output_modality: "image",
  input: { images: inputs("image", "The images, in order.", [2, 100]) },
  params: {
    mode: choice(
      "`grid` arranges the images in one image; `animation` shows them one after the other (GIF or WebP).",
      ["grid", "animation"],
      { default: "grid" },
    ),
    columns: integer("Number of columns of the grid.", { min: 1, max: 20, default: 3 }),
    gap: integer("Gap between the images of the grid in pixels.", { min: 0, max: 100, unit: "px", default: 8 }),
    cell_width: integer("Width of each image. Default: that of the first image.", { min: 8, max: 4_096, unit: "px" }),
    delay: integer("Milliseconds to show each image of the animation.", {
      min: 20,
      max: 10_000,
      unit: "ms",
      default: 200,
    }),
    ...OUTPUT,
  },
  sample_input: { images: [{ file_id: "file-sample-photo" }, { file_id: "file-sample-chart" }] },
  examples: [
    { title: "Side by side", params: { columns: 2 } },
    { title: "As an animation", params: { mode: "animation", format: "gif", cell_width: 200, delay: 500 } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs: runInputs, folder }) {
    const [first] = runInputs.images;
    if (!first) throw new MediaError("invalid", "Expected at least 2 images, got none.");
    const opened = await openImage(first);
    checkColor("params.background", params.background);
    const width = params.cell_width ?? opened.width;
    const height = Math.max(1, Math.round((width * opened.height) / opened.width));
    const isAnimation = params.mode === "animation";
    const pixels = width * height * runInputs.images.length;
    if (pixels > IMAGE_FRAMES_PIXELS_MAX) {
      throw new MediaError("too_large", `Expected at most ${IMAGE_FRAMES_PIXELS_MAX} pixels in all, got ${pixels}.`);
    }
    const cells: Buffer[] = [];
    for (const file of runInputs.images) cells.push(await cell(file, width, height, params.background));
    const asked = params.format ?? (isAnimation ? "webp" : opened.format);
    if (isAnimation && asked !== "gif" && asked !== "webp") {
      throw new MediaError("invalid", `Expected params.format to be gif or webp for an animation, got ${asked}.`);
    }
    const image = isAnimation
      ? sharp(cells, { join: { animated: true } })
      : grid(cells, width, height, params.columns, params.gap, params.background);
    const timing = isAnimation ? { delay: cells.map(() => params.delay), loop: 0 } : {};
    const written = await writeImage(
      folder,
      image,
      { ...opened, dropped: 0 },
      { ...params, format: asked },
      { timing },
    );
    return { ...written, pixels };
  },
});

async function cell(file: InputFile, width: number, height: number, background: string): Promise<Buffer> {
  const { image } = await openImage(file);
  return image.resize({ width, height, fit: "contain", background }).flatten({ background }).png().toBuffer();
}

function grid(cells: readonly Buffer[], width: number, height: number, most: number, gap: number, background: string) {
  const columns = Math.min(most, cells.length);
  const rows = Math.ceil(cells.length / columns);
  const size = { width: columns * (width + gap) - gap, height: rows * (height + gap) - gap };
  checkSide(size.width, size.height);
  checkSize(size.width, size.height, 1);
  return sharp({ create: { ...size, channels: 3, background } }).composite(
    cells.map((data, at) => ({
      input: data,
      left: (at % columns) * (width + gap),
      top: Math.floor(at / columns) * (height + gap),
    })),
  );
}
