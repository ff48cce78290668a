/**
 * A job at a provider that works by itself: asked about until it has ended. Only a definite verdict is one; at its deadline
 * it is asked to stop, and once more what became of it.
 */
import { commonNow } from "#shared/clock.ts";
import type { Config } from "#shared/config.ts";

import { abortReasonOf, type ProviderJobSlot } from "../../job.ts";
import type { MediaResult, Polled, ProviderJob, QueuedAdapter, Starting } from "../../providers/media.ts";
import { ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";

import type { OutputSpec } from "./artifacts.ts";
import type { ProviderJobRecord } from "./held-price.ts";
import { hasCallerLeft } from "./one-exchange.ts";

/** Share by which the pauses between polls of a provider vary at random, either way. */
export const POLL_JITTER = 0.2;

/** One question about a job, or the wish to end it. */
export const POLL_MS = 20_000;

type Adapter<Output> = Pick<QueuedAdapter<never, Output>, "poll" | "pollMs" | "waits" | "cancel">;

export interface Following<Output> {
  readonly adapter: Adapter<Output>;
  readonly job: ProviderJob;
  /** First and longest pause between two questions. */
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly signal: AbortSignal;
  /** Runs the listener when the provider says that something has moved; returns what ends that. */
  onProviderCallback?(listener: () => void): () => void;
  /** Hears of each answer that was no verdict. */
  onUnknown(detail: string): void;
  /** 0 to 1. */
  onProgress?(share: number): void;
  /** Begins the second half of a job that has two, after noting that it is about to. Undefined: it was not taken now. */
  onNext?(start: (starting: Starting) => Promise<ProviderJob>): Promise<ProviderJob | undefined>;
}

/** Result of a job, and the job itself, which can be asked again for its output. */
export interface Followed<Output> {
  readonly result: MediaResult<Output>;
  readonly job: ProviderJob;
}

/** @throws ProviderError: the provider's verdict; `aborted` when the signal ended the asking without one */
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
    // The first half is asked about once more, and offers the second again.
    if (!next) continue;
    job = next;
    waitMs = pollMinMs;
  }
  return { result: await lastWord(adapter, job, signal), job };
}

/**
 * Begins a job at its provider. A caller that leaves meanwhile does not break the request off: what became of it would not be
 * known. It comes to its answer, and what that names is cancelled.
 * @throws ProviderError of the provider; `aborted`, unsent, where the call is over already
 */
export async function startOf<Job, Call extends { readonly signal: AbortSignal }>(
  adapter: { start(call: Call): Promise<Job> },
  call: Call,
): Promise<Job> {
  if (call.signal.aborted) throw new ProviderError("aborted", "the call is over", { isUnsent: true });
  return adapter.start({ ...call, signal: outlastingItsCaller(call.signal) });
}

/** Aborts as the signal does; but where a caller has left, only after the time that one question may take. */
export function outlastingItsCaller(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  const onAbort = (): void => {
    const abort = (): void => own.abort(signal.reason);
    if (hasCallerLeft(signal.reason)) setTimeout(abort, POLL_MS).unref();
    else abort();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return own.signal;
}

/** Once. Undefined: there is no verdict. @throws ProviderError: the provider's verdict */
export async function pollOnce<Output>(
  adapter: Pick<Adapter<Output>, "poll" | "pollMs">,
  job: ProviderJob,
): Promise<MediaResult<Output> | undefined> {
  const polled = await adapter.poll(job, AbortSignal.timeout(pollMsOf(adapter)));
  // Its first half is over, and no worker will begin the second.
  if (polled.state === "next") throw new ProviderError("failed", "the job was given up between its halves");
  return verdictOf(polled);
}

/** Returns a function that fetches a successful job's output once more; undefined when its provider does not tell now. */
export function refreshing<Output, Made>(
  adapter: Pick<Adapter<Output>, "poll" | "pollMs">,
  job: ProviderJob,
  made: (output: Output) => Made,
): () => Promise<Made | undefined> {
  return async () => {
    const again = await pollOnce(adapter, job);
    return again && made(again.output);
  };
}

async function lastWord<Output>(
  adapter: Adapter<Output>,
  job: ProviderJob,
  signal: AbortSignal,
): Promise<MediaResult<Output>> {
  const reason: unknown = signal.reason;
  // A worker that stops leaves the job to the next one.
  if (!(abortReasonOf(reason) === "shutdown")) {
    await adapter.cancel?.(job, AbortSignal.timeout(POLL_MS)).catch(() => undefined);
    const result = await pollOnce(adapter, job);
    if (result) return result;
  }
  throw new ProviderError("aborted", "the job was given up", { cause: reason });
}

/** Time for a late job's one poll and for copying its output, in milliseconds. */
const LATE_MS = 900_000;

/**
 * Returns the time left for a job, in milliseconds. It counts from its start, whenever that was: the row's deadline says until when a
 * job may be begun. A late one is polled once, which has its own limit.
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

/** Errors of a submission that was not taken; one that may have been taken is `unknown`. */
const MAY_BEGIN_LATER: ReadonlySet<ProviderErrorClass> = new Set(["busy", "failed"]);

/** True if the second half of a job was not taken now, and may be later. */
export function mayBeginLater(error: unknown): error is ProviderError {
  return error instanceof ProviderError && MAY_BEGIN_LATER.has(error.kind);
}

/** Most tries to begin the second half: at the pauses between polls, about a minute and a half. */
export const NEXT_TRIES_MAX = 12;

function pollMsOf({ pollMs = POLL_MS }: { readonly pollMs?: number }): number {
  return pollMs;
}

function verdictOf<Output>(polled: Polled<Output>): MediaResult<Output> | undefined {
  if (polled.state === "done") return polled;
  if (polled.state !== "failed") return undefined;
  if (polled.error instanceof ProviderError) throw polled.error;
  throw new ProviderError("failed", polled.error.message, { cause: polled.error });
}

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
