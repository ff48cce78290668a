/**
 * Starts the calls and sub-workflows of steps. A call is read and admitted as over HTTP; a sub-workflow becomes a run. Ids are derived from
 * the place in the run, so that a repeated start finds the existing job or run.
 */
import type { JobMessage, WorkflowStep } from "#schemas/generated/types.ts";
import { admitJob, dispatchAdmitted, prepareJobRequest, type Work } from "#shared/calls/admit.ts";
import { checkEndpoint } from "#shared/access/access-lists.ts";
import type { OuterMax } from "#shared/calls/max-credits.ts";
import type { Caller, Publishers } from "#shared/access/authenticate.ts";
import { type CallTarget, labelled, type ReadCall, readCall, readTextCall } from "#shared/calls/read.ts";
import { keepRefused } from "#shared/calls/keep-job.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { labelsOf, USER_LABEL } from "#shared/calls/labels.ts";
import { refuseUnsupported } from "#shared/calls/unsupported.ts";
import type { AvailableCapabilities } from "#shared/calls/capabilities/available.ts";
import { commonNow } from "#shared/base/clock.ts";
import { noteTemplateUnavailable } from "#shared/database/template-events.ts";
import { findWorkflow } from "#shared/database/workflows.ts";
import { isBegun } from "#shared/database/run-work.ts";
import { ApiError, isRefusal } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { JobAdmission, JobRequest } from "#shared/jobs/admission.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { JobError } from "#shared/database/jobs.ts";
import { jobError } from "#shared/jobs/error.ts";
import { jobIdOf } from "#shared/base/ids.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";
import { readerOf } from "#shared/workflows/access.ts";
import { leftOf } from "#shared/ledger/spend-limits.ts";
import { beginRun } from "#shared/workflows/begin-run.ts";
import { newRunOf } from "#shared/workflows/new-run.ts";
import { kindOf } from "#shared/workflows/step-work.ts";
import { MEDIA_JOBS } from "#workers/providers/media.ts";
import { CAPABILITY_RUN_MS_MAX } from "#shared/calls/capabilities/limits.ts";
import { WORKFLOW_DEPTH_MAX } from "#shared/workflows/limits.ts";

import type { WorkerContext } from "../context.ts";
import { isFinal } from "./ends.ts";
import type { RunEvent, StepError, WorkPlace } from "./state.ts";
import { placeKey, type RunFacts } from "./store.ts";

/** Maximum duration of a call of a step, including waiting, in milliseconds. */
const STEP_TIMEOUT_MAX_MS = 3_600_000;

export interface StartContext extends Pick<
  WorkerContext,
  "bodyKeeper" | "config" | "database" | "catalogue" | "storage" | "probes" | "log" | "metrics"
> {
  readonly availableCapabilities: AvailableCapabilities;
  readonly jobs: JobAdmission;
  readonly dispatcher: JobDispatcher;
  readonly publishers: Publishers;
  /** Workspace that receives events of the installation; undefined if none does. */
  readonly adminWorkspaceId: string | undefined;
}

export interface WorkToStart {
  readonly facts: RunFacts;
  readonly step: WorkflowStep;
  readonly place: WorkPlace;
  readonly params: unknown;
  readonly input: unknown;
  /** True if nothing else of the run is running. */
  readonly isOnlyWork?: boolean;
}

export function workIdOf(runId: string, place: WorkPlace): string {
  return jobIdOf(runId, placeKey(place));
}

export function isRunStep({ type }: WorkflowStep): boolean {
  return type === "sub_pipeline";
}

const SLACK_MS = 60_000;

/**
 * Returns the timeout of a call of a step, including waiting, in milliseconds. Without a timeout in the definition, calls of the batch lane
 * get the maximum timeout, because they may wait long.
 */
export function timeoutMsOf(step: WorkflowStep, pool: Pool | undefined, lane: Lane): number {
  if (step.timeout_seconds !== undefined) return step.timeout_seconds * 1_000;
  if (lane === "batch") return STEP_TIMEOUT_MAX_MS;
  const longest = { ...TIMEOUTS_MS, workflow: STEP_TIMEOUT_MAX_MS }[pool ?? "workflow"];
  return Math.min(STEP_TIMEOUT_MAX_MS, longest + SLACK_MS);
}

const TIMEOUTS_MS = {
  chat: 600_000,
  image: MEDIA_JOBS.images.totalMs,
  audio: MEDIA_JOBS.music.totalMs,
  video: MEDIA_JOBS.video.totalMs,
  "3d": MEDIA_JOBS.mesh.totalMs,
  capability: 2 * CAPABILITY_RUN_MS_MAX,
} as const;

