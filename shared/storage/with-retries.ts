import { paced } from "#shared/pace.ts";

/** A body that a fault of the store's kept from arriving is sent again this often. */
export const STORAGE_ATTEMPTS = 3;

/** One attempt to store a claim: this long, and as long as its bytes take at 1 MiB/s. */
const STORAGE_ATTEMPT_MS = paced(3_000);
const STORAGE_BYTES_PER_MS = 1_048;

/**
 * A caller waits for this: a connection that fell silent is given up early and the object sent again by another. What the
 * store refused stands, and lost connections are the SDK's to repeat.
 * @throws whatever the last attempt threw
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
