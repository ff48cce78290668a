import { LIMITS } from "#shared/limits.ts";

/**
 * A caller waits for this: a connection that fell silent is given up early and the object sent again by another. What the
 * store refused stands, and lost connections are the SDK's to repeat.
 * @throws whatever the last attempt threw
 */
export async function withRetries<T>(bytes: number, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const attemptMs = LIMITS.storageAttemptMs + bytes / LIMITS.storageBytesPerMs;
  for (let attempt = 1; ; attempt++) {
    const signal = AbortSignal.timeout(attemptMs);
    try {
      return await send(signal);
    } catch (error) {
      if (!signal.aborted || attempt >= LIMITS.storageAttempts) throw error;
    }
  }
}
