/** Budgets whose threshold is reached, and the stop of calls that may follow. The rules of both are in the functions of migrations/0010_usage.sql. */
import type { Queryable } from "./client.ts";

export interface FiredBudget {
  readonly alert_id: string;
  readonly stops_calls: boolean;
}

/** Workspaces whose active alerts are to fire, or were not looked at since their day began or they changed. */
export async function listBudgetsToCheck(target: Queryable): Promise<string[]> {
  const rows = await target.query<{ id: string }>("select budgets_to_check() as id");
  return rows.map(({ id }) => id);
}

/** Fires what is due, once for an alert, period and threshold: event and firing are one statement. */
export function fireBudgets(target: Queryable, workspaceId: string): Promise<FiredBudget[]> {
  return target.query<FiredBudget>("select alert_id, stops_calls from fire_budgets($1)", [workspaceId]);
}

/** Changes of the workspace's alerts and firings wait until the transaction ends. */
export async function lockBudgets(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(budget_lock($1))", [workspaceId]);
}

/** Stops calls or lets them go on, as the alerts have it now, and has them looked at. Call it under the lock above. */
export async function setBudgetBounds(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query("select set_budget_bounds($1)", [workspaceId]);
}

/** Returns the sentence for callers whose calls a budget stops; it names the budget. */
export async function budgetReached(target: Queryable, workspaceId: string): Promise<string> {
  const [row] = await target.query<{ sentence: string }>("select budget_reached($1) as sentence", [workspaceId]);
  return row?.sentence ?? "";
}