/** Returns the caller on whose behalf the steps of a run are executed. Undefined if the key was revoked or its member was removed. */
export function callerOf(
  { publishers }: Pick<StartContext, "publishers">,
  { workspaceId, keyId }: Pick<RunFacts, "workspaceId" | "keyId">,
): Promise<Caller | undefined> {
  return publishers.find(workspaceId, keyId);
}

/**
 * Result of a start. Undefined: the call or sub-workflow is running. `refused`: its job contains the reason. A RunEvent: it ended without a
 * job.
 */
export type Started = RunEvent | "refused" | undefined;

/** Starts the call or sub-workflow of a step. @throws Error on an infrastructure failure: retry */
export async function startWork(
  context: StartContext,
  caller: Caller | undefined,
  work: WorkToStart,
): Promise<Started> {
  try {
    if (!caller)
      throw new ApiError("invalid_api_key", "The API key that started the run is revoked, or its member was removed.");
    if (isRunStep(work.step)) await startRun(context, caller, work);
    else {
      const refusal = await startJob(context, caller, work);
      if (refusal) {
        keepRefusal(context, caller, work, refusal);
        return "refused";
      }
    }
    failpoint("step.started");
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // Another worker has started the work already.
    if (await isBegun(context.database, workIdOf(work.facts.id, work.place))) return undefined;
    if (caller) keepRefusal(context, caller, work, jobError(error));
    if (NOT_AVAILABLE.has(error.code)) await notifyOperators(context, work);
    return { kind: "work_ended", place: work.place, end: { status: "failed", error: errorOf(error) }, creditsNano: 0n };
  }
}

/** Keeps the request and the error of a refused call if its caller asked for it. */
function keepRefusal(context: StartContext, caller: Caller, work: WorkToStart, error: JobError): void {
  if (caller.bodies === undefined || isRunStep(work.step)) return;
  const { step, params, input, facts, place } = work;
  const model = context.catalogue.current().models.get(step.model ?? "");
  const isModel = step.type === "model";
  const endpoint = isModel ? (model ? kindOf(model, params as Fields) : CHAT).endpoint : "/v1/capabilities/{id}/run";
  const body = isModel ? { ...(params as Fields), model: step.model } : { input, params };
  const request = Buffer.from(JSON.stringify(body));
  keepRefused(context, { id: workIdOf(facts.id, place), caller, endpoint, request, error });
}

/** Error codes for a model or capability that is no longer available. */
const NOT_AVAILABLE: ReadonlySet<string> = new Set(["model_not_found", "model_unavailable", "capability_not_found"]);

async function notifyOperators(
  { adminWorkspaceId, database }: StartContext,
  { facts, step }: WorkToStart,
): Promise<void> {
  if (facts.workflowId === null || adminWorkspaceId === undefined) return;
  const missing = step.type === "model" ? (step.model ?? "") : step.type;
  await noteTemplateUnavailable(database, adminWorkspaceId, {
    workflowId: facts.workflowId,
    stepId: step.id,
    missing,
  });
}

function errorOf({ code, message }: ApiError): StepError {
  // Refused here by `max_credits` of the call itself. The admission refuses calls by `max_credits` of their run.
  return isFinal(code) || code === "max_credits_exceeded" ? { code, message, isFinal: true } : { code, message };
}

/**
 * Admits the job of a call and puts it on the queue.
 * @returns the error if the admission was refused, because credits or tokens were missing
 */
async function startJob(context: StartContext, caller: Caller, work: WorkToStart): Promise<JobError | undefined> {
  const { target, body } = bodyOf(context, caller, work);
  const max = await maxOf(context, target, work.facts);
  const draw = { id: workIdOf(work.facts.id, work.place) };
  const call = await readCall(context, { caller, draw, target, body, tries: 1, max, labels: work.facts.labels });
  const asked = jobOf(caller, work, call);
  const admission = await admitJob(context, asked);
  if (admission.kind === "refused") return admission.error;
  if (admission.kind !== "admitted" && admission.kind !== "known") {
    throw new Error(`a step's job was told ${admission.kind}`);
  }
  await dispatchAdmitted(context.dispatcher, asked, admission);
  return undefined;
}

function jobOf(caller: Caller, work: WorkToStart, call: ReadCall): Work {
  const { facts, step, place, isOnlyWork } = work;
  const { name, pool } = call.kind;
  return {
    entry: "step",
    id: workIdOf(facts.id, place),
    caller,
    pool,
    lane: facts.lane,
    read: () => call,
    step: { runId: facts.id, stepId: step.id },
    ...(facts.limitIds === null ? {} : { scopes: facts.limitIds }),
    ...(facts.mode === "stream" && name === "chat" ? { streamTarget: streamTargetOf(work) } : {}),
    ...(isOnlyWork === true && name === "chat" && facts.lane === "live" ? { continuesInWorker: true } : {}),
    ...(facts.traceparent === null ? {} : { traceparent: facts.traceparent }),
  };
}

