/** /operator/settle-faults: lists and resolves holds that were closed without settling the used amount. */
import type { OperatorSettleFault } from "#schemas/generated/types.ts";
import { listSettleFaults, resolveSettleFault, type SettleFaultRow } from "#shared/database/settle-faults.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { optionalBody } from "../settings/body.ts";
import { LIST_QUERY, numberedPageOf, pageAnswer } from "../../core/page.ts";
import { noteOf, READ, WRITE } from "./common.ts";

const LIST = "/operator/settle-faults";

export function settleFaults(context: IngressContext): readonly OperatorRoute[] {
  return [
    {
      ...READ,
      method: "GET",
      path: LIST,
      operationId: "listOperatorSettleFaults",
      summary: "List settle faults",
      description:
        "Lists holds that were closed without a settle and are not resolved. Charge the difference with a " +
        "correction.",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of faults", schema: "OperatorSettleFaultList" } },
      errors: ["unsupported_value"],
      handle: (call) =>
        pageAnswer(
          numberedPageOf(call),
          ({ limit, after }) => listSettleFaults(context.database, limit, after),
          present,
        ),
    },
    {
      ...WRITE,
      method: "POST",
      path: `${LIST}/{id}/resolve`,
      operationId: "resolveOperatorSettleFault",
      summary: "Resolve settle fault",
      description: "Removes the fault from the list and the metric. No credits move.",
      request: { schema: "OperatorSettleFaultResolveRequest", isOptional: true },
      responses: { 200: { description: "The resolved fault", schema: "OperatorSettleFault" } },
      errors: errorsOf(["reads_json"], "not_found"),
      handle: (call) => resolve(context, call),
    },
  ];
}

async function resolve({ database }: IngressContext, call: OperatorCall): Promise<Response> {
  const note = noteOf(await optionalBody(call, "OperatorSettleFaultResolveRequest"));
  const rawId = call.params["id"] ?? "";
  const row = /^\d{1,18}$/.test(rawId)
    ? await resolveSettleFault(database, { id: BigInt(rawId), actor: actorOf(call), note })
    : undefined;
  if (row === undefined) throw new ApiError("not_found", "There is no such open fault.");
  return json(present(row));
}

function present(row: SettleFaultRow): OperatorSettleFault {
  return {
    object: "settle_fault",
    id: String(row.id),
    workspace_id: row.workspace_id,
    job_id: row.job_id,
    attempt: row.attempt,
    fault: row.fault,
    status: row.status,
    source: row.source,
    held: creditsNumber(row.held),
    used: row.used === null ? null : formatCredits(BigInt(row.used)),
    settled: creditsNumber(row.settled),
    at: row.at.toISOString(),
  };
}
