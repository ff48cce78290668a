/** /operator/holds and /operator/jobs/{id}: credits that are set aside, and what became of the work. Neither is closed by hand. */
import type { OperatorHold, OperatorJob } from "#schemas/generated/types.ts";
import { type HoldQuery, type HoldRow, pageHolds } from "#shared/database/holds.ts";
import { findJobFacts, holdsOfJob } from "#shared/database/job-facts.ts";
import { ApiError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { creditsNumber } from "#shared/money.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import type { Route, RouteCall } from "../../serve.ts";
import { pathId } from "../../settings/body.ts";
import { limitIn, LIST_QUERY, listOf, oneOf, queryOf, unsupported } from "../../settings/page.ts";
import { iso, READ } from "./common.ts";

const YES_OR_NO = { type: "string", enum: ["true", "false"] } as const;

export function holds(context: IngressContext): readonly Route[] {
  return [
    {
      ...READ,
      method: "GET",
      path: "/operator/holds",
      operationId: "listOperatorHolds",
      summary: "List open holds of all workspaces",
      query: [
        ...LIST_QUERY,
        { name: "overdue", description: "Whether their deadline is past; absent: all.", schema: YES_OR_NO },
        {
          name: "unknown",
          description: "Whether it is unknown what became of their paid work; absent: all.",
          schema: YES_OR_NO,
        },
      ],
      responses: { 200: { description: "A page of holds", schema: "OperatorHoldList" } },
      errors: ["unsupported_value"],
      async handle(call) {
        const query = queryFor(call);
        return json(listOf(await pageHolds(context.database, { ...query, limit: query.limit + 1 }), query, present));
      },
    },
    {
      ...READ,
      method: "GET",
      path: "/operator/jobs/{id}",
      operationId: "getOperatorJob",
      summary: "Read facts of a job",
      description:
        "Of any workspace, without what was asked and what came of it. A call whose caller waits has no job; its hold is listed.",
      responses: { 200: { description: "The facts", schema: "OperatorJob" } },
      errors: ["job_not_found"],
      handle: (call) => job(context, call),
    },
  ];
}

function queryFor(call: RouteCall): HoldQuery {
  return {
    after: after(call),
    limit: limitIn(call),
    isOverdue: yesOrNo(call, "overdue"),
    isUnknown: yesOrNo(call, "unknown"),
  };
}

/** @throws ApiError `unsupported_value` */
function yesOrNo(call: RouteCall, name: string): boolean | null {
  const word = oneOf(call, name, YES_OR_NO.enum);
  return word === null ? null : word === "true";
}

/** @throws ApiError `unsupported_value` */
function after(call: RouteCall): HoldQuery["after"] {
  const text = queryOf(call).get("after") || null;
  if (text === null) return null;
  const [, jobId = "", attempt = ""] = /^([0-9a-f-]{36})\.(\d{1,4})$/.exec(text) ?? [];
  if (!isUuid(jobId)) throw unsupported("after", "the id of a hold", text);
  return { jobId, attempt: Number(attempt) };
}

function present(row: HoldRow): OperatorHold {
  return {
    object: "hold",
    id: `${row.job_id}.${row.attempt}`,
    job_id: row.job_id,
    attempt: row.attempt,
    workspace_id: row.workspace_id,
    workspace: row.workspace,
    key_id: row.key_id,
    model: row.model,
    credits: creditsNumber(row.amount),
    created_at: row.created_at.toISOString(),
    deadline: row.deadline.toISOString(),
    is_overdue: row.is_overdue,
    unknown_since: iso(row.unknown_since),
  };
}

async function job(context: IngressContext, call: RouteCall): Promise<Response> {
  const facts = await findJobFacts(context.database, pathId(call, "id", noJob));
  if (facts === undefined) throw noJob();
  const held = await holdsOfJob(context.database, facts);
  return json({
    object: "job",
    ...facts,
    credits: facts.credits === null ? null : creditsNumber(facts.credits),
    held: held.map(({ attempt, amount, deadline }) => ({
      attempt,
      credits: creditsNumber(amount),
      deadline: deadline.toISOString(),
    })),
    lease_until: iso(facts.lease_until),
    unknown_since: iso(facts.unknown_since),
    created_at: facts.created_at.toISOString(),
    started_at: iso(facts.started_at),
    ended_at: iso(facts.ended_at),
    deadline: facts.deadline.toISOString(),
  } satisfies OperatorJob);
}

function noJob(): ApiError {
  return new ApiError("job_not_found", "There is no such job.");
}
