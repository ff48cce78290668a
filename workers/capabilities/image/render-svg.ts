import sharp from "sharp";

import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { integer } from "../params.ts";
import { checkSide, MEGAPIXEL_PRICE } from "./operation.ts";
import { OUTPUT, writeImage } from "./sharp.ts";

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="120"><rect width="200" height="120" rx="16" fill="#3366ff"/><circle cx="60" cy="60" r="36" fill="#ffcc33"/></svg>';

export default defineCapability({
  id: "image.render_svg",
  display_name: "Render SVG",
  description: "Draws an SVG as an image of any size. Files and addresses that it names are not read.",
  output_modality: "image",
  input: { svg: input("text", "The SVG.", { takesText: true }) },
  params: {
    width: integer("Of the result; its own where it is not given.", {
      min: 1,
      max: LIMITS.imageSidePixelsMax,
      unit: "px",
    }),
    height: integer("Of the result; from the width where it is not given.", {
      min: 1,
      max: LIMITS.imageSidePixelsMax,
      unit: "px",
    }),
    dpi: integer("Pixels of an inch, for sizes that are not in pixels.", {
      min: 36,
      max: 1_200,
      unit: "dpi",
      default: 96,
    }),
    ...OUTPUT,
  },
  sample_input: { svg: { text: SVG } },
  examples: [
    { title: "As it is", params: {} },
    { title: "1,000 pixels wide on white", params: { width: 1_000, format: "jpeg" } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs, folder }) {
    // From memory: from a path, files beside it would be drawn into it.
    const data = Buffer.from(await Bun.file(inputs.svg.path).arrayBuffer());
    const opening = { density: params.dpi, limitInputPixels: LIMITS.imagePixelsMax };
    const facts = await sharp(data, opening)
      .metadata()
      .catch((error: unknown) => {
        throw new MediaError("corrupt", "The SVG cannot be read.", { cause: error });
      });
    if (facts.format !== "svg") throw new MediaError("unsupported", `Expected an SVG, got ${facts.format}.`);
    const [width, height] = [params.width ?? 0, params.height ?? 0];
    const scale = Math.max(width / facts.width, height / facts.height) || 1;
    checkSide(facts.width * scale, facts.height * scale);
    // Drawn at the size that is asked for, rather than enlarged.
    const density = Math.min(100_000, params.dpi * scale);
    const drawn = sharp(data, { ...opening, density });
    const sized =
      width === 0 && height === 0
        ? drawn
        : drawn.resize({ ...(width > 0 ? { width } : {}), ...(height > 0 ? { height } : {}), fit: "fill" });
    const from = {
      format: "png",
      width: Math.round(facts.width * scale),
      height: Math.round(facts.height * scale),
      pages: 1,
    } as const;
    return writeImage(folder, sized, from, params).catch((error: unknown) => {
      throw error instanceof MediaError
        ? error
        : new MediaError("corrupt", "The SVG cannot be drawn.", { cause: error });
    });
  },
});
