/** Fires budget alerts, and stops calls if an alert requires it. SQL functions in migrations/0010_usage.sql contain the rules. */
import type { Queryable } from "./client.ts";

export interface FiredBudget {
  readonly alert_id: string;
  readonly stops_calls: boolean;
}

/**
 * Returns workspaces whose budget alerts must be checked. An alert is due, or the alerts have not been checked since the day began or since
 * they changed.
 */
export async function listBudgetsToCheck(target: Queryable): Promise<string[]> {
  const rows = await target.query<{ id: string }>("select budgets_to_check() as id");
  return rows.map(({ id }) => id);
}

/**
 * Fires due alerts of a workspace, once per alert, period, threshold and percentage. One statement writes the event for the workspace's
 * channels and the record that the alert was fired. Returns the alerts whose whole threshold was reached.
 */
export function fireBudgets(target: Queryable, workspaceId: string): Promise<FiredBudget[]> {
  return target.query<FiredBudget>("select alert_id, stops_calls from fire_budgets($1)", [workspaceId]);
}

/** Locks the workspace's alerts and firings until the transaction ends. */
export async function lockBudgets(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(budget_lock($1))", [workspaceId]);
}

/** Stops or allows the workspace's calls according to its current alerts, and schedules a check. Call `lockBudgets` first. */
export async function setBudgetBounds(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query("select set_budget_bounds($1)", [workspaceId]);
}

/** Returns the error message for callers that a budget has stopped. The message names the budget. */
export async function budgetReached(target: Queryable, workspaceId: string): Promise<string> {
  const [row] = await target.query<{ sentence: string }>("select budget_reached($1) as sentence", [workspaceId]);
  return row?.sentence ?? "";
}
