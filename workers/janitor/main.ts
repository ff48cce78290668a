/**
 * Starts the janitor, which cleans up after crashed processes. Any number of janitors may run, because each sweep is idempotent and locks
 * its rows like every other process.
 */
import { openCatalogue } from "#shared/calls/catalogue/open.ts";
import type { AdminPages } from "#shared/process/admin-server.ts";
import { GROUPED_CONNECTIONS } from "#shared/database/grouped.ts";
import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { awaitTopology, ensureTopology, restoreTopology } from "#shared/queue/topology.ts";
import { createLagPage } from "#shared/operators/lag.ts";
import { BODIES_STOP_MS, openBodyKeeper } from "#shared/kept-bodies/keeper.ts";
import type { Role } from "#shared/process/role.ts";
import { openStorage } from "#shared/storage/client.ts";
import { RUN_STALLED_MS } from "#shared/workflows/limits.ts";

import { sweepBatches, sweepBatchParts, watchBatches } from "./batches.ts";
import { sweepClaims, sweepResponses, sweepResponseTexts, sweepResults, sweepRunTexts } from "./claims.ts";
import { sweepOrphans, sweepUploads } from "./files.ts";
import {
  type JobSweepContext,
  watchFreedSlots,
  releaseAll,
  sweepDispatches,
  sweepEndedJobs,
  sweepJobRecords,
  sweepLeases,
  sweepUnclaimed,
  sweepUnknownJobs,
} from "./jobs.ts";
import {
  checkInvariants,
  openUsageRollUp,
  sweepBalanceAlerts,
  sweepBudgets,
  sweepCreditLines,
  sweepExpiredHolds,
  sweepSpendNotices,
} from "./money.ts";
import {
  fitQueue,
  sweepDeadLetters,
  sweepExcessDeliveries,
  watchDeliveries,
  watchFailures,
  watchOutboxes,
  watchQueue,
} from "./queue.ts";
import { sweepKeptBodies } from "./kept-bodies.ts";
import { sweepRetention } from "./retention.ts";
import {
  openForgottenRuns,
  type RunSweepContext,
  sweepDueRuns,
  sweepEndedRuns,
  sweepPublishedRuns,
  openStalledRuns,
} from "./runs.ts";
import { startSweeps } from "./sweeps.ts";

const FINISH_RETRY_MS = 20_000;
/** Numbers of database connections of a janitor. `reserved` are for settlements; `slow` are for the usage roll-up and the audit. */
export const JANITOR_CONNECTIONS = { reserved: GROUPED_CONNECTIONS, slow: 2 };

