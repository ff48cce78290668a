/**
 * Runs that came through the batch door. Their publisher asked for a job; that job is the run's ticket: it is running for as long as
 * the run is, without a lease that could end, and ends with the run's own end.
 */
import type { DurableMessage } from "#schemas/generated/types.ts";
import { findPublisher } from "#shared/access/authenticate.ts";
import { claimJob, type ClaimRequest, findRequest, restJob } from "#shared/database/jobs.ts";
import type { Ticket } from "#shared/database/run-work.ts";
import { findRunById, findStepRuns, insertRun, type NewRun, type RunVerdict } from "#shared/database/runs.ts";
import { findWorkflow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import { notifyPublisher } from "#shared/jobs/answer.ts";
import { endJob, type JobEnd, nothingUsed } from "#shared/jobs/end.ts";
import { jobError } from "#shared/jobs/error.ts";
import { keepResult } from "#shared/jobs/result.ts";
import { LIMITS } from "#shared/limits.ts";
import { roomSubject } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import { readerOf } from "#shared/workflows/access.ts";
import { beginRun, withInput } from "#shared/workflows/begin-run.ts";
import { newRunOf } from "#shared/workflows/new-run.ts";
import { presentRun } from "#shared/workflows/present-run.ts";

import type { WorkflowContext } from "./context.ts";

const CLAIMS_MAX = 6;
const RETRY_MS = 10_000;

/** A run to be made, as the ingress stores it for a batch message. */
interface RunTicket {
  readonly workflow_id: string;
  readonly version?: number;
  readonly input?: Readonly<Record<string, unknown>>;
}

/** Makes the run. @returns whether there is one to carry on */
export async function takeTicket(context: WorkflowContext, message: DurableMessage): Promise<boolean> {
  const { database, storage } = context;
  const { job_id: id, workspace_id: workspaceId, attempt, dispatch } = message;
  const asked = await findRequest(database, id);
  if (!asked) return false;
  const text = asked.request_ref === null ? asked.request : await readClaim(storage, asked.request_ref);
  const run = await readTicket(context, id, workspaceId, asked.key_id, JSON.parse(text ?? "null") as RunTicket | null);
  const claim = {
    id,
    workspaceId,
    attempt,
    dispatch,
    worker: newId(),
    leaseMs: LIMITS.ticketLifeMs,
    claimsMax: CLAIMS_MAX,
  };
  const begun = run instanceof ApiError ? run : await begin(context, claim, run);
  if (!(begun instanceof ApiError)) return begun;
  // With a lease that ends: a worker that dies before it has told leaves it to another.
  const job = await claimJob(database, { ...claim, leaseMs: LANE_SETTINGS.batch.leaseMs });
  if (job) await endAs(context, { ...job, lane: "batch" }, "failed", null, begun, 0n);
  return false;
}

/** The job is the run's ticket from here on, or the run is refused. A workspace with too many runs under way waits: batch work may. */
async function begin(context: WorkflowContext, claim: ClaimRequest, run: NewRun): Promise<boolean | ApiError> {
  const { database, config } = context;
  try {
    return await beginRun(context, run, (kept) =>
      database
        .transaction(async (tx) => {
          const job = await claimJob(tx, claim);
          if (!job) return "known";
          const verdict = await insertRun(tx, kept, config.storageBytesMax);
          if (verdict === "crowded" && (await restJob(tx, job.id, job.epoch, 0))) return "known";
          if (verdict !== "begun" && verdict !== "known") throw new Unclaimed(verdict);
          return verdict;
        })
        .catch((error: unknown) => {
          if (error instanceof Unclaimed) return error.verdict;
          throw error;
        }),
    );
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

/** Undoes the claim: the run was refused. */
class Unclaimed extends Error {
  readonly verdict: RunVerdict;

  constructor(verdict: RunVerdict) {
    super(verdict);
    this.verdict = verdict;
  }
}

async function readTicket(
  { database, catalogue }: WorkflowContext,
  id: string,
  workspaceId: string,
  keyId: string | null,
  ticket: RunTicket | null,
): Promise<NewRun | ApiError> {
  try {
    const caller = keyId === null ? undefined : await findPublisher({ database, catalogue }, workspaceId, keyId);
    if (!caller || ticket === null)
      throw new ApiError("invalid_api_key", "The API key that sent the message is revoked.");
    const { workflow_id, version, input } = ticket;
    const workflow = await findWorkflow(database, readerOf(caller), workflow_id);
    return await newRunOf(database, caller, { id, workflow, version, input, mode: "async", lane: "batch", depth: 0 });
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

/** Tells the publisher what came of the run. */
export async function endTicket(context: WorkflowContext, runId: string, ticket: Ticket): Promise<void> {
  const found = await findRunById(context.database, runId);
  if (!found) return;
  const row = await withInput(context.storage, found);
  const steps = await findStepRuns(context.database, [runId]);
  const text = JSON.stringify(presentRun(row, steps, { isSorted: true, hasInput: true }));
  const state = row.status === "succeeded" ? "completed" : row.status === "cancelled" ? "cancelled" : "failed";
  const message = row.error?.message ?? "The run was cancelled.";
  const error = state === "completed" ? null : new ApiError("run_failed", message);
  await endAs(context, { ...ticket, id: runId }, state, text, error, row.credits);
}

async function endAs(
  context: WorkflowContext,
  job: Ticket & { readonly id: string },
  state: JobEnd["state"],
  result: string | null,
  fault: ApiError | null,
  creditsNano: bigint,
): Promise<void> {
  const error = fault === null ? null : jobError(fault);
  const end: JobEnd = {
    id: job.id,
    epoch: job.epoch,
    isOwned: true,
    state,
    // Its steps are paid; the ticket itself costs nothing.
    usage: nothingUsed(state === "completed" ? "succeeded" : state),
    result: result === null ? null : await keepResult(context, job, result),
    error,
  };
  const taken = await endJob(context, end, RETRY_MS);
  if (taken === undefined) return;
  notifyPublisher(context.replies, job, { status: state, result, error, creditsNano });
  if (!context.replies.isClosed()) context.replies.publish(roomSubject("workflow", job.lane), "");
}
