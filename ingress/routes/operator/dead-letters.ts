/** /operator/dead-letters: messages and jobs that no worker could end. Bodies are callers' and are not shown. */
import type { OperatorDeadLetter, OperatorDeleted, OperatorRedrive } from "#schemas/generated/types.ts";
import {
  type DeadLetterRow,
  dropDeadLetter,
  findDeadLetter,
  listDeadLetters,
  redriveDeadLetter,
} from "#shared/database/dead-letters.ts";
import { ApiError } from "#shared/errors.ts";
import { workspaceOfSubject } from "#shared/queue/subjects.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, type Route, type RouteCall } from "../../serve.ts";
import { parsedBody, pathId } from "../../settings/body.ts";
import { LIST_QUERY, listOf, pageOf } from "../../settings/page.ts";
import { READ, WRITE } from "./common.ts";

const LIST = "/operator/dead-letters";
const ONE = `${LIST}/{id}`;

export function deadLetters(context: IngressContext): readonly Route[] {
  return [
    {
      ...READ,
      method: "GET",
      path: LIST,
      operationId: "listOperatorDeadLetters",
      summary: "List dead letters that nobody has dealt with",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of dead letters", schema: "OperatorDeadLetterList" } },
      errors: ["unsupported_value"],
      async handle(call) {
        const page = pageOf(call);
        return json(listOf(await listDeadLetters(context.database, page.limit + 1, page.after), page, present));
      },
    },
    {
      ...READ,
      method: "GET",
      path: ONE,
      operationId: "getOperatorDeadLetter",
      summary: "Read about a dead letter",
      responses: { 200: { description: "The dead letter", schema: "OperatorDeadLetter" } },
      errors: ["not_found"],
      handle: async (call) => json(present(await find(context, call))),
    },
    {
      ...WRITE,
      method: "DELETE",
      path: ONE,
      operationId: "deleteOperatorDeadLetter",
      summary: "Delete a dead letter with its body",
      description: "Nobody waits for it, and its money is settled or released.",
      responses: { 200: { description: "It is deleted", schema: "OperatorDeleted" } },
      errors: ["not_found"],
      handle: (call) => remove(context, call),
    },
    {
      ...WRITE,
      method: "POST",
      path: `${LIST}/redrive`,
      operationId: "redriveOperatorDeadLetters",
      summary: "Send jobs of dead letters on their way again",
      description: "Each under a new hold at the price that it was admitted at. A repeat sends none twice.",
      request: { schema: "OperatorRedriveRequest" },
      responses: { 200: { description: "What became of each", schema: "OperatorRedrive" } },
      errors: errorsOf(["reads_json"]),
      handle: (call) => redrive(context, call),
    },
  ];
}

async function find(context: IngressContext, call: RouteCall): Promise<DeadLetterRow> {
  const row = await findDeadLetter(context.database, pathId(call, "id", noLetter));
  if (row === undefined) throw noLetter();
  return row;
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id, subject } = await find(context, call);
  const workspaceId = workspaceOfSubject(subject) ?? null;
  const dropped = await dropDeadLetter(context.database, { id, workspaceId, actor: actorOf(call) });
  if (dropped === undefined) throw noLetter();
  return json({ id, deleted: true } satisfies OperatorDeleted);
}

/** One after the other: each takes locks of a job and a balance, and ends whatever becomes of the next. */
async function redrive(context: IngressContext, call: RouteCall): Promise<Response> {
  const { ids } = await parsedBody(call, "OperatorRedriveRequest");
  const data: OperatorRedrive["data"] = [];
  for (const word of ids) {
    const id = word.toLowerCase();
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

function noLetter(): ApiError {
  return new ApiError("not_found", "There is no such dead letter.");
}
