/**
 * Runs a media call as a durable job. One transaction counts the call, places the hold, and inserts the job and its dispatch. The caller
 * then waits for a limited time. If the caller disconnects, the job continues and is charged.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { type Admission, admitJob, dispatchAdmitted, type Work } from "#shared/calls/admit.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import type { EndedJob, JobError } from "#shared/database/jobs.ts";
import { ApiError, type Code, ERROR_CODES } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { refusal } from "#shared/ledger/call-admission.ts";
import { MEDIA_JOB_LIFE_MS } from "#shared/queue/job-life.ts";

import { fallbackHeaders } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { RouteCall } from "../../core/call.ts";
import { traceOf } from "../../core/traceparent.ts";
import type { Waiting } from "../../wait/job-waiter.ts";

type Context = Pick<
  IngressContext,
  "calls" | "catalogue" | "config" | "database" | "dispatcher" | "jobs" | "log" | "metrics" | "storage" | "waiter"
>;

/**
 * Admits a media call as a job and dispatches the job.
 * @param how `isStreamed`: the caller receives the job's states as a stream and cannot poll the job later. `isBackground`: the job
 * completes a stored response, and no caller waits for it
 * @returns true if the job was just put on the queue, so that it cannot have ended yet
 * @throws ApiError if the call is refused, which may happen before the rate-limit window has counted it
 */
export async function admitMediaJob(
  context: Context,
  call: RouteCall,
  read: ReadCall,
  how: Pick<Work, "isStreamed" | "isBackground" | "affinity"> = {},
): Promise<boolean> {
  const { metrics, waiter } = context;
  const { requestId: id, caller, meter } = call;
  let decidedAt: number | undefined;
  let isNew = false;
  const work: Work = {
    entry: "http",
    id,
    caller,
    pool: read.kind.pool,
    lane: "live",
    read: () => read,
    reply: how.isBackground === true ? null : waiter.address(id),
    ...how,
    ...traceOf({ headers: call.request.headers, span: call.span }),
    onDecide() {
      meter.markCounted();
      decidedAt = performance.now();
    },
  };
  try {
    const admission = await admitJob(context, work);
    const refused = refusedBy(admission, caller);
    metrics.admissions.inc(refused?.code ?? "admitted");
    if (refused) throw refused;
    failpoint("job.admitted");
    isNew = admission.kind === "admitted" && admission.dispatch > 0;
    // Not awaited: the janitor sends again what does not arrive.
    void dispatchAdmitted(context.dispatcher, work, admission);
  } finally {
    if (decidedAt !== undefined) metrics.admissionSeconds.observe((performance.now() - decidedAt) / 1_000);
  }
  meter.releaseMemory();
  return isNew;
}

/**
 * Waits for an admitted job and returns it if it succeeded.
 * @param how `isNew`: true only if this function is called directly after the admission, without any await in between. Otherwise the report
 * of the job's end may have arrived unnoticed
 * @throws ApiError if the job did not succeed; `job_timeout` if the wait ends while the job continues
 */
export async function waitForJob(
  context: Pick<Context, "config" | "waiter">,
  call: RouteCall,
  how: Pick<Waiting, "isNew" | "onFrame">,
): Promise<EndedJob> {
  const id = call.requestId;
  const row = await context.waiter.wait({
    workspaceId: call.caller.workspaceId,
    jobId: id,
    ms: context.config.mediaWaitMs,
    // The job ends much earlier, by its own deadline or as lost.
    begunMs: MEDIA_JOB_LIFE_MS,
    clientSignal: call.request.signal,
    ...how,
  });
  if (row?.state === "completed") {
    failpoint("job.collected");
    return row;
  }
  if (row && !row.is_unknown) throw failureOf(row);
  throw new ApiError(
    "job_timeout",
    `The call is not finished within the wait limit and continues; collect the result as job ${id}.`,
    {
      shouldRetry: false,
      jobId: id,
    },
  );
}

function refusedBy(admission: Admission, { workspaceId, preset }: Caller): ApiError | undefined {
  switch (admission.kind) {
    case "admitted":
    case "known":
      return undefined;
    case "full":
      return refusal(1, { workspaceId, limit: preset.requests_per_minute, hold: null });
    case "refused":
      return apiError(admission.error);
    case "unknown_workspace":
      return new ApiError("invalid_api_key", "The workspace of this API key no longer exists.");
    case "busy":
      throw new Error("a call over HTTP waits for no turn");
    default:
      return admission satisfies never;
  }
}

/** Returns the error that the caller of an unsuccessful job receives. */
export function failureOf(row: EndedJob): ApiError {
  const { error, credits, state, fallback } = row;
  if (!error) return new ApiError("internal_error", "The service failed to run the job.", { shouldRetry: false });
  const hasPaid = (credits ?? 0n) > 0n;
  const isUnknown =
    error.code === "worker_lost" || error.code === "upstream_timeout" || error.code === "internal_error";
  // A retry would repeat, and charge, what was cancelled.
  const isFinal = hasPaid || isUnknown || state === "cancelled";
  const headers = fallbackHeaders(fallback);
  return apiError(error, { headers, ...(isFinal && { shouldRetry: false, ...(hasPaid && { jobId: row.id }) }) });
}

function apiError(
  { code, message, param }: JobError,
  more: Omit<NonNullable<ConstructorParameters<typeof ApiError>[2]>, "param" | "cause"> = {},
): ApiError {
  const known: Code = code in ERROR_CODES ? code : "internal_error";
  return new ApiError(known, message, { param, ...more });
}
