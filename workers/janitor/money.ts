/**
 * Sweeps expired holds, credit lines, budgets, balance alerts and the roll-up of usage, and runs the hourly audit. An expired hold has no owner. The
 * janitor therefore charges the output that the client received and releases the remainder.
 */
import { checkBalanceAlerts } from "#shared/database/balance-alerts.ts";
import { fireBudgets, listBudgetsToCheck } from "#shared/database/budget-firings.ts";
import { type Database, type Queryable, SQL, sqlState } from "#shared/database/client.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";
import { type ExpiredHold, expiredHolds, openHolds } from "#shared/database/holds.ts";
import { fireSpendNotices, listSpendNoticesToCheck } from "#shared/database/spend-notices.ts";
import { raiseUsageFloor, rollUpStep, usageBehindSeconds } from "#shared/database/usage-sums.ts";
import { AUDIT_LIMIT_MS, auditInSteps } from "#shared/ledger/audit.ts";
import { deleteOldCounts, endLine, findOverdueLines } from "#shared/ledger/credit-lines.ts";
import { type CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import { settleLostCall } from "#shared/ledger/lost.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";

import { sweepEach } from "./sweeps.ts";

const BATCH = 500;
/**
 * Minimum uptime of the database server before expired holds are closed, in milliseconds. Settlements that were delayed by a restart are
 * written within this time.
 */
const STARTED_MS = paced(60_000);

/** Closes holds that have expired by the clock of the database. A hold expires HOLD_SLACK_MS after the deadline of its call. */
export async function sweepExpiredHolds(context: {
  database: Database;
  ledger: Ledger;
  log: Logger;
  metrics: Metrics;
  /** Minimum uptime of the database server before any hold is closed, in milliseconds. */
  startedMs?: number;
  /** Number of holds per sweep, which are processed concurrently. */
  batch?: number;
}): Promise<number> {
  const { database, ledger, log, metrics, startedMs = STARTED_MS, batch = BATCH } = context;
  const rows = await expiredHolds(database, batch, startedMs);
  const itemOf = (row: (typeof rows)[number]): string => `${row.job_id}.${row.attempt}`;
  // A locked balance of one workspace must not delay the holds of others or the metrics below.
  await sweepEach(context, { sweep: "expired holds", rows, itemOf, atOnce: batch }, async (row) => {
    const finished = await settleLostCall(database, ledger, {
      workspaceId: row.workspace_id,
      jobId: row.job_id,
      attempt: row.attempt,
      creditLineHold: creditLineHoldOfRow(row),
    });
    if (finished.wasClosed) return;
    metrics.callsLost.inc();
    metrics.creditsSettled.addNano(finished.takenNano);
    log.error({ job_id: row.job_id, workspace_id: row.workspace_id }, "closed an expired hold of a lost call");
  });
  const open = await openHolds(database);
  metrics.holdsOpen.set(open.count);
  metrics.holdsOldestSeconds.set(open.oldestSeconds);
  return rows.length;
}

function creditLineHoldOfRow(row: ExpiredHold): CreditLineHold | undefined {
  const { line_id: lineId, key_id: keyId, amount: amountNano, may_exceed: mayExceed, labels } = row;
  if (lineId === null) return undefined;
  return {
    lineId,
    keyId,
    model: row.model,
    amountNano,
    mayExceed,
    deadlineMs: row.deadline.getTime(),
    ...(labels === null ? {} : { labels }),
  };
}

/**
 * Ends credit lines whose ingress has crashed, and returns their remaining credits to the workspaces. All calls that used these lines are
 * settled by then.
 */
export async function sweepCreditLines(context: {
  database: Database;
  log: Logger;
  /** Minimum uptime of the database server before any credit line is returned, in milliseconds. */
  startedMs?: number;
}): Promise<number> {
  const { database, log, startedMs = STARTED_MS } = context;
  const rows = await findOverdueLines(database, BATCH, startedMs);
  await sweepEach(context, { sweep: "credit lines", rows, itemOf: (row) => row.id }, async (row) => {
    await endLine(database, row.id, { isOverdue: true });
    log.warn({ line_id: row.id, workspace_id: row.workspace_id }, "returned a credit line that was not renewed");
  });
  await deleteOldCounts(database);
  return rows.length;
}

// Fires budget alerts of workspaces with usage since the previous check.

/**
 * Checks the budget alerts of each workspace with one statement. Two janitors never check one workspace at the same time. A failure does
 * not delay other workspaces.
 */
export async function sweepBudgets({
  database,
  metrics,
  log,
}: {
  readonly database: Queryable;
  readonly metrics: Pick<Metrics, "budgetsFired">;
  readonly log: Logger;
}): Promise<void> {
  for (const workspaceId of await listBudgetsToCheck(database)) {
    try {
      for (const fired of await fireBudgets(database, workspaceId)) {
        metrics.budgetsFired.inc(String(fired.stops_calls));
        log.info(
          { workspace_id: workspaceId, alert_id: fired.alert_id, stops_calls: fired.stops_calls },
          "a budget alert's threshold was reached",
        );
      }
    } catch (error) {
      log.warn(
        { err: error, workspace_id: workspaceId },
        "the budgets of a workspace could not be checked; it is retried",
      );
    }
  }
}

/** Number of balance alerts that one statement checks. */
const BALANCE_ALERTS_BATCH = 500;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Checks the balance alerts of all workspaces, a page of them per statement. A check that fires nothing writes nothing. */
export async function sweepBalanceAlerts({
  database,
  log,
  batch = BALANCE_ALERTS_BATCH,
}: {
  readonly database: Queryable;
  readonly log: Logger;
  /** Number of alerts that one statement checks. */
  readonly batch?: number;
}): Promise<void> {
  let after: string | null = FIRST_ID;
  while (after !== null) {
    const { next, fired } = await checkBalanceAlerts(database, { after, limit: batch });
    for (const alertId of fired) log.info({ alert_id: alertId }, "a balance alert fired");
    after = next;
  }
}

/**
 * Sends events of spend limits that have reached a percentage. A failure in one workspace does not delay other workspaces; it is retried at
 * the next sweep.
 */
export async function sweepSpendNotices({
  database,
  log,
}: {
  readonly database: Queryable;
  readonly log: Logger;
}): Promise<void> {
  for (const workspaceId of await listSpendNoticesToCheck(database)) {
    try {
      const sent = await fireSpendNotices(database, workspaceId);
      if (sent > 0) log.info({ workspace_id: workspaceId, events: sent }, "spend limits reached a percentage");
    } catch (error) {
      log.warn({ err: error, workspace_id: workspaceId }, "the spend limits of a workspace could not be checked");
    }
  }
}

// Adds usage records to the hourly sums. Readers add newer records themselves, so no sum is delayed by this sweep.

/** Maximum number of steps per sweep. A backlog of a year is thus processed within hours, and a shutdown waits for one step only. */
const STEPS_MAX = 200;
/** Maximum time span of usage per step, in milliseconds. At 1,000 calls per second, a step has 600,000 records and takes 3 s. */
const STEP_MAX_MS = 600_000;
/**
 * Minimum time span of usage per step, in milliseconds. The span of a step that exceeds the statement timeout is halved, down to this
 * value.
 */
const STEP_MIN_MS = 60_000;
/** Timeout of the shortest step, in milliseconds. It is several times as long as a minute with 10,000 calls per second needs. */
const LIMIT_MS = 60_000;

interface Context {
  readonly database: Database;
  readonly metrics: Pick<Metrics, "usageBehindSeconds">;
  readonly log: Logger;
}

/**
 * Creates the sweep that rolls up usage. Each step is one transaction of one janitor. The returned function runs steps and resolves with
 * the number of completed steps.
 */
export function openUsageRollUp({ database, metrics, log }: Context): () => Promise<number> {
  let stepMs = STEP_MAX_MS;
  const turn = async (): Promise<number> => {
    await raiseUsageFloor(database);
    let steps = 0;
    for (let tries = 0; tries < STEPS_MAX; tries++) {
      const isShortest = stepMs <= STEP_MIN_MS;
      try {
        const remainingMs = await rollUpStep(database, stepMs, isShortest ? LIMIT_MS : undefined);
        if (remainingMs === null) break;
        steps += 1;
        if (remainingMs === 0n) break;
        stepMs = Math.min(STEP_MAX_MS, stepMs * 2);
      } catch (error) {
        if (sqlState(error) !== SQL.statementTimeout || isShortest) throw error;
        stepMs = Math.max(STEP_MIN_MS, stepMs / 2);
        log.warn({ step_ms: stepMs }, "a step of the usage roll-up took too long; its size is halved");
      }
    }
    return steps;
  };
  return async () => {
    try {
      return await turn();
    } finally {
      // Reported after a failed turn too, so that an alert can detect permanent failures.
      metrics.usageBehindSeconds.set(await usageBehindSeconds(database));
    }
  };
}

// Audits of new ledger entries and of stored bytes. Any difference is a bug of ours and raises an alert.

export async function checkInvariants(context: {
  database: Database;
  log: Logger;
  metrics: Pick<Metrics, "ledgerFaults" | "ledgerAuditedAt">;
}): Promise<void> {
  const { database, log, metrics } = context;
  for (const [name, audit] of AUDITS) {
    const faults = await audit(database);
    if (name === "ledger") {
      metrics.ledgerFaults.set(faults.length);
      metrics.ledgerAuditedAt.set(Math.floor(Date.now() / 1_000));
    }
    if (faults.length === 0) log.info(`${name} audit: exact`);
    for (const fault of faults.slice(0, 20)) log.error({ ...fault }, `${name} audit found a difference`);
  }
}

const AUDITS = [
  ["ledger", auditInSteps],
  ["storage", (database: Database) => database.slowTransaction(AUDIT_LIMIT_MS, auditStorage)],
] as const;
