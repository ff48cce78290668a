/** Runs queries whose results are cached, so that concurrent callers share one query. */

/** Maximum age of a cached key, in milliseconds. The guarantee that a revoked key is rejected within 1 s depends on it. */
export const KEY_CACHE_MS = 900;

export interface Asking<T> {
  readonly work: Promise<T>;
  readonly bornAt: number;
}

/**
 * Joins a running query with the same key, or starts one. A query that is older than the cache life is not joined, so that no result is
 * older than guaranteed even with a slow database.
 */
export function shared<T>(
  asking: Map<string, Asking<T>>,
  key: string,
  nowMs: number,
  question: (bornAt: number) => Promise<T>,
): Promise<T> {
  const running = asking.get(key);
  if (running && nowMs - running.bornAt < KEY_CACHE_MS) return running.work;
  const mine: Asking<T> = {
    bornAt: nowMs,
    work: question(nowMs).finally(() => {
      if (asking.get(key) === mine) asking.delete(key);
    }),
  };
  asking.set(key, mine);
  return mine.work;
}
