/** Runs that a worker has to look at, and those that ended long ago. Carrying them on is the workers' work: here they are woken. */
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import {
  dropEndedRuns,
  findDueRuns,
  findForgottenRuns,
  findLateTickets,
  takeStalledRuns,
  type WaitingRun,
} from "#shared/database/run-work.ts";
import type { Logger } from "#shared/logger.ts";
import { paced } from "#shared/pace.ts";
import { wakeRun } from "#shared/queue/run-wake.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

export interface RunSweepContext {
  readonly connection: NatsConnection;
  readonly database: Database;
  readonly storage: Storage;
  readonly log: Logger;
}

const BATCH = 500;
/** A word that has not come by then is lost. */
const FORGOTTEN_MS = paced(5_000);
const STALLED_MS = paced(60_000);
/** Then the run fails. */
const RECOVERIES_MAX = 10;
const MS_PER_HOUR = 3_600_000;

export async function sweepDueRuns({ connection, database }: RunSweepContext): Promise<void> {
  wakeAll(connection, await findDueRuns(database, BATCH));
}

export async function sweepForgottenRuns(context: RunSweepContext): Promise<void> {
  const { connection, database, log } = context;
  const [forgotten, late, stalled] = [
    await findForgottenRuns(database, FORGOTTEN_MS, BATCH),
    await findLateTickets(database, BATCH),
    await takeStalledRuns(database, { olderMs: STALLED_MS, recoveriesMax: RECOVERIES_MAX, max: BATCH }),
  ];
  const all = [...forgotten, ...late, ...stalled];
  if (all.length > 0)
    log.warn({ forgotten: forgotten.length, late: late.length, stalled: stalled.length }, "runs are woken");
  wakeAll(connection, all);
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
