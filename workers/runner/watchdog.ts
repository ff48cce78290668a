/** The deadlines of one provider call: first byte, silence between bytes, total; plus whatever ends the job itself. */
import { JobAbort } from "../job.ts";

export type TimeoutKind = "first_byte" | "stall" | "total";

export interface Watchdog {
  /** Aborts at the first limit passed, or with the job. */
  readonly signal: AbortSignal;
  /** The provider gave a sign of life: from now on the stall limit counts. */
  touch(): void;
  /** From now on time does not count, until `touch`. */
  pause(): void;
  /** Which limit ended the call, if one did. */
  expired(): TimeoutKind | undefined;
  stop(): void;
}

export function startWatchdog(
  limits: { firstByteMs: number; stallMs: number; totalMs: number },
  job: AbortSignal,
): Watchdog {
  const controller = new AbortController();
  let startedAt = performance.now();
  let lastAt = startedAt;
  let pausedAt: number | undefined;
  let isTouched = false;
  let isStopped = false;
  let expired: TimeoutKind | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const check = (): void => {
    timer = undefined;
    const now = performance.now();
    const silenceMs = isTouched ? limits.stallMs : limits.firstByteMs;
    const leftTotal = startedAt + limits.totalMs - now;
    const leftSilence = lastAt + silenceMs - now;
    if (leftTotal > 0 && leftSilence > 0) {
      timer = setTimeout(check, Math.min(leftTotal, leftSilence) + 1);
      return;
    }
    if (leftTotal <= 0) expired = "total";
    else expired = isTouched ? "stall" : "first_byte";
    controller.abort(new JobAbort("deadline"));
  };
  const onJobAbort = (): void => controller.abort(job.reason);
  if (job.aborted) onJobAbort();
  else job.addEventListener("abort", onJobAbort, { once: true });
  check();
  return {
    signal: controller.signal,
    touch() {
      lastAt = performance.now();
      if (pausedAt !== undefined) {
        startedAt += lastAt - pausedAt;
        pausedAt = undefined;
        isTouched = true;
        if (!isStopped) check();
      }
      if (isTouched) return;
      isTouched = true;
      // The timer that runs is the first byte's, which may be far longer than the stall's.
      if (timer === undefined) return;
      clearTimeout(timer);
      check();
    },
    pause() {
      pausedAt ??= performance.now();
      clearTimeout(timer);
      timer = undefined;
    },
    expired: () => expired,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      timer = undefined;
      job.removeEventListener("abort", onJobAbort);
    },
  };
}
