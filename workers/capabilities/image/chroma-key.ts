import sharp from "sharp";

import { choice, integer, number, text } from "../params.ts";
import { imageCapability, type ImageOperation, settled } from "./operation.ts";
import { checkColor } from "./sharp.ts";

const params = {
  color: text(
    "Colour to make transparent: a hex colour, a CSS colour name, or `corner` for the colour of the top left pixel.",
    {
      max: 30,
      default: "corner",
    },
  ),
  tolerance: number("How different a pixel's colour may be and still become transparent.", {
    min: 0,
    max: 100,
    unit: "percent",
    default: 10,
  }),
  mode: choice(
    "`all` removes all matching pixels; `connected` only those connected to the edge of the image.",
    ["all", "connected"],
    { default: "all" },
  ),
  feather: integer("Softness of the edges in pixels.", { min: 0, max: 20, unit: "px", default: 1 }),
};

export const operation: ImageOperation<typeof params> = {
  params,
  async apply(opened, { color, tolerance, mode, feather }) {
    if (color !== "corner") checkColor("params.color", color);
    const { image, width, height } = await settled(opened.image.ensureAlpha(), opened.format);
    const data = await image.raw().toBuffer();
    const key = color === "corner" ? [...data.subarray(0, 3)] : await rgbOf(color);
    const gone = maskOf(data, width, height, key, (tolerance / 100) * 441.7, mode === "connected");
    const mask = sharp(gone, { raw: { width, height, channels: 1 } });
    const soft = await (feather === 0 ? mask : mask.blur(0.3 + feather / 2)).extractChannel(0).raw().toBuffer();
    for (let at = 0; at < soft.length; at++) {
      const alpha = data[at * 4 + 3] ?? 255;
      data[at * 4 + 3] = Math.round((alpha * (255 - (soft[at] ?? 0))) / 255);
    }
    return sharp(data, { raw: { width, height, channels: 4 } });
  },
};

async function rgbOf(color: string): Promise<number[]> {
  const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: color } });
  return [...(await pixel.raw().toBuffer())];
}

/** Returns a mask with the value 255 for each pixel that is removed. */
function maskOf(
  data: Uint8Array,
  width: number,
  height: number,
  key: readonly number[],
  distanceMax: number,
  isConnected: boolean,
): Uint8Array {
  const mask = new Uint8Array(width * height);
  const isNear = (at: number): boolean => {
    const [r = 0, g = 0, b = 0] = key;
    return Math.hypot((data[at * 4] ?? 0) - r, (data[at * 4 + 1] ?? 0) - g, (data[at * 4 + 2] ?? 0) - b) <= distanceMax;
  };
  if (!isConnected) {
    for (let at = 0; at < mask.length; at++) mask[at] = isNear(at) ? 255 : 0;
    return mask;
  }
  const queue: number[] = [];
  const visit = (at: number): void => {
    if (mask[at] !== 0 || !isNear(at)) return;
    mask[at] = 255;
    queue.push(at);
  };
  for (let x = 0; x < width; x++) for (const at of [x, (height - 1) * width + x]) visit(at);
  for (let y = 0; y < height; y++) for (const at of [y * width, y * width + width - 1]) visit(at);
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const x = at % width;
    if (x > 0) visit(at - 1);
    if (x < width - 1) visit(at + 1);
    if (at >= width) visit(at - width);
    if (at < mask.length - width) visit(at + width);
  }
  return mask;
}

export default imageCapability(operation, {
  id: "image.chroma_key",
  display_name: "Remove colour",
  description: "Makes a background of one colour transparent.",
  sample_input: { image: { file_id: "file-sample-chart" } },
  examples: [
    { title: "The colour of the corner pixel", params: { format: "png" } },
    { title: "White, where it touches the edge", params: { color: "white", mode: "connected", format: "webp" } },
  ],
});
