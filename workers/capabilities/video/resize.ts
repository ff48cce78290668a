import { MediaError } from "#shared/children/media-error.ts";

import { choice, color, integer, text } from "../params.ts";

import { colorOf } from "./color.ts";
import { boxOf, fitInto, FITS, shapedBox } from "./fit.ts";
import { videoCapability, type VideoOperation } from "./operation.ts";
import { onVideo } from "./scene.ts";

const SIDE = { min: 16, max: 4_096, unit: "px" } as const;

const params = {
  width: integer("Width of the result. Default: follows from the height.", SIDE),
  height: integer("Height of the result. Default: follows from the width.", SIDE),
  aspect_ratio: text("Aspect ratio of the result, such as 9:16. Can be combined with a width or a height.", {
    max: 11,
    pattern: "^[1-9][0-9]{0,4}:[1-9][0-9]{0,4}$",
  }),
  fit: choice("How to fit the video into a size of another shape.", FITS, {
    default: "contain",
    labels: {
      contain: "Fit with borders",
      cover: "Fill and crop",
      fill: "Stretch",
      inside: "Fit inside, without borders",
    },
  }),
  background: color("Colour of the borders.", { default: "black" }),
};

export const operation: VideoOperation<typeof params> = {
  params,
  // Border colours are SDR values.
  keepsDepth: ({ fit, background }) => fit !== "contain" || background === "black",
  rules: [{ rule: "some", of: ["params.width", "params.height", "params.aspect_ratio"] }],
  apply({ scene }, { width, height, aspect_ratio: ratio, fit, background }) {
    if (width !== undefined && height !== undefined && ratio !== undefined) {
      throw new MediaError(
        "invalid",
        "Expected params.aspect_ratio with params.width or params.height at most, got both.",
      );
    }
    const [across = 1, down = 1] = (ratio ?? "1:1").split(":").map(Number);
    const shape = ratio === undefined ? undefined : across / down;
    const box =
      shape !== undefined && width === undefined && height === undefined
        ? shapedBox(scene, shape, fit === "cover")
        : boxOf(scene, width, height, shape);
    const { filters, size } = fitInto(scene, box, fit, colorOf("params.background", background).text);
    return onVideo(scene, filters, size);
  },
};

export default videoCapability(operation, {
  id: "video.resize",
  display_name: "Resize video",
  description: "Changes the size or aspect ratio of a video, adding borders or cropping where the shape differs.",
  examples: [
    { title: "160 pixels wide", params: { width: 160 } },
    { title: "Portrait, filled and cropped", params: { aspect_ratio: "9:16", fit: "cover" } },
  ],
});
