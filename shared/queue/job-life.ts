/** Lifetimes of durable jobs and of their holds. */

/** Time after which a job that has not begun ends as failed, in milliseconds. */
export const JOB_LIFE_MS = 24 * 3_600_000;

/**
 * Time for which a hold outlives the deadline of its job, in milliseconds. It is long enough for the worker that ends the job to close the
 * hold before a sweep does.
 */
const JOB_HOLD_SLACK_MS = 3_600_000;

/**
 * Returns the lifetime of the credit hold of a job, in milliseconds. It includes the longest possible run after the job has begun.
 * @param lifeMs time within which the job must begin, in milliseconds
 */
export function jobHoldMs(lifeMs: number): number {
  return lifeMs + MEDIA_JOB_LIFE_MS + JOB_HOLD_SLACK_MS;
}

/** Time after which a media job that no worker has claimed ends as failed, in milliseconds. */
export const MEDIA_JOB_LIFE_MS = 3_600_000;