/** Starts all sweeps. @throws Error with a one-sentence message if a dependency of the janitor is missing */
export async function startJanitor(role: Role): Promise<void> {
  const { config, log, metrics, lifecycle, database } = role;
  const connection = await role.connectQueue("janitor", "janitor");
  await awaitTopology(connection, { replicas: config.streamReplicas, waitMs: config.startWaitMs, log });
  restoreTopology(connection, { replicas: config.streamReplicas, log });
  const storage = openStorage(config.s3, metrics);
  lifecycle.onStop("storage", () => storage.close());
  const ledger = openLedger({ database, log, retryMs: FINISH_RETRY_MS });
  lifecycle.onStop("ledger", () => ledger.idle());
  const publisher = createPublisher(connection, "janitor");
  const dispatcher = createJobDispatcher({ database, publisher, metrics, log });
  lifecycle.onStop("dispatches", () => dispatcher.idle());
  const unknownKeepMs = config.unknownOutcomeHours * 3_600_000;
  const hoursMax = config.bodyRetentionHoursMax;
  const bodyKeeper = openBodyKeeper({ database, storage, sealer: undefined, log, metrics, hoursMax });
  lifecycle.onStop("kept bodies", () => bodyKeeper.close(BODIES_STOP_MS), BODIES_STOP_MS + 1_000);
  const jobs: JobSweepContext = { connection, database, storage, dispatcher, metrics, log, unknownKeepMs, bodyKeeper };
  const runs: RunSweepContext = { connection, database, storage, metrics, log };
  const retention = {
    hours: config.jobRetentionHours,
    deliveryDays: config.deliveryRetentionDays,
    auditLogDays: config.auditLogRetentionDays,
    faultDays: config.faultRetentionDays,
  };
  lifecycle.onStop("freed slots", watchFreedSlots(jobs));
  const every = (ms: number): number => Math.round(ms * config.janitorPace);
  const sweeps = startSweeps(log, [
    { name: "topology", everyMs: 10_000, run: () => ensureTopology(connection, config.streamReplicas, "keep") },
    { name: "expired holds", everyMs: every(2_000), run: () => sweepExpiredHolds({ database, ledger, log, metrics }) },
    { name: "credit lines", everyMs: every(10_000), run: () => sweepCreditLines({ database, log }) },
    { name: "job dispatch", everyMs: every(2_000), run: () => sweepDispatches(jobs) },
    { name: "unclaimed jobs", everyMs: every(5_000), run: () => sweepUnclaimed(jobs) },
    { name: "job room", everyMs: 1_000, run: () => releaseAll(jobs) },
    { name: "job leases", everyMs: every(2_000), run: () => sweepLeases(jobs) },
    { name: "unknown jobs", everyMs: every(5_000), run: () => sweepUnknownJobs(jobs) },
    { name: "job records", everyMs: 1_000, run: () => sweepJobRecords(jobs) },
    { name: "job retention", everyMs: 60_000, run: () => sweepEndedJobs(jobs, config.jobRetentionHours) },
    {
      name: "dead letters",
      everyMs: every(5_000),
      run: () => sweepDeadLetters({ connection, database, log, metrics }),
    },
    { name: "due runs", everyMs: 1_000, run: () => sweepDueRuns(runs) },
    { name: "forgotten runs", everyMs: every(5_000), run: openForgottenRuns(runs) },
    { name: "published runs", everyMs: every(5_000), run: () => sweepPublishedRuns(runs) },
    { name: "stalled runs", everyMs: RUN_STALLED_MS, run: openStalledRuns(runs) },
    {
      name: "run retention",
      everyMs: 60_000,
      run: () =>
        sweepEndedRuns(runs, {
          runHours: config.runRetentionHours,
          inputHours: config.runInputHours,
          storageBytesMax: config.storageBytesMax,
        }),
    },
    { name: "usage roll-up", everyMs: every(15_000), run: openUsageRollUp({ database, metrics, log }) },
    { name: "budgets", everyMs: every(2_000), run: () => sweepBudgets({ database, metrics, log }) },
    { name: "balance alerts", everyMs: every(10_000), run: () => sweepBalanceAlerts({ database, log }) },
    { name: "spend notices", everyMs: every(5_000), run: () => sweepSpendNotices({ database, log }) },
    { name: "queue", everyMs: 5_000, run: () => watchQueue({ connection, metrics }) },
    { name: "queue limits", everyMs: 5_000, run: () => fitQueue({ connection, database, log }) },
    { name: "outboxes", everyMs: every(5_000), run: () => watchOutboxes(database, metrics) },
    { name: "deliveries", everyMs: every(5_000), run: () => watchDeliveries(database, metrics) },
    { name: "delivery history", everyMs: 600_000, run: () => sweepExcessDeliveries(database) },
    { name: "claims", everyMs: 60_000, run: () => sweepClaims({ storage, database, log }) },
    { name: "results", everyMs: 3_600_000, run: () => sweepResults({ storage, database, log }) },
    { name: "run texts", everyMs: 3_600_000, run: () => sweepRunTexts({ storage, database, log }) },
    {
      name: "kept bodies",
      everyMs: every(60_000),
      run: () => sweepKeptBodies({ storage, database }, config.bodyRetentionHoursMax),
    },
    { name: "responses", everyMs: 60_000, run: () => sweepResponses({ storage, database, log }) },
    { name: "response texts", everyMs: 3_600_000, run: () => sweepResponseTexts({ storage, database, log }) },
    {
      name: "batches",
      everyMs: 60_000,
      run: () => sweepBatches({ storage, database, log }, config.batchRetentionHours),
    },
    { name: "open batches", everyMs: every(5_000), run: () => watchBatches(database, metrics) },
    { name: "batch parts", everyMs: 3_600_000, run: () => sweepBatchParts({ storage, database, log }) },
    { name: "uploads", everyMs: every(5_000), run: () => sweepUploads({ storage, database, log }) },
    { name: "orphans", everyMs: 3_600_000, run: () => sweepOrphans({ storage, database, log }) },
    { name: "retention", everyMs: 60_000, run: () => sweepRetention(database, retention) },
    { name: "invariants", everyMs: 3_600_000, run: () => checkInvariants({ database, log, metrics }) },
    { name: "failures", everyMs: every(5_000), run: () => watchFailures(database, metrics) },
  ]);
  lifecycle.onStop("sweeps", () => sweeps.stop());
  role.watchStorage(storage);
  role.addPages(await openPages(role));
}

/** Opens the pages of the admin port that only a janitor has: `/lag`, if a token for it is configured. */
async function openPages(role: Role): Promise<AdminPages> {
  const { config, database, lifecycle, log } = role;
  const token = config.lagToken;
  if (token === undefined) return {};
  // The catalogue only maps models to pools here, so models without a provider key are included.
  const catalogue = await openCatalogue({
    files: config.catalogueFiles,
    sandbox: true,
    providerKey: () => "known-to-workers",
    log,
  });
  lifecycle.onStop("catalogue", () => catalogue.close());
  role.onHangup(() => catalogue.reload());
  return { "/lag": createLagPage({ database, catalogue: () => catalogue.current(), token }) };
}
