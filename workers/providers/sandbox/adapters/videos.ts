/** The sandbox's videos as a provider's that works by itself. */
import type { MediaAdapters, VideoInput } from "../../media.ts";
import { bytesOf } from "../../video-media.ts";
import { videoSize } from "../media/index.ts";
import { keepsJobs } from "./own-jobs.ts";
import type { Tools } from "./faults.ts";

const USUAL_SECONDS = 4;

export function createSandboxVideos({ media, delay }: Tools): Pick<MediaAdapters, "video"> {
  return {
    video: keepsJobs<VideoInput>(
      async ({ input, signal, onProgress }) => {
        const { prompt, image, video, duration: seconds = USUAL_SECONDS } = input;
        const params = {
          prompt,
          seconds,
          ...videoSize(input.resolution, input.aspectRatio),
          seed: input.seed ?? 0,
          ...(image && { image: bytesOf(image).bytes }),
          ...(video && { video: bytesOf(video).bytes }),
        };
        const { bytes } = await media().makeVideo(params, signal, onProgress);
        return [{ bytes, contentType: "video/mp4" }];
      },
      delay,
      ({ video }) => (video ? "video_url" : "image_url"),
    ),
  };
}
