/**
 * Polls a job at a provider until it has ended. Only a definite verdict ends it. At the deadline the job is cancelled, and polled once more
 * for its outcome.
 */
import { commonNow } from "#shared/clock.ts";
import type { Config } from "#shared/config.ts";

import { abortReasonOf, type ProviderJobSlot } from "../../job.ts";
import type { MediaResult, Polled, ProviderJob, QueuedAdapter, Starting } from "../../providers/media.ts";
import { ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";

import type { OutputSpec } from "./artifacts.ts";
import type { ProviderJobRecord } from "./held-price.ts";
import { hasCallerLeft } from "./one-exchange.ts";

/** Random variation of the pauses between polls, as a share in either direction. */
export const POLL_JITTER = 0.2;

/** Timeout of one poll or cancellation, in milliseconds. */
export const POLL_MS = 20_000;

type Adapter<Output> = Pick<QueuedAdapter<never, Output>, "poll" | "pollMs" | "waits" | "cancel">;

export interface Following<Output> {
  readonly adapter: Adapter<Output>;
  readonly job: ProviderJob;
  /** Shortest and longest pause between two polls, in milliseconds. */
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly signal: AbortSignal;
  /** Calls the listener when the provider reports progress by a callback; returns the function that removes it. */
  onProviderCallback?(listener: () => void): () => void;
  /** Called for each response without a verdict. */
  onUnknown(detail: string): void;
  /** Called with the progress, from 0 to 1. */
  onProgress?(share: number): void;
  /** Starts the second half of a job that has two, after recording the start. Undefined: the provider did not accept it now. */
  onNext?(start: (starting: Starting) => Promise<ProviderJob>): Promise<ProviderJob | undefined>;
}

/** Result of a job, and the job itself, which can be asked again for its output. */
export interface Followed<Output> {
  readonly result: MediaResult<Output>;
  readonly job: ProviderJob;
}

/** @throws ProviderError: the provider's verdict; `aborted` when the signal ended the polling without one */
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
  return { result: await lastWord(adapter, job, signal), job };
}

/**
 * Starts a job at its provider. A caller that disconnects does not abort the request, whose outcome would be unknown otherwise. After the
 * response, the job is cancelled.
 * @throws ProviderError of the provider; `aborted`, unsent, if the call is already over
 */
export async function startOf<Job, Call extends { readonly signal: AbortSignal }>(
  adapter: { start(call: Call): Promise<Job> },
  call: Call,
): Promise<Job> {
  if (call.signal.aborted) throw new ProviderError("aborted", "the call is over", { isUnsent: true });
  return adapter.start({ ...call, signal: outlastingItsCaller(call.signal) });
}

/** Aborts like the signal; but when a caller has disconnected, only after the timeout of one poll. */
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

/** Polls once. Returns undefined without a verdict. @throws ProviderError: the provider's verdict */
export async function pollOnce<Output>(
  adapter: Pick<Adapter<Output>, "poll" | "pollMs">,
  job: ProviderJob,
): Promise<MediaResult<Output> | undefined> {
  const polled = await adapter.poll(job, AbortSignal.timeout(pollMsOf(adapter)));
  // The first half has ended, and no worker will start the second one.
  if (polled.state === "next") throw new ProviderError("failed", "the job was given up between its halves");
  return verdictOf(polled);
}

/** Returns a function that fetches a successful job's output again; it resolves with undefined without a verdict. */
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
  // A stopping worker leaves the job to the next one.
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
 * Returns the remaining time of a job, in milliseconds, counted from its recorded start. The deadline in the row only limits when a job may
 * start. A late job is polled once, with a limit of its own.
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

/** Errors of a start that was not accepted. A start that may have been accepted fails with `unknown`. */
const MAY_BEGIN_LATER: ReadonlySet<ProviderErrorClass> = new Set(["busy", "failed"]);

/** True if the second half of a job was not accepted now, and may be later. */
export function mayBeginLater(error: unknown): error is ProviderError {
  return error instanceof ProviderError && MAY_BEGIN_LATER.has(error.kind);
}

/** Most attempts to start the second half: about a minute and a half with the pauses between polls. */
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
