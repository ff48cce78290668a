/**
 * A media call as a durable job: counted, held, put in its row and on the queue in one transaction, then waited for as long
 * as a caller's patience is said to last. A caller that leaves stops nothing: the job is paid and goes on.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { checkBudget } from "#shared/calls/budget-stop.ts";
import { refusal, tooExpensive, type HoldRequest } from "#shared/ledger/call-admission.ts";
import { jobCallerOf, jobWorkOf, type WorkKind } from "#shared/calls/work.ts";
import type { ReleasedBody } from "#shared/calls/offload-inputs.ts";
import { discardStored, isLarge, type StoredRequest, storeRequest } from "#shared/calls/stored-request.ts";
import type { CheckedCall } from "#shared/calls/kinds/kind.ts";
import type { Model } from "#shared/calls/model.ts";
import type { Queryable } from "#shared/database/client.ts";
import { hasRoom } from "#shared/database/files.ts";
import type { JobError, JobRow } from "#shared/database/jobs.ts";
import { ApiError, type Code, ERROR_CODES } from "#shared/errors.ts";
import { failpoint } from "#shared/failpoint.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import type { JobRequest, JobVerdict } from "#shared/jobs/admission.ts";
import { admitTwice } from "#shared/jobs/admit-twice.ts";
import { LIMITS } from "#shared/limits.ts";

import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../serve.ts";
import { traceOf } from "../traceparent.ts";

import type { Waiting } from "../wait/job-waiter.ts";

export interface MediaJob {
  readonly kind: WorkKind;
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  readonly checked: Pick<CheckedCall, "bound" | "price">;
  /** The request as the worker gets it, and the media that goes to the object store for it. */
  readonly request: object;
  readonly takeInline: ReleasedBody<object>["take"];
  /** Its states are shown as they come, and it cannot be asked for afterwards. */
  readonly isStreamed?: boolean;
}

type Context = Pick<
  IngressContext,
  "calls" | "catalogue" | "config" | "database" | "dispatcher" | "jobs" | "log" | "metrics" | "storage" | "waiter"
>;

/**
 * The job as it ended well.
 * @throws ApiError of whatever refuses or fails it; `job_timeout` when it goes on without its caller
 */
export async function runMediaJob(
  context: Context,
  call: RouteCall,
  caller: Caller,
  job: MediaJob,
  onFrame?: Waiting["onFrame"],
): Promise<JobRow> {
  await admitMediaJob(context, call, caller, job);
  return waitForJob(context, call, caller, onFrame);
}

/** @throws ApiError of the refusal, which may come before the call is counted */
export async function admitMediaJob(context: Context, call: RouteCall, caller: Caller, job: MediaJob): Promise<void> {
  checkBudget(caller, job.checked.bound.holdNano);
  await checkRoom(context, caller.workspaceId);
  const request = await keepRequest(context, call.requestId, caller, job);
  call.markCounted?.();
  await admit(context, caller, call, job, request);
  call.offloadInputs?.();
}

/**
 * The admitted job as it ended well.
 * @throws ApiError of how it ended else; `job_timeout` when it goes on without its caller
 */
export async function waitForJob(
  context: Pick<Context, "config" | "waiter">,
  call: RouteCall,
  caller: Caller,
  onFrame?: Waiting["onFrame"],
): Promise<JobRow> {
  const id = call.requestId;
  const row = await context.waiter.wait({
    workspaceId: caller.workspaceId,
    jobId: id,
    ms: context.config.mediaWaitMs,
    // It ends well before, by its own time or as lost.
    begunMs: LIMITS.mediaJobLifeMs,
    left: call.request.signal,
    ...(onFrame ? { onFrame } : {}),
  });
  if (row?.state === "completed") {
    failpoint("job.collected");
    return row;
  }
  if (row && !row.is_unknown) throw failureOf(row);
  throw new ApiError("job_timeout", `The call takes longer than it is waited for; collect it as job ${id}.`, {
    shouldRetry: false,
    jobId: id,
  });
}

