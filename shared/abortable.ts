/** Waits that an abort ends. */

/** @throws the signal's reason when it aborts first, at once where it has; what was waited for may go on, or fail unheard */
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

/** Resolves after `ms` milliseconds. @throws the signal's reason when it aborts first */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await beforeAbort(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
