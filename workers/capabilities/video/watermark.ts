import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";

import { imageOverlay } from "../image/overlay.ts";
import { choice, GRAVITIES, integer, number } from "../params.ts";
import { placed } from "../placed.ts";

import { videoCapability, type VideoOperation } from "./operation.ts";
import { steady, withPicture } from "./scene.ts";
import { TIMES, enableCondition } from "./times.ts";

const params = {
  gravity: choice("Position of the image.", GRAVITIES, { default: "southeast" }),
  margin: integer("Distance from the edges in pixels.", { min: 0, max: 500, unit: "px", default: 16 }),
  scale: number("Width of the image as a percentage of the video's width.", {
    min: 1,
    max: 100,
    unit: "percent",
    default: 15,
  }),
  opacity: number("Opacity: 0 is invisible, 1 is opaque.", { min: 0, max: 1, default: 0.8 }),
  ...TIMES,
};

export const operation: VideoOperation<typeof params> = {
  params,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  second: {
    member: "logo",
    kind: "image",
    description: "The image to place over the video.",
    sample: { file_id: "file-sample-chart" },
  },
  async apply({ scene: before, facts, second, folder, at }, { gravity, margin, scale, opacity, start, end }) {
    if (!second) throw new MediaError("invalid", "Expected input.logo, got none.");
    const scene = start === undefined && end === undefined ? before : steady(before, facts);
    const { width, height } = scene;
    const mark = await imageOverlay(second, (width * scale) / 100, opacity);
    if (mark.width > width || mark.height > height) {
      const got = `${mark.width} × ${mark.height}`;
      throw new MediaError(
        "invalid",
        `Expected params.scale to leave input.logo inside ${width} × ${height} pixels, got ${got}.`,
      );
    }
    const path = join(folder, `logo-${at}.png`);
    await Bun.write(path, mark.data);
    const { left, top } = placed(gravity, scene, mark, margin);
    const x = Math.max(0, Math.min(left, width - mark.width));
    const y = Math.max(0, Math.min(top, height - mark.height));
    const when = enableCondition(start, end, before.seconds);
    const enable = when === undefined ? "" : `:enable='${when}'`;
    return withPicture(
      scene,
      fileSource("video", { path, container: "png_pipe" }),
      `overlay=${x}:${y}:format=yuv420${enable}`,
    );
  },
};

export default videoCapability(operation, {
  id: "video.watermark",
  display_name: "Watermark video",
  description: "Places an image over a video, for its whole duration or a part of it.",
  examples: [
    { title: "In a corner", params: {} },
    { title: "In the centre for one second", params: { gravity: "center", scale: 40, start: 1, end: 2 } },
  ],
});
