/** Wraps providers so that a durable job stores its intent before the first request to a provider. */
import type { MediaAdapter } from "../providers/media.ts";
import type { Providers } from "../providers/index.ts";
import { ProviderError } from "../providers/provider.ts";

/** Called before a request to a provider that returns the result itself and keeps no job. */
export type Intend = () => Promise<void>;

export interface IntendedProviders {
  /** Providers for the handler. */
  readonly providers: Providers;
  /** Returns true if a provider received a request and may have done the work although it returned no result. */
  mayHaveBeenServed(): boolean;
  /** Reports that a start at a provider's queue was stored. The intent for a provider without a queue is then stored again. */
  queued(): void;
}

/** @param intend called before the first request to a provider without a queue; its error ends the run */
export function withIntent(providers: Providers, intend: Intend): IntendedProviders {
  let noted: Promise<void> | undefined;
  let mayHaveBeenServed = false;
  const once: Intend = () => (noted ??= intend());
  return {
    providers: intending(providers, {
      begin: once,
      failed: (error) => (mayHaveBeenServed ||= !hasServedNothing(error)),
    }),
    mayHaveBeenServed: () => mayHaveBeenServed,
    queued: () => {
      noted = undefined;
    },
  };
}

/** True if the provider reported it, or never received the request. */
function hasServedNothing(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind, isUnsent, status = 0 } = error;
  return isUnsent || SERVED_NOTHING.has(kind) || (kind === "failed" && status >= 500);
}

const SERVED_NOTHING: ReadonlySet<string> = new Set(["busy", "refused", "rejected", "misconfigured"]);

/** Callbacks around each request to a provider. */
interface Watching {
  readonly begin: Intend;
  readonly failed: (error: unknown) => void;
}

async function watched<T>({ begin, failed }: Watching, ask: () => Promise<T>): Promise<T> {
  await begin();
  try {
    return await ask();
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** Wraps every kind of request to a provider; a new kind does not compile until it is added here. */
function intending(providers: Providers, watching: Watching): Providers {
  return {
    chat(provider) {
      const adapter = providers.chat(provider);
      return (
        adapter && {
          complete: (call) => watched(watching, () => adapter.complete(call)),
          async *stream(call) {
            await watching.begin();
            try {
              yield* adapter.stream(call);
            } catch (error) {
              watching.failed(error);
              throw error;
            }
          },
        }
      );
    },
    embeddings(provider) {
      const adapter = providers.embeddings(provider);
      return adapter && { ...adapter, embed: (call) => watched(watching, () => adapter.embed(call)) };
    },
    media(provider, kind) {
      const adapter = providers.media(provider, kind);
      return adapter && (intendingMedia(adapter, watching) as typeof adapter);
    },
  };
}

/** Wraps a media adapter. A queued adapter stores its start itself (`noteStart`), and polling a running job needs no intent. */
function intendingMedia<Input, Output>(
  adapter: MediaAdapter<Input, Output>,
  watching: Watching,
): MediaAdapter<Input, Output> {
  return "run" in adapter
    ? { ...adapter, run: (call) => watched(watching, () => adapter.run(call)) }
    : {
        ...adapter,
        start: (call) => watched({ ...watching, begin: () => Promise.resolve() }, () => adapter.start(call)),
      };
}
