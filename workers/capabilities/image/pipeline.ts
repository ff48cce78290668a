import type { Sharp } from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, input, named } from "../define.ts";
import { withDefaults } from "../params.ts";
import { inSteps, pipelineParams, type StepOperation } from "../steps.ts";
import { operation as adjust } from "./adjust.ts";
import { operation as chromaKey } from "./chroma-key.ts";
import { operation as composite } from "./composite.ts";
import { operation as crop } from "./crop.ts";
import { operation as filter } from "./filter.ts";
import { eachFrame } from "./frames.ts";
import { type ImageOperation, keepsFrames, MEGAPIXEL_PRICE, settled } from "./operation.ts";
import { operation as resize } from "./resize.ts";
import { operation as rotate } from "./rotate.ts";
import { checkColor, type OpenedImage, openImage, OUTPUT, writeImage } from "./sharp.ts";
import { operation as watermark } from "./watermark.ts";

/** Operations by name. Each operation is also the capability `image.<name>`. */
const OPERATIONS = {
  resize,
  crop,
  rotate,
  adjust,
  filter,
  watermark: { ...watermark, second: { member: "logo", isOptional: true } },
  composite,
  chroma_key: chromaKey,
} as unknown as Readonly<Record<string, ImageOperation & StepOperation>>;

export default defineCapability({
  id: "image.pipeline",
  display_name: "Image pipeline",
  description: "Applies several operations to an image in order and encodes the result once.",
  long_description:
    "Each operation is the capability of the same name without `image.`, with the same `params` except for the output params, which are " +
    "given once in `output`. Operations are applied strictly in order: each works on exactly the pixels that the previous one made, and " +
    "nothing is merged or reordered. Second images are named in `input.assets` and referenced by `asset`.\n\n" +
    "The price counts the larger of input and output, times the number of operations.",
  output_modality: "image",
  composite: true,
  input: {
    image: input("image", "The image."),
    assets: named("image", "Second images (logos, layers), by the names that operations use.", 20),
  },
  params: pipelineParams(OPERATIONS, OUTPUT),
  sample_input: { image: { file_id: "file-sample-photo" }, assets: { logo: { file_id: "file-sample-chart" } } },
  examples: [
    { title: "Smaller", params: { operations: [{ operation: "resize", params: { width: 400 } }] } },
    {
      title: "A greyscale square with a logo, as WebP",
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
    checkColor("params.output.background", output.background);
    const frames = keepsFrames(inputs.image, output.format);
    const keepsDepth = operations.every(({ operation: name, params: own = {} }) => {
      const operation = OPERATIONS[name];
      return operation?.keepsDepth?.(withDefaults(operation.params, own)) === true;
    });
    const depth = keepsDepth ? { depthFor: output } : {};
    const opened = await openImage(inputs.image, { frames, asStored: isStored, ...depth });
    let done = 0;
    const through = async (frame: OpenedImage): Promise<Sharp> => {
      let current = frame;
      await inSteps(OPERATIONS, operations, inputs.assets, async ({ operation, params: own, second, at }) => {
        const assets = operation.second === undefined ? inputs.assets : { [operation.second.member]: second };
        current = await settled(
          await operation.apply(current, own, assets ?? {}),
          opened.format,
          opened.pages,
          opened.deep,
        );
        const { width, height } = current;
        if (width * height > IMAGE_PIXELS_MAX) {
          const got = `${width} × ${height}`;
          throw new MediaError(
            "too_large",
            `Expected at most ${IMAGE_PIXELS_MAX} pixels after operations[${at}], got ${got}.`,
          );
        }
        done += 1;
        progress(done / (operations.length * opened.pages + 1));
      });
      return current.image;
    };
    const writing = { operations: operations.length };
    if (opened.pages === 1) {
      return writeImage(folder, await through(opened), opened, output, { ...writing, source: inputs.image });
    }
    const { image, timing } = await eachFrame(opened, through);
    return writeImage(folder, image, opened, output, { ...writing, timing });
  },
});
