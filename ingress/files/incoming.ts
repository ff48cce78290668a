/**
 * A body that comes in pieces, of whatever length. The server underneath hands it out no faster than it is read (measured
 * on Bun 1.4.4), but waits for ever for a client that drips: that is bounded here.
 */
import { ApiError } from "#shared/errors.ts";
import { freeMemory } from "#shared/files/memory.ts";
import { paced } from "#shared/pace.ts";

export interface Incoming {
  /** Valid until the next call; undefined at the end. @throws ApiError `request_timeout` when it stops coming, or comes too slowly */
  read(): Promise<Uint8Array | undefined>;
  /** Not to be read any further. */
  drop(): void;
}

/** Bytes of an upload come at least at this rate, after a start and with pauses that its speed before has earned. */
const PACE = { uploadBytesPerSecondMin: 16_384, uploadStartMs: paced(30_000), uploadCreditMsMax: 120_000 };

/** Only time spent waiting for the client counts: a slow object store of ours is not its fault. */
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
      // One promise a read: raced against one that lives as long as the request, every piece would be kept as long.
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

/** The connection closed, or what came was no chunk: the client cannot hear an answer, and the fault is not ours. */
function notWhole(cause: unknown): ApiError {
  return new ApiError("request_timeout", "The request body arrived incomplete.", { cause });
}
