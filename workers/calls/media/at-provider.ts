/**
 * Manages a job in a provider's queue, and the provider job record in the job's database row. The worker sends one start request, polls the
 * job until it ends, and searches for it if the response to the start request was lost. Each start request is recorded before it is sent,
 * so that another worker can take the job over.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Provider } from "#shared/calls/model.ts";
import { commonNow } from "#shared/base/clock.ts";
import type { Config } from "#shared/config/config.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { newId } from "#shared/base/ids.ts";
import { paced } from "#shared/config/pace.ts";

import type { WorkerContext } from "../../context.ts";
import { abortReasonOf, type ProviderJobSlot, START_CLOCKS_MS } from "../../job.ts";
import { failureFacts, textFacts } from "../../providers/failure-facts.ts";
import type {
  Found,
  Listed,
  LostStart,
  MediaResult,
  NoteStart,
  Polled,
  ProviderJob,
  QueuedAdapter,
  Starting,
} from "../../providers/media.ts";
import { ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";
import type { OutputSpec } from "./artifacts.ts";
import { type ProviderJobRecord, withJob, withoutStart, withStart } from "./held-price.ts";
import { hasCallerDisconnected } from "./one-exchange.ts";

/** Source that queues jobs. */
export interface Queue<Output> {
  readonly adapter: Pick<QueuedAdapter<never, Output>, "poll" | "pollMs" | "waits" | "cancel" | "find" | "nameOf">;
  readonly provider: Provider;
}

interface Beginning<Output> extends Queue<Output> {
  /** Provider job record as it is before the new start request. */
  readonly record: ProviderJobRecord;
  readonly startId: string;
  readonly signal: AbortSignal;
  readonly onDoubt?: () => void;
}

export class AtProvider {
  /** Record of the job at its provider; null if the job was not sent to any provider's queue. */
  record: ProviderJobRecord | null;
  /** True while a start request was sent to a provider's queue and its response has not arrived. */
  isAsking = false;
  private readonly context: WorkerContext;
  private readonly job: JobMessage;
  private readonly slot: ProviderJobSlot;
  /** Number of rejected requests to start the second half of the job. */
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
   * Sends the request that starts the job, or the second half of a recorded job, and records it before. If the provider rejects the
   * request, the record of the request is removed. If the response is lost, searches for the job at the provider.
   * @throws ProviderError of the provider, and the errors of `findStart`
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

  /**
   * Returns the job that another worker started. If the response to its start request was lost, searches for the job at the provider.
   * @throws the errors of `findStart`; ProviderError `unknown` if an older worker may have started the second half
   */
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

  /**
   * Starts the second half of a job. Returns undefined if the provider had no capacity; the next poll then tries again, because the first
   * half was already paid for.
   */
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

