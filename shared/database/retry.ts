/** Retries statements after an outage of the database or a locked row. Rejected statements are not retried. */
import { isDataFault } from "./client.ts";

/**
 * Lock wait of a contended group, in milliseconds: several statements of others with commits on a slow disk, and acceptable once for the
 * other workspaces if one is locked for good.
 */
export const CONTENDED_WAIT_MS = 200;

/** Lock timeout of a call of a locked workspace, in milliseconds; after it 503. */
export const LOCK_TIMEOUT_MS = 2_000;

/** Result of an attempt that met a lock; it is retried like a failure. */
export const LOCKED = Symbol("locked");

export interface Repeating {
  /** Longest time from the first attempt to the last, in milliseconds. */
  readonly forMs: number;
  /** Longest pause before the second attempt, doubled before each further one, in milliseconds. */
  readonly pauseMs?: number | ((error: unknown) => number);
  readonly pauseMaxMs?: number;
  /** Returns true if a retry cannot succeed; by default, for everything that the database rejects. */
  isFinal?(error: unknown): boolean;
  /** Ends the attempts, because the result is no longer needed. */
  readonly signal?: AbortSignal;
  /** Called for a failure before another attempt. @param tries attempts made before */
  onRetry?(error: unknown, tries: number): void;
  /** Creates the error if the last attempt met a lock. */
  locked?(): Error;
}

/**
 * Returns the result of the first attempt that neither fails nor meets a lock.
 * @throws the error of the last attempt; final errors immediately
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
      options.onRetry?.(error, tries);
      fault = error;
    }
    const base = typeof pauseMs === "number" ? pauseMs : pauseMs(fault);
    // Full jitter: clients of a recovered database do not return all at once, and those that met at a lock do not meet again.
    await Bun.sleep(Math.random() * Math.min(pauseMaxMs, base * 2 ** tries));
    if (signal?.aborted === true) throw fault ?? options.locked?.() ?? new Error("a row stays locked");
  }
}
