/** Calls of speech and transcription, for tests of the families that do them. */
import type { StartCall, SpeechInput, TranscriptionInput } from "#workers/providers/media.ts";

import { type CallChanges, mediaCall } from "./engine/calls.ts";

export function speechCall(input: Partial<SpeechInput> = {}, changes: CallChanges = {}): StartCall<SpeechInput> {
  return mediaCall({ text: "Good morning.", format: "mp3", speed: 1, ...input }, changes);
}

export const AUDIO = {
  bytes: Buffer.from("RIFF....WAVE and so on"),
  contentType: "audio/wav",
  filename: "my secret.wav",
};

export function transcriptionCall(
  input: Partial<TranscriptionInput> = {},
  changes: CallChanges = {},
): StartCall<TranscriptionInput> {
  return mediaCall({ audio: AUDIO, wantsWords: false, wantsSegments: false, ...input }, changes);
}
