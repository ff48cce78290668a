/** Sends notices for runs that a worker must continue, and deletes runs that ended long ago. Workers execute the runs. */
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import {
  ALL_RUNS,
  ALL_WORK,
  dropEndedRuns,
  dropOldestRuns,
  dropRunInputs,
  findFullWorkspaces,
  findLateRuns,
  findUnreportedRuns,
  nextOldRuns,
  nextOpenWork,
  takeDueRuns,
  takeRunsOfEndedJobs,
  takeRunsOfEndedRuns,
  takeStalledRuns,
  takeUnbegunRuns,
  type WaitingRun,
} from "#shared/database/run-sweeps.ts";
import { giveUpRun } from "#shared/database/run-work.ts";
import { emptyWorkflow, findUnemptied } from "#shared/database/workflows.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";
import { WORKSPACE_MESSAGES_MIN } from "#shared/queue/fleet-limits.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { reportToPublisher } from "#shared/workflows/published-run.ts";
import { RUN_STALLED_MS } from "#shared/workflows/limits.ts";
import { JOB_LIFE_MS } from "#shared/queue/job-life.ts";

import { sweepEach } from "./sweeps.ts";

export interface RunSweepContext {
  readonly connection: NatsConnection;
  readonly database: Database;
  readonly storage: Storage;
  readonly metrics: Pick<Metrics, "runsStalledOldestSeconds">;
  readonly log: Logger;
}

const BATCH = 500;
/** Age at which the notice that a run can continue counts as lost, in milliseconds. */
const FORGOTTEN_MS = paced(5_000);
/**
 * Minimum interval between notices of one run in milliseconds, and maximum number of notices per search. Most waiting runs already have a
 * notice on the queue or at a worker.
 */
const NOTICE_LIMITS = { againMs: paced(15_000), max: BATCH };
/**
 * Maximum number of notices per sweep that replace lost notices. It is half of the queue limit of a workspace and lane, so that notices of
 * new runs still fit.
 */
const FORGOTTEN_MAX = WORKSPACE_MESSAGES_MIN / 2;
const MS_PER_HOUR = 3_600_000;
/** Fraction of a workspace's storage from which ended runs are deleted after one day, oldest first. */
const FULL_SHARE = 0.9;
const FULL_KEEP_MS = 24 * MS_PER_HOUR;
const FULL_ROUNDS = 100;

export async function sweepDueRuns({ connection, database }: RunSweepContext): Promise<void> {
  wakeAll(connection, await takeDueRuns(database, NOTICE_LIMITS));
}

/**
 * Maximum number of unfinished runs per sweep, which limits the duration of a sweep: 20,000 take 60 ms. The next sweeps process the
 * remaining runs.
 */
const OPEN_WORK_MAX = 20_000;

/**
 * Creates the sweep that sends a notice again for runs that can continue but whose notice was lost.
 * @param openMax unfinished runs per sweep
 */
export function openForgottenRuns(context: RunSweepContext, openMax: number = OPEN_WORK_MAX): () => Promise<void> {
  const { connection, database, log } = context;
  let span = ALL_WORK;
  const searches: Readonly<Record<string, (limits: typeof NOTICE_LIMITS) => Promise<readonly WaitingRun[]>>> = {
    jobs: (limits) => takeRunsOfEndedJobs(database, FORGOTTEN_MS, limits, span),
    runs: (limits) => takeRunsOfEndedRuns(database, FORGOTTEN_MS, limits),
    unbegun: (limits) => takeUnbegunRuns(database, FORGOTTEN_MS, limits),
  };
  return async () => {
    span = await nextOpenWork(database, span, openMax);
    let remainingNotices = FORGOTTEN_MAX;
    // Sequential; a failure does not prevent the following searches.
    for (const [why, search] of Object.entries(searches)) {
      const found = await search({ ...NOTICE_LIMITS, max: remainingNotices }).catch((error: unknown) => {
        log.warn({ err: error, search: why }, "searching for unfinished runs failed");
        return [];
      });
      remainingNotices -= found.length;
      if (found.length > 0) log.warn({ search: why, runs: found.length }, "resuming runs");
      wakeAll(connection, found);
    }
  };
}

