/** Lifetimes of durable jobs and of their holds. */

/** Time after which a job that has not begun ends as failed, in milliseconds. */
export const JOB_LIFE_MS = 24 * 3_600_000;

/**
 * Lifetime of a hold beyond the deadline of its job, in milliseconds. It is long enough for the end of the job, and not a sweep, to close
 * the hold.
 */
const JOB_HOLD_SLACK_MS = 3_600_000;

/**
 * Returns the lifetime of the hold of a job that must begin within `lifeMs`, in milliseconds. Includes the longest possible run after that.
 */
export function jobHoldMs(lifeMs: number): number {
  return lifeMs + MEDIA_JOB_LIFE_MS + JOB_HOLD_SLACK_MS;
}

/** Time after which a media job that no worker has claimed ends as failed, in milliseconds. */
export const MEDIA_JOB_LIFE_MS = 3_600_000;
