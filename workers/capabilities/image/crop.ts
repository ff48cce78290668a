import { croppedTo } from "#shared/capabilities/image-size.ts";
import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { choice, flag, GRAVITIES, integer, text } from "../params.ts";
import { placed } from "../placed.ts";
import { imageCapability, type ImageOperation, settled } from "./operation.ts";
import type { OpenedImage } from "./sharp.ts";

const SIDE = { min: 1, max: LIMITS.imageSidePixelsMax, unit: "px" } as const;
const PLACE = { min: 0, max: LIMITS.imageSidePixelsMax, unit: "px" } as const;

const params = {
  x: integer("Left edge of the box; the gravity decides where it is not given.", PLACE),
  y: integer("Upper edge of the box; the gravity decides where it is not given.", PLACE),
  width: integer("Width of the box; as wide as it goes where it is not given.", SIDE),
  height: integer("Height of the box; as high as it goes where it is not given.", SIDE),
  aspect_ratio: text("Shape of the box, such as 16:9, as large as it goes.", {
    max: 11,
    pattern: "^[1-9][0-9]{0,4}:[1-9][0-9]{0,4}$",
  }),
  gravity: choice("Where the box stands.", [...GRAVITIES, "entropy", "attention"], { default: "center" }),
  trim: flag("Takes away borders of one colour first.", false),
  trim_threshold: integer("How far a border's pixels may differ from its corner.", { min: 0, max: 255, default: 10 }),
};

export const operation: ImageOperation<typeof params> = {
  params,
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
    const room = croppedTo(from, { x, y, width, height, aspect_ratio: ratio });
    const isGiven = x !== undefined || y !== undefined;
    const { left, top } = placed(gravity, from, room);
    const at = { left: x ?? (isGiven ? 0 : left), top: y ?? (isGiven ? 0 : top) };
    const isInside = room.width <= from.width && room.height <= from.height;
    if (!isGiven && isInside && byEye) return byInterest(from, room, gravity);
    if (
      at.left + room.width > from.width ||
      at.top + room.height > from.height ||
      at.left < 0 ||
      at.top < 0 ||
      room.width < 1 ||
      room.height < 1
    ) {
      const got = `${room.width} × ${room.height} at ${at.left}, ${at.top}`;
      throw new MediaError(
        "invalid",
        `Expected params.x, params.y, params.width and params.height to make a box inside ${from.width} × ${from.height} pixels, got ${got}.`,
      );
    }
    return from.image.extract({ ...at, ...room });
  },
};

/** One side after the other, so that nothing is scaled. */
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

/** A border and something in it. */
function hasBorder({ width, height }: OpenedImage): boolean {
  return width >= 3 && height >= 3;
}

export default imageCapability(operation, {
  id: "image.crop",
  display_name: "Crop image",
  description:
    "Cuts a box out of an image: at a place, of a shape, or around what draws the eye. An animation takes boxes at places only.",
  examples: [
    { title: "As wide as a cinema screen", params: { aspect_ratio: "21:9" } },
    { title: "A box at a place", params: { x: 100, y: 50, width: 400, height: 300 } },
  ],
});
