/**
 * A job in a provider's queue, and its record in the row: started once, searched for if the response to the start was lost, followed to its
 * end. Each start is recorded before it is sent, so that the worker that takes the job over can continue.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Provider } from "#shared/calls/model.ts";
import { failpoint } from "#shared/failpoint.ts";
import { newId } from "#shared/ids.ts";

import type { WorkerContext } from "../../context.ts";
import type { ProviderJobSlot } from "../../job.ts";
import { failureFacts, textFacts } from "../../providers/failure-facts.ts";
import type { NoteStart, ProviderJob, QueuedAdapter, Starting } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";

import { type ProviderJobRecord, withJob, withoutStart, withStart } from "./held-price.ts";
import { findStart } from "./lost-start.ts";
import { type Followed, mayBeginLater, NEXT_TRIES_MAX, outlastingItsCaller, pollToEnd } from "./queued.ts";

/** Source that queues jobs. */
export interface Queue<Output> {
  readonly adapter: Pick<QueuedAdapter<never, Output>, "poll" | "pollMs" | "waits" | "cancel" | "find" | "nameOf">;
  readonly provider: Provider;
}

interface Beginning<Output> extends Queue<Output> {
  /** Record of the job, without its start. */
  readonly record: ProviderJobRecord;
  readonly startId: string;
  readonly signal: AbortSignal;
  readonly onDoubt?: () => void;
}

export class AtProvider {
  /** Record of the job at its provider; null: no provider has it. */
  record: ProviderJobRecord | null;
  /** True when a start was sent to a provider's queue and its response has not arrived. */
  isAsking = false;
  private readonly context: WorkerContext;
  private readonly job: JobMessage;
  private readonly slot: ProviderJobSlot;
  /** Number of rejected starts of the second half. */
  private nextTries = 0;

  constructor(context: WorkerContext, job: JobMessage, slot: ProviderJobSlot) {
    this.context = context;
    this.job = job;
    this.slot = slot;
    this.record = slot.found as ProviderJobRecord | null;
  }

  async keep(record: ProviderJobRecord | null): Promise<void> {
    await this.slot.keep(record);
    this.record = record;
  }

  /**
   * Starts the job, or the second half of a recorded job. A start that the provider rejects is removed from the record; after a lost
   * response, the job is searched for. @throws ProviderError as `findStart`, and the provider's errors
   */
  async begin<Output>(
    ask: (noteStart: NoteStart) => Promise<ProviderJob>,
    of: Beginning<Output>,
  ): Promise<ProviderJob> {
    const { record, startId } = of;
    const noteStart: NoteStart = async (mark) => {
      const begun = withStart(record, startId, mark);
      await (record.job === undefined ? this.slot.begin(begun) : this.slot.keep(begun));
      this.record = begun;
    };
    let job: ProviderJob;
    try {
      job = await this.asking(() => ask(noteStart));
    } catch (error) {
      const begun = this.record;
      if (!(error instanceof ProviderError) || !begun?.start) throw error;
      if (error.kind !== "unknown") {
        await this.keep(withoutStart(begun));
        throw error;
      }
      // A start that we aborted ourselves says nothing about its source.
      if (!of.signal.aborted) of.onDoubt?.();
      const { log, metrics } = this.context;
      log.warn(
        { job_id: this.job.job_id, source: record.source, ...failureFacts(error) },
        "a provider did not answer the start of a job",
      );
      job = await this.find(begun, of);
      // Counted here, because a job that is not found is counted when it ends the attempt.
      metrics.providerErrors.inc(of.provider.id, error.kind);
      return job;
    }
    failpoint("job.begun");
    await this.keep(withJob(record, job, of.adapter.nameOf?.(job)));
    return job;
  }

