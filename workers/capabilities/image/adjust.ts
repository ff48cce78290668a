import { color, flag, number } from "../params.ts";
import { imageCapability, type ImageOperation } from "./operation.ts";
import { checkColor } from "./sharp.ts";

const params = {
  brightness: number("Brightness factor; 1 is unchanged.", { min: 0, max: 5, default: 1 }),
  contrast: number("Contrast factor; 1 is unchanged.", { min: 0, max: 5, default: 1 }),
  saturation: number("Saturation factor; 0 is grey, 1 is unchanged.", { min: 0, max: 5, default: 1 }),
  hue: number("Hue rotation in degrees.", { min: -360, max: 360, unit: "deg", default: 0 }),
  gamma: number("Gamma correction; higher values lighten the midtones.", { min: 1, max: 3, default: 1 }),
  normalize: flag("Stretch the tones to the full range from black to white.", false),
  greyscale: flag("Convert to greyscale.", false),
  invert: flag("Invert the colours.", false),
  tint: color("Tint the image with this colour, keeping its luminance.", {}),
};

export const operation: ImageOperation<typeof params> = {
  params,
  takesFrames: true,
  apply({ image }, { brightness, contrast, saturation, hue, gamma, normalize, greyscale, invert, tint }) {
    let adjusted = image;
    // Saturation 0 instead of sharp's `greyscale`, which removes the alpha channel of raw pixels.
    const colours = greyscale ? 0 : saturation;
    if (brightness !== 1 || colours !== 1 || hue !== 0) {
      adjusted = adjusted.modulate({ brightness, saturation: colours, hue: Math.round((hue + 360) % 360) });
    }
    // Contrast is applied around middle grey, so that it does not change the brightness.
    if (contrast !== 1) adjusted = adjusted.linear(contrast, 128 * (1 - contrast));
    if (gamma !== 1) adjusted = adjusted.gamma(gamma);
    if (normalize) adjusted = adjusted.normalise();
    if (invert) adjusted = adjusted.negate({ alpha: false });
    if (tint !== undefined) {
      checkColor("params.tint", tint);
      adjusted = adjusted.tint(tint);
    }
    return adjusted;
  },
};

export default imageCapability(operation, {
  id: "image.adjust",
  display_name: "Adjust image",
  description: "Adjusts brightness, contrast, colours and tones.",
  examples: [
    { title: "Black and white", params: { greyscale: true } },
    { title: "Warmer and livelier", params: { saturation: 1.3, hue: 8, brightness: 1.05 } },
  ],
});
