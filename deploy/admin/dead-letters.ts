/**
 * Messages no worker could finish. A job that has a row of its own can be sent on its way again; a call cannot, since its
 * caller waited for the answer and is gone. Bodies are callers' and are not shown.
 */
import {
  type DeadLetterRow,
  dropDeadLetter,
  findDeadLetter,
  listDeadLetters,
  type Redrive,
  redriveDeadLetter,
} from "#shared/database/dead-letters.ts";
import { workspaceOfSubject } from "#shared/queue/subjects.ts";

import { idOf, limitOf } from "./arguments.ts";
import type { Command } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { facts, tableOr } from "./table.ts";

const ROWS = 100;

export const DEAD_LETTER_COMMANDS: readonly Command[] = [
  {
    name: "dead-letters list",
    about: `messages no worker could finish, newest first, ${ROWS} unless told otherwise`,
    arguments: [],
    options: [{ name: "limit", value: "n" }],
    async run(context, given) {
      const limit = limitOf(given.option("limit"), ROWS);
      const rows = await listDeadLetters(await context.database(), limit);
      return {
        json: rows.map(letterJson),
        text: tableOr(
          "there is no dead letter",
          ["Id", "At", "Subject", "Reason", "Deliveries"],
          rows.map((row) => [row.id, row.at, row.subject, row.reason, row.deliveries]),
          ["Deliveries"],
        ),
      };
    },
  },
  {
    name: "dead-letters show",
    about: "where it came from and why it is here; its body is a caller's and stays hidden",
    arguments: ["id"],
    async run(context, given) {
      const row = await requireLetter(context, given.argument("id"));
      const json = letterJson(row);
      return {
        json,
        text: facts([
          ["id", row.id],
          ["at", row.at],
          ["reason", row.reason],
          ["subject", row.subject],
          ["workspace id", workspaceOfSubject(row.subject) ?? null],
          ["stream", row.stream],
          ["sequence", row.stream_seq],
          ["message id", row.message_id],
          ["job id", row.job_id],
          ["deliveries", row.deliveries],
          ["body bytes", row.body_bytes],
        ]),
      };
    },
  },
  {
    name: "dead-letters redrive",
    about: "sends its job on its way again, under a new hold at the price it was admitted at",
    arguments: ["id"],
    async run(context, given) {
      const row = await requireLetter(context, given.argument("id"));
      const result = await redriveDeadLetter(await context.database(), row.id, ACTOR);
      if (result !== "done") throw new Error(REFUSALS[result](row));
      return { json: letterJson(row), text: `job ${row.job_id} of dead letter ${row.id} is on its way again` };
    },
  },
  {
    name: "dead-letters drop",
    about: "deletes it with its body; nobody waits for it, and its money is settled or released",
    arguments: ["id"],
    async run(context, given) {
      const row = await requireLetter(context, given.argument("id"));
      const workspaceId = workspaceOfSubject(row.subject) ?? null;
      const dropped = await dropDeadLetter(await context.database(), { id: row.id, workspaceId, actor: ACTOR });
      if (dropped === undefined) throw new Error(`there is no dead letter ${row.id}`);
      return { json: letterJson(row), text: `dead letter ${row.id} is dropped` };
    },
  },
];

const REFUSALS: Readonly<Record<Exclude<Redrive, "done">, (row: DeadLetterRow) => string>> = {
  unknown: (row) => `dead letter ${row.id} has been redriven before`,
  over: (row) => `dead letter ${row.id} has no job that could be run again; drop it`,
  funds: () => "the workspace's available credits do not cover the job any more",
};

async function requireLetter(context: Context, word: string): Promise<DeadLetterRow> {
  const id = idOf("a dead letter's id", word);
  const row = await findDeadLetter(await context.database(), id);
  if (row === undefined) throw new Error(`there is no dead letter ${id}`);
  return row;
}

function letterJson(row: DeadLetterRow): Record<string, unknown> {
  return {
    id: row.id,
    stream: row.stream,
    stream_seq: String(row.stream_seq),
    subject: row.subject,
    workspace_id: workspaceOfSubject(row.subject) ?? null,
    message_id: row.message_id,
    job_id: row.job_id,
    reason: row.reason,
    deliveries: row.deliveries,
    body_bytes: row.body_bytes,
    at: row.at,
  };
}
