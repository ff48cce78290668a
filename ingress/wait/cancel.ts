/** Tells the workers to end a job that is not waited for any more. */
import type { NatsConnection } from "nats";

import { cancelSubject } from "#shared/queue/subjects.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";

/** Best effort: a cancel that is lost leaves the job to its deadline. */
export type Cancel = (jobId: string) => void;

export function createCancel(
  connection: Pick<NatsConnection, "isClosed" | "publish">,
  tokens: Pick<JobTokens, "of">,
): Cancel {
  return (jobId) => {
    if (!connection.isClosed()) connection.publish(cancelSubject(jobId), tokens.of(jobId));
  };
}
