/** Requests and responses of fal's video models. Source: the models' own pages under fal.ai/models. */
import type { Members } from "../json.ts";
import type { Fields } from "../fields.ts";
import type { Artifact, MediaCall, MediaResult, VideoInput } from "../media.ts";
import { videoValues } from "../media-fields.ts";

import { bodyOf, type FalBody } from "./body.ts";
import { computeOf, type Delivery, lengthOf, readFiles } from "./files.ts";

/** Default fields for inputs. Nearly all video models of fal have these fields. */
const USUAL: Fields = {
  prompt: "prompt",
  image: "image_url",
  video: "video_url",
  duration: "duration",
  resolution: "resolution",
  aspect_ratio: "aspect_ratio",
  seed: "seed",
  negative_prompt: "negative_prompt",
};

const DELIVERY: Delivery = { members: ["video", "videos", "video_url"], family: "video", name: "video" };

/**
 * Builds the request body of a video call.
 * @throws ProviderError `misconfigured` when the source has no field for the image or the video
 */
export function videoBody({ input, fields }: MediaCall<VideoInput>): FalBody {
  return bodyOf(videoValues(input), { fields, usual: USUAL, required: ["image", "video"] });
}

/**
 * Returns the videos of a response. Returns undefined in the same cases as `readFiles`.
 * @throws the errors of `readFiles`
 */
export function readVideo(answer: Members, asked: number): MediaResult<readonly Artifact[]> | undefined {
  const files = readFiles(answer, DELIVERY, asked);
  return (
    files && { output: files.map(({ artifact }) => artifact), usage: { ...lengthOf(files), ...computeOf(answer) } }
  );
}
