import { resizedTo } from "#shared/calls/capabilities/image-size.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_SIDE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { choice, flag, GRAVITIES, integer } from "../params.ts";
import { checkSide, imageCapability, type ImageOperation, settled } from "./operation.ts";
import { checkSize } from "./sharp.ts";

const SIDE = { min: 1, max: IMAGE_SIDE_PIXELS_MAX, unit: "px" } as const;

const params = {
  width: integer("Width of the result. Default: follows from the height; with `fit: fill` it stays.", SIDE),
  height: integer("Height of the result. Default: follows from the width; with `fit: fill` it stays.", SIDE),
  fit: choice("How to fit the image into a size of another shape.", ["cover", "contain", "fill", "inside", "outside"], {
    default: "cover",
    labels: {
      cover: "Fill and crop",
      contain: "Fit with borders",
      fill: "Stretch",
      inside: "Fit inside, without borders",
      outside: "Cover, without cropping",
    },
  }),
  gravity: choice(
    "Which part to keep when cropping. `entropy` and `attention` pick the most interesting part and are not available for animations.",
    [...GRAVITIES, "entropy", "attention"],
    {
      default: "center",
      labels: { entropy: "Part with most detail", attention: "Most striking part" },
    },
  ),
  kernel: choice("Resampling filter.", ["nearest", "cubic", "mitchell", "lanczos3"], { default: "lanczos3" }),
  enlarge: flag("Allow enlarging. If false, smaller images keep their size.", true),
};

export const operation: ImageOperation<typeof params> = {
  params,
  takesFrames: true,
  // Borders would become opaque in 8 bits only, and sharp measures interest in 8 bits.
  keepsDepth: ({ fit, gravity }) => fit !== "contain" && gravity !== "entropy" && gravity !== "attention",
  rules: [{ rule: "some", of: ["params.width", "params.height"] }],
  async apply({ image, pages, ...own }, { width, height, fit, gravity, kernel, enlarge }) {
    // With one side, `contain` needs no borders. An image that is not enlarged would otherwise get some.
    const isFramed = fit === "contain" && width !== undefined && height !== undefined;
    const resized = resizedTo(own, { width, height, fit, enlarge });
    checkSide(resized.width, resized.height);
    checkSize(resized.width, resized.height, pages);
    if (pages > 1 && (gravity === "entropy" || gravity === "attention")) {
      const got = `${gravity} for an animation of ${pages} frames`;
      throw new MediaError("invalid", `Expected params.gravity to be a place, got ${got}.`);
    }
    const sized = image.resize({
      ...(width === undefined ? {} : { width }),
      ...(height === undefined ? {} : { height }),
      fit: fit === "contain" && !isFramed ? "inside" : fit,
      position: gravity,
      kernel,
      withoutEnlargement: !enlarge,
      background: { r: 0, g: 0, b: 0, alpha: 0 },
    });
    // Rendered first, because sharp fills the background of a JPEG before it adds borders.
    return isFramed && pages === 1 ? (await settled(sized)).image : sized;
  },
};

export default imageCapability(operation, {
  id: "image.resize",
  display_name: "Resize image",
  description: "Resizes an image, cropping or fitting it where the shape differs.",
  examples: [
    { title: "320 pixels wide", params: { width: 320 } },
    {
      title: "A square around the most interesting part",
      params: { width: 256, height: 256, gravity: "attention", format: "webp" },
    },
  ],
});
