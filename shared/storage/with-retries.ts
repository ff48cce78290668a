import { paced } from "#shared/config/pace.ts";

/** Maximum attempts to send a body. */
export const STORAGE_ATTEMPTS = 3;

/** Timeout of one attempt to store a claim, in milliseconds. The time for its bytes at 1 MiB/s is added. */
const STORAGE_ATTEMPT_MS = paced(3_000);
const STORAGE_BYTES_PER_MS = 1_048;

/**
 * Sends an object for which a caller waits, with retries. An attempt that takes too long is abandoned early, and the object is sent over
 * another connection. Other errors are not retried here, because the SDK retries lost connections and a rejection is final.
 * @throws the error of the last attempt
 */
export async function withRetries<T>(bytes: number, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const attemptMs = STORAGE_ATTEMPT_MS + bytes / STORAGE_BYTES_PER_MS;
  for (let attempt = 1; ; attempt++) {
    const signal = AbortSignal.timeout(attemptMs);
    try {
      return await send(signal);
    } catch (error) {
      if (!signal.aborted || attempt >= STORAGE_ATTEMPTS) throw error;
    }
  }
}
