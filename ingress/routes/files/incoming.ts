/**
 * Body that arrives in pieces of any length. Bun delivers it no faster than it is read (measured on Bun 1.4.4), but waits forever for a
 * slow client, so the timeouts are here.
 */
import { ApiError } from "#shared/base/errors.ts";
import { freeMemory } from "#shared/files/memory.ts";
import { paced } from "#shared/config/pace.ts";

export interface Incoming {
  /** Returns the next piece, valid until the next call; undefined at the end. @throws ApiError `request_timeout` if too slow */
  read(): Promise<Uint8Array | undefined>;
  /** Stops reading. */
  drop(): void;
}

/** Slowest upload in bytes per second, after a start time in milliseconds. Faster data earns pauses of up to `uploadCreditMsMax`. */
const PACE = { uploadBytesPerSecondMin: 16_384, uploadStartMs: paced(30_000), uploadCreditMsMax: 120_000 };

/** Opens the body. Only time spent waiting for the client counts: a slow object store does not. */
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

/** Returns the error of a closed connection or malformed chunk: the client cannot receive a response, and the service is not at fault. */
function notWhole(cause: unknown): ApiError {
  return new ApiError("request_timeout", "The request body arrived incomplete.", { cause });
}