/** What is made is kept: a provider is not paid for what a full workspace could not have. @throws ApiError */
export async function checkRoom(
  { database, config }: { readonly database: Queryable } & Pick<Context, "config">,
  workspaceId: string,
): Promise<void> {
  const isFree = await unavailable(
    "The file store cannot be asked right now; try again shortly.",
    hasRoom(database, workspaceId, config.storageBytesMax),
  );
  if (isFree) return;
  throw new ApiError(
    "storage_limit_exceeded",
    `The workspace may store ${config.storageBytesMax} bytes and has no room for what would be made; delete files first.`,
  );
}

async function admit(
  context: Context,
  caller: Caller,
  { requestId: id, request: asked }: RouteCall,
  job: MediaJob,
  request: StoredRequest,
): Promise<void> {
  const { metrics, dispatcher } = context;
  const lifeMs = LIMITS.mediaJobLifeMs;
  const of = { id, caller };
  const work = jobWorkOf(of, { ...job, stored: request, lifeMs });
  const { hold } = work.terms;
  const jobRequest: JobRequest = {
    ...jobCallerOf(of),
    ...work,
    pool: job.kind.pool,
    lane: "live",
    publisherKey: null,
    reply: context.waiter.address(id),
    ifFull: "refuse",
    ...traceOf(asked.headers),
  };
  const at = performance.now();
  try {
    const verdict = await admitTwice(context, jobRequest, () => discardStored(context, id, request));
    const refused = refusedBy(verdict, caller.workspaceId, jobRequest.limit, hold);
    metrics.admissions.inc(refused?.code ?? "admitted");
    if (refused) {
      discardStored(context, id, request);
      throw refused;
    }
    failpoint("job.admitted");
    if (verdict.kind !== "admitted" || verdict.dispatch === 0) return;
    const deadline = new Date(Date.now() + lifeMs);
    const { attempt, dispatch } = verdict;
    const dispatched = { id, workspace_id: caller.workspaceId, attempt, dispatch, deadline };
    // Not waited for: what does not arrive is sent again by the janitor.
    void dispatcher.send(job.kind.pool, "live", [dispatched], "admitted");
  } finally {
    metrics.admissionSeconds.observe((performance.now() - at) / 1_000);
  }
}

function refusedBy(
  verdict: JobVerdict,
  workspaceId: string,
  limit: number | null,
  hold: HoldRequest,
): ApiError | undefined {
  switch (verdict.kind) {
    case "admitted":
    case "known":
      return undefined;
    case "full":
      return refusal(1, { workspaceId, limit, hold });
    case "refused":
      return apiError(verdict.error);
    case "unknown_workspace":
      return new ApiError("invalid_api_key", "The workspace of this API key no longer exists.");
    default:
      return verdict satisfies never;
  }
}

/** What a job that ended otherwise tells its caller. */
export function failureOf(row: JobRow): ApiError {
  const { error, credits, state } = row;
  if (!error) return new ApiError("internal_error", "The service failed to run the job.", { shouldRetry: false });
  const hasPaid = (credits ?? 0n) > 0n;
  const isUnknown =
    error.code === "worker_lost" || error.code === "upstream_timeout" || error.code === "internal_error";
  // A client that resends would make, and pay, what was cancelled.
  const isFinal = hasPaid || isUnknown || state === "cancelled";
  return apiError(error, isFinal ? { shouldRetry: false, ...(hasPaid ? { jobId: row.id } : {}) } : {});
}

function apiError(
  { code, message, param }: JobError,
  more: { readonly shouldRetry?: boolean; readonly jobId?: string } = {},
): ApiError {
  const known: Code = code in ERROR_CODES ? code : "internal_error";
  return new ApiError(known, message, { param, ...more });
}

/**
 * What is too large for its row lies in the object store, where nothing is put of a call that window or funds would refuse.
 * @throws ApiError of that refusal; `service_unavailable`
 */
async function keepRequest(context: Context, id: string, caller: Caller, job: MediaJob): Promise<StoredRequest> {
  const inline = job.takeInline();
  const text = JSON.stringify(job.request);
  if (inline.length > 0 || isLarge(text)) {
    const { holdNano } = job.checked.bound;
    const freeNano = await context.calls.look(caller.workspaceId, caller.preset.requests_per_minute);
    if (freeNano < holdNano) throw tooExpensive(holdNano);
  }
  return storeRequest(context, id, inline, () => text);
}
