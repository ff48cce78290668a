import { croppedTo } from "#shared/calls/capabilities/image-size.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_SIDE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { choice, flag, GRAVITIES, integer, text } from "../params.ts";
import { placed } from "../placed.ts";
import { imageCapability, type ImageOperation, settled } from "./operation.ts";
import type { OpenedImage } from "./sharp.ts";

const SIDE = { min: 1, max: IMAGE_SIDE_PIXELS_MAX, unit: "px" } as const;
const PLACE = { min: 0, max: IMAGE_SIDE_PIXELS_MAX, unit: "px" } as const;

const params = {
  x: integer("Left edge of the rectangle. Default: decided by `gravity`, or 0 if `y` is given.", PLACE),
  y: integer("Top edge of the rectangle. Default: decided by `gravity`, or 0 if `x` is given.", PLACE),
  width: integer("Width of the rectangle. Default: as wide as possible.", SIDE),
  height: integer("Height of the rectangle. Default: as tall as possible.", SIDE),
  aspect_ratio: text("Aspect ratio of the rectangle, such as 16:9, as large as possible.", {
    max: 11,
    pattern: "^[1-9][0-9]{0,4}:[1-9][0-9]{0,4}$",
  }),
  gravity: choice(
    "Position of the rectangle. `entropy` and `attention` pick the most interesting part.",
    [...GRAVITIES, "entropy", "attention"],
    { default: "center" },
  ),
  trim: flag("Remove borders of a single colour first.", false),
  trim_threshold: integer("How much border pixels may differ from the corner pixel, for `trim`.", {
    min: 0,
    max: 255,
    default: 10,
  }),
};

export const operation: ImageOperation<typeof params> = {
  params,
  // Sharp measures borders and interest in 8 bits.
  keepsDepth: ({ trim, gravity }) => !trim && gravity !== "entropy" && gravity !== "attention",
  rules: [
    {
      rule: "some",
      of: ["params.width", "params.height", "params.aspect_ratio", "params.x", "params.y", "params.trim"],
    },
  ],
  async apply(opened, { x, y, width, height, aspect_ratio: ratio, gravity, trim, trim_threshold: threshold }) {
    const byEye = gravity === "entropy" || gravity === "attention";
    if (opened.pages > 1 && (trim || byEye)) {
      const got = trim ? "params.trim" : `params.gravity ${gravity}`;
      throw new MediaError("invalid", `Expected a box at a place for ${opened.pages} frames, got ${got}.`);
    }
    if (ratio !== undefined && width !== undefined && height !== undefined) {
      const got = `${width} × ${height} and ${ratio}`;
      throw new MediaError(
        "invalid",
        `Expected params.aspect_ratio with one of params.width, params.height, got ${got}.`,
      );
    }
    const from = trim && hasBorder(opened) ? await settled(opened.image.trim({ threshold }), opened.format) : opened;
    const box = croppedTo(from, { x, y, width, height, aspect_ratio: ratio });
    const hasPosition = x !== undefined || y !== undefined;
    const { left, top } = placed(gravity, from, box);
    const at = { left: x ?? (hasPosition ? 0 : left), top: y ?? (hasPosition ? 0 : top) };
    const isInside = box.width <= from.width && box.height <= from.height;
    if (!hasPosition && isInside && byEye) return byInterest(from, box, gravity);
    if (
      at.left + box.width > from.width ||
      at.top + box.height > from.height ||
      at.left < 0 ||
      at.top < 0 ||
      box.width < 1 ||
      box.height < 1
    ) {
      const got = `${box.width} × ${box.height} at ${at.left}, ${at.top}`;
      throw new MediaError(
        "invalid",
        `Expected params.x, params.y, params.width and params.height to make a box inside ${from.width} × ${from.height} pixels, got ${got}.`,
      );
    }
    return from.image.extract({ ...at, ...box });
  },
};

/**
 * Crops an image to the section with the most detail. The height is cropped first and then the width, because cropping both at once would
 * scale the image.
 */
async function byInterest(
  from: OpenedImage,
  box: { width: number; height: number },
  position: "entropy" | "attention",
) {
  const width = Math.min(box.width, from.width);
  const lower = { width: from.width, height: Math.min(box.height, from.height), fit: "cover", position } as const;
  const strip = await settled(from.image.resize(lower), from.format);
  return strip.image.resize({ width, height: strip.height, fit: "cover", position });
}

/** True if the image is at least 3 pixels wide and high. Smaller images have no pixels within their border. */
function hasBorder({ width, height }: OpenedImage): boolean {
  return width >= 3 && height >= 3;
}

export default imageCapability(operation, {
  id: "image.crop",
  display_name: "Crop image",
  description:
    "Crops an image to a rectangle: at a position, of an aspect ratio, or around the most interesting part. Animations can only be cropped at a position.",
  examples: [
    { title: "Cinema aspect ratio", params: { aspect_ratio: "21:9" } },
    { title: "A rectangle at a position", params: { x: 100, y: 50, width: 400, height: 300 } },
  ],
});
