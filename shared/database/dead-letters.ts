/** SQL for dead letters: messages that no worker could process and that are kept for operators. */
import { newId } from "#shared/base/ids.ts";
import { streamName, workSubject } from "#shared/queue/subjects.ts";
import { JOB_LIFE_MS, jobHoldMs } from "#shared/queue/job-life.ts";

import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";
import type { OrphanedJob } from "./jobs.ts";

export interface NewDeadLetter {
  readonly stream: string;
  readonly streamSeq: bigint;
  readonly subject: string;
  readonly messageId: string | null;
  readonly reason: string;
  readonly deliveries: number;
  readonly body: Uint8Array;
  readonly jobId: string | null;
}

/** A dead letter without its body, because the body is a caller's content. */
export interface DeadLetterRow {
  readonly id: string;
  readonly stream: string;
  readonly stream_seq: bigint;
  readonly subject: string;
  readonly message_id: string | null;
  readonly reason: string;
  readonly deliveries: number;
  readonly body_bytes: number;
  readonly job_id: string | null;
  readonly at: Date;
}

/** Stores a dead letter. Idempotent, because two processes may record the same message. */
export async function recordDeadLetter(target: Queryable, letter: NewDeadLetter): Promise<void> {
  await target.query(
    `insert into dead_letter (id, stream, stream_seq, subject, message_id, reason, deliveries, body, job_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict do nothing`,
    [
      newId(),
      letter.stream,
      letter.streamSeq,
      letter.subject,
      letter.messageId,
      letter.reason,
      letter.deliveries,
      Buffer.from(letter.body),
      letter.jobId,
    ],
  );
}

/** Records a job that no worker can run as dead letter. An operator may run it again. */
export function recordJobLetter(
  target: Queryable,
  job: Pick<OrphanedJob, "id" | "workspace_id" | "pool" | "lane" | "attempt" | "dispatch" | "claims"> &
    Partial<Pick<OrphanedJob, "stream_seq">>,
  reason: string,
): Promise<void> {
  return recordDeadLetter(target, {
    stream: streamName(job.pool),
    streamSeq: job.stream_seq ?? 0n,
    subject: workSubject(job.pool, job.lane, job.workspace_id),
    messageId: `${job.id}:${job.attempt}:${job.dispatch}`,
    reason,
    deliveries: job.claims,
    body: new Uint8Array(),
    jobId: job.id,
  });
}

/** Counts dead letters that no operator has handled. */
export async function countDeadLetters(target: Queryable): Promise<number> {
  const rows = await target.query<{ count: bigint }>(
    "select count(*) as count from dead_letter where redriven_at is null",
  );
  return Number(rows[0]?.count ?? 0n);
}

const COLUMNS = `id, stream, stream_seq, subject, message_id, reason, deliveries,
            coalesce(octet_length(body), 0) as body_bytes, job_id, at`;

/** Returns one page of unhandled dead letters of all workspaces, newest first, for operators. The page starts after the letter `after`. */
export function listDeadLetters(
  target: Queryable,
  limit: number,
  after: string | null = null,
): Promise<DeadLetterRow[]> {
  return target.query<DeadLetterRow>(
    `select ${COLUMNS}
     from dead_letter
     where redriven_at is null and ($2::uuid is null or (at, id) < (select at, id from dead_letter where id = $2))
     order by at desc, id desc
     limit $1`,
    [limit, after],
  );
}

export async function findDeadLetter(target: Queryable, id: string): Promise<DeadLetterRow | undefined> {
  const rows = await target.query<DeadLetterRow>(
    `select ${COLUMNS}
     from dead_letter
     where id = $1`,
    [id],
  );
  return rows[0];
}

/**
 * Deletes a dead letter and its body, and writes an audit row if it belongs to a workspace. Returns undefined if the dead letter does not
 * exist.
 */
export async function dropDeadLetter(
  target: Queryable,
  letter: { readonly id: string; readonly workspaceId: string | null; readonly actor: Actor },
): Promise<{ readonly id: string } | undefined> {
  const rows = await target.query<{ id: string }>(
    `with changed as (
       delete from dead_letter
       where id = $1
       returning id, subject, reason
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, before)
       select w.id, $3, 'dead_letter.drop', c.id::text, jsonb_build_object('subject', c.subject, 'reason', c.reason)
       from changed c
       left join workspace w on w.id = $2
     )
     select id from changed`,
    [letter.id, letter.workspaceId, actorJson(letter.actor)],
  );
  return rows[0];
}

export type Redrive = "done" | "unknown" | "over" | "funds" | "limit";

/** Runs the job of a dead letter again, as its next attempt and with a new hold, and writes an audit row. */
export async function redriveDeadLetter(target: Queryable, id: string, actor: Actor): Promise<Redrive> {
  const rows = await target.query<{ result: Redrive }>("select redrive_job($1, $2, $3, $4) as result", [
    id,
    actorJson(actor),
    JOB_LIFE_MS,
    jobHoldMs(JOB_LIFE_MS),
  ]);
  return rows[0]?.result ?? "unknown";
}
