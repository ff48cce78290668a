/** Smallest calls with which operators test sources of speech, images and transcription. */
import { checkImages } from "#shared/calls/kinds/images.ts";
import { checkSpeech } from "#shared/calls/kinds/speech.ts";
import type { Model, Provider, Source } from "#shared/calls/model.ts";
import type { TestableMedia } from "#shared/operators/sources.ts";

import type { MediaAdapter, MediaCall } from "../providers/media.ts";
import type { Providers } from "../providers/index.ts";
import { adaptTo } from "./source-params.ts";

export interface MediaTest {
  readonly kind: TestableMedia;
  readonly model: Model;
  readonly source: Source;
  readonly provider: Provider;
  readonly signal: AbortSignal;
}

/**
 * Sends the test call. Returns false if the provider has only a queue for the kind: a test would start a paid job.
 * @throws ProviderError; ApiError if the model requires inputs that a test does not have
 */
export async function testMedia(providers: Pick<Providers, "media">, test: MediaTest): Promise<boolean> {
  const { kind, model, provider } = test;
  if (kind === "speech") {
    return run(test, providers.media(provider, kind), checkSpeech({ model: model.slug, input: "Hi" }, model).params);
  }
  if (kind === "images") {
    const { params } = checkImages({ model: model.slug, prompt: "A dot" }, model);
    return run(test, providers.media(provider, kind), params);
  }
  return run(test, providers.media(provider, kind), {
    wantsWords: false,
    wantsSegments: false,
    audio: { bytes: silence(), contentType: "audio/wav", filename: "silence.wav" },
  });
}

async function run<Input, Output>(
  { source, signal }: MediaTest,
  adapter: MediaAdapter<Input, Output> | undefined,
  input: Input,
): Promise<boolean> {
  if (adapter === undefined || !("run" in adapter)) return false;
  // A result that is still being received is not needed.
  const ended = new AbortController();
  const call: MediaCall<Input> = {
    input,
    sourceModel: source.model,
    signal: AbortSignal.any([signal, ended.signal]),
    traits: new Set(source.traits),
    ...(source.fields ? { fields: source.fields } : {}),
    adapt: (body) => adaptTo(source, body),
  };
  try {
    await adapter.run(call);
    return true;
  } finally {
    ended.abort();
  }
}

const SAMPLES_PER_SECOND = 16_000;
const HEADER_BYTES = 44;

/** Returns a second of silence as a WAV file with one channel of 16 bits. */
function silence(): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 2 * SAMPLES_PER_SECOND);
  const view = new DataView(bytes.buffer);
  const text = new TextEncoder();
  bytes.set(text.encode("RIFF"), 0);
  view.setUint32(4, bytes.length - 8, true);
  bytes.set(text.encode("WAVEfmt "), 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLES_PER_SECOND, true);
  view.setUint32(28, 2 * SAMPLES_PER_SECOND, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  bytes.set(text.encode("data"), 36);
  view.setUint32(40, 2 * SAMPLES_PER_SECOND, true);
  return bytes;
}
