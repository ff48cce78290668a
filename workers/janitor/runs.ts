/** Runs that a worker has to look at, and those that ended long ago. Carrying them on is the workers' work: here they are woken. */
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
  findUntoldRuns,
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
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
import { WORKSPACE_MESSAGES_MIN } from "#shared/queue/fleet-limits.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { tellPublisher } from "#shared/workflows/published-run.ts";
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
/** A word that has not come by then is lost. */
const FORGOTTEN_MS = paced(5_000);
/** Most runs wait behind others, and their word is on the queue or with a worker. */
const WORDS = { againMs: paced(15_000), max: BATCH };
/**
 * Words that one turn sends of runs whose own were lost: half of what the queue takes of one workspace and lane, so that there is room for
 * those of its new runs.
 */
const FORGOTTEN_MAX = WORKSPACE_MESSAGES_MIN / 2;
const MS_PER_HOUR = 3_600_000;
/** Nearly full: then ended runs go after a day, the oldest first, so many batches in one sweep. */
const FULL_SHARE = 0.9;
const FULL_KEEP_MS = 24 * MS_PER_HOUR;
const FULL_ROUNDS = 100;

export async function sweepDueRuns({ connection, database }: RunSweepContext): Promise<void> {
  wakeAll(connection, await takeDueRuns(database, WORDS));
}

/**
 * Open work that one turn looks at: where more is open, turns share it, so that none takes longer however much goes on. At 20,000 it takes
 * 60 ms.
 */
const OPEN_WORK_MAX = 20_000;

/** @param openMax open work that a turn looks at */
export function openForgottenRuns(context: RunSweepContext, openMax: number = OPEN_WORK_MAX): () => Promise<void> {
  const { connection, database, log } = context;
  let span = ALL_WORK;
  const searches: Readonly<Record<string, (words: typeof WORDS) => Promise<readonly WaitingRun[]>>> = {
    jobs: (words) => takeRunsOfEndedJobs(database, FORGOTTEN_MS, words, span),
    runs: (words) => takeRunsOfEndedRuns(database, FORGOTTEN_MS, words),
    unbegun: (words) => takeUnbegunRuns(database, FORGOTTEN_MS, words),
  };
  return async () => {
    span = await nextOpenWork(database, span, openMax);
    let left = FORGOTTEN_MAX;
    // One after the other, and each whatever became of those before.
    for (const [why, look] of Object.entries(searches)) {
      const found = await look({ ...WORDS, max: left }).catch((error: unknown) => {
        log.warn({ err: error, why }, "runs could not be looked for");
        return [];
      });
      left -= found.length;
      if (found.length > 0) log.warn({ why, runs: found.length }, "runs are woken");
      wakeAll(connection, found);
    }
  };
}

/** @param runsMax unfinished runs that a turn looks at */
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
    if (taken.length > 0) log.warn({ runs: taken.length }, "runs stand still, and are woken");
    for (const run of taken) notifyRun(connection, run, { isStalled: true });
  };
}

const LATE = { code: "overloaded", message: "No worker was free before the run's deadline.", ifUnbegun: true } as const;
/** Runs whose publishers could not be told before the sweep is given up: the object store is away. */
const UNTOLD_FAILURES_MAX = 3;

/** Tells publishers of the ends of runs that nobody told, and ends those that no worker began in time. */
export async function sweepPublishedRuns(context: RunSweepContext): Promise<void> {
  const { database } = context;
  for (const { id } of await findLateRuns(database, JOB_LIFE_MS, BATCH)) await giveUpRun(database, id, LATE);
  const rows = await findUntoldRuns(database, BATCH);
  const untold = {
    sweep: "untold runs",
    rows,
    itemOf: ({ id }: { readonly id: string }) => id,
    failuresMax: UNTOLD_FAILURES_MAX,
  } as const;
  await sweepEach(context, untold, ({ id }) => tellPublisher(context, id));
}

/**
 * Runs that ended long ago, inputs of those that ended a while ago, and definitions that no run needs any more. Where a workspace's storage
 * is nearly full its oldest runs go sooner: what it ran a week ago must not keep it from storing a file.
 */
export async function sweepEndedRuns(
  context: RunSweepContext,
  keep: { readonly runHours: number; readonly inputHours: number; readonly storageBytesMax: number },
): Promise<void> {
  const { database } = context;
  await dropAll(context, () => dropEndedRuns(database, keep.runHours * MS_PER_HOUR, BATCH));
  await dropAll(context, () => dropRunInputs(database, keep.inputHours * MS_PER_HOUR, BATCH));
  const usedMin = Math.floor(keep.storageBytesMax * FULL_SHARE);
  for (let left = FULL_ROUNDS; left > 0; left -= 1) {
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

/** @returns how many runs were dropped */
async function dropTexts(
  { storage, log }: RunSweepContext,
  { count, references }: Awaited<ReturnType<typeof dropEndedRuns>>,
): Promise<number> {
  const drops = await Promise.allSettled(references.map((reference) => deleteClaim(storage, reference)));
  const failed = drops.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    log.warn({ err: failed.reason as Error }, "texts of ended runs stay in the object store until they are swept");
  }
  return count;
}

function wakeAll(connection: NatsConnection, runs: readonly WaitingRun[]): void {
  for (const run of runs) notifyRun(connection, run, { isFullCheck: true });
}
