import { choice } from "../params.ts";

import { videoCapability, type VideoOperation } from "./operation.ts";
import { onVideo } from "./scene.ts";

const TURNS = { 0: [], 90: ["transpose=clock"], 180: ["hflip", "vflip"], 270: ["transpose=cclock"] } as const;
const FLIPS = { horizontal: ["hflip"], vertical: ["vflip"], both: ["hflip", "vflip"], none: [] } as const;

const params = {
  angle: choice("Clockwise rotation in degrees.", [0, 90, 180, 270], { default: 90 }),
  flip: choice("Mirror the video after rotating it.", ["none", "horizontal", "vertical", "both"], { default: "none" }),
};

export const operation: VideoOperation<typeof params> = {
  params,
  keepsDepth: () => true,
  apply({ scene }, { angle, flip }) {
    const { width, height } = scene;
    const lies = angle === 90 || angle === 270;
    return onVideo(scene, [...TURNS[angle], ...FLIPS[flip]], lies ? { width: height, height: width } : {});
  },
};

export default videoCapability(operation, {
  id: "video.rotate",
  display_name: "Rotate video",
  description: "Rotates a video by 90, 180 or 270 degrees and mirrors it.",
  examples: [
    { title: "A quarter clockwise", params: {} },
    { title: "Mirrored, as WebM", params: { angle: 0, flip: "horizontal", format: "webm" } },
  ],
});
