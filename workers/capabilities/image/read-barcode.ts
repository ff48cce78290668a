import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { prepareZXingModule, readBarcodes, type ReaderOptions } from "zxing-wasm/reader";

import { defineCapability, input } from "../define.ts";
import { choice, integer, list } from "../params.ts";
import { openImage } from "./sharp.ts";

const FORMATS = {
  qr: "QRCode",
  code128: "Code128",
  code39: "Code39",
  ean13: "EAN-13",
  ean8: "EAN-8",
  upca: "UPC-A",
  datamatrix: "DataMatrix",
  pdf417: "PDF417",
  aztec: "Aztec",
} as const;
type Type = keyof typeof FORMATS;
const TYPES = Object.keys(FORMATS) as Type[];

/** Maximum side length in pixels. Larger images are scaled down before reading. */
const SIDE_MAX = 3_000;

interface Point {
  readonly x: number;
  readonly y: number;
}

export default defineCapability({
  id: "image.read_barcode",
  display_name: "Read barcodes",
  description:
    "Finds QR codes and other barcodes in an image and returns their contents. UPC-A and EAN-13 with a leading 0 have the same bars: " +
    "both are returned as `upca` with 12 digits, or as `ean13` if `types` lists only that.",
  output_modality: "text",
  input: { image: input("image", "The image.") },
  params: {
    types: list("Types to look for. Default: all.", choice("A kind.", TYPES, { required: true }), {
      max: TYPES.length,
    }),
    max: integer("Maximum number of barcodes to return.", { min: 1, max: 50, default: 10 }),
  },
  sample_input: { image: { file_id: "file-sample-scan" } },
  examples: [
    { title: "All types", params: {} },
    { title: "One QR code", params: { types: ["qr"], max: 1 } },
  ],
  price: { unit: "per_operation", operation_price: "0.02" },
  engine: "sharp",
  async run({ params, inputs }) {
    const { image, width, height } = await openImage(inputs.image);
    await prepare();
    const sized = image
      .flatten({ background: "white" })
      .resize({ width: SIDE_MAX, height: SIDE_MAX, fit: "inside", withoutEnlargement: true });
    const { data: page, info } = await sized.png({ compressionLevel: 0 }).toBuffer({ resolveWithObject: true });
    // Returns the corner in coordinates of the original image.
    const corner = ({ x, y }: Point): Point => ({
      x: Math.round((x * width) / info.width),
      y: Math.round((y * height) / info.height),
    });
    const options: ReaderOptions = {
      tryHarder: true,
      maxNumberOfSymbols: params.max,
      ...(params.types === undefined
        ? {}
        : { formats: params.types.map((type) => FORMATS[type]) as NonNullable<ReaderOptions["formats"]> }),
    };
    const found = await readBarcodes(page, options);
    const barcodes = found
      .filter(({ isValid }) => isValid)
      .map(({ format, text, position }) => ({
        ...contentOf(typeOf(format), text, params.types),
        corners: [position.topLeft, position.topRight, position.bottomRight, position.bottomLeft].map(corner),
      }));
    return { output: { barcodes } };
  },
});

/**
 * Returns the content of a barcode. The reader reports UPC-A as EAN-13 with a leading zero, so such a number is returned as UPC-A if UPC-A
 * was requested. GS1 assigns these numbers as UPC-A.
 */
function contentOf(
  type: string,
  text: string,
  types: readonly Type[] = TYPES,
): { readonly type: string; readonly text: string } {
  const isUpca = ["upca", "ean13"].includes(type) && types.includes("upca") && /^0\d{12}$/.test(text);
  return isUpca ? { type: "upca", text: text.slice(1) } : { type, text };
}

function typeOf(format: string): string {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return TYPES.find((type) => plain(FORMATS[type]) === plain(format)) ?? plain(format);
}

/** Loads the WebAssembly file of the package. By default, the module would download it from its authors' server. */
async function prepare(): Promise<void> {
  const path = createRequire(import.meta.url).resolve("zxing-wasm/reader/zxing_reader.wasm");
  await prepareZXingModule({ overrides: { wasmBinary: readFileSync(path).buffer }, fireImmediately: true });
}
