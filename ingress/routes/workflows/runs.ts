/** Routes that start, read, stream and cancel runs of workflows. */
import type { WorkflowRunCancelled, WorkflowRunList, WorkflowRunSummary } from "#schemas/generated/types.ts";
import { findRun, findStepRuns, listRuns, RUN_MODES, RUN_STATUSES, type RunRow } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import { readerOf } from "#shared/workflows/access.ts";
import { outputOf, presentRunHead } from "#shared/workflows/present-run.ts";
import { STEP_OUTPUT_BYTES_MAX } from "#shared/workflows/limits.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { MAX_CREDITS_REQUEST } from "../../core/max-credits.ts";
import { IDEMPOTENCY_KEY } from "../../core/idempotency-key.ts";
import { allowRoles } from "../../core/roles.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { requireVisibleWorkflow } from "./access.ts";
import { TAGS_REQUEST } from "../../core/labels.ts";
import { runInline, runStored } from "./ask-run.ts";
import { answerRun, RUN_WAIT_MS } from "./begin-run.ts";
import { cancelRun } from "./cancel-run.ts";
import { EXAMPLE_DEFINITION } from "./example.ts";
import { PAGE_QUERY, pageOf, wholeNumber } from "./paging.ts";
import { streamRun } from "./run-stream.ts";

export function workflowRuns(context: IngressContext): readonly KeyRoute[] {
  return [
    { ...RUN_WORKFLOW, handle: (call) => runStored(context, call) },
    { ...RUN_PIPELINE, handle: (call) => runInline(context, call) },
    { ...LIST_RUNS, handle: (call) => listOf(context, call, null) },
    {
      ...LIST_WORKFLOW_RUNS,
      handle: async (call) => listOf(context, call, (await requireVisibleWorkflow(context, call)).id),
    },
    {
      ...GET_RUN,
      handle: async (call) =>
        answerRun(context, await requireVisibleRun(context, call), { status: 200, isFresh: false }),
    },
    { ...FOLLOW_RUN, handle: (call) => follow(context, call) },
    { ...GET_STEP_OUTPUT, handle: (call) => stepOutput(context, call) },
    { ...CANCEL_RUN, handle: (call) => cancel(context, call) },
  ];
}

const RUNS = "/v1/workflows/runs";
const RUN = `${RUNS}/{id}`;

const LIST_QUERY: NonNullable<KeyRoute["query"]> = [
  {
    name: "status",
    description: "State of the runs. Default: all.",
    schema: { type: "string", enum: [...RUN_STATUSES] },
  },
  { name: "mode", description: "Mode of the runs. Default: all.", schema: { type: "string", enum: [...RUN_MODES] } },
  {
    name: "parentRunId",
    description: "Id of the run whose steps started the runs. Default: runs that no step started.",
    schema: { type: "string", format: "uuid" },
  },
  ...PAGE_QUERY,
];

/** OpenAPI declaration of a route, and the roles that may call it. */
type Declaration = Omit<KeyRoute, "handle">;

const COMMON = {
  tags: ["Workflows"],
  auth: "key",
  authorize: allowRoles("owner", "admin", "developer"),
} as const satisfies Partial<Declaration>;

const BEGUN = {
  200: {
    description: "The ended run, or a stream of its events",
    schema: "WorkflowRun",
    stream: "WorkflowRunFrame",
    headers: ["x-run-id", "x-credits-used"],
  },
  202: { description: "The started run", schema: "WorkflowRun", headers: ["x-run-id"] },
} as const;

const LISTED = { 200: { description: "A page of runs, newest first", schema: "WorkflowRunList" } } as const;

/** Description of the maximum wait `RUN_WAIT_MS` for the API documentation. */
const WAIT = `A synchronous caller waits at most ${RUN_WAIT_MS / 60_000} minutes, then receives \`run_timeout\`.`;

