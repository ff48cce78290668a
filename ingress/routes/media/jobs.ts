/** Finds, presents and cancels jobs for their callers. */
import type { Job, MediaOutcome, Modality } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import {
  findVisibleJob,
  JOB_STATUSES,
  type JobReader,
  type JobRow,
  type JobState,
  listJobs,
  requestCancel,
} from "#shared/database/jobs.ts";
import { giveUpRun } from "#shared/database/run-work.ts";
import { findRun } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { CANCELLED, endOrphan } from "#shared/calls/orphaned-jobs.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { readerOf } from "#shared/workflows/access.ts";
import { jobOfRun, resultOfRun, reportToPublisher } from "#shared/workflows/published-run.ts";

import { fallbackHeaders, json } from "../../core/answers.ts";
import { presentRun, type RunOutcome } from "./present-capability.ts";
import type { IngressContext } from "../../context.ts";
import type { RouteCall } from "../../core/call.ts";
import { oneOf, pageAnswer, pageOf } from "../../core/page.ts";
import { cancelRun } from "../workflows/cancel-run.ts";

import { asOutcome, servedHeaders, withLinks } from "./present.ts";

/**
 * Returns the job named in the request path. A job that the caller may not see counts as missing:
 * - The billing role may call models but reads no files, so it sees only jobs of its own keys.
 * - Jobs of runs, batch messages, batches and background responses are visible to the key's member, owners and admins.
 * - A key with a list of tools sees only jobs of calls that it may make.
 * @param modality jobs of another modality count as missing
 * @throws ApiError `job_not_found`
 */
export async function requireVisibleJob(
  context: IngressContext,
  call: RouteCall,
  param: string,
  modality?: Modality,
): Promise<JobRow> {
  const id = idOf(call, param);
  const { caller } = call;
  const job =
    id === undefined ? undefined : await findVisibleJob(context.database, caller.workspaceId, id, jobReaderOf(caller));
  const row = job ?? (id === undefined ? undefined : await findVisibleRunAsJob(context, caller, id));
  if (!row || (modality !== undefined && row.modality !== modality)) throw notFound();
  return row;
}

function jobReaderOf(caller: Caller): JobReader {
  const { memberId, role, tools } = caller;
  return {
    jobsOf: role === "billing" ? memberId : null,
    privateOf: readerOf(caller).seesAll ? null : memberId,
    tools,
  };
}

/** Lists the caller's visible jobs without their results. @throws ApiError `unsupported_value` */
export function answerJobList({ database }: Pick<IngressContext, "database">, call: RouteCall): Promise<Response> {
  const { caller } = call;
  const status = oneOf(call, "status", JOB_STATUSES);
  return pageAnswer(
    pageOf(call),
    (page) => listJobs(database, caller.workspaceId, jobReaderOf(caller), { ...page, status }),
    (row) => presentJob(row, undefined),
  );
}

/** Returns a workflow run that was requested by a batch message, in the format of a job. */
async function findVisibleRunAsJob(context: IngressContext, caller: Caller, id: string): Promise<JobRow | undefined> {
  const run = await findRun(context.database, readerOf(caller), id);
  return run && run.told !== null ? { ...jobOfRun(run), result: await resultOfRun(context, run) } : undefined;
}

/** Returns a job of the workspace by id. @throws ApiError `job_not_found` */
export async function requireJobById(
  { database }: Pick<IngressContext, "database">,
  workspaceId: string,
  id: string,
): Promise<JobRow> {
  const row = await findVisibleJob(database, workspaceId, id);
  if (!row) throw notFound();
  return row;
}

/** Cancels a job. A job that no worker has started ends immediately. @throws ApiError `job_not_found` */
export async function cancelVisibleJob(
  context: IngressContext,
  call: RouteCall,
  param: string,
  modality?: Modality,
): Promise<void> {
  await cancelJobOrRun(context, await requireVisibleJob(context, call, param, modality));
}

type CancelContext = Pick<
  IngressContext,
  "bodyKeeper" | "cancel" | "connection" | "database" | "log" | "metrics" | "responses" | "storage"
>;

