import { MediaError } from "#shared/children/media-error.ts";

import { input } from "../define.ts";
import { choice, color, flag, GRAVITIES, integer, number, text } from "../params.ts";
import { placed } from "../placed.ts";
import { imageCapability, type ImageOperation } from "./operation.ts";
import { imageOverlay, textOverlay, turned } from "./overlay.ts";
import { checkColor } from "./sharp.ts";

const params = {
  text: text("Watermark text. Required unless `input.logo` is given.", { max: 500 }),
  gravity: choice("Position of the watermark.", GRAVITIES, { default: "southeast" }),
  margin: integer("Distance from the edges in pixels.", { min: 0, max: 2_000, unit: "px", default: 16 }),
  scale: number("Width of the logo as a percentage of the image's width.", {
    min: 1,
    max: 100,
    unit: "percent",
    default: 15,
  }),
  opacity: number("Opacity: 0 is invisible, 1 is opaque.", { min: 0, max: 1, default: 0.6 }),
  tile: flag("Repeat the watermark over the whole image.", false),
  angle: number("Clockwise rotation of the watermark in degrees.", { min: -360, max: 360, unit: "deg", default: 0 }),
  color: color("Text colour.", { default: "white" }),
  size: integer("Font size in pixels. Default: image height divided by 20.", { min: 4, max: 2_000, unit: "px" }),
};

export const operation: ImageOperation<typeof params> = {
  params,
  async apply({ image, width, height }, wanted, assets) {
    const { text: markText, gravity, margin, scale, opacity, tile, angle, size } = wanted;
    const { logo } = assets;
    if ((logo === undefined) === (markText === undefined)) {
      throw new MediaError("invalid", `Expected input.logo or params.text, got ${logo ? "both" : "none"}.`);
    }
    checkColor("params.color", wanted.color);
    const drawn = logo
      ? await imageOverlay(logo, (width * scale) / 100, opacity)
      : await textOverlay(markText ?? "", {
          size: size ?? Math.max(12, Math.round(height / 20)),
          fill: wanted.color,
          opacity,
        });
    const mark = await turned(drawn, angle);
    if (mark.width > width || mark.height > height) {
      const got = `${mark.width} × ${mark.height}`;
      throw new MediaError("invalid", `Expected a watermark inside ${width} × ${height} pixels, got ${got}.`);
    }
    if (tile) return image.composite([{ input: mark.data, tile: true }]);
    const { left, top } = placed(gravity, { width, height }, mark, margin);
    const inside = {
      left: Math.max(0, Math.min(left, width - mark.width)),
      top: Math.max(0, Math.min(top, height - mark.height)),
    };
    return image.composite([{ input: mark.data, ...inside }]);
  },
};

export default imageCapability(operation, {
  id: "image.watermark",
  display_name: "Watermark image",
  description: "Places a logo or text over an image, once or tiled.",
  assets: { logo: input("image", "The logo. Required unless `params.text` is given.", { optional: true }) },
  examples: [
    { title: "Text in a corner", params: { text: "© Sluice" } },
    { title: "Text tiled over the image", params: { text: "DRAFT", tile: true, opacity: 0.2, angle: -30 } },
  ],
});