const RUN_WORKFLOW: Declaration = {
  ...COMMON,
  method: "POST",
  path: "/v1/workflows/{id}/runs",
  operationId: "runWorkflow",
  summary: "Run workflow",
  description:
    "Counts as one call in the rate limit window; its steps do not count and are held and billed separately. A " +
    "failed run returns 200 with its `status`. A run continues when the client disconnects, and can be retrieved " +
    `by its id. ${WAIT}`,
  request: { schema: "WorkflowRunRequest", isOptional: true, example: { input: {} } },
  requestHeaders: [MAX_CREDITS_REQUEST, TAGS_REQUEST],
  responses: BEGUN,
  errors: errorsOf(
    ["reads_json", "keeps_files"],
    "unknown_parameter",
    "workflow_not_found",
    "permission_denied",
    "overloaded",
    "service_unavailable",
    "run_timeout",
  ),
};

const RUN_PIPELINE: Declaration = {
  ...COMMON,
  method: "POST",
  path: "/v1/pipelines/runs",
  operationId: "runPipeline",
  summary: "Run pipeline",
  description:
    "Runs a definition without storing it. A repeat with the same `Idempotency-Key`, body and member within a day " +
    "starts no run. It returns the first run: in mode `async` at any time, otherwise after its end. " +
    WAIT,
  request: { schema: "PipelineRunRequest", example: { definition: EXAMPLE_DEFINITION, input: { topic: "tea" } } },
  requestHeaders: [IDEMPOTENCY_KEY, MAX_CREDITS_REQUEST, TAGS_REQUEST],
  responses: BEGUN,
  errors: errorsOf(
    ["reads_json", "keeps_files"],
    "unknown_parameter",
    "invalid_workflow_definition",
    "idempotency_key_reused",
    "idempotency_in_progress",
    "overloaded",
    "service_unavailable",
    "run_timeout",
  ),
};

const LIST_RUNS: Declaration = {
  ...COMMON,
  method: "GET",
  path: RUNS,
  operationId: "listRuns",
  summary: "List runs",
  query: LIST_QUERY,
  responses: LISTED,
  errors: ["unsupported_value"],
};

const LIST_WORKFLOW_RUNS: Declaration = {
  ...COMMON,
  method: "GET",
  path: "/v1/workflows/{id}/runs",
  operationId: "listWorkflowRuns",
  summary: "List workflow runs",
  query: LIST_QUERY,
  responses: LISTED,
  errors: ["workflow_not_found", "unsupported_value"],
};

const GET_RUN: Declaration = {
  ...COMMON,
  method: "GET",
  path: RUN,
  operationId: "getRun",
  summary: "Retrieve run",
  description: "Steps are ordered by id and attempt. A running run contains the steps so far.",
  responses: { 200: { description: "The run", schema: "WorkflowRun", headers: ["x-run-id"] } },
  errors: ["run_not_found", "service_unavailable"],
};

const FOLLOW_RUN: Declaration = {
  ...COMMON,
  method: "GET",
  path: `${RUN}/events`,
  operationId: "followRun",
  summary: "Stream run events",
  description:
    "Returns the events of the run as server-sent events from its start, or after the event of `Last-Event-ID`, " +
    "until its end.",
  requestHeaders: [
    {
      name: "Last-Event-ID",
      description: "`id` of the last received event. The stream starts after it.",
      schema: { type: "integer", minimum: 0 },
    },
  ],
  responses: {
    200: { description: "A stream of events", stream: "WorkflowRunFrame", headers: ["x-run-id"] },
  },
  errors: ["run_not_found", "unsupported_value"],
};

const GET_STEP_OUTPUT: Declaration = {
  ...COMMON,
  method: "GET",
  path: `${RUN}/steps/{stepId}/output`,
  operationId: "getStepOutput",
  summary: "Retrieve step output",
  description: "Returns the output of a step, also when it is too large for the run and is referenced by `outputRef`.",
  query: [
    {
      name: "attempt",
      description: "Attempt of the step. Default: the latest.",
      schema: { type: "integer", minimum: 1 },
    },
  ],
  responses: { 200: { description: "The output: any JSON", isAnyJson: true } },
  errors: ["run_not_found", "not_found", "unsupported_value", "service_unavailable"],
};

