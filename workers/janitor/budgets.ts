/** Fires budget alerts of workspaces that have used something since it was looked at last. */
import { fireBudgets, listBudgetsToLookAt } from "#shared/database/budget-firings.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

/** One statement for a workspace: of several janitors one looks at it, and one that fails keeps no other from its turn. */
export async function sweepBudgets({
  database,
  metrics,
  log,
}: {
  readonly database: Queryable;
  readonly metrics: Pick<Metrics, "budgetsFired">;
  readonly log: Logger;
}): Promise<void> {
  for (const workspaceId of await listBudgetsToLookAt(database)) {
    try {
      for (const fired of await fireBudgets(database, workspaceId)) {
        metrics.budgetsFired.inc(String(fired.stops_calls));
        log.info(
          { workspace_id: workspaceId, alert_id: fired.alert_id, stops_calls: fired.stops_calls },
          "a budget's threshold was reached",
        );
      }
    } catch (error) {
      log.warn({ err: error, workspace_id: workspaceId }, "the budgets of a workspace could not be looked at yet");
    }
  }
}
