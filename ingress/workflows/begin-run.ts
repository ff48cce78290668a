/** Begins a run, and answers as its mode says. */
import type { NewRun, RunRow, StepRunRow } from "#shared/database/runs.ts";
import { findRunById, findStepRuns } from "#shared/database/runs.ts";
import { failpoint } from "#shared/failpoint.ts";
import { formatCredits } from "#shared/money.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { beginRun as beginNewRun, withInput } from "#shared/workflows/begin-run.ts";
import { creditsOf, presentRun } from "#shared/workflows/present-run.ts";
import { JOB_LOOK_MS } from "#ingress/wait/job-waiter.ts";

import { json } from "../answers.ts";
import type { IngressContext } from "../context.ts";

import type { FollowedRun } from "./run-follower.ts";
import { goesOn, streamRun } from "./run-stream.ts";

/** Longest wait of a caller for a run in mode `sync`; the run goes on. */
const RUN_WAIT_MS = 300_000;

/**
 * @returns undefined when there is such a run already
 * @throws ApiError as the beginning of any run; `run_timeout` or `service_unavailable` when the run goes on without its caller
 */
export async function beginRun(context: IngressContext, request: Request, run: NewRun): Promise<Response | undefined> {
  // Before the run begins, so that no word of it is missed.
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
  /** The answer that charged it: with its price, without its input, and with its steps in the order of their beginning. */
  readonly isFresh: boolean;
}

export async function answerRun(
  { database, storage }: IngressContext,
  row: RunRow,
  answered: Answered,
): Promise<Response> {
  const { isFresh } = answered;
  const [shown, steps] = await Promise.all([isFresh ? row : withInput(storage, row), findStepRuns(database, [row.id])]);
  return answerOf(row, shown, steps, answered);
}

function answerOf(row: RunRow, shown: RunRow, steps: readonly StepRunRow[], { status, isFresh }: Answered): Response {
  const headers = {
    "x-run-id": row.id,
    // Reading a run, or asking for it again, costs nothing.
    ...(isFresh && row.ended_at !== null ? { "x-credits-used": formatCredits(creditsOf(steps)) } : {}),
  };
  return json(presentRun(shown, steps, { isSorted: !isFresh, hasInput: !isFresh }), headers, status);
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
  left: AbortSignal,
): Promise<{ readonly row: RunRow; readonly steps: readonly StepRunRow[] }> {
  const { database } = context;
  const until = performance.now() + RUN_WAIT_MS;
  const over = AbortSignal.any([left, context.closing]);
  for (;;) {
    const restMs = until - performance.now();
    const isEnded = await followed.wait(Math.max(0, Math.min(restMs, JOB_LOOK_MS)), over);
    // Of one that has ended all is read at once.
    const [row, told] = await Promise.all([mustFind(context, id), isEnded ? findStepRuns(database, [id]) : undefined]);
    if (row.ended_at !== null) return { row, steps: told ?? (await findStepRuns(database, [id])) };
    if (over.aborted || restMs <= 0) throw goesOn(context, id);
  }
}