const CANCEL_RUN: Declaration = {
  ...COMMON,
  method: "POST",
  path: `${RUN}/cancel`,
  operationId: "cancelRun",
  summary: "Cancel run",
  description: "No further step starts. A running provider call is not interrupted, and completed work is billed.",
  responses: { 200: { description: "The state of the run", schema: "WorkflowRunCancelled" } },
  errors: ["run_not_found"],
};

/** Returns the run named in the URL path. A run that the caller may not see counts as missing. @throws ApiError `run_not_found` */
async function requireVisibleRun({ database }: IngressContext, call: RouteCall): Promise<RunRow> {
  const id = (call.params["id"] ?? "").toLowerCase();
  const row = isUuid(id) ? await findRun(database, readerOf(call.caller), id) : undefined;
  if (!row) throw new ApiError("run_not_found", "There is no such run in this workspace.");
  return row;
}

async function listOf(context: IngressContext, call: RouteCall, workflowId: string | null): Promise<Response> {
  const page = pageOf(call.request);
  const query = new URL(call.request.url).searchParams;
  const parentId = query.get("parentRunId")?.toLowerCase() ?? null;
  if (parentId !== null && !isUuid(parentId)) throw notAmong("parentRunId", "the id of a run");
  const filter = {
    workflowId,
    parentId,
    status: oneOf("status", RUN_STATUSES, query.get("status")),
    mode: oneOf("mode", RUN_MODES, query.get("mode")),
    ...page,
  };
  const { rows, total } = await listRuns(context.database, readerOf(call.caller), filter);
  const items: WorkflowRunSummary[] = rows.map(presentRunHead);
  return json({ items, total, ...page } satisfies WorkflowRunList);
}

function oneOf<const T extends string>(param: string, values: readonly T[], text: string | null): T | null {
  if (text === null || text === "") return null;
  const found = values.find((value) => value === text);
  if (!found) throw notAmong(param, `one of ${values.join(", ")}`);
  return found;
}

function notAmong(param: string, expected: string): ApiError {
  return new ApiError("unsupported_value", `Expected ${param} to be ${expected}.`, { param });
}

async function follow(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleRun(context, call);
  const after = wholeNumber("Last-Event-ID", call.request.headers.get("last-event-id"), 0, 0);
  return streamRun(context, row.id, context.runs.follow(row.id, call.caller), Math.min(after, row.frames));
}

async function stepOutput(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleRun(context, call);
  const asked = new URL(call.request.url).searchParams.get("attempt");
  const attempt = wholeNumber("attempt", asked, 0, 1);
  const steps = await findStepRuns(context.database, [row.id]);
  const found = steps.findLast(
    (one) =>
      one.step_id === call.params["stepId"] && one.status === "succeeded" && (attempt === 0 || one.attempt === attempt),
  );
  // Loads only this step's outputs, completely: a step with larger outputs has failed.
  const [step] = found
    ? await findStepRuns(
        context.database,
        [row.id],
        { stepId: found.step_id, attempt: found.attempt },
        STEP_OUTPUT_BYTES_MAX,
      )
    : [];
  if (!step) throw new ApiError("not_found", "The run has no such output.");
  const outputs = [...(step.outputs ?? [])];
  for (const [index, reference] of (step.output_refs ?? []).entries()) {
    if (reference === null) continue;
    outputs[index] = await readClaim(context.storage, reference).catch((error: unknown) => {
      throw new ApiError("service_unavailable", "The output cannot be read right now; try again shortly.", {
        cause: error,
      });
    });
  }
  return json(outputOf(step.is_list, outputs));
}

async function cancel(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleRun(context, call);
  // The run may have ended since it was read.
  const status = (await cancelRun(context, row)) ? "cancelled" : endedStatus(await requireVisibleRun(context, call));
  return json({ id: row.id, status } satisfies WorkflowRunCancelled);
}

function endedStatus({ status }: RunRow): WorkflowRunCancelled["status"] {
  if (status === "queued" || status === "running") throw new Error("a run that was not cancelled has not ended");
  return status;
}
