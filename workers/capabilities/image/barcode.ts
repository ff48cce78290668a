import { join } from "node:path";

import { toBuffer, toSVG } from "bwip-js/node";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, color, flag, integer } from "../params.ts";
import { textOf } from "../text.ts";
import { MEGAPIXEL_PRICE } from "./operation.ts";
import { checkColor } from "./sharp.ts";
import sharp from "sharp";

const TYPES = {
  qr: "qrcode",
  code128: "code128",
  ean13: "ean13",
  ean8: "ean8",
  upca: "upca",
  datamatrix: "datamatrix",
  pdf417: "pdf417",
  aztec: "azteccode",
} as const;
type Type = keyof typeof TYPES;

export default defineCapability({
  id: "image.barcode",
  display_name: "Make a barcode",
  description: "Generates a QR code or another barcode.",
  output_modality: "image",
  input: { text: input("text", "Content of the barcode: 1 to 2,000 characters.", { takesText: true }) },
  params: {
    type: choice("Type of barcode.", Object.keys(TYPES) as Type[], { default: "qr" }),
    scale: integer("Size of the smallest element in pixels.", { min: 1, max: 20, default: 4, unit: "px" }),
    margin: integer("Margin around the barcode, in units of the smallest element.", { min: 0, max: 50, default: 10 }),
    level: choice("Error correction level of a QR code: how much of it may be damaged.", ["L", "M", "Q", "H"], {
      default: "M",
      labels: { L: "7 %", M: "15 %", Q: "25 %", H: "30 %" },
    }),
    color: color("Colour of the dark elements.", { default: "black" }),
    background: color("Background colour.", { default: "white" }),
    label: flag("Print the content below the barcode, for types that support it.", false),
    format: choice("Format of the result.", ["png", "svg"], { default: "png" }),
  },
  sample_input: { text: { text: "https://example.com/" } },
  examples: [
    { title: "A QR code", params: {} },
    { title: "A Code 128 with its text, as SVG", params: { type: "code128", label: true, format: "svg" } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs, folder }) {
    const text = await textOf(inputs.text);
    if (text.length < 1 || text.length > 2_000) {
      throw new MediaError("invalid", `Expected 1 to 2000 characters, got ${text.length}.`);
    }
    for (const name of ["color", "background"] as const) checkColor(`params.${name}`, params[name]);
    // A Code 128 holds bytes, and scanners decode bytes above 127 as Latin letters of their own charset.
    if (params.type === "code128" && /[^\0-\x7f]/.test(text)) {
      throw new MediaError("invalid", "Expected ASCII letters, digits and signs for a code128 code.");
    }
    const background = await hexOf(params.background);
    const barcolor = await hexOf(params.color);
    if (barcolor === undefined) {
      throw new MediaError("invalid", `Expected params.color to be visible, got ${params.color}.`);
    }
    const options = {
      bcid: TYPES[params.type],
      text,
      scale: params.scale,
      paddingwidth: params.margin,
      paddingheight: params.margin,
      barcolor,
      ...(background === undefined ? {} : { backgroundcolor: background }),
      includetext: params.label,
      ...(params.type === "qr" ? { eclevel: params.level } : {}),
    };
    const name = `barcode.${params.format}`;
    const path = join(folder, name);
    try {
      if (params.format === "svg") {
        await Bun.write(path, toSVG(options));
        return { output: { type: params.type }, files: [{ path, mediaType: "image/svg+xml", name }] };
      }
      const png = await toBuffer(options);
      await Bun.write(path, png);
      const { width, height } = await sharp(png).metadata();
      return {
        output: { type: params.type, width, height },
        files: [{ path, mediaType: "image/png", name }],
        pixels: width * height,
      };
    } catch (error) {
      const why = String(error instanceof Error ? error.message : error)
        .replace(/^bwipp\.\w+#\d+: /, "")
        .slice(0, 200);
      throw new MediaError("invalid", `Expected a text that fits into a ${params.type} code: ${why}.`, {
        cause: error,
      });
    }
  },
});

/** Returns a colour as hexadecimal digits; undefined if it is fully transparent. */
async function hexOf(color: string): Promise<string | undefined> {
  const pixel = sharp({ create: { width: 1, height: 1, channels: 4, background: color } });
  const rgba = await pixel.raw().toBuffer();
  return rgba[3] === 0 ? undefined : rgba.subarray(0, 3).toString("hex");
}
