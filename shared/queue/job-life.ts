/** Lives of durable jobs and of their holds. */

/** A job that has not begun by then ends as failed: its publisher has long given it up. */
export const JOB_LIFE_MS = 24 * 3_600_000;

/** A job's hold outlives its deadline by an hour: the end of the job closes it, and the sweep of expired holds never should. */
const JOB_HOLD_SLACK_MS = 3_600_000;

/** Life of the hold of a job that may be begun within `lifeMs`: begun at the very end, it still has all the time that it may run. */
export function jobHoldMs(lifeMs: number): number {
  return lifeMs + MEDIA_JOB_LIFE_MS + JOB_HOLD_SLACK_MS;
}

/** A media job that no worker has taken for this long is given up: its caller waits no longer. */
export const MEDIA_JOB_LIFE_MS = 3_600_000;
