/** ElevenLabs adapters for speech, transcription and music. */
import type { Endpoint } from "../http.ts";
import type { ProviderAdapters } from "../provider.ts";
import { createElevenLabsMusic } from "./music.ts";
import { createElevenLabsSpeech } from "./speech.ts";
import { createElevenLabsTranscription } from "./transcription.ts";

export function createElevenLabs(endpoint: Endpoint): ProviderAdapters {
  return {
    speech: createElevenLabsSpeech(endpoint),
    transcription: createElevenLabsTranscription(endpoint),
    music: createElevenLabsMusic(endpoint),
  };
}
