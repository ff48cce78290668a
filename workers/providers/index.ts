/** Registers all provider families. A new family takes one file and one line here. */
import type { Provider } from "#shared/calls/model.ts";

import { createAnthropic } from "./anthropic/index.ts";
import { createDeepgram } from "./deepgram/index.ts";
import { createElevenLabs } from "./elevenlabs/index.ts";
import { createFal } from "./fal/index.ts";
import { createGemini } from "./gemini/index.ts";
import { createGoogleCloud } from "./google-cloud/index.ts";
import { createMeshy } from "./meshy/index.ts";
import { createReplicate } from "./replicate/index.ts";
import { createTripo } from "./tripo/index.ts";
import type { Endpoint } from "./http.ts";
import { createOpenAiEmbeddings } from "./openai-compatible/embeddings.ts";
import { createOpenAiCompatible } from "./openai-compatible/index.ts";
import { createOpenAiImages } from "./openai-compatible/images.ts";
import { createOpenAiSpeech } from "./openai-compatible/speech.ts";
import { createOpenAiTranscription } from "./openai-compatible/transcription.ts";
import { createOpenAiVideos } from "./openai-compatible/videos.ts";
import type { MediaKind, MediaAdapters } from "./media.ts";
import type { ChatProvider, EmbeddingsProvider, ProviderAdapters } from "./provider.ts";
import { createSandboxAdapters } from "./sandbox/adapters/index.ts";
import { createSandboxMedia, type SandboxMedia } from "./sandbox/media/index.ts";

/** Returns the sandbox's media generators, which are shared by all its users. */
type Makers = () => SandboxMedia;
type Family = (provider: Provider, key: string | undefined, makers: Makers) => ProviderAdapters;

const FAMILIES: Readonly<Record<Provider["family"], Family>> = {
  anthropic: (provider, key) =>
    createAnthropic(
      endpoint(provider, { "anthropic-version": "2023-06-01", ...(key === undefined ? {} : { "x-api-key": key }) }),
    ),
  gemini: (provider, key) => createGemini(endpoint(provider, key === undefined ? {} : { "x-goog-api-key": key })),
  "google-cloud": (provider, key) => createGoogleCloud(endpoint(provider, {}), key),
  "openai-compatible": (provider, key) => {
    const there = endpoint(provider, bearer(key));
    return {
      chat: createOpenAiCompatible(there, { inlines: provider.media !== "pass" }),
      embeddings: createOpenAiEmbeddings(there),
      speech: createOpenAiSpeech(there),
      transcription: createOpenAiTranscription(there),
      ...createOpenAiImages(there),
      video: createOpenAiVideos(there),
    };
  },
  fal: (provider, key) => createFal(endpoint(provider, key === undefined ? {} : { authorization: `Key ${key}` })),
  elevenlabs: (provider, key) => createElevenLabs(endpoint(provider, key === undefined ? {} : { "xi-api-key": key })),
  deepgram: (provider, key) =>
    createDeepgram(endpoint(provider, key === undefined ? {} : { authorization: `Token ${key}` })),
  replicate: (provider, key) => createReplicate(endpoint(provider, bearer(key))),
  meshy: (provider, key) => createMeshy(endpoint(provider, bearer(key))),
  tripo: (provider, key) => createTripo(endpoint(provider, bearer(key))),
  sandbox: (_provider, _key, makers) => createSandboxAdapters(makers),
};

function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function endpoint(provider: Provider, headers: Readonly<Record<string, string>>): Endpoint {
  return { baseUrl: (provider.base_url ?? "").replace(/\/+$/, ""), headers };
}

/**
 * Returns the adapters of a provider in the catalogue. Equal entries return the same object. An adapter is undefined if the modality is not
 * supported.
 */
export interface Providers {
  chat(provider: Provider): ChatProvider | undefined;
  embeddings(provider: Provider): EmbeddingsProvider | undefined;
  media<Kind extends MediaKind>(provider: Provider, kind: Kind): MediaAdapters[Kind];
}

/** Creates the providers. The caller must close them, because the sandbox may have child processes. */
export function createProviders(
  providerKey: (variable: string) => string | undefined,
): Providers & { close(): Promise<void> } {
  let sandboxMedia: SandboxMedia | undefined;
  const makers: Makers = () => (sandboxMedia ??= createSandboxMedia());
  // Keyed by catalogue entries: a reload creates new entries, and old adapters are freed with the old catalogue.
  const known = new WeakMap<Provider, ProviderAdapters>();
  const adapters = (provider: Provider): ProviderAdapters => {
    let found = known.get(provider);
    if (!found) {
      const key = provider.api_key_env === undefined ? undefined : providerKey(provider.api_key_env);
      found = FAMILIES[provider.family](provider, key, makers);
      known.set(provider, found);
    }
    return found;
  };
  return {
    chat: (provider) => adapters(provider).chat,
    embeddings: (provider) => adapters(provider).embeddings,
    media: (provider, kind) => adapters(provider)[kind],
    close: async () => sandboxMedia?.close(),
  };
}
