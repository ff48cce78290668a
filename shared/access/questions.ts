/** Shared queries whose results are cached: concurrent callers share one query. */

/** Cache life of a key, in milliseconds; the guarantee of revocation within 1 s depends on it. */
export const KEY_CACHE_MS = 900;

export interface Asking<T> {
  readonly work: Promise<T>;
  readonly bornAt: number;
}

/**
 * Joins a running query, or starts one. A query older than the cache life is not joined: even with a slow database, no result may be older
 * than guaranteed.
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
