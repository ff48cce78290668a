/**
 * A job at a provider's queue, as its row keeps it: begun once, found again where the answer to that was lost, followed to its end. What
 * is about to be sent is noted before, so that the worker that takes the job over goes on from there.
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

/** A source that keeps jobs. */
export interface Queue<Output> {
  readonly adapter: Pick<QueuedAdapter<never, Output>, "poll" | "pollMs" | "waits" | "cancel" | "find" | "nameOf">;
  readonly provider: Provider;
}

interface Beginning<Output> extends Queue<Output> {
  /** The record to be noted, but for its start. */
  readonly record: ProviderJobRecord;
  readonly startId: string;
  readonly signal: AbortSignal;
  readonly onDoubt?: () => void;
}

export class AtProvider {
  /** Null: it is nowhere. */
  record: ProviderJobRecord | null;
  /** A provider's queue has been asked to begin it, and no answer has come. */
  isAsking = false;
  private readonly context: WorkerContext;
  private readonly job: JobMessage;
  private readonly slot: ProviderJobSlot;
  /** The number of times that the second half of it was not taken. */
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
   * Begins it, or the second half of one that is noted. What its provider says it has not taken is forgotten; where the answer is
   * lost, it is looked for. @throws ProviderError as `findStart`, and what the provider says
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
      // A start that we broke off ourselves says nothing about its source.
      if (!of.signal.aborted) of.onDoubt?.();
      const { log, metrics } = this.context;
      log.warn(
        { job_id: this.job.job_id, source: record.source, ...failureFacts(error) },
        "a job's start went unanswered",
      );
      job = await this.find(begun, of);
      // What is not found is counted when it ends the attempt.
      metrics.providerErrors.inc(of.provider.id, error.kind);
      return job;
    }
    failpoint("job.begun");
    await this.keep(withJob(record, job, of.adapter.nameOf?.(job)));
    return job;
  }

  /** The job that another worker left. @throws ProviderError as `findStart` */
  async recover<Output>(
    begun: ProviderJobRecord,
    of: Pick<Beginning<Output>, keyof Queue<Output> | "signal">,
  ): Promise<ProviderJob> {
    const { job, start, is_between: wasBetween } = begun;
    if (start) {
      try {
        return await this.find(begun, of);
      } catch (error) {
        // A second half that was not taken: the first one offers it again.
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

  /** Undefined: its provider had no room for it. The first half is paid, so it is not given up for that at once. */
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
      // Never `busy`, for which it would be begun from its start at once.
      throw new ProviderError("failed", "the second half of a job could not be begun", { cause: error });
    }
  }

  /** While it runs, a job may come to be at the provider, or be there already, that we have no name for. */
  private async asking<T>(ask: () => Promise<T>): Promise<T> {
    this.isAsking = true;
    try {
      const answer = await ask();
      this.isAsking = false;
      return answer;
    } catch (error) {
      // An abort of ours leaves it open; whatever a provider said does not.
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
      "a job whose start went unanswered was found",
    );
    return found.job;
  }

  private onProviderCallback(listener: () => void): () => void {
    return this.context.providerCallbacks.onProviderCallback(this.job.job_id, listener);
  }

  private onUnknown(source: string, detail: string): void {
    const facts = { job_id: this.job.job_id, source, ...textFacts(detail) };
    this.context.log.warn(facts, "a provider gave no verdict on a job");
  }
}
