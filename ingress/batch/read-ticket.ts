/** A run of a workflow that a batch message asks for: its job holds nothing, and is there to be answered and bounded. */
import type { WorkflowRunRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import type { WorkKind } from "#shared/calls/work.ts";
import { parse } from "#shared/contracts.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findWorkflow } from "#shared/database/workflows.ts";
import { isUuid, newId } from "#shared/ids.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { readerOf } from "#shared/workflows/access.ts";
import { newRunOf } from "#shared/workflows/new-run.ts";

export const TICKET_KIND = {
  name: "workflow",
  pool: "workflow",
  keepsFiles: false,
  keepsRecord: false,
} as const satisfies WorkKind & { readonly keepsFiles: boolean };

const NO_PRICE: Price = { unit: "per_request", tokenRates: {}, unitRate: 0n };

/** @throws ApiError as `POST /v1/workflows/{id}/runs` would answer */
export async function readTicket(
  { database }: { readonly database: Queryable },
  caller: Caller,
  workflowId: string,
  body: unknown,
): Promise<ReadCall> {
  const { input, version }: WorkflowRunRequest = parse("WorkflowRunRequest", body);
  const id = workflowId.toLowerCase();
  const workflow = isUuid(id) ? await findWorkflow(database, readerOf(caller), id) : undefined;
  // The run is made when its turn has come; what would keep it from being made is told now.
  await newRunOf(database, caller, { id: newId(), workflow, version, input, mode: "async", lane: "batch", depth: 0 });
  const text = JSON.stringify({ workflow_id: id, version, input });
  const bound = { holdNano: 0n, outputTokensMax: 0, mayExceed: false, tokensMax: 0 };
  return {
    kind: TICKET_KIND,
    model: { slug: "workflow", modality: "text", price: NO_PRICE },
    leastNano: 0n,
    isHeavy: () => false,
    load: () => Promise.resolve({ bound, inline: [], text: () => text }),
  };
}
