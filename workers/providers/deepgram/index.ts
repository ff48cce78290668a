/** Deepgram adapters for transcription and speech. */
import type { Endpoint } from "../http.ts";
import type { ProviderAdapters } from "../provider.ts";
import { createDeepgramSpeech } from "./speech.ts";
import { createDeepgramTranscription } from "./transcription.ts";

export function createDeepgram(endpoint: Endpoint): ProviderAdapters {
  return { speech: createDeepgramSpeech(endpoint), transcription: createDeepgramTranscription(endpoint) };
}