  /**
   * Sends a start request to the provider and waits for its response. Until the response arrives, the provider may have a job whose id is
   * unknown to this service.
   */
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

// Polls a job at a provider until it has ended. Only a definite verdict ends it. At the deadline the job is cancelled, and polled once more
// for its outcome.

/** Random variation of the interval between polls, as a fraction in either direction. */
const POLL_JITTER = 0.2;

/** Timeout of one poll or cancellation, in milliseconds. */
export const POLL_MS = 20_000;

type Adapter<Output> = Pick<QueuedAdapter<never, Output>, "poll" | "pollMs" | "waits" | "cancel">;

export interface Following<Output> {
  readonly adapter: Adapter<Output>;
  readonly job: ProviderJob;
  /** Minimum and maximum interval between two polls, in milliseconds. */
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly signal: AbortSignal;
  /** Registers a listener for progress callbacks of the provider. Returns a function that removes the listener. */
  onProviderCallback?(listener: () => void): () => void;
  /** Called for each poll response that does not state whether the job is running or has ended. */
  onUnknown(detail: string): void;
  /** Called with the progress, from 0 to 1. */
  onProgress?(share: number): void;
  /** Records and starts the second half of a two-part job. Resolves to undefined if the provider did not accept the second half yet. */
  onNext?(start: (starting: Starting) => Promise<ProviderJob>): Promise<ProviderJob | undefined>;
}

/** Result of a job at its provider, and the provider job, from which the output can be requested again. */
interface Followed<Output> {
  readonly result: MediaResult<Output>;
  readonly job: ProviderJob;
}

/**
 * Polls a job until the provider reports its result. @throws ProviderError with the provider's error; `aborted` if the signal ended the
 * polling without a result
 */
export async function pollToEnd<Output>(following: Following<Output>): Promise<Followed<Output>> {
  const { adapter, signal, pollMinMs, pollMaxMs } = following;
  let { job } = following;
  let mayPause = adapter.waits !== true;
  for (let waitMs = pollMinMs; !signal.aborted; waitMs = Math.min(pollMaxMs, waitMs * 1.3)) {
    const spread = 1 + POLL_JITTER * (2 * Math.random() - 1);
    if (mayPause) await pause(waitMs * spread, following);
    if (signal.aborted) break;
    const polled = await adapter.poll(job, AbortSignal.any([signal, AbortSignal.timeout(pollMsOf(adapter))]));
    const result = verdictOf(polled);
    if (result) return { result, job };
    mayPause = adapter.waits !== true || polled.state === "unknown";
    if (polled.state === "pending" && polled.progress !== undefined) following.onProgress?.(polled.progress);
    if (polled.state === "unknown" && !signal.aborted) following.onUnknown(polled.detail);
    if (polled.state !== "next") continue;
    if (!following.onNext) throw new ProviderError("failed", "a job of two halves where there is but one");
    const next = await following.onNext(polled.start);
    // The next poll of the first half offers the second half again.
    if (!next) continue;
    job = next;
    waitMs = pollMinMs;
  }
  return { result: await cancelAndPoll(adapter, job, signal), job };
}

/**
 * Starts a job at its provider. A caller that disconnects does not abort the start request, because its outcome would then be unknown. The
 * job is cancelled after the response instead.
 * @throws ProviderError of the provider; `aborted` without a request if the call has already ended
 */
export async function startOf<Job, Call extends { readonly signal: AbortSignal }>(
  adapter: { start(call: Call): Promise<Job> },
  call: Call,
): Promise<Job> {
  if (call.signal.aborted) throw new ProviderError("aborted", "the call is over", { isUnsent: true });
  return adapter.start({ ...call, signal: outlastingItsCaller(call.signal) });
}

/**
 * Returns a signal that aborts together with `signal`. If `signal` aborts because the caller disconnected, the returned signal aborts
 * `POLL_MS` later, so that the response to a start request can still arrive.
 */
function outlastingItsCaller(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  const onAbort = (): void => {
    const abort = (): void => own.abort(signal.reason);
    if (hasCallerDisconnected(signal.reason)) setTimeout(abort, POLL_MS).unref();
    else abort();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return own.signal;
}

/**
 * Polls a job once. Returns undefined if the response does not state whether the job is running or has ended.
 * @throws ProviderError with the provider's error
 */
export async function pollOnce<Output>(
  adapter: Pick<Adapter<Output>, "poll" | "pollMs">,
  job: ProviderJob,
): Promise<MediaResult<Output> | undefined> {
  const polled = await adapter.poll(job, AbortSignal.timeout(pollMsOf(adapter)));
  // The first half has ended, and no worker will start the second one.
  if (polled.state === "next") throw new ProviderError("failed", "the job was given up between its halves");
  return verdictOf(polled);
}

/**
 * Returns a function that requests the output of a successful job from its provider again. The function resolves to undefined if the
 * response contains no output.
 */
export function refreshing<Output, Result>(
  adapter: Pick<Adapter<Output>, "poll" | "pollMs">,
  job: ProviderJob,
  resultOf: (output: Output) => Result,
): () => Promise<Result | undefined> {
  return async () => {
    const again = await pollOnce(adapter, job);
    return again && resultOf(again.output);
  };
}

async function cancelAndPoll<Output>(
  adapter: Adapter<Output>,
  job: ProviderJob,
  signal: AbortSignal,
): Promise<MediaResult<Output>> {
  const reason: unknown = signal.reason;
  // A stopping worker leaves the job to the next one.
  if (!(abortReasonOf(reason) === "shutdown")) {
    await adapter.cancel?.(job, AbortSignal.timeout(POLL_MS)).catch(() => undefined);
    const result = await pollOnce(adapter, job);
    if (result) return result;
  }
  throw new ProviderError("aborted", "the job was given up", { cause: reason });
}

/** Time limit for a job that is past its deadline, in milliseconds. In this time it is polled once, and its output is copied. */
const LATE_MS = 900_000;

/**
 * Returns the remaining run time of a job, counted from its recorded start, in milliseconds. The deadline in the database row only limits
 * when a job may start. A job past that deadline is polled once, within `LATE_MS`.
 */
export function runMsOf(
  { totalMs }: Pick<OutputSpec, "totalMs">,
  { mediaTotalMs }: Pick<Config, "mediaTotalMs">,
  { isLate }: Pick<ProviderJobSlot, "isLate">,
  begun: ProviderJobRecord | null,
): number {
  if (isLate) return LATE_MS;
  const mostMs = Math.min(totalMs, mediaTotalMs);
  return begun === null ? Math.max(1, mostMs) : Math.max(1, begun.started_ms + mostMs - commonNow());
}

/**
 * Kinds of errors after which the second half of a job can be started later, because the provider did not accept it. If the provider may
 * have accepted it, the error has the kind `unknown` instead.
 */
const MAY_BEGIN_LATER: ReadonlySet<ProviderErrorClass> = new Set(["busy", "failed"]);

/** True if the provider did not accept the second half of a job now, but may accept it later. */
function mayBeginLater(error: unknown): error is ProviderError {
  return error instanceof ProviderError && MAY_BEGIN_LATER.has(error.kind);
}

/** Maximum attempts to start the second half of a job. With the intervals between polls, they take about a minute and a half. */
const NEXT_TRIES_MAX = 12;

function pollMsOf({ pollMs = POLL_MS }: { readonly pollMs?: number }): number {
  return pollMs;
}

function verdictOf<Output>(polled: Polled<Output>): MediaResult<Output> | undefined {
  if (polled.state === "done") return polled;
  if (polled.state !== "failed") return undefined;
  if (polled.error instanceof ProviderError) throw polled.error;
  throw new ProviderError("failed", polled.error.message, { cause: polled.error });
}

/** Waits; a callback of the provider or the abort ends the pause early. */
function pause(
  ms: number,
  { signal, onProviderCallback }: Pick<Following<unknown>, "signal" | "onProviderCallback">,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      unlisten?.();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const unlisten = onProviderCallback?.(done);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}

// Searches for a job whose start was sent but not answered: its provider may have it. The provider's list or callback shows the job, or
// shows that the provider never accepted it. The start is not sent again.

/** Minimum and maximum interval between two searches, in milliseconds. A provider's job list is long, so searches are rare. */
const START_POLL_INTERVAL_MS = [paced(1_000), paced(15_000)] as const;

/**
 * Default time during which a provider may still accept a job after a gateway timeout, in milliseconds. Cloudflare times out after 100 s.
 */
const START_TAKEN_MS = 120_000;

interface LostStartSearch {
  readonly adapter: Pick<QueuedAdapter<never, unknown>, "find" | "nameOf">;
  readonly provider: Pick<Provider, "id" | "listed_within_seconds">;
  /** Provider job record whose start request has no known response. */
  readonly begun: ProviderJobRecord;
  readonly slot: Pick<ProviderJobSlot, "lose" | "keep" | "adopt" | "strangers">;
  readonly signal: AbortSignal;
  /** Registers a listener for callbacks of the provider about this job. Returns a function that removes the listener. */
  readonly onProviderCallback: (listener: () => void) => () => void;
  readonly onUnknown: (detail: string) => void;
}

/** Record of a job that was found at its provider. */
type FoundStart = ProviderJobRecord & { readonly job: ProviderJob };

/** Error for a start request whose outcome can never be determined. The job ends without a charge; this service bears the possible cost. */
export class LostForGood extends ProviderError {
  constructor() {
    super("unknown", "the provider may have accepted the job; its outcome stays unknown");
  }
}

/**
 * Searches for a job at its provider, because the response to its start request was lost. Records the job in its database row when found.
 * Stops when further search does not justify an occupied slot. A job past its deadline is searched for once.
 * @throws ProviderError `failed` if no provider accepted the job; `unknown` if a later search may succeed
 * @throws ProviderError `aborted` if this worker stops, so that the next worker must search; LostForGood
 */
async function findStart(search: LostStartSearch, isLate: boolean): Promise<FoundStart> {
  const { signal, provider, adapter } = search;
  const [firstMs, mostMs] = START_POLL_INTERVAL_MS;
  // Allows two more searches after the list must be complete. Without a list only a callback helps, for which no slot is kept.
  const searchMs = isLate || !adapter.nameOf ? 0 : 1_000 * (provider.listed_within_seconds ?? 0) + 2 * mostMs;
  const giveUpAt = performance.now() + searchMs;
  for (let waitMs = firstMs; ; waitMs = Math.min(mostMs, waitMs * 1.5)) {
    const isLast = performance.now() >= giveUpAt;
    const found = await searchOnce(search, isLast);
    if (found) return found;
    if (isLast) break;
    await pause(waitMs * (1 + POLL_JITTER * (2 * Math.random() - 1)), search);
    if (signal.aborted) break;
  }
  const reason: unknown = signal.reason;
  const isStopping = abortReasonOf(reason) === "shutdown";
  throw new ProviderError(isStopping ? "aborted" : "unknown", "its provider may have taken the job", { cause: reason });
}

/**
 * Searches for the job at its provider once, and records it if it is found. Returns undefined if a later search may succeed.
 * @throws the errors of `findStart`, and internal errors
 */
async function searchOnce(search: LostStartSearch, isLast: boolean): Promise<FoundStart | undefined> {
  const { adapter, begun, slot, signal, onUnknown } = search;
  const { lost_ms: lostMs = commonNow(), mark, sent_ms: sentMs, told: callbackJobName } = await slot.lose();
  if (!mark || !adapter.find) throw new LostForGood();
  const askedMs = commonNow();
  const limited = AbortSignal.any([signal, AbortSignal.timeout(POLL_MS)]);
  const found = await find(
    adapter.find,
    { mark, sentMs, ...(callbackJobName === undefined ? {} : { callbackJobName }) },
    limited,
  );
  switch (found.state) {
    case "found": {
      const record = withJob(begun, found.job, adapter.nameOf?.(found.job));
      await slot.keep(record);
      return { ...record, job: found.job };
    }
    case "none":
      throw notTaken();
    case "listed":
      return sortOut(search, found, { sinceMs: askedMs - lostMs, lostMs, isLast });
    case "unknown":
      if (!signal.aborted) onUnknown(found.detail);
      return undefined;
    default:
      return found satisfies never;
  }
}

function notTaken(): ProviderError {
  return new ProviderError("failed", "its provider has not taken the job");
}

async function find(
  ask: NonNullable<LostStartSearch["adapter"]["find"]>,
  lost: LostStart,
  signal: AbortSignal,
): Promise<Found> {
  try {
    return await ask(lost, signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { state: "unknown", detail: `it could not be looked for: ${error.kind}, ${error.detail}` };
  }
}

interface When {
  /** Time at which the response to the start request was lost, by the shared clock of this service, in Unix milliseconds. */
  readonly lostMs: number;
  /** Milliseconds from `lostMs` to the request of the provider's job list. */
  readonly sinceMs: number;
  /** True if this is the last search for the job. */
  readonly isLast: boolean;
}

/**
 * Searches the provider's job list for the job, and records the job if it is found. Listed jobs that belong to other jobs of this service
 * are skipped. Returns undefined if a later search may succeed.
 * @throws ProviderError `failed` if no listed job can be the searched one; LostForGood
 */
async function sortOut(
  { begun, slot, provider }: LostStartSearch,
  { alike, unclear, mayRing }: Extract<Found, { readonly state: "listed" }>,
  { lostMs, sinceMs, isLast }: When,
): Promise<FoundStart | undefined> {
  const { listed_within_seconds: withinS } = provider;
  // Jobs that were created later belong to others; a job without a creation time stays a candidate.
  const untilMs = lostMs + (withinS === undefined ? START_TAKEN_MS : withinS * 1_000) + START_CLOCKS_MS;
  const mayBeIt = ({ createdMs }: Listed): boolean => !(createdMs > untilMs);
  let isContested = false;
  for (const { name, createdMs, job } of alike.filter(mayBeIt)) {
    const record = withJob(begun, job, name);
    const whose = await slot.adopt({ name, createdMs }, record);
    if (whose === "adopted") return { ...record, job };
    isContested ||= whose === "open";
  }
  const isWhole = withinS !== undefined && sinceMs >= withinS * 1_000;
  if (isContested || !isWhole) return undefined;
  const names = unclear.filter(mayBeIt).map(({ name }) => name);
  if (names.length === 0 || (await slot.strangers(provider.id, names)).length === 0) throw notTaken();
  // The unclear jobs may still turn out to belong to other starts whose responses are on their way.
  if (mayRing || !isLast) return undefined;
  throw new LostForGood();
}
