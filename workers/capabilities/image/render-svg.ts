import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_SIDE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, input } from "../define.ts";
import { checkLetters } from "../fonts.ts";
import { integer } from "../params.ts";
import { textOf } from "../text.ts";
import { checkSide, MEGAPIXEL_PRICE } from "./operation.ts";
import { checkSize, OUTPUT, writeImage } from "./sharp.ts";

/**
 * Maximum product of an SVG's number of filter effects and the megapixels of its image. Typical drawings use a few small effects for
 * shadows.
 */
export const SVG_EFFECTS_MEGAPIXELS_MAX = 2_000;

/** Density in dpi at which one pixel of the SVG is one pixel of the result. */
const PLAIN_DPI = 72;

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="120"><rect width="200" height="120" rx="16" fill="#3366ff"/><circle cx="60" cy="60" r="36" fill="#ffcc33"/></svg>';

export default defineCapability({
  id: "image.render_svg",
  display_name: "Render SVG",
  description: "Renders an SVG as an image of any size. External files and addresses in the SVG are not loaded.",
  output_modality: "image",
  input: { svg: input("text", "The SVG.", { takesText: true }) },
  params: {
    width: integer("Width of the result. Default: the SVG's own.", {
      min: 1,
      max: IMAGE_SIDE_PIXELS_MAX,
      unit: "px",
    }),
    height: integer("Height of the result. Default: follows from the width.", {
      min: 1,
      max: IMAGE_SIDE_PIXELS_MAX,
      unit: "px",
    }),
    dpi: integer("Pixels per inch, for sizes given in physical units.", {
      min: 36,
      max: 1_200,
      unit: "dpi",
      default: 96,
    }),
    ...OUTPUT,
  },
  sample_input: { svg: { text: SVG } },
  examples: [
    { title: "At its own size", params: {} },
    { title: "1,000 pixels wide on white", params: { width: 1_000, format: "jpeg" } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs, folder }) {
    // Read into memory: from a path, librsvg would include files of the same folder.
    const { path, mediaType } = inputs.svg;
    const isOther = mediaType.startsWith("image/") && !mediaType.startsWith("image/svg");
    const data = Buffer.from(isOther ? await Bun.file(path).bytes() : Buffer.from(await textOf(inputs.svg)));
    checkLetters("the text of input.svg", textElementsOf(data.toString()));
    const [plain, dense] = [await sizeAt(data, PLAIN_DPI), await sizeAt(data, params.dpi)];
    // With another density, a size in pixels grows in proportion, and a size in inches with the square.
    const growth = dense.width / plain.width;
    const isInUnits = params.dpi !== PLAIN_DPI && Math.abs(Math.log(growth) / Math.log(params.dpi / PLAIN_DPI)) > 1.5;
    const own = isInUnits ? scaled(dense, PLAIN_DPI / params.dpi) : plain;
    const { width, height } = wantedSize(own, params.width, params.height);
    checkSide(width, height);
    checkSize(width, height, 1);
    checkEffects(data.toString("latin1"), (width * height) / 1e6);
    // Drawn at the final size instead of enlarged.
    const scale = Math.max(width / plain.width, height / plain.height);
    const density = PLAIN_DPI * (isInUnits ? Math.sqrt(scale) : scale);
    const drawn = sharp(data, { density: Math.min(100_000, Math.max(1, density)), limitInputPixels: false });
    const from = { format: "png", width, height, pages: 1 } as const;
    return writeImage(folder, drawn.resize({ width, height, fit: "fill" }), from, params).catch((error: unknown) => {
      throw error instanceof MediaError
        ? error
        : new MediaError("corrupt", "The SVG cannot be drawn.", { cause: error });
    });
  },
});

/** Matches filter effects that read surrounding pixels. Each takes 0.1 to 4 s per megapixel. */
const EFFECTS =
  /<(?:[\w.-]+:)?fe(?:GaussianBlur|DropShadow|Turbulence|ConvolveMatrix|Morphology|DisplacementMap|DiffuseLighting|SpecularLighting)[\s/>]/g;

/** Checks the number of filter effects in an SVG. @throws MediaError too_large */
function checkEffects(svg: string, megapixels: number): void {
  let effects = 0;
  for (const _ of svg.matchAll(EFFECTS)) effects++;
  const max = Math.floor(SVG_EFFECTS_MEGAPIXELS_MAX / Math.max(1, megapixels));
  if (effects <= max) return;
  throw new MediaError(
    "too_large",
    `Expected at most ${max} blurs and other effects for an image of this size, got ${effects}.`,
  );
}

/** Returns the text of all `text` elements of an SVG. */
function textElementsOf(svg: string): string {
  const texts: string[] = [];
  let depth = 0;
  for (const [part, closing, name = ""] of svg.matchAll(PARTS)) {
    if (name === "text") depth += closing ? -1 : part.endsWith("/>") ? 0 : 1;
    else if (depth > 0 && !part.startsWith("<")) texts.push(part);
  }
  return texts
    .join("\n")
    .replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (reference, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    });
}

/**
 * Matches the parts of an SVG: tags, with their name without prefix, and the text between tags. The pattern scans unterminated comments and
 * names only once, so that it cannot become slow.
 */
const PARTS = /<!--[^]*?(?:-->|$)|<(\/?)(?:[\w.-]+:)?([\w.-]+)(?![\w.-])[^<>]*>|(?:<!\[CDATA\[)?[^<]+/g;

interface Size {
  readonly width: number;
  readonly height: number;
}

async function sizeAt(data: Buffer, density: number): Promise<Size> {
  const facts = await sharp(data, { density, limitInputPixels: false })
    .metadata()
    .catch((error: unknown) => {
      throw new MediaError("corrupt", "The SVG cannot be read, or its own size cannot be drawn.", { cause: error });
    });
  if (facts.format !== "svg") throw new MediaError("unsupported", `Expected an SVG, got ${facts.format}.`);
  return facts;
}

function scaled({ width, height }: Size, by: number): Size {
  return { width: Math.max(1, Math.round(width * by)), height: Math.max(1, Math.round(height * by)) };
}

/** Returns the size of the result. A missing side is derived from the SVG's aspect ratio. */
function wantedSize(own: Size, width: number | undefined, height: number | undefined): Size {
  if (width !== undefined && height !== undefined) return { width, height };
  if (width !== undefined) return { width, height: scaled(own, width / own.width).height };
  return height === undefined ? own : { width: scaled(own, height / own.height).width, height };
}
