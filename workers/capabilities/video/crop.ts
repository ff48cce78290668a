import { MediaError } from "#shared/children/media-error.ts";

import { choice, GRAVITIES, integer } from "../params.ts";
import { placed } from "../placed.ts";

import { videoCapability, type VideoOperation } from "./operation.ts";
import { onVideo } from "./scene.ts";

const SIDE = { min: 16, max: 4_096, unit: "px", required: true } as const;
const PLACE = { min: 0, max: 4_096, unit: "px" } as const;

const params = {
  width: integer("Width of the rectangle.", SIDE),
  height: integer("Height of the rectangle.", SIDE),
  x: integer("Left edge of the rectangle. Default: decided by `gravity`.", PLACE),
  y: integer("Top edge of the rectangle. Default: decided by `gravity`.", PLACE),
  gravity: choice("Position of the rectangle, if neither `x` nor `y` is given.", GRAVITIES, { default: "center" }),
};

export const operation: VideoOperation<typeof params> = {
  params,
  keepsDepth: () => true,
  apply({ scene }, { width, height, x, y, gravity }) {
    const hasPosition = x !== undefined || y !== undefined;
    const { left, top } = hasPosition ? { left: x ?? 0, top: y ?? 0 } : placed(gravity, scene, { width, height });
    if (left < 0 || top < 0 || left + width > scene.width || top + height > scene.height) {
      const got = `${width} × ${height}${hasPosition ? ` at ${left}, ${top}` : ""}`;
      throw new MediaError(
        "invalid",
        `Expected params.width and params.height of a box inside ${scene.width} × ${scene.height} pixels, got ${got}.`,
      );
    }
    return onVideo(scene, [`crop=${width}:${height}:${left}:${top}:exact=1`], { width, height });
  },
};

export default videoCapability(operation, {
  id: "video.crop",
  display_name: "Crop video",
  description: "Crops a video to a rectangle.",
  examples: [
    { title: "A square in the middle", params: { width: 180, height: 180 } },
    { title: "A rectangle at a position", params: { width: 160, height: 90, x: 20, y: 40 } },
  ],
});