/**
 * Creates the sweep that sends a notice to workers for runs without recent progress.
 * @param runsMax unfinished runs per sweep
 */
export function openStalledRuns(
  { connection, database, metrics, log }: RunSweepContext,
  runsMax: number = OPEN_WORK_MAX,
): () => Promise<void> {
  let span = ALL_RUNS;
  let oldest = 0;
  return async () => {
    span = await nextOldRuns(database, span, RUN_STALLED_MS, runsMax);
    const stalled = await takeStalledRuns(database, { olderMs: RUN_STALLED_MS, max: BATCH }, span);
    oldest = Math.max(span.after === ALL_RUNS.after ? 0 : oldest, ...stalled.map(({ seconds }) => seconds));
    metrics.runsStalledOldestSeconds.set(oldest);
    const taken = stalled.filter(({ is_taken }) => is_taken);
    if (taken.length > 0) log.warn({ runs: taken.length }, "resuming stalled runs");
    for (const run of taken) notifyRun(connection, run, { isStalled: true });
  };
}

const LATE = { code: "overloaded", message: "No worker was free before the run's deadline.", ifUnbegun: true } as const;
/** Number of failed notifications of publishers after which the sweep ends, because the object store is then unavailable. */
const REPORT_FAILURES_MAX = 3;

/**
 * Notifies the NATS publishers of ended runs that were not notified yet. Before that, fails runs that no worker began before their
 * deadline.
 */
export async function sweepPublishedRuns(context: RunSweepContext): Promise<void> {
  const { database } = context;
  for (const { id } of await findLateRuns(database, JOB_LIFE_MS, BATCH)) await giveUpRun(database, id, LATE);
  const rows = await findUnreportedRuns(database, BATCH);
  const unreportedRuns = {
    sweep: "untold runs",
    rows,
    itemOf: ({ id }: { readonly id: string }) => id,
    failuresMax: REPORT_FAILURES_MAX,
  } as const;
  await sweepEach(context, unreportedRuns, ({ id }) => reportToPublisher(context, id));
}

/**
 * Deletes runs that ended long ago, inputs of runs that ended some time ago, and unused definitions. If the storage of a workspace is
 * nearly full, its oldest runs are deleted earlier, so that new files still fit.
 */
export async function sweepEndedRuns(
  context: RunSweepContext,
  keep: { readonly runHours: number; readonly inputHours: number; readonly storageBytesMax: number },
): Promise<void> {
  const { database } = context;
  await dropAll(context, () => dropEndedRuns(database, keep.runHours * MS_PER_HOUR, BATCH));
  await dropAll(context, () => dropRunInputs(database, keep.inputHours * MS_PER_HOUR, BATCH));
  const usedMin = Math.floor(keep.storageBytesMax * FULL_SHARE);
  for (let remainingRounds = FULL_ROUNDS; remainingRounds > 0; remainingRounds -= 1) {
    const full = await findFullWorkspaces(database, usedMin);
    let dropped = 0;
    for (const workspaceId of full) {
      dropped += await dropTexts(context, await dropOldestRuns(database, workspaceId, FULL_KEEP_MS, BATCH));
    }
    if (dropped === 0) break;
  }
  for (const id of await findUnemptied(database, BATCH)) await emptyWorkflow(database, id);
}

async function dropAll(context: RunSweepContext, drop: () => ReturnType<typeof dropEndedRuns>): Promise<void> {
  while ((await dropTexts(context, await drop())) >= BATCH);
}

/** Deletes the stored texts of deleted runs. @returns the number of deleted runs */
async function dropTexts(
  { storage, log }: RunSweepContext,
  { count, references }: Awaited<ReturnType<typeof dropEndedRuns>>,
): Promise<number> {
  const drops = await Promise.allSettled(references.map((reference) => deleteClaim(storage, reference)));
  const failed = drops.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    log.warn({ err: failed.reason as Error }, "the texts of ended runs could not be deleted; a later sweep retries");
  }
  return count;
}

function wakeAll(connection: NatsConnection, runs: readonly WaitingRun[]): void {
  for (const run of runs) notifyRun(connection, run, { isFullCheck: true });
}
