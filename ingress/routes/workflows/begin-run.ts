/** Starts a workflow run and builds the response for its mode. */
import { findBilledWork } from "#shared/database/holds.ts";
import type { NewRun, RunRow, StepRunRow } from "#shared/database/runs.ts";
import { findRunById, findStepRuns } from "#shared/database/runs.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { formatCredits } from "#shared/base/money.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { beginRun as beginNewRun, withInput } from "#shared/workflows/begin-run.ts";
import { creditsOf, presentRun } from "#shared/workflows/present-run.ts";
import { JOB_POLL_INTERVAL_MS } from "#ingress/wait/job-waiter.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";

import type { FollowedRun } from "./run-follower.ts";
import { runContinuesError, streamRun } from "./run-stream.ts";

/** Maximum time that a caller waits for a run in mode `sync`, in milliseconds. The run continues after it. */
export const RUN_WAIT_MS = 300_000;

/**
 * Starts a run and returns its response; undefined if the run already exists.
 * @throws ApiError of any refusal; `run_timeout` or `service_unavailable` if the wait ends while the run continues
 */
export async function beginRun(context: IngressContext, request: Request, run: NewRun): Promise<Response | undefined> {
  // Before the run begins, so that no notice is missed.
  const followed = followOf(context, run);
  let isStreamed = false;
  try {
    const [{ verdict }] = await Promise.all([beginNewRun(context, run), followed?.catchUp()]);
    if (verdict !== "begun") return undefined;
    failpoint("run.inserted");
    notifyRun(context.connection, { id: run.id, workspace_id: run.workspaceId, lane: run.lane });
    if (!followed) return await answerRun(context, await mustFind(context, run.id), { status: 202, isFresh: true });
    if (run.mode === "stream") {
      isStreamed = true;
      return streamRun(context, run.id, followed, 0);
    }
    const { row, steps } = await waitForEnd(context, run.id, followed, request.signal);
    return answerOf(row, row, steps, { status: 200, isFresh: true });
  } finally {
    if (!isStreamed) followed?.close();
  }
}

interface Answered {
  readonly status: number;
  /**
   * True for the response to the call that starts the run and pays for it. This response contains the price, and the steps in the order of
   * their start, but not the input.
   */
  readonly isFresh: boolean;
}

export async function answerRun(
  { database, storage }: IngressContext,
  row: RunRow,
  answered: Answered,
): Promise<Response> {
  const { isFresh } = answered;
  const [fullRow, steps, work] = await Promise.all([
    isFresh ? row : withInput(storage, row),
    findStepRuns(database, [row.id]),
    isFresh || row.ended_at !== null ? undefined : findBilledWork(database, row.workspace_id, row.id),
  ]);
  return answerOf(row, fullRow, steps, { ...answered, heldNano: work?.heldNano });
}

function answerOf(
  row: RunRow,
  fullRow: RunRow,
  steps: readonly StepRunRow[],
  { status, isFresh, heldNano }: Answered & { readonly heldNano?: bigint | undefined },
): Response {
  const headers = {
    "x-run-id": row.id,
    // Reading a run, or requesting it again, is free.
    ...(isFresh && row.ended_at !== null ? { "x-credits-used": formatCredits(creditsOf(steps)) } : {}),
  };
  return json(presentRun(fullRow, steps, { isSorted: !isFresh, hasInput: !isFresh, heldNano }), headers, status);
}

function followOf({ runs }: IngressContext, run: NewRun): FollowedRun | undefined {
  if (run.mode === "async") return undefined;
  return run.mode === "stream" ? runs.follow(run.id, run) : runs.awaitEnd(run.id);
}

async function mustFind({ database }: IngressContext, id: string): Promise<RunRow> {
  const row = await findRunById(database, id);
  if (!row) throw new Error("the run is gone");
  return row;
}

async function waitForEnd(
  context: IngressContext,
  id: string,
  followed: FollowedRun,
  clientSignal: AbortSignal,
): Promise<{ readonly row: RunRow; readonly steps: readonly StepRunRow[] }> {
  const { database } = context;
  const until = performance.now() + RUN_WAIT_MS;
  const over = AbortSignal.any([clientSignal, context.closing]);
  for (;;) {
    const restMs = until - performance.now();
    const isEnded = await followed.wait(Math.max(0, Math.min(restMs, JOB_POLL_INTERVAL_MS)), over);
    // After the notice of the end, the run and its steps are read together.
    const [row, finalSteps] = await Promise.all([
      mustFind(context, id),
      isEnded ? findStepRuns(database, [id]) : undefined,
    ]);
    if (row.ended_at !== null) return { row, steps: finalSteps ?? (await findStepRuns(database, [id])) };
    if (over.aborted || restMs <= 0) throw runContinuesError(context, id);
  }
}
