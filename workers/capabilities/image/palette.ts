import { defineCapability, input } from "../define.ts";
import { choice, integer } from "../params.ts";
import { MEGAPIXEL_PRICE, PHOTO } from "./operation.ts";
import { openImage } from "./sharp.ts";

export default defineCapability({
  id: "image.palette",
  display_name: "Extract palette",
  description: "Returns the main colours of an image with their shares and, as a data URL, a tiny preview.",
  output_modality: "text",
  input: { image: input("image", "The image.") },
  params: {
    colors: integer("Number of colours.", { min: 2, max: 32, default: 6 }),
    placeholder: choice(
      "Include a 16-pixel preview as a data URL, to show while the image loads.",
      ["none", "data_url"],
      {
        default: "data_url",
      },
    ),
  },
  sample_input: PHOTO,
  examples: [
    { title: "Six colours", params: {} },
    { title: "Three colours, without a preview", params: { colors: 3, placeholder: "none" } },
  ],
  price: MEGAPIXEL_PRICE,
  engine: "sharp",
  async run({ params, inputs }) {
    const { image, width, height } = await openImage(inputs.image);
    const small = image.resize({ width: 96, height: 96, fit: "inside", withoutEnlargement: true });
    const { data } = await small
      .clone()
      .ensureAlpha()
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    const tiny = small.clone().resize({ width: 16, height: 16, fit: "inside" }).webp({ quality: 40 });
    const url =
      params.placeholder === "none"
        ? {}
        : { placeholder: `data:image/webp;base64,${(await tiny.toBuffer()).toString("base64")}` };
    return { output: { colors: paletteOf(data, params.colors), ...url }, pixels: width * height };
  },
});

type Rgb = readonly [number, number, number];

/**
 * Returns the main colours of an image. Splits the box of colours with the widest channel at its mean until there are enough boxes. Equal
 * colours stay in one box.
 */
function paletteOf(data: Uint8Array, count: number): { color: string; share: number }[] {
  const pixels: Rgb[] = [];
  for (let at = 0; at + 3 < data.length; at += 4) {
    // Transparent pixels are not counted.
    if ((data[at + 3] ?? 0) >= 128) pixels.push([data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0]);
  }
  if (pixels.length === 0) return [];
  const boxes: Rgb[][] = [pixels];
  while (boxes.length < count) {
    const ranges = boxes.map(widest);
    const [at] = ranges.map(({ range }, index) => [index, range] as const).toSorted((a, b) => b[1] - a[1])[0] ?? [0];
    const { channel, range } = ranges[at] ?? { channel: 0, range: 0 };
    if (range === 0) break;
    const box = boxes[at] ?? [];
    const middle = mean(box)[channel];
    const isLow = (pixel: Rgb): boolean => pixel[channel] < middle;
    boxes.splice(
      at,
      1,
      box.filter(isLow),
      box.filter((pixel) => !isLow(pixel)),
    );
  }
  return boxes
    .map((box) => ({ color: hex(mean(box)), share: Math.round((box.length / pixels.length) * 1_000) / 1_000 }))
    .toSorted((one, other) => other.share - one.share);
}

function widest(box: readonly Rgb[]): { channel: 0 | 1 | 2; range: number } {
  const range = (channel: 0 | 1 | 2): number => {
    let [low, high] = [255, 0];
    for (const pixel of box) {
      low = Math.min(low, pixel[channel]);
      high = Math.max(high, pixel[channel]);
    }
    return box.length < 2 ? 0 : high - low;
  };
  const all = ([0, 1, 2] as const).map((channel) => ({ channel, range: range(channel) }));
  return all.toSorted((one, other) => other.range - one.range)[0] ?? { channel: 0, range: 0 };
}

function mean(box: readonly Rgb[]): Rgb {
  const sum = box.reduce((total, [r, g, b]) => [total[0] + r, total[1] + g, total[2] + b] as const, [0, 0, 0] as Rgb);
  return [sum[0] / box.length, sum[1] / box.length, sum[2] / box.length];
}

function hex(color: Rgb): string {
  return `#${color.map((one) => Math.round(one).toString(16).padStart(2, "0")).join("")}`;
}
