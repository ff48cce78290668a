/** Handles the requests to run a stored workflow, or a definition sent in the request. */
import type { PipelineRunRequest, WorkflowRunRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { checkWritesDefinitions } from "#shared/access/tools.ts";
import { parse } from "#shared/json/contracts.ts";
import { findIdempotentRun, type NewRun } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { checkSameRequest, fingerprintOfJson, IDEMPOTENCY_MS } from "#shared/json/same-request.ts";
import { checkInputBytes, refuseMisspeltMembers } from "#shared/workflows/inputs.ts";
import { inlineRunOf, newRunOf } from "#shared/workflows/new-run.ts";

import { parseBody, type ReadBody, readJsonBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { outerMaxOf } from "../../core/max-credits.ts";
import { idempotencyKeyOf } from "../../core/idempotency-key.ts";
import { readLabels } from "../../core/labels.ts";
import type { RouteCall } from "../../core/call.ts";
import { traceOf } from "../../core/traceparent.ts";

import { requireVisibleWorkflow } from "./access.ts";
import { answerRun, beginRun } from "./begin-run.ts";
import { checkDefinition } from "./check-definition.ts";
import { streamRun } from "./run-stream.ts";

/** Runs a stored workflow. @throws ApiError of an invalid request; `overloaded`, `run_timeout` */
export async function runStored(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleWorkflow(context, call);
  const { value, pause } = await bodyOf(context, call);
  const body: WorkflowRunRequest = parse("WorkflowRunRequest", value);
  refuseMisspeltMembers(body);
  const { caller } = call;
  await pause();
  const { mode = "sync", input, version, max_credits: maxCredits } = body;
  const request = { ...asked(call, mode, value), input, maxCredits };
  const run = await newRunOf(context.database, caller, { ...request, workflow: row, version });
  return begun(await beginRun(context, call.request, run));
}

/** Runs a definition sent in the body. @throws the errors of `runStored`; ApiError `idempotency_key_reused`, `idempotency_in_progress` */
export async function runInline(context: IngressContext, call: RouteCall): Promise<Response> {
  const { caller } = call;
  checkWritesDefinitions(caller);
  const key = idempotencyKeyOf(call.request.headers);
  const read = await bodyOf(context, call);
  const { value, pause } = read;
  const body: PipelineRunRequest = parse("PipelineRunRequest", value);
  refuseMisspeltMembers(body);
  const { mode = "sync", input, max_credits: maxCredits } = body;
  await pause();
  checkInputBytes(input);
  await pause();
  const same = [mode, body.definition, input, ...(maxCredits === undefined ? [] : [maxCredits])];
  const fingerprint = key === null ? "" : await read.work((slices) => fingerprintOfJson(same, slices));
  if (key !== null) {
    const known = await findKnown(context, caller, key, fingerprint);
    if (known) return known;
  }
  const definition = await checkDefinition(context, caller, read, body.definition);
  await pause();
  const run: NewRun = {
    ...inlineRunOf(caller, definition, { ...asked(call, mode, value), input, maxCredits }),
    ...(key === null ? {} : { idempotencyKey: key, fingerprint }),
  };
  const answer = await beginRun(context, call.request, run);
  // A concurrent call with the same key was faster.
  return answer ?? begun(key === null ? undefined : await findKnown(context, caller, key, fingerprint));
}

function asked(call: RouteCall, mode: NewRun["mode"], body: unknown) {
  const lane = mode === "async" ? "batch" : "live";
  return {
    id: call.requestId,
    mode,
    lane,
    depth: 0,
    labels: readLabels(call, body),
    outerNano: outerMaxOf(call).nano,
    ...traceOf({ headers: call.request.headers, span: call.span }),
  } as const;
}

function begun(answer: Response | undefined): Response {
  if (!answer) throw new Error("a new run has an id that is not new");
  return answer;
}

/**
 * Returns the response for a run that an earlier request with the same idempotency key started; undefined if there is none.
 * @throws ApiError `idempotency_key_reused`, `idempotency_in_progress`
 */
async function findKnown(
  context: IngressContext,
  caller: Caller,
  key: string,
  fingerprint: string,
): Promise<Response | undefined> {
  const row = await findIdempotentRun(context.database, caller, key, IDEMPOTENCY_MS);
  if (!row) return undefined;
  checkSameRequest(
    row,
    { fingerprint },
    "This Idempotency-Key was used for another run within the last day; use a new key.",
  );
  if (row.mode === "stream") return streamRun(context, row.id, context.runs.follow(row.id, caller), 0);
  if (row.mode === "async" || row.ended_at !== null) {
    return answerRun(context, row, { status: row.mode === "async" ? 202 : 200, isFresh: false });
  }
  throw new ApiError(
    "idempotency_in_progress",
    `The run of this Idempotency-Key is still running; read it with GET /v1/workflows/runs/${row.id}.`,
    {
      shouldRetry: true,
      headers: { "x-run-id": row.id },
    },
  );
}

async function bodyOf(context: IngressContext, call: RouteCall): Promise<ReadBody> {
  const { headers } = call.request;
  const isEmpty = headers.get("transfer-encoding") === null && Number(headers.get("content-length") ?? 0) === 0;
  const bytes = isEmpty ? NO_BYTES : await readJsonBody(call.request, context.config.bodyBytesMax);
  // All members are optional, and so is the body.
  return parseBody(call, bytes.length === 0 ? NO_MEMBERS : bytes);
}

const NO_BYTES = new Uint8Array();
const NO_MEMBERS = Buffer.from("{}");
