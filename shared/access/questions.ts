/** Questions to the database whose answers are believed for a cache life, asked once however many callers want them. */

/** A key is believed this long without asking the database; the promise to revoke within 1 s rests on it. */
export const KEY_CACHE_MS = 900;

export interface Asking<T> {
  readonly work: Promise<T>;
  readonly bornAt: number;
}

/**
 * Joins a question that is under way, or asks it. One that was sent a cache life ago is not joined: its answer may be
 * older than what the caller is promised, however slow the database is.
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
