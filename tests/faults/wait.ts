/** Waiting for something to become true, with an end. */

const PAUSE_MS = 25;

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
  for (const until = performance.now() + withinMs; ;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      fault = undefined;
    } catch (error) {
      fault = error;
    }
    if (performance.now() > until) {
      throw new Error(`${what}: not within ${withinMs} ms`, fault === undefined ? undefined : { cause: fault });
    }
    await Bun.sleep(PAUSE_MS);
  }
}
