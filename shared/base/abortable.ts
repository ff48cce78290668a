/** Waits for promises, and rejects when a signal aborts. */

/**
 * Waits for `work` until the signal aborts. @throws the signal's reason if it aborts first; `work` then continues, and its error is ignored
 */
export async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Resolves after `ms` milliseconds. @throws the signal's reason if it aborts first */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await beforeAbort(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
