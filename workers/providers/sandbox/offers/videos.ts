/** The sandbox's videos as a provider's that works by itself. */
import type { MediaOffers, VideoInput } from "../../media.ts";
import { bytesOf } from "../../video-media.ts";
import { type SandboxMedia, videoSize } from "../media/index.ts";
import { keepsJobs } from "./own-jobs.ts";
import type { Delay } from "./faults.ts";

interface Tools {
  readonly media: () => Pick<SandboxMedia, "makeVideo">;
  readonly delay: Delay;
}

const USUAL_SECONDS = 4;

export function createSandboxVideos({ media, delay }: Tools): Pick<MediaOffers, "video"> {
  return {
    video: keepsJobs<VideoInput>(
      async ({ input, signal, onProgress }) => {
        const { prompt, negativePrompt, image, video, duration: seconds = USUAL_SECONDS } = input;
        const params = {
          prompt,
          negativePrompt,
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
