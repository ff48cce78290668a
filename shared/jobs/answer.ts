/**
 * Messages that report a job's result to its publisher, or to the ingress whose caller waits. Delivery is best effort; the job's endpoint
 * is the reliable source.
 */
import type { BatchAnswer } from "#schemas/generated/types.ts";
import type { JobError, JobRow } from "#shared/database/jobs.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { whenLinked } from "#shared/queue/connection.ts";
import { encodeJobFrame } from "#shared/queue/job-frames.ts";
import { isIngressReply, isWorkspaceReply } from "#shared/queue/subjects.ts";

import { fitsRow } from "./result.ts";

/** Maximum size of a reply to a publisher, in bytes (server limit: 1 MiB). A larger result must be read from the job's endpoint. */
const BATCH_ANSWER_BYTES_MAX = 768 * 1024;

export interface Addressed {
  readonly id: string;
  readonly workspace_id: string;
  readonly publisher_key: string | null;
  readonly reply: string | null;
}

export interface JobReply {
  readonly status: BatchAnswer["status"];
  /** Result as the JSON text of an object. */
  readonly result?: string | null;
  readonly error?: JobError | null;
  readonly creditsNano?: bigint | null;
}

interface Connection {
  publish(subject: string, data: string | Uint8Array): void;
  isClosed(): boolean;
}

/**
 * Notifies the ingress whose caller waits for a job that the job has ended. The message contains a result that fits a row; the ingress
 * reads a larger result itself.
 */
export function notifyCaller(connection: Connection, job: Pick<Addressed, "id" | "reply">, jobReply?: JobReply): void {
  if (job.reply === null || !isIngressReply(job.reply) || connection.isClosed()) return;
  connection.publish(job.reply, endedFrame(jobReply) ?? job.id);
}

function endedFrame({ status, result, creditsNano }: Partial<JobReply> = {}): Uint8Array | undefined {
  if (status !== "completed" || result == null || creditsNano == null || !fitsRow(result)) return undefined;
  return encodeJobFrame({ t: "ended", nano: String(creditsNano) }, Buffer.from(result));
}

/**
 * Sends a job's state to its publisher, immediately or after a reconnect. Does nothing unless the job has a reply address of its workspace.
 */
export function notifyPublisher(connection: Connection, job: Addressed, jobReply: JobReply): void {
  const { reply } = job;
  if (reply === null || connection.isClosed()) return;
  if (isIngressReply(reply)) {
    notifyCaller(connection, job, jobReply);
    return;
  }
  if (!isWorkspaceReply(reply, job.workspace_id)) return;
  const text = answerText(job, jobReply);
  whenLinked(connection, () => connection.publish(reply, text));
}

/** Converts a stored job to the reply for a publisher that sent the same job again. */
export function jobReplyOf(row: JobRow, result: string | null): JobReply {
  return { status: row.state, result, error: row.error, creditsNano: row.credits };
}

function answerText(job: Addressed, { status, result, error, creditsNano }: JobReply): string {
  const head: BatchAnswer = {
    key: job.publisher_key,
    job_id: job.id,
    status,
    ...(error == null ? {} : { error: { ...error } }),
    ...(creditsNano == null ? {} : { credits_used: creditsNumber(creditsNano) }),
  };
  const text = JSON.stringify(head);
  if (result == null || Buffer.byteLength(result) > BATCH_ANSWER_BYTES_MAX) return text;
  return `${text.slice(0, -1)},"result":${result}}`;
}