/** Cancels a job, or a workflow run that was requested by a batch message. */
export async function cancelJobOrRun(
  context: CancelContext,
  { id, workspace_id }: Pick<JobRow, "id" | "workspace_id">,
): Promise<void> {
  if (await cancelJob(context, workspace_id, id)) return;
  const isAsked = await cancelRun(context, { id, workspace_id, lane: "batch" });
  if (isAsked && (await giveUpRun(context.database, id, UNBEGUN))) await reportToPublisher(context, id);
}

/**
 * Requests the cancellation of a job of the workspace. A job that no worker has started ends immediately. Returns false if the job does not
 * exist.
 */
export async function cancelJob(context: CancelContext, workspaceId: string, id: string): Promise<boolean> {
  const job = await requestCancel(context.database, workspaceId, id);
  if (!job) return false;
  context.cancel(id);
  const isFree = job.state === "queued" && !job.has_intent && !job.is_at_provider && job.lease_ms <= 0;
  if (isFree) await endOrphan({ ...context, unknownKeepMs: 0 }, job, CANCELLED);
  return true;
}

/**
 * Error with which a workflow run ends that was cancelled before it began. No response contains this error, because a cancelled run is
 * presented without one.
 */
const UNBEGUN = { code: "run_failed", message: "The run was cancelled.", ifUnbegun: true } as const;

function idOf(call: RouteCall, param: string): string | undefined {
  const id = (call.params[param] ?? "").toLowerCase();
  return isUuid(id) ? id : undefined;
}

function notFound(): ApiError {
  return new ApiError("job_not_found", "There is no such job in this workspace.");
}

/**
 * Response headers of an ended job. A completed media job has all three; a failed job has only the fallback headers (spec "General rules"
 * 6).
 */
export const JOB_HEADERS = ["x-model-used", "x-fallback-from", "x-fallback-depth"] as const;

/** Builds the HTTP response for a job. @throws ApiError `service_unavailable` when the object store of the result is unavailable */
export async function answerJob(context: IngressContext, call: RouteCall, row: JobRow): Promise<Response> {
  const result = await resultOf(context, row);
  const outcome = asOutcome(result);
  const data = outcome
    ? presentMediaData(context, row, outcome, call.request)
    : result && [presentResult(context, call, row, result)];
  // Without the header of the charge, since polling is free; the job contains its price.
  return json(presentJob(row, data), outcome ? servedHeaders(outcome) : fallbackHeaders(row.fallback));
}

/**
 * Returns a job's result for its caller. The result of a capability gets the format of the capability's endpoint; all other results are
 * returned unchanged.
 */
function presentResult(context: IngressContext, call: RouteCall, row: JobRow, result: Record<string, unknown>) {
  if (row.kind !== "capability") return result;
  return { ...presentRun(context, row, result as unknown as RunOutcome, call.request) };
}

async function resultOf(context: IngressContext, row: JobRow): Promise<Record<string, unknown> | undefined> {
  try {
    const text = await loadResult(context.storage, row);
    return text === null ? undefined : (JSON.parse(text) as Record<string, unknown>);
  } catch (error) {
    throw new ApiError("service_unavailable", "The job's result cannot be read right now; try again shortly.", {
      cause: error,
    });
  }
}

function presentMediaData(context: IngressContext, row: JobRow, outcome: MediaOutcome, request: Request): Job["data"] {
  return withLinks(context, row, outcome, request).map((one) => ({ ...one }));
}

const STATUSES: Readonly<Record<JobState, Job["status"]>> = {
  queued: "queued",
  running: "processing",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  refused: "failed",
};

export function presentJob(row: JobRow, data: Job["data"]): Job {
  // A job that was begun and handed to another worker is not queued from its caller's view.
  const hasBegun = row.state === "queued" && row.started_at !== null;
  return {
    id: row.id,
    object: "job",
    modality: row.modality,
    status: hasBegun ? "processing" : STATUSES[row.state],
    // Progress is a 4-byte float: rounding removes the noise behind the second decimal.
    progress: Math.round(row.progress * 100) / 100,
    model: row.model,
    created: seconds(row.created_at),
    ...(row.started_at ? { started: seconds(row.started_at) } : {}),
    ...(row.ended_at ? { completed: seconds(row.ended_at) } : {}),
    ...(data ? { data } : {}),
    ...(row.credits === null ? {} : { credits_used: creditsNumber(row.credits) }),
    ...(row.error ? { error: { ...row.error } } : {}),
  };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}