  /** Returns the job that another worker started. @throws ProviderError as `findStart` */
  async recover<Output>(
    begun: ProviderJobRecord,
    of: Pick<Beginning<Output>, keyof Queue<Output> | "signal">,
  ): Promise<ProviderJob> {
    const { job, start, is_between: wasBetween } = begun;
    if (start) {
      try {
        return await this.find(begun, of);
      } catch (error) {
        // The second half was rejected, and a poll of the first half offers it again.
        if (job === undefined || !mayBeginLater(error)) throw error;
        return job;
      }
    }
    if (wasBetween) throw new ProviderError("unknown", "its second half may have been begun");
    if (job === undefined) throw new Error("a job at its provider without a name there");
    return job;
  }

  async follow<Output>(
    job: ProviderJob,
    queue: Queue<Output>,
    {
      pollMinMs,
      pollMaxMs,
      signal,
    }: { readonly pollMinMs: number; readonly pollMaxMs: number; readonly signal: AbortSignal },
  ): Promise<Followed<Output>> {
    const source = this.record?.source ?? queue.provider.id;
    return pollToEnd({
      adapter: queue.adapter,
      job,
      pollMinMs,
      pollMaxMs,
      signal,
      onProviderCallback: (listener) => this.onProviderCallback(listener),
      onProgress: (share) => this.slot.progress(share),
      onUnknown: (detail) => this.onUnknown(source, detail),
      onNext: (start) => this.beginNext(start, queue, signal),
    });
  }

  /** Starts the second half; undefined if its provider had no capacity. The first half is paid for, so the start is retried. */
  private async beginNext<Output>(
    start: (starting: Starting) => Promise<ProviderJob>,
    queue: Queue<Output>,
    signal: AbortSignal,
  ): Promise<ProviderJob | undefined> {
    const { record } = this;
    if (!record?.job) throw new Error("a second half without a first");
    try {
      const ask = (noteStart: NoteStart) => start({ signal: outlastingItsCaller(signal), noteStart });
      return await this.begin(ask, { ...queue, record, startId: newId(), signal });
    } catch (error) {
      if (!mayBeginLater(error)) throw error;
      this.nextTries += 1;
      if (this.nextTries < NEXT_TRIES_MAX) return undefined;
      // Never `busy`, after which the whole job would be started again at once.
      throw new ProviderError("failed", "the second half of a job could not be begun", { cause: error });
    }
  }

  /** Sends a start. Until its response arrives, the provider may have a job whose name we do not know. */
  private async asking<T>(ask: () => Promise<T>): Promise<T> {
    this.isAsking = true;
    try {
      const answer = await ask();
      this.isAsking = false;
      return answer;
    } catch (error) {
      // After our own abort the outcome is unknown; after any response of the provider it is not.
      if (!(error instanceof ProviderError && error.kind === "aborted")) this.isAsking = false;
      throw error;
    }
  }

  private async find<Output>(
    begun: ProviderJobRecord,
    { adapter, provider, signal }: Pick<Beginning<Output>, keyof Queue<Output> | "signal">,
  ): Promise<ProviderJob> {
    const { slot } = this;
    const search = {
      adapter,
      provider,
      begun,
      slot,
      signal,
      onProviderCallback: (listener: () => void) => this.onProviderCallback(listener),
      onUnknown: (detail: string) => this.onUnknown(begun.source, detail),
    };
    const found = await findStart(search, slot.isLate).catch(async (error: unknown) => {
      if (error instanceof ProviderError && error.kind === "failed") await this.keep(withoutStart(begun));
      throw error;
    });
    this.record = found;
    this.context.log.info(
      { job_id: this.job.job_id, source: begun.source },
      "found a job whose start the provider had not answered",
    );
    return found.job;
  }

  private onProviderCallback(listener: () => void): () => void {
    return this.context.providerCallbacks.onProviderCallback(this.job.job_id, listener);
  }

  private onUnknown(source: string, detail: string): void {
    const facts = { job_id: this.job.job_id, source, ...textFacts(detail) };
    this.context.log.warn(facts, "a provider did not report a job's outcome");
  }
}
