/** Durable jobs and batch messages. */
import { paced } from "#shared/pace.ts";

import { MEDIA_LIMITS } from "./media.ts";

export const JOBS_LIMITS = {
  /** A job that fails in our own hands, and not for an outage, is taken once more: by another worker, where there is one. */
  faultyTries: 2,
  /** A job that has not begun by then ends as failed: its publisher has long given it up. */
  jobLifeMs: 24 * 3_600_000,
  /** A job's hold outlives its deadline by an hour: the end of the job closes it, and the sweep of expired holds never should. */
  jobHoldSlackMs: 3_600_000,
  /** Requests and results up to this size stand in the job's row, larger ones in the object store. */
  jobTextBytesMax: 64 * 1024,
  /** A publisher's own name for a job. */
  idempotencyKeyCharsMax: 255,
  /** A repeat of an upload or a run under the same key hears the first answer for this long. */
  idempotencyMs: 24 * 3_600_000,
  /** Batch messages an ingress has in hand at once: enough to fill a group, few enough to lose little time to a restart. */
  intakeSlots: 32,
  /** Messages among those with media or text for the object store, or with audio; half of them of one workspace. */
  intakeLargeMax: 8,
  /** Batch messages of one workspace that lie in the stream, for each pool; further ones are dropped. */
  batchMessagesPerWorkspace: 360,
  /** Batch messages that a process remembers as waiting for a window (200 bytes each). */
  waitingMessagesMax: 20_000,
  /** A batch message whose workspace's window is full comes again after this long at least and at most. */
  windowRetryMinMs: paced(1_000),
  windowRetryMaxMs: paced(60_000),
  /** A dispatched job whose message has not been confirmed by then is dispatched again. */
  unsentMs: paced(5_000),
  /** A job that waits on the queue this long is looked for there: its message may have gone with a store. */
  unclaimedJobMs: paced(60_000),
  /** An answer to a publisher; a larger result is named, and fetched from the job's endpoint (server limit 1 MiB). */
  batchAnswerBytesMax: 768 * 1024,
  /** Interval at which a waiting caller's process looks at the row of the job: the message of its end may be lost. */
  jobLookMs: paced(2_000),
  /**
   * An item that a sweep of the janitor fails on is tried again after this long, doubled each time up to the most: seldom enough for one that
   * is bad for good, often enough for those that only a server was away for.
   */
  sweepRetryMinMs: paced(2_000),
  sweepRetryMaxMs: paced(60_000),
} as const;

/** Life of the hold of a job that may be begun within `lifeMs`: begun at the very end, it still has all the time that it may run. */
export function jobHoldMs(lifeMs: number): number {
  return lifeMs + MEDIA_LIMITS.mediaJobLifeMs + JOBS_LIMITS.jobHoldSlackMs;
}
