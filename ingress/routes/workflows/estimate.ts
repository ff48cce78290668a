/** POST /v1/workflows/estimate: estimates the price of a workflow run. */
import type { WorkflowDefinition, WorkflowEstimate, WorkflowEstimateRequest } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { findDefinition } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { atMost, sumOf } from "#shared/workflows/estimate/cost.ts";
import { estimateWorkflow } from "#shared/workflows/estimate/estimate.ts";
import { EstimateWork } from "#shared/workflows/estimate/work.ts";
import { readRunInput, refuseMisspeltMembers } from "#shared/workflows/inputs.ts";
import { RUN_ATTEMPTS_MAX } from "#shared/workflows/limits.ts";

import { json } from "../../core/answers.ts";
import { type ReadBody, readBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { withPermit } from "../../core/long-work.ts";
import { allowRoles } from "../../core/roles.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { findVisibleWorkflow, noWorkflow } from "./access.ts";
import { checkDefinition } from "./check-definition.ts";

export function workflowEstimate(context: IngressContext): KeyRoute {
  return {
    method: "POST",
    path: "/v1/workflows/estimate",
    operationId: "estimateWorkflow",
    summary: "Estimate workflow run",
    description:
      "Estimates the price of a run of a stored workflow or of a definition in the body. Unknown values count at " +
      "their limits. Work that may not happen counts only in `max_credits`, which no run with the same input " +
      "exceeds. An estimate is free and holds nothing.",
    tags: ["Workflows"],
    auth: "key",
    authorize: allowRoles("owner", "admin", "developer"),
    request: { schema: "WorkflowEstimateRequest" },
    responses: { 200: { description: "The estimate", schema: "WorkflowEstimate" } },
    errors: errorsOf(
      ["reads_json", "resolves_model"],
      "unknown_parameter",
      "invalid_workflow_definition",
      "workflow_not_found",
      "file_not_found",
    ),
    handle: (call) => estimate(context, call),
  };
}

async function estimate(context: IngressContext, call: RouteCall): Promise<Response> {
  const { caller } = call;
  const read = await readBody(context, call);
  const body: WorkflowEstimateRequest = parse("WorkflowEstimateRequest", read.value);
  refuseMisspeltMembers(body);
  const definition = await definitionOf(context, call, read, body);
  await read.pause();
  const inputs = readRunInput(definition.inputs ?? {}, body.input) ?? {};
  const isRetried = (body.mode ?? "sync") === "async";
  const attempts = isRetried ? Math.min(RUN_ATTEMPTS_MAX, Math.max(1, definition.retry?.max_attempts ?? 1)) : 1;
  const about = {
    catalogue: context.catalogue.current(),
    caller,
    database: context.database,
    capability: (id: string) => context.availableCapabilities.find(id),
  };
  const known = { inputs, unknown: new Set<string>() };
  // A short body may refer to a workflow whose check takes long.
  const steps = await withPermit(call, (slices) =>
    estimateWorkflow(about, definition, known, attempts, new EstimateWork(slices)),
  );
  const all = atMost(sumOf(steps), definition.max_credits);
  return json({
    currency: "credits",
    estimated_credits: creditsNumber(all.estimatedNano),
    max_credits: creditsNumber(all.maxNano),
    steps: steps.map(({ id, estimatedNano, maxNano, assumption }) => ({
      id,
      estimated_credits: creditsNumber(estimatedNano),
      max_credits: creditsNumber(maxNano),
      assumption,
    })),
  } satisfies WorkflowEstimate);
}

async function definitionOf(
  context: IngressContext,
  call: RouteCall,
  read: ReadBody,
  { workflow_id: named, definition, version }: WorkflowEstimateRequest,
): Promise<WorkflowDefinition> {
  const { caller } = call;
  if ((named === undefined) === (definition === undefined)) {
    throw new ApiError("invalid_request", "Expected either workflow_id or definition, not both or none.", {
      param: "workflow_id",
    });
  }
  if (definition !== undefined) {
    if (version === undefined) return checkDefinition(context, caller, read, definition);
    throw new ApiError("invalid_request", "Expected version only with workflow_id: a definition has no version.", {
      param: "version",
    });
  }
  const row = await findVisibleWorkflow(context.database, caller, named ?? "");
  if (!row) throw noWorkflow();
  const asked = version ?? row.latest_version;
  const found = await findDefinition(context.database, row.id, asked);
  if (found === undefined) throw noWorkflow(`The workflow has no version ${asked}.`);
  return found as WorkflowDefinition;
}
