/** The sandbox's videos as a provider's that works by itself. */
import type { MediaOffers, VideoInput } from "../../media.ts";
import { bytesOf } from "../../video-media.ts";
import type { SandboxMedia } from "../media/index.ts";
import { keepsJobs } from "./own-jobs.ts";
import type { Delay } from "./rehearse.ts";

interface Tools {
  readonly media: () => Pick<SandboxMedia, "makeVideo">;
  readonly delay: Delay;
}

const USUAL = { resolution: "720p", aspectRatio: "16:9", seconds: 4 };

export function createSandboxVideos({ media, delay }: Tools): Pick<MediaOffers, "video"> {
  return {
    video: keepsJobs<VideoInput>(
      async ({ input, signal }) => {
        const { prompt, negativePrompt, image, video, duration: seconds = USUAL.seconds } = input;
        const given = {
          ...(image ? { image: bytesOf(image).bytes } : {}),
          ...(video ? { video: bytesOf(video).bytes } : {}),
        };
        const wish = { prompt, negativePrompt, seconds, ...frameOf(input), seed: input.seed ?? 0, ...given };
        const { bytes } = await media().makeVideo(wish, signal);
        return [{ bytes, contentType: "video/mp4" }];
      },
      delay,
      "image_url",
    ),
  };
}

/** The shorter side is the resolution; sides are even, as H.264 has them. */
function frameOf({ resolution = USUAL.resolution, aspectRatio = USUAL.aspectRatio }: VideoInput): {
  readonly width: number;
  readonly height: number;
} {
  const short = Number(/^(\d+)p$/.exec(resolution)?.[1] ?? 720);
  const [, across = 16, up = 9] = /^(\d+):(\d+)$/.exec(aspectRatio)?.map(Number) ?? [];
  const long = even((short * Math.max(across, up)) / Math.min(across, up));
  return across >= up ? { width: long, height: even(short) } : { width: even(short), height: long };
}

function even(side: number): number {
  return 2 * Math.round(side / 2);
}
