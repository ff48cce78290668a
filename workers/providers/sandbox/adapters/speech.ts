/** Speech adapter of the sandbox. Speech is streamed from the first sentence in formats that support it. */
import type { MediaAdapters, SpeechFormat } from "../../media.ts";
import { ProviderError } from "../../provider.ts";
import { characters, SPEECH_TYPES } from "../../speech.ts";
import { applyFaults, explained, mediaModel, type Tools } from "./faults.ts";

/** Formats that can be streamed. Headers of the other formats depend on the whole audio. */
const STREAMED: ReadonlySet<SpeechFormat> = new Set(["mp3", "wav", "pcm"]);

export function createSandboxSpeech({ media, delay }: Tools): Pick<MediaAdapters, "speech"> {
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
          // Invalid parameters are rejected before the response begins.
          const first = await pieces.next();
          const open = onceOnly(streamOf(asSpoken(first, pieces, breaksOff)));
          return { output: { contentType: SPEECH_TYPES[format], open }, usage };
        } catch (error) {
          throw explained(error, "input");
        }
      },
    },
  };
}

async function* asSpoken(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void, void>,
  breaksOff: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    if (first.done !== true) yield first.value;
    if (breaksOff) throw new ProviderError("failed", "the sandbox breaks off as it was told to");
    yield* rest;
  } catch (error) {
    throw explained(error, "input");
  } finally {
    await rest.return();
  }
}

function onceOnly<T>(one: T): () => Promise<T> {
  let isTaken = false;
  return () => {
    if (isTaken) return Promise.reject(new ProviderError("failed", "the sandbox speaks once"));
    isTaken = true;
    return Promise.resolve(one);
  };
}

function streamOf(pieces: AsyncGenerator<Uint8Array, void, void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void pieces.return(),
  });
}
