/** Waiting for something to become true, with an end. */

/**
 * A pause is a tenth of the time waited so far, within these bounds. A question costs several processes some milliseconds of CPU, and
 * an answer that took seconds may be found a tenth later.
 */
const [PAUSE_MIN_MS, PAUSE_MAX_MS] = [10, 100];

/**
 * Asks until `probe` answers with something, and returns that. A probe that throws is asked again.
 * @throws Error naming what was waited for, and the last fault, after `withinMs`
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 25_000,
): Promise<T> {
  let fault: unknown;
  for (const beganAt = performance.now(); ;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      fault = undefined;
    } catch (error) {
      fault = error;
    }
    const waitedMs = performance.now() - beganAt;
    if (waitedMs > withinMs) {
      throw new Error(`${what}: not within ${withinMs} ms`, fault === undefined ? undefined : { cause: fault });
    }
    await Bun.sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, waitedMs / 10)));
  }
}
