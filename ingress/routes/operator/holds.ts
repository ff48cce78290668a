/** /operator/holds and /operator/jobs/{id}: lists holds and the state of their jobs, and closes holds that no sweep closes. */
import type { OperatorHold, OperatorHoldClosed, OperatorJob } from "#schemas/generated/types.ts";
import { type HoldQuery, type HoldRow, pageHolds } from "#shared/database/holds.ts";
import { findJobFacts, holdsOfJob } from "#shared/database/job-facts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { closeByHand } from "#shared/ledger/manual.ts";
import { creditsNumber, formatCredits, parseCredits } from "#shared/base/money.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { optionalBody, pathId } from "../settings/body.ts";
import { BOOLEAN_QUERY, booleanIn, limitIn, LIST_QUERY, pageAnswer, queryOf, unsupported } from "../../core/page.ts";
import { iso, MONEY, noteOf, READ } from "./common.ts";

export function holds(context: IngressContext): readonly OperatorRoute[] {
  return [
    {
      ...READ,
      method: "GET",
      path: "/operator/holds",
      operationId: "listOperatorHolds",
      summary: "List holds",
      query: [
        ...LIST_QUERY,
        {
          name: "overdue",
          description: "True for holds whose deadline has passed, false for the others. Default: all.",
          schema: BOOLEAN_QUERY,
        },
        {
          name: "unknown",
          description: "True for holds of paid work with an unknown result, false for the others. Default: all.",
          schema: BOOLEAN_QUERY,
        },
      ],
      responses: { 200: { description: "A page of holds", schema: "OperatorHoldList" } },
      errors: ["unsupported_value"],
      handle: (call) => pageAnswer(queryFor(call), (query) => pageHolds(context.database, query), present),
    },
    {
      ...MONEY,
      method: "POST",
      path: "/operator/holds/{id}/close",
      operationId: "closeOperatorHold",
      summary: "Close hold",
      description:
        "Releases a hold, or charges the given part of it. A hold can be closed after its deadline, or before it " +
        "with `before_deadline`. Closing a hold does not end its job.",
      request: { schema: "OperatorHoldCloseRequest", isOptional: true },
      responses: { 200: { description: "The closed hold", schema: "OperatorHoldClosed" } },
      errors: errorsOf(["reads_json"], "not_found", "conflict"),
      handle: (call) => close(context, call),
    },
    {
      ...READ,
      method: "GET",
      path: "/operator/jobs/{id}",
      operationId: "getOperatorJob",
      summary: "Retrieve job of any workspace",
      description:
        "Returns the state of a job without its request and result. Synchronous calls have no job; their holds are " +
        "listed.",
      responses: { 200: { description: "The job", schema: "OperatorJob" } },
      errors: ["job_not_found"],
      handle: (call) => job(context, call),
    },
  ];
}

function queryFor(call: OperatorCall): HoldQuery {
  return {
    after: after(call),
    limit: limitIn(call),
    isOverdue: booleanIn(call, "overdue"),
    isUnknown: booleanIn(call, "unknown"),
  };
}

/** Reads the cursor `after` from the query string; null if absent. @throws ApiError `unsupported_value` */
function after(call: OperatorCall): HoldQuery["after"] {
  const text = queryOf(call).get("after") || null;
  if (text === null) return null;
  const place = placeOf(text);
  if (place === undefined) throw unsupported("after", "the id of a hold", text);
  return place;
}

/** Splits the id of a hold into job id and attempt; undefined if it is malformed. */
function placeOf(text: string): NonNullable<HoldQuery["after"]> | undefined {
  const [, jobId = "", attempt = ""] = /^([0-9a-f-]{36})\.(\d{1,4})$/.exec(text.toLowerCase()) ?? [];
  return isUuid(jobId) ? { jobId, attempt: Number(attempt) } : undefined;
}

async function close({ database }: IngressContext, call: OperatorCall): Promise<Response> {
  const place = placeOf(call.params["id"] ?? "");
  if (place === undefined) throw noHold();
  const body = await optionalBody(call, "OperatorHoldCloseRequest");
  const amountNano = body.credits === undefined ? null : amountOf(String(body.credits));
  const asked = { ...place, amountNano, isEarly: body.before_deadline ?? false, note: noteOf(body) };
  const closed = await closeByHand(database, asked, actorOf(call));
  switch (closed.result) {
    case "closed":
      return json({
        object: "hold_closed",
        id: `${place.jobId}.${place.attempt}`,
        job_id: place.jobId,
        attempt: place.attempt,
        workspace_id: closed.workspaceId,
        held: creditsNumber(closed.heldNano),
        credits: creditsNumber(closed.takenNano),
      } satisfies OperatorHoldClosed);
    case "unknown":
      throw noHold();
    case "busy":
      throw new ApiError("conflict", "The hold is being closed; try again shortly.");
    case "early": {
      const message = `The hold's deadline is ${closed.deadline.toISOString()}; until then the service closes it.`;
      throw new ApiError("conflict", message, { param: "before_deadline" });
    }
    case "above":
      throw new ApiError("conflict", `Expected at most the ${formatCredits(closed.heldNano)} credits of the hold.`, {
        param: "credits",
      });
    default:
      return closed satisfies never;
  }
}

/** Parses an amount of credits and returns nano-credits. @throws ApiError `unsupported_value` */
function amountOf(digits: string): bigint {
  try {
    const nano = parseCredits(digits);
    if (nano >= 0n) return nano;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const message = "Expected credits as a decimal number of 0 or more, with at most 9 places.";
  throw new ApiError("unsupported_value", message, { param: "credits" });
}

function noHold(): ApiError {
  return new ApiError("not_found", "There is no such hold.");
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

async function job(context: IngressContext, call: OperatorCall): Promise<Response> {
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