/** Returns the amount that the limits of the run leave for a chat call. The output of a call without a limit is lowered to it. */
async function maxOf(
  { database }: Pick<StartContext, "database">,
  target: CallTarget,
  { limitIds, workspaceId }: RunFacts,
): Promise<OuterMax> {
  const isChat = "kind" in target && target.kind.name === "chat";
  return limitIds === null || !isChat ? {} : { sharedNano: await leftOf(database, workspaceId, limitIds) };
}

/**
 * Returns the job of a plain chat call, so that it is admitted together with its pass. Undefined for other calls and sub-workflows, and for
 * a call that is too large for a row.
 * @throws ApiError if the call is refused
 */
export async function prepareChatRequest(
  context: Pick<StartContext, "catalogue" | "database" | "log" | "storage">,
  caller: Caller,
  work: WorkToStart,
): Promise<JobRequest | undefined> {
  // The credits that are left of a limited run are known only after the previous call has settled.
  if (work.step.type !== "model" || work.facts.limitIds !== null) return undefined;
  const { target, body } = bodyOf(context, caller, work);
  if (!("kind" in target) || target.kind.name !== "chat") return undefined;
  refuseUnsupported(body);
  const draw = { id: workIdOf(work.facts.id, work.place), endUser: work.facts.labels?.[USER_LABEL] };
  const call = await readTextCall(context, caller, target.kind, { body, draw });
  const labels = labelsOf(caller, body, work.facts.labels);
  return prepareJobRequest(context, jobOf(caller, work, labelled(call, labels)));
}

/**
 * Publishes a call that was admitted together with its pass. @param dispatch dispatch number; 0: the call waits for capacity of the queue
 */
export async function dispatchFirst(
  { dispatcher }: Pick<StartContext, "dispatcher">,
  { id, workspaceId, pool, lane, lifeMs }: JobRequest,
  dispatch: number,
): Promise<void> {
  const deadline = new Date(commonNow() + lifeMs);
  const jobs = dispatch === 0 ? [] : [{ id, workspace_id: workspaceId, attempt: 1, dispatch, deadline }];
  await dispatcher.send(pool, lane, jobs, "admitted");
  failpoint("step.started");
}

/** Returns the place in the run under which readers receive the streamed output of the call. */
function streamTargetOf({ facts, step, place }: WorkToStart): JobMessage["step"] {
  const { stepId, attempt, index } = place;
  return { run_id: facts.id, step_id: stepId, attempt, ...(step.for_each === undefined ? {} : { index }) };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the target and the body of a step's call. @throws ApiError if the model is unknown, or the key may not call the endpoint */
function bodyOf(
  { catalogue }: Pick<StartContext, "catalogue">,
  caller: Caller,
  { step, params, input }: WorkToStart,
): { target: CallTarget; body: Fields } {
  const own = params as Fields;
  if (step.type !== "model") {
    checkEndpoint(caller, "/v1/capabilities");
    return { target: { capability: step.type }, body: { input, params } };
  }
  const model = catalogue.current().models.get(step.model ?? "");
  if (!model) throw new ApiError("model_not_found", `The model ${step.model} no longer exists.`);
  const kind = kindOf(model, own);
  checkEndpoint(caller, kind.endpoint);
  return { target: { kind }, body: { ...own, model: step.model } };
}

async function startRun(
  context: StartContext,
  caller: Caller,
  { facts, step, place, input }: WorkToStart,
): Promise<void> {
  if (facts.depth >= WORKFLOW_DEPTH_MAX) {
    throw new ApiError(
      "invalid_workflow_definition",
      `Expected workflows nested to a depth of at most ${WORKFLOW_DEPTH_MAX}.`,
    );
  }
  // Permission was checked when the definition was written: a caller of a shared workflow may run its sub-workflows.
  const reader = { ...readerOf(caller), seesAll: true };
  const row = await findWorkflow(context.database, reader, (step.workflow_id ?? "").toLowerCase());
  const run = await newRunOf(context.database, caller, {
    id: workIdOf(facts.id, place),
    workflow: row,
    version: step.version,
    isJudged: true,
    input: input as Fields,
    mode: facts.mode,
    lane: facts.lane,
    parent: { id: facts.id, ...place },
    depth: facts.depth + 1,
    traceparent: facts.traceparent,
    labels: facts.labels,
  });
  await beginRun(context, run);
}
