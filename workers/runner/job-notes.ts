/**
 * Writes the state of a durable job to its row: the intent to call a provider, the record of the provider's job, and the progress. A worker
 * that later takes over the job decides from this data which requests may be repeated. If a write fails because another worker owns the
 * job, this worker stops the job.
 */
import { commonNow } from "#shared/base/clock.ts";
import { type ClaimedJob, noteIntent, noteProgress } from "#shared/database/jobs.ts";
import {
  adoptProviderJob,
  noteLostStart,
  noteProviderJob,
  noteStart,
  type OpenStart,
  unknownNames,
} from "#shared/database/open-starts.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { type Insist, insistOn } from "#shared/storage/outage.ts";

import type { WorkerContext } from "../context.ts";
import { type ProviderJobSlot, START_CLOCKS_MS } from "../job.ts";
import type { Providers } from "../providers/index.ts";
import type { MediaAdapter } from "../providers/media.ts";
import { ProviderError } from "../providers/provider.ts";

export class JobNotes implements ProviderJobSlot {
  readonly found: unknown;
  readonly isLate: boolean;
  readonly wasCancelled: boolean;
  /** Providers of the worker, wrapped so that the intent is stored before the first request. */
  readonly intended: IntendedProviders;
  /**
   * True while this worker owns the job. False after another worker has taken the lease, or after a cancel before the first request to a
   * provider.
   */
  isOurs = true;
  hasIntent: boolean;
  isAtProvider: boolean;
  private readonly context: Pick<WorkerContext, "database" | "log">;
  private readonly job: ClaimedJob;
  private readonly insist: Insist;
  private reportedProgress = 0;

  /**
   * Creates the writer of a job's state.
   * @param isIntended true if the row already contains the intent to call a provider without a queue
   */
  constructor(context: Pick<WorkerContext, "database" | "log" | "providers">, job: ClaimedJob, isIntended: boolean) {
    this.context = context;
    this.job = job;
    this.insist = insistOn({ log: context.log, about: { job_id: job.id } });
    this.found = job.provider_job;
    this.isLate = job.is_unknown;
    this.wasCancelled = job.cancel_requested;
    // A job with a record was started before; another provider may receive it now.
    this.hasIntent = job.provider_job !== null || isIntended;
    this.isAtProvider = job.provider_job !== null;
    this.intended = withIntent(context.providers, () => (isIntended ? Promise.resolve() : this.intend()));
  }

  async begin(record: object): Promise<void> {
    const { job } = this;
    this.claimOurs(await this.insist(() => noteStart(this.context.database, job.id, job.epoch, record)));
    [this.hasIntent, this.isAtProvider] = [true, true];
    this.intended.queued();
    failpoint("job.intended");
  }

  async lose(): Promise<OpenStart> {
    const { job } = this;
    const start = await this.insist(() => noteLostStart(this.context.database, job.id, job.epoch, commonNow()));
    this.claimOurs(start !== undefined);
    return start;
  }

  async adopt(
    listed: { readonly name: string; readonly createdMs: number },
    record: object,
  ): Promise<"adopted" | "taken" | "open"> {
    const clocksMs = START_CLOCKS_MS;
    const result = await this.insist(() =>
      adoptProviderJob(this.context.database, this.job, { ...listed, clocksMs }, record),
    );
    this.claimOurs(result !== "void");
    return result;
  }

  strangers(provider: string, names: readonly string[]): Promise<readonly string[]> {
    return unknownNames(this.context.database, provider, names);
  }

  progress(share: number): void {
    const { context, job } = this;
    const next = Math.floor(Math.min(0.99, share) * 100) / 100;
    if (!(next > this.reportedProgress)) return;
    this.reportedProgress = next;
    noteProgress(context.database, job.id, job.epoch, next).catch((error: unknown) =>
      context.log.warn({ err: error, job_id: job.id }, "a job's progress could not be saved"),
    );
  }

  async keep(kept: object | null): Promise<void> {
    this.claimOurs(await this.noteKept(kept));
    this.isAtProvider = kept !== null;
    if (this.isAtProvider) failpoint("job.noted");
  }

  private async intend(): Promise<void> {
    this.claimOurs(await noteIntent(this.context.database, this.job.id, this.job.epoch));
    this.hasIntent = true;
    failpoint("job.intended");
  }

  /**
   * Checks that a write to the job's row succeeded.
   * @param noted result of the write
   * @throws Error when nothing was written because another worker owns the job
   */
  private claimOurs(noted: boolean): asserts noted {
    this.isOurs &&= noted;
    if (!noted) throw new Error("the job is not ours any more");
  }

  /**
   * Stores the record of the job at its provider. Returns false if another worker owns the job. @throws ProviderError `unknown` if the
   * database is unavailable, because the provider may run the job
   */
  private async noteKept(kept: object | null): Promise<boolean> {
    const { job } = this;
    try {
      return await this.insist(() => noteProviderJob(this.context.database, job.id, job.epoch, kept));
    } catch (error) {
      throw new ProviderError("unknown", "what the job is called at its provider could not be noted", { cause: error });
    }
  }
}

// Wraps providers so that a durable job stores its intent before the first request to a provider.

/** Stores the intent. Called before a request to a provider that returns the result itself and keeps no job. */
type Intend = () => Promise<void>;

interface IntendedProviders {
  /** Wrapped providers that the handler uses. */
  readonly providers: Providers;
  /** Returns true if a provider may have served the job although it returned no result. This is possible if it received a request. */
  mayHaveBeenServed(): boolean;
  /**
   * Called after a start in a provider's queue was stored in the job's row. The next request to a provider without a queue then stores the
   * intent again.
   */
  queued(): void;
}

/**
 * Wraps the providers so that `intend` runs before the first request.
 * @param intend stores the intent to call a provider without a queue; its error ends the execution
 */
function withIntent(providers: Providers, intend: Intend): IntendedProviders {
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

/** Returns true if the provider certainly served nothing: it reported so, or it never received the request. */
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

/** Wraps every kind of request to a provider. A new kind of request does not compile until it is added here. */
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

/** Wraps a media adapter. A queued adapter stores the start of its job itself (`noteStart`). Polling needs no intent. */
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
