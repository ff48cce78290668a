/**
 * Messages that wait for their workspace's window, as far as this process has seen them: of those under one key the first
 * waits, the others are told so and leave the stream.
 */
import { LIMITS } from "#shared/limits.ts";

export interface WaitingMessages {
  /** Notes that the message waits. False: an earlier one under the same job id does, and this one is not needed. */
  isFirst(jobId: string, seq: number): boolean;
  /** The job was admitted or refused. */
  forget(jobId: string): void;
}

interface Known {
  readonly seq: number;
  /** Milliseconds, as `now` tells them. */
  readonly seenAt: number;
}

/** It comes again at least this often, to one ingress or another; not seen twice over, it may have gone with a store. */
const BELIEVED_MS = 2.5 * LIMITS.windowRetryMaxMs;

export function createWaitingMessages(now: () => number = () => performance.now()): WaitingMessages {
  /** Those seen last stand last. */
  const first = new Map<string, Known>();
  return {
    isFirst(jobId, seq) {
      const known = first.get(jobId);
      if (known && known.seq < seq && now() - known.seenAt < BELIEVED_MS) return false;
      first.delete(jobId);
      first.set(jobId, { seq, seenAt: now() });
      if (first.size > LIMITS.waitingMessagesMax) {
        for (const oldest of first.keys()) {
          first.delete(oldest);
          break;
        }
      }
      return true;
    },
    forget: (jobId) => void first.delete(jobId),
  };
}
