/** Workflow runs that publishers started by batch messages. Each run is presented to its publisher as a job with the id of the run. */
import { commonNow } from "#shared/base/clock.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { JobRow } from "#shared/database/jobs.ts";
import { findRunById, findStepRuns, type RunRow } from "#shared/database/runs.ts";
import { markReported } from "#shared/database/run-work.ts";
import { ApiError } from "#shared/base/errors.ts";
import { jobReplyOf, notifyPublisher } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import type { Storage } from "#shared/storage/client.ts";

import { withInput } from "./begin-run.ts";
import { presentRun } from "./present-run.ts";

interface Context {
  readonly database: Queryable;
  readonly storage: Storage;
}

/** Finds a publisher's run. Returns undefined for a missing run, a run of another workspace, and a run without publisher. */
export async function findPublishedRun(
  target: Queryable,
  workspaceId: string,
  id: string,
): Promise<RunRow | undefined> {
  const run = await findRunById(target, id);
  return run?.workspace_id === workspaceId && run.told !== null ? run : undefined;
}

/** Returns the run in the form of a job row, without its result. */
export function jobOfRun(run: RunRow): JobRow {
  const { id, workspace_id, status, fingerprint, publisher_key, reply, created_at, started_at, ended_at } = run;
  const hasSucceeded = status === "succeeded";
  // Its status is cancelled from the request on.
  const isEnding = status === "cancelled" && ended_at === null;
  return {
    id,
    workspace_id,
    kind: "workflow",
    modality: "text",
    model: "workflow",
    state: hasSucceeded ? "completed" : isEnding ? (started_at ? "running" : "queued") : status,
    progress: hasSucceeded ? 1 : 0,
    is_unknown: false,
    publisher_key,
    fingerprint,
    reply,
    result: null,
    result_ref: null,
    error: ended_at !== null && !hasSucceeded ? jobError(errorOf(run)) : null,
    fallback: null,
    credits: ended_at === null ? null : run.credits,
    created_at,
    started_at,
    ended_at,
  };
}

/**
 * Returns the error of a failed or cancelled run, as a job error. A run that no worker started in time has the code `overloaded`, like a
 * job that no worker started in time.
 */
function errorOf({ error, started_at }: RunRow): ApiError {
  const code = started_at === null && error?.code === "overloaded" ? "overloaded" : "run_failed";
  return new ApiError(code, error?.message ?? "The run was cancelled.");
}

/**
 * Returns the result of a run as JSON text; null if the run has not ended.
 * @throws ApiError `service_unavailable`
 */
export async function resultOfRun({ database, storage }: Context, run: RunRow): Promise<string | null> {
  if (run.ended_at === null) return null;
  const row = await withInput(storage, run);
  const steps = await findStepRuns(database, [run.id]);
  return JSON.stringify(presentRun(row, steps, { isSorted: true, hasInput: true }));
}

/**
 * Maximum time to wait for a result that cannot be read, in milliseconds. Afterwards, the end of the run is reported without the result.
 */
const RESULT_WAIT_MS = 3_600_000;

/**
 * Sends the result of an ended run to the publisher that requested the run. Several callers may try concurrently; only one of them sends
 * it.
 * @throws ApiError `service_unavailable`
 */
export async function reportToPublisher(
  context: Context & { readonly connection: Parameters<typeof notifyPublisher>[0] },
  id: string,
): Promise<void> {
  const run = await findRunById(context.database, id);
  if (!run || run.told !== false) return;
  const hasWaited = run.ended_at !== null && commonNow() - run.ended_at.getTime() > RESULT_WAIT_MS;
  const result = await resultOfRun(context, run).catch((error: unknown) => {
    if (hasWaited) return null;
    throw error;
  });
  if (!(await markReported(context.database, id))) return;
  const job = jobOfRun(run);
  notifyPublisher(context.connection, job, jobReplyOf(job, result));
}
