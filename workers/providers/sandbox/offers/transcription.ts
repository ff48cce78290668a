/** The sandbox's ear as a provider's: what it spoke comes back word for word, of other sound it says what it is. */
import type { MediaOffers } from "../../media.ts";
import type { SandboxMedia } from "../media/index.ts";
import { type Delay, explained, applyFaults } from "./faults.ts";

interface Tools {
  readonly media: () => Pick<SandboxMedia, "transcribe">;
  readonly delay: Delay;
}

export function createSandboxTranscription({ media, delay }: Tools): Pick<MediaOffers, "transcription"> {
  return {
    transcription: {
      run: async (call) => {
        await applyFaults(call, delay);
        const { audio, language, wantsWords, wantsSegments } = call.input;
        try {
          const heard = await media().transcribe(audio.bytes, { language, signal: call.signal });
          const output = {
            text: heard.text,
            language: heard.language,
            seconds: heard.facts.seconds,
            ...(wantsWords ? { words: heard.words } : {}),
            ...(wantsSegments ? { segments: heard.segments } : {}),
          };
          return { output, usage: { seconds: heard.facts.seconds } };
        } catch (error) {
          throw explained(error, "file");
        }
      },
    },
  };
}
