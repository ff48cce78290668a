/** SQL for alerts on a workspace's spending. Changes require lockBudgets and write their audit row in the same transaction. */
import { creditsNumber } from "#shared/base/money.ts";

import { type Actor, type AuditValues, recordAudit } from "./audit-log.ts";
import { fireBudgets, lockBudgets, setBudgetBounds } from "./budget-firings.ts";
import { type Database, type Queryable, SQL, sqlState } from "./client.ts";

export type BudgetPeriod = "daily" | "weekly" | "monthly";

export interface BudgetTerms {
  readonly name: string;
  /** Threshold of the spending, in nano-credits. */
  readonly threshold: bigint;
  readonly period: BudgetPeriod;
  readonly channel_ids: readonly string[];
  readonly is_active: boolean;
  readonly stops_calls: boolean;
  /** Percentages of the threshold that also fire, ascending. */
  readonly warn_at: readonly number[];
}

export interface BudgetAlertRow extends BudgetTerms {
  readonly id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Start of the current period. `spent` is the amount spent in it, in nano-credits. */
  readonly period_start: Date;
  readonly spent: bigint;
  readonly last_fired_at: Date | null;
  readonly events_without_channel: readonly ("budget.threshold_reached" | "budget.warning")[];
}

const COLUMNS = "name, threshold, period, channel_ids::text[] as channel_ids, is_active, stops_calls, warn_at";
const ROWS = `select a.id, a.name, a.threshold, a.period, a.channel_ids::text[] as channel_ids, a.is_active, a.stops_calls, a.warn_at,
            a.created_at, a.updated_at, b.period_start, b.spent, (select max(f.at) from budget_firing f where f.alert_id = a.id) as last_fired_at,
            types_without_channel($1, case when a.warn_at = '{}' then '{budget.threshold_reached}'::text[]
              else '{budget.threshold_reached,budget.warning}' end, a.channel_ids) as events_without_channel
     from budget_alert a
     join budgets_now($1, now()) b on b.alert_id = a.id`;

