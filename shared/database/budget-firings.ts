/** Firing of budgets, and the stop of calls that may follow. The rules are SQL functions in migrations/0010_usage.sql. */
import type { Queryable } from "./client.ts";

export interface FiredBudget {
  readonly alert_id: string;
  readonly stops_calls: boolean;
}

/** Returns workspaces with due alerts, and workspaces whose alerts were not checked since their day began or they changed. */
export async function listBudgetsToCheck(target: Queryable): Promise<string[]> {
  const rows = await target.query<{ id: string }>("select budgets_to_check() as id");
  return rows.map(({ id }) => id);
}

/** Fires due alerts, once per alert, period and threshold: event and firing are one statement. */
export function fireBudgets(target: Queryable, workspaceId: string): Promise<FiredBudget[]> {
  return target.query<FiredBudget>("select alert_id, stops_calls from fire_budgets($1)", [workspaceId]);
}

/** Locks the workspace's alerts and firings until the transaction ends. */
export async function lockBudgets(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(budget_lock($1))", [workspaceId]);
}

/** Stops or allows calls according to the current alerts, and schedules a check. Requires the lock above. */
export async function setBudgetBounds(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query("select set_budget_bounds($1)", [workspaceId]);
}

/** Returns the error message for callers stopped by a budget; it names the budget. */
export async function budgetReached(target: Queryable, workspaceId: string): Promise<string> {
  const [row] = await target.query<{ sentence: string }>("select budget_reached($1) as sentence", [workspaceId]);
  return row?.sentence ?? "";
}
