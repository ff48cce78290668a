/** Applies the timeouts of one provider call: to the first byte, between bytes, and in total. The abort of the job also aborts the call. */
import { jobAbort } from "../job.ts";

export type TimeoutKind = "first_byte" | "stall" | "total";

export interface Watchdog {
  /** Signal that aborts at the first timeout, or together with the job. */
  readonly signal: AbortSignal;
  /** Restarts the timeout, because the provider has sent bytes. From now on, the timeout between bytes applies. */
  touch(): void;
  /** Stops all timeouts until `touch` is called. */
  pause(): void;
  /** Returns the kind of timeout that aborted the call; undefined if no timeout did. */
  expired(): TimeoutKind | undefined;
  stop(): void;
}

/** Source of time and timers; tests replace it. */
export interface Clock {
  /** Returns the current time, in milliseconds since a fixed moment. */
  now(): number;
  /** Runs a function once after `ms` milliseconds. The returned function cancels the timer. */
  after(ms: number, run: () => void): () => void;
}

const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function startWatchdog(
  limits: { firstByteMs: number; stallMs: number; totalMs: number },
  job: AbortSignal,
  clock: Clock = REAL_CLOCK,
): Watchdog {
  const controller = new AbortController();
  let startedAt = clock.now();
  let lastAt = startedAt;
  let pausedAt: number | undefined;
  let isTouched = false;
  let isStopped = false;
  let expired: TimeoutKind | undefined;
  let disarm: (() => void) | undefined;

  const check = (): void => {
    disarm = undefined;
    const now = clock.now();
    const silenceMs = isTouched ? limits.stallMs : limits.firstByteMs;
    const remainingTotalMs = startedAt + limits.totalMs - now;
    const remainingSilenceMs = lastAt + silenceMs - now;
    if (remainingTotalMs > 0 && remainingSilenceMs > 0) {
      disarm = clock.after(Math.min(remainingTotalMs, remainingSilenceMs) + 1, check);
      return;
    }
    if (remainingTotalMs <= 0) expired = "total";
    else expired = isTouched ? "stall" : "first_byte";
    controller.abort(jobAbort("deadline"));
  };
  const onAbort = (): void => controller.abort(job.reason);
  if (job.aborted) onAbort();
  else job.addEventListener("abort", onAbort, { once: true });
  check();
  return {
    signal: controller.signal,
    touch() {
      lastAt = clock.now();
      if (pausedAt !== undefined) {
        startedAt += lastAt - pausedAt;
        pausedAt = undefined;
        isTouched = true;
        if (!isStopped) check();
      }
      if (isTouched) return;
      isTouched = true;
      // The running timer is that of the first byte, which may be far longer than the stall timeout.
      if (disarm === undefined) return;
      disarm();
      check();
    },
    pause() {
      pausedAt ??= clock.now();
      disarm?.();
      disarm = undefined;
    },
    expired: () => expired,
    stop() {
      isStopped = true;
      disarm?.();
      disarm = undefined;
      job.removeEventListener("abort", onAbort);
    },
  };
}
