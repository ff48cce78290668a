/** The deadlines of one provider call: first byte, silence between bytes, total; plus whatever ends the job itself. */
import { jobAbort } from "../job.ts";

export type TimeoutKind = "first_byte" | "stall" | "total";

export interface Watchdog {
  /** Aborts at the first limit passed, or with the job. */
  readonly signal: AbortSignal;
  /** The provider gave a sign of life: from now on the stall limit counts. */
  touch(): void;
  /** From now on time does not count, until `touch`. */
  pause(): void;
  /** Returns the limit that ended the call, if one did. */
  expired(): TimeoutKind | undefined;
  stop(): void;
}

/** Source of time and of timers. */
export interface Clock {
  /** Milliseconds since any moment. */
  now(): number;
  /** Runs it once after so many milliseconds, unless the function that it returns is called before. */
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
    const leftTotal = startedAt + limits.totalMs - now;
    const leftSilence = lastAt + silenceMs - now;
    if (leftTotal > 0 && leftSilence > 0) {
      disarm = clock.after(Math.min(leftTotal, leftSilence) + 1, check);
      return;
    }
    if (leftTotal <= 0) expired = "total";
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
      // The timer that runs is the first byte's, which may be far longer than the stall's.
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
