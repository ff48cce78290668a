/**
 * Reads a request body chunk by chunk and closes slow uploads. Bun reads from the client only as fast as the body is consumed (measured on
 * Bun 1.4.4). Bun itself has no timeout for a slow client, so the timeouts are here.
 */
import { ApiError } from "#shared/base/errors.ts";
import { freeMemory } from "#shared/files/memory.ts";
import { paced } from "#shared/config/pace.ts";

export interface Incoming {
  /**
   * Returns the next chunk, valid until the next call, or undefined at the end of the body. @throws ApiError `request_timeout` if the
   * client is too slow
   */
  read(): Promise<Uint8Array | undefined>;
  /** Stops reading the body and discards the remainder. */
  drop(): void;
}

/**
 * Minimum upload speed in bytes per second, after an initial allowance of `uploadStartMs` milliseconds. A faster upload earns waiting time
 * for later pauses, at most `uploadCreditMsMax` milliseconds.
 */
const PACE = { uploadBytesPerSecondMin: 16_384, uploadStartMs: paced(30_000), uploadCreditMsMax: 120_000 };

/** Opens the body of a request for reading. The timeout counts only time spent waiting for the client, not time in a slow object store. */
export function openIncoming(request: Request, pace = PACE): Incoming {
  const reader = request.body?.getReader();
  let creditMs = pace.uploadStartMs;
  let last: Uint8Array<ArrayBuffer> | undefined;
  let giveUp: ((error: ApiError) => void) | undefined;
  request.signal.addEventListener("abort", () => giveUp?.(notWhole(undefined)), { once: true });
  return {
    drop() {
      reader?.cancel().catch(() => undefined);
    },
    async read() {
      if (!reader) return undefined;
      if (request.signal.aborted) throw notWhole(undefined);
      if (last) freeMemory(last);
      last = undefined;
      const startedAt = performance.now();
      // One promise per read. Racing against a promise that lives as long as the request would keep every piece in memory.
      const { promise: never, reject } = Promise.withResolvers<never>();
      giveUp = reject;
      const timer = setTimeout(
        () => reject(new ApiError("request_timeout", "The request body did not arrive in time.")),
        creditMs,
      );
      try {
        const next = await Promise.race([reader.read(), never]);
        if (next.done) return undefined;
        const earnedMs = (next.value.length / pace.uploadBytesPerSecondMin) * 1_000;
        creditMs = Math.min(pace.uploadCreditMsMax, creditMs + earnedMs - (performance.now() - startedAt));
        last = next.value;
        return last;
      } catch (error) {
        throw error instanceof ApiError ? error : notWhole(error);
      } finally {
        clearTimeout(timer);
        giveUp = undefined;
      }
    },
  };
}

/**
 * Returns the error for a request body whose connection was closed or whose chunks are malformed. The status is below 500, because the
 * client caused the error.
 */
function notWhole(cause: unknown): ApiError {
  return new ApiError("request_timeout", "The request body arrived incomplete.", { cause });
}
