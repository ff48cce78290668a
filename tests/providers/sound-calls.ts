/** Calls of speech and transcription, for tests of the families that do them. */
import { ProviderError } from "#workers/providers/provider.ts";
import type { DirectOffer, MediaCall, MediaOffer, SpeechInput, TranscriptionInput } from "#workers/providers/media.ts";

type Extra = Partial<Pick<MediaCall<unknown>, "sourceModel" | "signal" | "adapt">>;

export function speechCall(input: Partial<SpeechInput> = {}, extra: Extra = {}): MediaCall<SpeechInput> {
  return callOf({ text: "Good morning.", format: "mp3", speed: 1, ...input }, extra);
}

export const AUDIO = {
  bytes: Buffer.from("RIFF....WAVE and so on"),
  contentType: "audio/wav",
  filename: "my secret.wav",
};

export function transcriptionCall(
  input: Partial<TranscriptionInput> = {},
  extra: Extra = {},
): MediaCall<TranscriptionInput> {
  return callOf({ audio: AUDIO, wantsWords: false, wantsSegments: false, ...input }, extra);
}

function callOf<Input>(input: Input, extra: Extra): MediaCall<Input> {
  const signal = new AbortController().signal;
  return { input, sourceModel: "m", signal, traits: new Set(), adapt: () => undefined, ...extra };
}

/** Sets members as the `overrides` of a source do. */
export function overriding(members: Readonly<Record<string, unknown>>): Extra {
  return { adapt: (body) => void Object.assign(body, members) };
}

export function direct<Input, Output>(offer: MediaOffer<Input, Output> | undefined): DirectOffer<Input, Output> {
  if (!offer || !("run" in offer)) throw new Error("expected an offer that answers in one exchange");
  return offer;
}

export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`expected a ProviderError, got ${String(error)}`);
}

/** What any upstream may do wrong, by the name that the local servers know it by, and its class. */
export const FAULTS = [
  ["html", "failed"],
  ["html-502", "failed"],
  ["redirect", "failed"],
  ["cut-body", "failed"],
  ["empty", "failed"],
  ["error-in-200", "failed"],
  ["reset", "failed"],
  ["reset-after-head", "failed"],
  ["gzip-bomb", "failed"],
] as const;
