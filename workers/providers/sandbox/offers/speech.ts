/** The sandbox's speech as a provider's, heard from its first sentence on in formats that can be. */
import type { Artifact, MediaOffers, SpeechFormat } from "../../media.ts";
import { ProviderError } from "../../provider.ts";
import { characters, SPEECH_TYPES } from "../../speech.ts";
import { applyFaults, explained, mediaModel, type Tools } from "./faults.ts";

/** The heads of the others name what comes behind them. */
const STREAMED: ReadonlySet<SpeechFormat> = new Set(["mp3", "wav", "pcm"]);

export function createSandboxSpeech({ media, delay }: Tools): Pick<MediaOffers, "speech"> {
  return {
    speech: {
      run: async (call) => {
        await applyFaults(call, delay);
        const { text, voice, instructions, format, speed } = call.input;
        const params = { text, voice, instructions, format, speed };
        const breaksOff = mediaModel(call.sourceModel).breaksOff === "cut";
        const usage = { characters: characters(text) };
        try {
          if (!STREAMED.has(format) && !breaksOff) {
            const { bytes } = await media().speak(params, call.signal);
            return { output: { bytes, contentType: SPEECH_TYPES[format] }, usage };
          }
          const pieces = media().streamSpeech(params, call.signal);
          // Params that are refused are refused before the response begins.
          const first = await pieces.next();
          return { output: asItComes(first, pieces, SPEECH_TYPES[format], breaksOff), usage };
        } catch (error) {
          throw explained(error, "input");
        }
      },
    },
  };
}

function asItComes(
  first: IteratorResult<Uint8Array, void>,
  pieces: AsyncGenerator<Uint8Array, void, void>,
  contentType: string,
  breaksOff: boolean,
): Artifact {
  let next: Promise<IteratorResult<Uint8Array, void>> | undefined = Promise.resolve(first);
  return {
    contentType,
    open: () => {
      if (!next) return Promise.reject(new ProviderError("failed", "the sandbox speaks once"));
      return Promise.resolve(
        new ReadableStream({
          async pull(controller) {
            try {
              const { done, value } = await (next ?? pieces.next());
              const isFirst = next !== undefined;
              next = undefined;
              if (!isFirst && breaksOff) throw new ProviderError("failed", "the sandbox breaks off as it was told to");
              if (done === true) controller.close();
              else controller.enqueue(value);
            } catch (error) {
              controller.error(explained(error, "input"));
            }
          },
          cancel: () => void pieces.return(),
        }),
      );
    },
  };
}
