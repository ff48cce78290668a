/** Runs that a worker has to look at, and those that ended long ago. Carrying them on is the workers' work: here they are woken. */
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import {
  dropEndedRuns,
  findDueRuns,
  findLateTickets,
  findRunsOfEndedJobs,
  findRunsOfEndedRuns,
  takeStalledRuns,
  takeUnbegunRuns,
  type WaitingRun,
} from "#shared/database/run-sweeps.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
import { wakeRun } from "#shared/queue/run-wake.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

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
/** Most runs that have not begun wait behind others, and their word is on the queue. */
const AGAIN_MS = paced(15_000);
const MS_PER_HOUR = 3_600_000;

export async function sweepDueRuns({ connection, database }: RunSweepContext): Promise<void> {
  wakeAll(connection, await findDueRuns(database, BATCH));
}

export async function sweepForgottenRuns(context: RunSweepContext): Promise<void> {
  const { connection, database, log } = context;
  const looks: Readonly<Record<string, () => Promise<readonly WaitingRun[]>>> = {
    jobs: () => findRunsOfEndedJobs(database, FORGOTTEN_MS, BATCH),
    runs: () => findRunsOfEndedRuns(database, FORGOTTEN_MS, BATCH),
    unbegun: () => takeUnbegunRuns(database, { olderMs: FORGOTTEN_MS, againMs: AGAIN_MS, max: BATCH }),
    tickets: () => findLateTickets(database, BATCH),
  };
  // One after the other, and each whatever became of those before.
  for (const [why, look] of Object.entries(looks)) {
    const found = await look().catch((error: unknown) => {
      log.warn({ err: error, why }, "runs could not be looked for");
      return [];
    });
    if (found.length > 0) log.warn({ why, runs: found.length }, "runs are woken");
    wakeAll(connection, found);
  }
}

export async function sweepStalledRuns({ connection, database, metrics, log }: RunSweepContext): Promise<void> {
  const stalled = await takeStalledRuns(database, { olderMs: LIMITS.runStalledMs, max: BATCH });
  metrics.runsStalledOldestSeconds.set(Math.max(0, ...stalled.map(({ seconds }) => seconds)));
  if (stalled.length > 0) log.warn({ runs: stalled.length }, "runs stand still, and are woken");
  for (const run of stalled) wakeRun(connection, run, { isStalled: true });
}

export async function sweepEndedRuns({ database, storage, log }: RunSweepContext, hours: number): Promise<void> {
  for (;;) {
    const { count, references } = await dropEndedRuns(database, hours * MS_PER_HOUR, BATCH);
    const drops = await Promise.allSettled(references.map((reference) => deleteClaim(storage, reference)));
    const failed = drops.find((drop) => drop.status === "rejected");
    if (failed) log.warn({ err: failed.reason as Error }, "outputs of dropped runs stay in the object store");
    if (count < BATCH) return;
  }
}

function wakeAll(connection: NatsConnection, runs: readonly WaitingRun[]): void {
  for (const run of runs) wakeRun(connection, run);
}
