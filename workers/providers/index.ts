/** The provider families. Adding one is one file and one line here. */
import type { Provider } from "#shared/catalogue/catalogue.ts";

import { createOpenAiCompatible } from "./openai-compatible.ts";
import type { ChatProvider } from "./provider.ts";
import { createSandbox } from "./sandbox/index.ts";

type Family = (provider: Provider, key: string | undefined) => ChatProvider;

const FAMILIES: Readonly<Record<Provider["family"], Family>> = {
  "openai-compatible": (provider, key) =>
    createOpenAiCompatible({
      baseUrl: (provider.base_url ?? "").replace(/\/+$/, ""),
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    }),
  sandbox: () => createSandbox({ now: Date.now, delay }),
};

export interface Providers {
  /** The adapter for a provider of the catalogue; the same entry gives the same adapter. */
  chat(provider: Provider): ChatProvider;
}

export function createProviders(providerKey: (variable: string) => string | undefined): Providers {
  // Keyed by the catalogue's own objects: a reload brings new ones, and the old adapters go with the old catalogue.
  const adapters = new WeakMap<Provider, ChatProvider>();
  return {
    chat(provider) {
      let adapter = adapters.get(provider);
      if (!adapter) {
        const key = provider.api_key_env === undefined ? undefined : providerKey(provider.api_key_env);
        adapter = FAMILIES[provider.family](provider, key);
        adapters.set(provider, adapter);
      }
      return adapter;
    },
  };
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