/** Returns one page of the workspace's alerts, newest first. The page starts after the alert `after`. */
export function pageBudgetAlerts(
  target: Queryable,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<BudgetAlertRow[]> {
  return target.query<BudgetAlertRow>(
    `${ROWS}
     where a.workspace_id = $1
       and ($2::uuid is null or (a.created_at, a.id) < (select created_at, id from budget_alert where workspace_id = $1 and id = $2))
     order by a.created_at desc, a.id desc
     limit $3`,
    [workspaceId, after, limit],
  );
}

export async function findBudgetAlert(
  target: Queryable,
  workspaceId: string,
  id: string,
): Promise<BudgetAlertRow | undefined> {
  const rows = await target.query<BudgetAlertRow>(`${ROWS} where a.workspace_id = $1 and a.id = $2`, [workspaceId, id]);
  return rows[0];
}

interface NewBudgetAlert extends BudgetTerms {
  readonly id: string;
  readonly actor: Actor;
  /** Author of the alert; null for an operator. */
  readonly memberId: string | null;
  /** Maximum number of alerts of a workspace. */
  readonly max: number;
}

/** Creates an alert. Returns `known` if an alert with this id exists, perhaps in another workspace. */
export function insertBudgetAlert(
  database: Database,
  workspaceId: string,
  { id, actor, memberId, max, ...terms }: NewBudgetAlert,
): Promise<"made" | "known" | "name_taken" | "too_many"> {
  return unlessNameTaken(() =>
    database.transaction(async (tx) => {
      await lockBudgets(tx, workspaceId);
      const [state] = await tx.query<{ is_known: boolean; count: number }>(
        `select exists (select from budget_alert where id = $2) as is_known,
                (select count(*)::int from budget_alert where workspace_id = $1) as count`,
        [workspaceId, id],
      );
      if (state?.is_known === true) return "known";
      if ((state?.count ?? 0) >= max) return "too_many";
      const created = await tx.query(
        `insert into budget_alert (id, workspace_id, name, threshold, period, channel_ids, is_active, stops_calls, warn_at, created_by)
         values ($1, $2, $3, $4, $5, $6::uuid[], $7, $8, $9::smallint[], $10)
         on conflict (id) do nothing
         returning id`,
        [id, workspaceId, ...valuesOf(terms), memberId],
      );
      if (created.length === 0) return "known";
      await setBudgetBounds(tx, workspaceId);
      const after = auditValuesOf(terms);
      await recordAudit(tx, workspaceId, { actor, action: "budget_alert.create", subject: id, before: null, after });
      return "made";
    }),
  );
}

/** Changes members of an alert; absent members stay unchanged. Returns undefined if the alert does not exist. */
export function updateBudgetAlert(
  database: Database,
  workspaceId: string,
  { id, actor, ...asked }: Partial<BudgetTerms> & { readonly id: string; readonly actor: Actor },
): Promise<"changed" | "same" | "name_taken" | undefined> {
  return unlessNameTaken(() =>
    database.transaction(async (tx) => {
      const old = await lockBudgetAlert(tx, workspaceId, id);
      if (!old) return undefined;
      const terms = { ...old, ...asked };
      const [before, after] = [auditValuesOf(old), auditValuesOf(terms)];
      if (JSON.stringify(before) === JSON.stringify(after)) return "same";
      // Thresholds reached so far were reached under the terms before this change.
      await fireBudgets(tx, workspaceId);
      const isJudgedAnew =
        terms.threshold !== old.threshold || terms.period !== old.period || (terms.is_active && !old.is_active);
      await tx.query(
        `update budget_alert
         set name = $3, threshold = $4, period = $5, channel_ids = $6::uuid[], is_active = $7, stops_calls = $8, warn_at = $9::smallint[],
             updated_at = now(), judged_from = case when $10 then now() else judged_from end,
             checked_day = case when $10 then '-infinity' else checked_day end
         where id = $1 and workspace_id = $2`,
        [id, workspaceId, ...valuesOf(terms), isJudgedAnew],
      );
      await setBudgetBounds(tx, workspaceId);
      await recordAudit(tx, workspaceId, { actor, action: "budget_alert.update", subject: id, before, after });
      return "changed";
    }),
  );
}

/** Deletes an alert. Returns false if the alert does not exist. */
export function deleteBudgetAlert(
  database: Database,
  workspaceId: string,
  { id, actor }: { readonly id: string; readonly actor: Actor },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const old = await lockBudgetAlert(tx, workspaceId, id);
    if (!old) return false;
    await tx.query("delete from budget_alert where id = $1 and workspace_id = $2", [id, workspaceId]);
    await setBudgetBounds(tx, workspaceId);
    const before = auditValuesOf(old);
    await recordAudit(tx, workspaceId, { actor, action: "budget_alert.delete", subject: id, before, after: null });
    return true;
  });
}

/** Returns the ids that do not belong to channels of the workspace. */
export async function unknownChannels(
  target: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await target.query<{ id: string }>(
    "select id from notification_channel where workspace_id = $1 and id = any ($2::uuid[])",
    [workspaceId, ids],
  );
  return ids.filter((id) => !rows.some((row) => row.id === id));
}

async function lockBudgetAlert(tx: Queryable, workspaceId: string, id: string): Promise<BudgetTerms | undefined> {
  await lockBudgets(tx, workspaceId);
  const rows = await tx.query<BudgetTerms>(`select ${COLUMNS} from budget_alert where id = $1 and workspace_id = $2`, [
    id,
    workspaceId,
  ]);
  return rows[0];
}

function valuesOf({ name, threshold, period, channel_ids, is_active, stops_calls, warn_at }: BudgetTerms) {
  return [name, threshold, period, channel_ids, is_active, stops_calls, warn_at] as const;
}

function auditValuesOf({
  threshold,
  name,
  period,
  channel_ids,
  is_active,
  stops_calls,
  warn_at,
}: BudgetTerms): AuditValues {
  return { name, threshold_credits: creditsNumber(threshold), period, channel_ids, is_active, stops_calls, warn_at };
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | "name_taken"> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) === SQL.uniqueViolation) return "name_taken";
    throw error;
  }
}
