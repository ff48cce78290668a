/** Retries statements after an outage of the database or a locked row. Rejected statements are not retried. */
import { isDataFault } from "./client.ts";

/**
 * Maximum time that a group of calls waits for a locked workspace, in milliseconds. Long enough for several statements of other
 * transactions with commits on a slow disk. If one workspace is locked permanently, the other workspaces of its group wait once for this
 * time.
 */
export const CONTENDED_WAIT_MS = 200;

/** Maximum time that a call waits for the lock of its workspace, in milliseconds. After it, the call fails with status 503. */
export const LOCK_TIMEOUT_MS = 2_000;

/** Result of an attempt that found a row locked. Such an attempt is retried like a failed one. */
export const LOCKED = Symbol("locked");

export interface Repeating {
  /** Maximum time from the first attempt to the last, in milliseconds. */
  readonly forMs: number;
  /** Maximum pause before the second attempt, in milliseconds. Doubles before each further attempt. */
  readonly pauseMs?: number | ((error: unknown) => number);
  readonly pauseMaxMs?: number;
  /** Returns true if a retry cannot succeed. By default, true for every statement that the database rejects. */
  isFinal?(error: unknown): boolean;
  /** Stops the attempts when aborted, because the result is no longer needed. */
  readonly signal?: AbortSignal;
  /**
   * Called after a failure that is retried.
   * @param attempts number of attempts made so far
   */
  onRetry?(error: unknown, attempts: number): void;
  /** Creates the error that is thrown if the last attempt found a row locked. */
  locked?(): Error;
}

/**
 * Runs `work` until an attempt neither fails nor finds a row locked, and returns its result.
 * @throws the error of the last attempt; an error that a retry cannot fix immediately
 */
export async function retryStatement<T>(
  work: () => Promise<T | typeof LOCKED>,
  { forMs, pauseMs = 50, pauseMaxMs = 2_000, signal, ...options }: Repeating,
): Promise<T> {
  const isFinal = (error: unknown): boolean => options.isFinal?.(error) ?? isDataFault(error);
  const giveUpAt = performance.now() + forMs;
  for (let tries = 0; ; tries++) {
    let fault: unknown;
    try {
      const result = await work();
      if (result !== LOCKED) return result;
      fault = undefined;
      if (performance.now() > giveUpAt) throw options.locked?.() ?? new Error("a row stays locked");
    } catch (error) {
      if (isFinal(error) || signal?.aborted === true || performance.now() > giveUpAt) throw error;
      options.onRetry?.(error, tries + 1);
      fault = error;
    }
    const base = typeof pauseMs === "number" ? pauseMs : pauseMs(fault);
    // Full jitter: clients of a recovered database do not return all at once, and those that met at a lock do not meet again.
    await Bun.sleep(Math.random() * Math.min(pauseMaxMs, base * 2 ** tries));
    if (signal?.aborted === true) throw fault ?? options.locked?.() ?? new Error("a row stays locked");
  }
}
