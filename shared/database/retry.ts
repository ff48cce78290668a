/** Repeats what the database did not do: it was away, or a row was locked. What it refuses is not repeated. */
import { isDataFault } from "./client.ts";

/**
 * Contended workspaces wait this long together for locks: several statements of others with their commits on a slow
 * disk, and no more than their neighbours can bear once when one of them is locked for good.
 */
export const CONTENDED_WAIT_MS = 200;

/** A call of a locked workspace waits this long for the lock, then 503 (engine part 4). */
export const LOCK_TIMEOUT_MS = 2_000;

/** Result of a try that found a lock: another is made as if it had failed. */
export const LOCKED = Symbol("locked");

export interface Repeating {
  /** Longest time from the first try to the last, in milliseconds. */
  readonly forMs: number;
  /** Longest pause before the second try, doubled before each further one, in milliseconds. */
  readonly pauseMs?: number | ((error: unknown) => number);
  readonly pauseMaxMs?: number;
  /** True if another try would end the same; what the database refuses unless told otherwise. */
  isFinal?(error: unknown): boolean;
  /** Ends the tries: its work is not wanted any more. */
  readonly signal?: AbortSignal;
  /** Told of a failure that another try follows. @param tries made before */
  onRetry?(error: unknown, tries: number): void;
  /** Returns what is thrown when the last try has found a lock. */
  locked?(): Error;
}

/**
 * Returns what the first try comes to that neither fails nor finds a lock.
 * @throws what the last try threw; what is final at once
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
    // Full jitter: a database that comes back is not met by everyone at once, and those who met at a lock do not meet again.
    await Bun.sleep(Math.random() * Math.min(pauseMaxMs, base * 2 ** tries));
    if (signal?.aborted === true) throw fault ?? options.locked?.() ?? new Error("a row stays locked");
  }
}
