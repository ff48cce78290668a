/** Sends cancels for jobs without a waiting caller. A cancel goes to the worker of the job if known, otherwise to all workers. */
import type { NatsConnection } from "nats";

import { cancelSubject, isWorkerCancels } from "#shared/queue/subjects.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";

/**
 * Sends a cancel, best effort. If the cancel is lost, the job runs until its deadline.
 * @param at NATS subject of the worker that has the job
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
