/** Video as fal's models take and give it. Source: the models' own pages under fal.ai/models. */
import type { Members } from "../json.ts";
import type { Fields } from "../fields.ts";
import type { Artifact, MediaCall, MediaResult, VideoInput } from "../media.ts";
import { videoValues } from "../media-fields.ts";

import { bodyOf, type FalBody } from "./body.ts";
import { computeOf, type Delivery, lengthOf, readFiles } from "./files.ts";

/** A source that says nothing takes what nearly all do. */
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

/** @throws ProviderError `misconfigured` when the source does not say where the image or the video goes */
export function videoBody({ input, fields }: MediaCall<VideoInput>): FalBody {
  return bodyOf(videoValues(input), { fields, usual: USUAL, required: ["image", "video"] });
}

/** Videos of an answer; undefined and errors as in readFiles. */
export function readVideo(answer: Members, asked: number): MediaResult<readonly Artifact[]> | undefined {
  const files = readFiles(answer, DELIVERY, asked);
  return (
    files && { output: files.map(({ artifact }) => artifact), usage: { ...lengthOf(files), ...computeOf(answer) } }
  );
}
