/**
 * /operator/dead-letters: lists and redrives messages and jobs that no worker could finish. Bodies belong to callers and are not returned.
 */
import type { OperatorDeadLetter, OperatorRedrive } from "#schemas/generated/types.ts";
import {
  type DeadLetterRow,
  dropDeadLetter,
  findDeadLetter,
  listDeadLetters,
  redriveDeadLetter,
} from "#shared/database/dead-letters.ts";
import { ApiError } from "#shared/base/errors.ts";
import { workspaceOfSubject } from "#shared/queue/subjects.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf, operatorOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { parsedBody } from "../settings/body.ts";
import { resource } from "../settings/resource.ts";
import { READ, WRITE } from "./common.ts";

export function deadLetters(context: IngressContext): readonly Route[] {
  const { database } = context;
  return [
    ...resource({
      path: "/operator/dead-letters/{id}",
      schema: "OperatorDeadLetter",
      readers: READ,
      writers: WRITE,
      within: operatorOf,
      find: (_operator, id) => findDeadLetter(database, id),
      unknown: () => new ApiError("not_found", "There is no such dead letter."),
      present,
      list: {
        operationId: "listOperatorDeadLetters",
        summary: "List dead letters",
        answer: "A page of dead letters",
        page: (_operator, { limit, after }) => listDeadLetters(database, limit, after),
      },
      get: { operationId: "getOperatorDeadLetter", summary: "Retrieve dead letter", answer: "The dead letter" },
      remove: {
        operationId: "deleteOperatorDeadLetter",
        summary: "Delete dead letter",
        description:
          "Deletes a dead letter with its body. No client waits for it, and its credits are settled or released.",
        answer: "The confirmation",
        async end(_operator, { id, subject }, actor) {
          const workspaceId = workspaceOfSubject(subject) ?? null;
          return (await dropDeadLetter(database, { id, workspaceId, actor })) !== undefined;
        },
      },
    }),
    {
      ...WRITE,
      method: "POST",
      path: "/operator/dead-letters/redrive",
      operationId: "redriveOperatorDeadLetters",
      summary: "Redrive dead letters",
      description:
        "Queues the jobs of dead letters again, each with a new hold at its original price. A repeat queues no job " +
        "twice.",
      request: { schema: "OperatorRedriveRequest" },
      responses: { 200: { description: "The result for each dead letter", schema: "OperatorRedrive" } },
      errors: errorsOf(["reads_json"]),
      handle: (call: OperatorCall) => redrive(context, call),
    },
  ];
}

/** Redrives dead letters one after the other. Each redrive locks a job and a balance, and succeeds or fails independently of the others. */
async function redrive(context: IngressContext, call: OperatorCall): Promise<Response> {
  const { ids } = await parsedBody(call, "OperatorRedriveRequest");
  const data: OperatorRedrive["data"] = [];
  for (const rawId of ids) {
    const id = rawId.toLowerCase();
    data.push({ id, result: await redriveDeadLetter(context.database, id, actorOf(call)) });
  }
  return json({ object: "list", data } satisfies OperatorRedrive);
}

function present(row: DeadLetterRow): OperatorDeadLetter {
  return {
    object: "dead_letter",
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
    at: row.at.toISOString(),
  };
}
