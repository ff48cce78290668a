/** Tells workers to end a job that is not waited for any more: the one that has it, where that is known, else all of them. */
import type { NatsConnection } from "nats";

import { cancelSubject, isWorkerCancels } from "#shared/queue/subjects.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";

/**
 * Best effort: a cancel that is lost leaves the job to its deadline.
 * @param at subject of the worker that has it
 */
export type Cancel = (jobId: string, at?: string) => void;

export function createCancel(
  connection: Pick<NatsConnection, "isClosed" | "publish">,
  tokens: Pick<JobTokens, "of">,
): Cancel {
  return (jobId, at) => {
    const subject = at !== undefined && isWorkerCancels(at) ? `${at}.${jobId}` : cancelSubject(jobId);
    if (!connection.isClosed()) connection.publish(subject, tokens.of(jobId));
  };
}
