/** The sandbox's music as a provider's that works by itself. */
import type { MediaAdapters, MusicInput } from "../../media.ts";
import { SPEECH_TYPES } from "../../speech.ts";
import { keepsJobs } from "./own-jobs.ts";
import type { Tools } from "./faults.ts";

const USUAL_SECONDS = 20;

export function createSandboxMusic({ media, delay }: Tools): Pick<MediaAdapters, "music"> {
  return {
    music: keepsJobs<MusicInput>(
      async ({ input, signal }) => {
        const { prompt, lyrics, format, duration: seconds = USUAL_SECONDS } = input;
        const { bytes } = await media().composeMusic(
          { prompt, lyrics, seconds, seed: input.seed ?? 0, format },
          signal,
        );
        return [{ bytes, contentType: SPEECH_TYPES[format] }];
      },
      delay,
      () => "prompt",
    ),
  };
}
