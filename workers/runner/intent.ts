/** Before a durable job's handler asks any provider, that this is about to happen is written down. */
import type { MediaAdapter } from "../providers/media.ts";
import type { Providers } from "../providers/index.ts";
import { ProviderError } from "../providers/provider.ts";

/** Told before a provider is asked whose answer brings the result, and which keeps no job. */
export type Intend = () => Promise<void>;

export interface IntendedProviders {
  /** For the handler. */
  readonly providers: Providers;
  /** A provider was asked and may have done the work, though its answer was none. */
  mayHaveBeenServed(): boolean;
  /** A start at a provider's queue was noted, which is an intent of its own: one that keeps no jobs is noted again. */
  queued(): void;
}

/** @param intend run before the first provider that keeps no jobs is asked; what it throws ends the run */
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

/** The provider said so itself, or never got the request. */
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

/** Every way to a provider notes the intent first; a new one does not compile until it stands here. */
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

/** A queue notes its start itself, just before it sends it (`noteStart`); asking about a job that runs is no intent. */
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
