/** A video of a prompt, of an image that is moved over, or of another video. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { AAC, H264, MP4, runFilterGraph } from "#workers/children/filter-graph.ts";

import type { Flite } from "../speech/flite.ts";
import { openInputVideo, transformedVideo } from "./input-video.ts";
import { movingImage } from "./moving-image.ts";
import { FRAMES_PER_SECOND, type VideoTask } from "./params.ts";
import { soundtrack } from "./soundtrack.ts";

/** A key frame every two seconds lets players jump. At most 12 Mbit/s: 30 s of noise are 45 MB. */
const ENCODING = { ...H264.options, g: `${2 * FRAMES_PER_SECOND}`, bf: "0", maxrate: "12M", bufsize: "12M" };

/**
 * An MP4 of H.264 and AAC with exactly the seconds and pixels of the params.
 * @param onProgress hears the share that is done, 0 to 1
 * @throws MediaError unsupported, too_large, corrupt, for the input
 */
export async function makeVideo(
  task: VideoTask,
  input: Uint8Array,
  loadVoice: () => Promise<Flite>,
  onProgress: (share: number) => void,
): Promise<Uint8Array> {
  const video = task.source === "video" ? await openInputVideo(task, input) : null;
  const frames = video === null ? await movingImage(task, input) : await transformedVideo(task, video);
  const sound = await soundtrack(task, video, loadVoice);
  const path = join(task.directory, "output.mp4");
  try {
    await runFilterGraph({
      graph: `${frames}[v];${sound}[a]`,
      streams: [
        { label: "v", encoder: H264.encoder, options: ENCODING },
        { label: "a", ...AAC },
      ],
      output: { path, ...MP4 },
      secondsMax: task.seconds,
      onSeconds: (seconds) => onProgress(seconds / task.seconds),
    });
  } catch (error) {
    // With foreign frames FFmpeg fails because of them.
    if (video === null || (error instanceof MediaError && error.fault === "too_large")) throw error;
    throw new MediaError("corrupt", "The video cannot be decoded: its data are damaged.", { cause: error });
  }
  return new Uint8Array(await readFile(path));
}
