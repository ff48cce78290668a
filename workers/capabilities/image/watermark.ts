import { MediaError } from "#shared/media/media-error.ts";

import { input } from "../define.ts";
import { choice, color, flag, GRAVITIES, integer, number, text } from "../params.ts";
import { placed } from "../placed.ts";
import { imageCapability, type ImageOperation } from "./operation.ts";
import { imageOverlay, textOverlay, turned } from "./overlay.ts";
import { checkColor } from "./sharp.ts";

const params = {
  text: text("Words to lay over it, where no logo is given.", { max: 500 }),
  gravity: choice("Where it stands.", GRAVITIES, { default: "southeast" }),
  margin: integer("From the edges.", { min: 0, max: 2_000, unit: "px", default: 16 }),
  scale: number("Of the image's width, that a logo takes.", { min: 1, max: 100, unit: "percent", default: 15 }),
  opacity: number("1 covers what is below.", { min: 0, max: 1, default: 0.6 }),
  tile: flag("Repeats it over the whole image.", false),
  angle: number("Clockwise.", { min: -360, max: 360, unit: "deg", default: 0 }),
  color: color("Of words.", { default: "white" }),
  size: integer("Height of words; a twentieth of the image where it is not given.", { min: 4, max: 2_000, unit: "px" }),
};

export const operation: ImageOperation<typeof params> = {
  params,
  async apply({ image, width, height }, wanted, assets) {
    const { text: words, gravity, margin, scale, opacity, tile, angle, size } = wanted;
    const { logo } = assets;
    if ((logo === undefined) === (words === undefined)) {
      throw new MediaError("invalid", `Expected input.logo or params.text, got ${logo ? "both" : "none"}.`);
    }
    checkColor("params.color", wanted.color);
    const drawn = logo
      ? await imageOverlay(logo, (width * scale) / 100, opacity)
      : await textOverlay(words ?? "", size ?? Math.max(12, Math.round(height / 20)), wanted.color, opacity);
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
  description: "Lays a logo or words over an image, once or all over.",
  assets: { logo: input("image", "The logo, where no text is given.", { optional: true }) },
  examples: [
    { title: "Words in a corner", params: { text: "© Sluice" } },
    { title: "Words all over", params: { text: "DRAFT", tile: true, opacity: 0.2, angle: -30 } },
  ],
});
