import { brokenRule } from "#shared/capabilities/rules.ts";
import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input, named } from "../define.ts";
import { custom, objectSchema, type Params, text, withDefaults } from "../params.ts";
import { operation as adjust } from "./adjust.ts";
import { operation as chromaKey } from "./chroma-key.ts";
import { operation as composite } from "./composite.ts";
import { operation as crop } from "./crop.ts";
import { operation as filter } from "./filter.ts";
import { assetOf, type Assets, type ImageOperation, MEGAPIXEL_PRICE, settled } from "./operation.ts";
import { operation as resize } from "./resize.ts";
import { operation as rotate } from "./rotate.ts";
import { openImage, OUTPUT, type Output, writeImage } from "./sharp.ts";
import { operation as watermark } from "./watermark.ts";

/** As capabilities they are called `image.<name>`. */
const OPERATIONS = {
  resize,
  crop,
  rotate,
  adjust,
  filter,
  watermark,
  composite,
  chroma_key: chromaKey,
} as unknown as Readonly<Record<string, ImageOperation>>;

/** A second image of its own name, of operations that take one. */
const WITH_LOGO: Params = { asset: text("A member of `input.assets`, as the logo.", { max: 40 }) };

interface Step {
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const STEP = {
  anyOf: Object.entries(OPERATIONS).map(([name, { params }]) => ({
    type: "object",
    properties: {
      operation: { const: name },
      params: objectSchema(name === "watermark" ? { ...params, ...WITH_LOGO } : params),
    },
    required: ["operation"],
    additionalProperties: false,
  })),
};

export default defineCapability({
  id: "image.pipeline",
  display_name: "Image pipeline",
  description: "Does several operations to an image, one after the other, and writes it once.",
  long_description:
    "Each operation is a capability without its `image.`, with that capability's `params` but for the output block, which stands once " +
    "in `output`. Operations are done strictly in their order: each sees exactly the pixels that the one before it made, and nothing is " +
    "merged or moved. Second images are named in `input.assets` and called by `asset`.\n\n" +
    "The price counts the larger of input and output for each operation.",
  output_modality: "image",
  composite: true,
  input: {
    image: input("image", "The image."),
    assets: named("image", "Second images, by the names that operations call them.", 20),
  },
  params: {
    operations: custom<readonly Step[], { readonly required: true }>(
      { description: "Done in this order.", type: "array", items: STEP, minItems: 1, maxItems: 20 },
      { required: true },
    ),
    output: custom<Output, { readonly default: Output }>(
      { ...objectSchema(OUTPUT), description: "How the result is written." },
      { default: {} as Output },
    ),
  },
  sample_input: { image: { file_id: "file-sample-photo" }, assets: { logo: { file_id: "file-sample-chart" } } },
  examples: [
    { title: "Smaller and sharper", params: { operations: [{ operation: "resize", params: { width: 400 } }] } },
    {
      title: "A square in grey with a logo, as WebP",
      params: {
        operations: [
          { operation: "crop", params: { aspect_ratio: "1:1" } },
          { operation: "resize", params: { width: 300 } },
          { operation: "adjust", params: { greyscale: true } },
          { operation: "watermark", params: { asset: "logo", opacity: 0.8 } },
        ],
        output: { format: "webp" },
      },
    },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs, folder, progress }) {
    const { operations, output } = params;
    const [first] = operations;
    const isStored = first?.operation === "rotate" && first.params?.["auto_orient"] === false;
    const opened = await openImage(inputs.image, { asStored: isStored });
    let current = opened;
    for (const [at, step] of operations.entries()) {
      current = await settled(await done(step, at, current, inputs.assets ?? {}), opened.format);
      const { width, height } = current;
      if (width * height > LIMITS.imagePixelsMax) {
        const got = `${width} × ${height}`;
        throw new MediaError(
          "too_large",
          `Expected at most ${LIMITS.imagePixelsMax} pixels after operations[${at}], got ${got}.`,
        );
      }
      progress((at + 1) / (operations.length + 1));
    }
    return writeImage(folder, current.image, opened, output, operations.length);
  },
});

async function done(
  { operation: name, params = {} }: Step,
  at: number,
  image: Awaited<ReturnType<typeof settled>>,
  assets: Assets,
) {
  const operation = OPERATIONS[name];
  if (!operation)
    throw new MediaError("invalid", `Expected params.operations[${at}].operation to be one that there is.`);
  const broken = brokenRule(operation.rules ?? [], { params });
  if (broken) throw new MediaError("invalid", broken.message.replaceAll("params.", `params.operations[${at}].params.`));
  const { asset, ...own } = params;
  const logo =
    typeof asset === "string" ? { logo: assetOf(assets, asset, `params.operations[${at}].params.asset`) } : {};
  try {
    return await operation.apply(image, withDefaults(operation.params, own), name === "watermark" ? logo : assets);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new MediaError(error.fault, error.message.replaceAll("params.", `params.operations[${at}].params.`), {
      cause: error,
    });
  }
}
