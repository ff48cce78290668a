/**
 * Large JSON bodies that a process handles at once: read, parsed, checked and put aside, each takes about five times its
 * size meanwhile (measured: 145 MB for an edit of 27 MB). Small ones, which nearly all are, wait for nothing.
 */
import { LIMITS } from "#shared/limits.ts";

import { KeyedSemaphore } from "./keyed-semaphore.ts";

/** In bytes. */
export function openLargeBodies(): KeyedSemaphore {
  return new KeyedSemaphore({
    max: LIMITS.largeBodiesBytesMax,
    perWorkspaceMax: LIMITS.largeBodiesWorkspaceBytesMax,
    waitingMax: LIMITS.largeBodiesWaitingMax,
    waitMs: LIMITS.largeBodyWaitMs,
    noun: "large requests",
  });
}

/** What a request may bring as JSON, where that is much; 0 where it is not. */
export function largeBodyBytes({ headers }: Request, bytesMax: number): number {
  // Its body is not looked at: that alone would make a stream of it.
  const declared = headers.get("content-length");
  if (declared === null && headers.get("transfer-encoding") === null) return 0;
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) return 0;
  const bytes = declared === null ? bytesMax : Number(declared);
  return bytes > LIMITS.smallBodyBytesMax ? Math.min(bytes, bytesMax) : 0;
}
