/** The sandbox's ear as a provider's: what it spoke comes back word for word, of other sound it says what it is. */
import type { MediaCall, MediaAdapters } from "../../media.ts";
import { applyFaults, type Delay, explained, mediaModel, type Tools, waiting } from "./faults.ts";

export function createSandboxTranscription({ media, delay }: Tools): Pick<MediaAdapters, "transcription"> {
  return {
    transcription: {
      run: async (call) => {
        await applyFaults(call, call.onText ? NO_DELAY : delay);
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
          await readAlong(call, heard.text, delay);
          return { output, usage: { seconds: heard.facts.seconds } };
        } catch (error) {
          throw explained(error, "file");
        }
      },
    },
  };
}

const NO_DELAY: Delay = () => Promise.resolve();

/** Says a few words at a time; a slow model takes its time between them instead of before all. */
async function readAlong(
  { onText, signal, sourceModel }: Pick<MediaCall<unknown>, "onText" | "signal" | "sourceModel">,
  text: string,
  delay: Delay,
): Promise<void> {
  if (onText === undefined) return;
  const groups = text.match(/(?:\s*\S+){1,4}\s*/g) ?? [];
  const pauseMs = (mediaModel(sourceModel).delayMs ?? 0) / Math.max(1, groups.length);
  for (const group of groups) {
    onText(group);
    if (pauseMs > 0) await waiting(delay(pauseMs, signal));
  }
}
