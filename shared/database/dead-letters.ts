/** Messages that no worker could finish, kept for an operator's eyes. */
import { newId } from "#shared/ids.ts";

import type { Queryable } from "./client.ts";

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

export async function recordDeadLetter(target: Queryable, letter: NewDeadLetter): Promise<void> {
  await target.query(
    `insert into dead_letter (id, stream, stream_seq, subject, message_id, reason, deliveries, body, job_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
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

/** Those that no operator has dealt with. */
export async function countDeadLetters(target: Queryable): Promise<number> {
  const rows = await target.query<{ count: bigint }>(
    "select count(*) as count from dead_letter where redriven_at is null",
  );
  return Number(rows[0]?.count ?? 0n);
}
