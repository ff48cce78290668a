import sharp, { type Sharp } from "sharp";

import { choice, number } from "../params.ts";
import { imageCapability, type ImageOperation, settled } from "./operation.ts";
import type { OpenedImage } from "./sharp.ts";

const TYPES = ["blur", "sharpen", "median", "threshold", "pixelate", "sepia", "vignette"] as const;

const params = {
  type: choice("Filter to apply.", TYPES, { required: true }),
  amount: number("Strength of the filter; 0 leaves the image unchanged.", {
    min: 0,
    max: 100,
    default: 50,
    unit: "percent",
  }),
};

export const operation: ImageOperation<typeof params> = {
  params,
  apply: (opened, { type, amount }) => (amount === 0 ? opened.image : FILTERS[type](opened, amount)),
};

const FILTERS: Readonly<
  Record<(typeof TYPES)[number], (opened: OpenedImage, amount: number) => Promise<Sharp> | Sharp>
> = {
  blur: ({ image }, amount) => image.blur(0.3 + amount * 0.3),
  sharpen: ({ image }, amount) => image.sharpen({ sigma: 0.5 + amount / 25 }),
  median: ({ image, width, height }, amount) => {
    // Side of the median window, in pixels; at most the image's side.
    const side = Math.min(1 + 2 * Math.ceil(amount / 20), width, height);
    return side < 2 ? image : image.median(side);
  },
  threshold: async ({ image, hasAlpha, format }, amount) => {
    const level = Math.max(1, Math.round(amount * 2.55));
    if (!hasAlpha) return image.threshold(level);
    // Sharp's `threshold` would make transparent pixels opaque.
    const still = await settled(image.ensureAlpha(), format);
    const { width, height } = still;
    const one = { width, height, channels: 1 } as const;
    const [tones, alpha] = await Promise.all([
      still.image.clone().removeAlpha().threshold(level).extractChannel(0).raw().toBuffer(),
      still.image.clone().extractChannel(3).raw().toBuffer(),
    ]);
    const rgb = await sharp(tones, { raw: one }).toColourspace("srgb").png({ compressionLevel: 1 }).toBuffer();
    return (await settled(sharp(rgb).joinChannel(alpha, { raw: one }))).image;
  },
  pixelate: async ({ image, width, height }, amount) => {
    const size = Math.max(2, Math.round((Math.min(width, height) * amount) / 500));
    const small = await image
      .resize({
        width: Math.max(1, Math.round(width / size)),
        height: Math.max(1, Math.round(height / size)),
        fit: "fill",
      })
      .png()
      .toBuffer();
    return sharp(small).resize({ width, height, fit: "fill", kernel: "nearest" });
  },
  sepia: ({ image }, amount) => image.recomb(sepia(amount / 100)),
  vignette: ({ image, width, height }, amount) =>
    image.composite([{ input: Buffer.from(vignette(width, height, amount / 100)), blend: "atop" }]),
};

const SEPIA = [
  [0.393, 0.769, 0.189],
  [0.349, 0.686, 0.168],
  [0.272, 0.534, 0.131],
] as const;

function sepia(share: number): [[number, number, number], [number, number, number], [number, number, number]] {
  const row = (at: 0 | 1 | 2): [number, number, number] => [
    SEPIA[at][0] * share + (at === 0 ? 1 - share : 0),
    SEPIA[at][1] * share + (at === 1 ? 1 - share : 0),
    SEPIA[at][2] * share + (at === 2 ? 1 - share : 0),
  ];
  return [row(0), row(1), row(2)];
}

/** Returns an SVG with a black overlay whose opacity increases towards the corners. */
function vignette(width: number, height: number, share: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><radialGradient id="v" r="0.75"><stop offset="0.4" stop-opacity="0"/><stop offset="1" stop-opacity="${share}"/></radialGradient><rect width="100%" height="100%" fill="url(#v)"/></svg>`;
}

export default imageCapability(operation, {
  id: "image.filter",
  display_name: "Filter image",
  description: "Applies a filter: blur, sharpen, median, threshold, pixelate, sepia or vignette.",
  examples: [
    { title: "Blurred", params: { type: "blur" } },
    { title: "Large pixels", params: { type: "pixelate", amount: 30 } },
  ],
});
