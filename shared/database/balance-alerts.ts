/** SQL for alerts on a workspace's available credits. Changes require lockBudgets and write their audit row in the same transaction. */
import { creditsNumber } from "#shared/base/money.ts";

import { type Actor, type AuditValues, recordAudit } from "./audit-log.ts";
import { lockBudgets } from "./budget-firings.ts";
import { type Database, type Queryable, SQL, sqlState } from "./client.ts";

/** Terms of an alert. Exactly one of `below_credits` and `below_days` is not null. */
export interface BalanceTerms {
  readonly name: string;
  /** Threshold in nano-credits. */
  readonly below_credits: bigint | null;
  /** Threshold in days that the available credits last. */
  readonly below_days: number | null;
  readonly channel_ids: readonly string[];
  readonly is_active: boolean;
}

export interface BalanceAlertRow extends BalanceTerms {
  readonly id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** True from the firing until the balance has been a tenth above the threshold. */
  readonly is_low: boolean;
  /** Available nano-credits of the workspace. */
  readonly available: bigint;
  /** Days that the available credits last, with one decimal place; null without spending. */
  readonly days_left: number | null;
  readonly last_fired_at: Date | null;
  readonly events_without_channel: readonly "balance.low"[];
}

const COLUMNS = "name, below_credits, below_days, channel_ids::text[] as channel_ids, is_active";
const ROWS = `select a.id, a.name, a.below_credits, a.below_days, a.channel_ids::text[] as channel_ids, a.is_active, a.is_low, a.last_fired_at,
            a.created_at, a.updated_at, o.available, round(o.days_left, 1)::float8 as days_left,
            types_without_channel($1, '{balance.low}', a.channel_ids) as events_without_channel
     from balance_alert a
     cross join balance_outlook($1) o`;

/** Returns one page of the workspace's alerts, newest first. The page starts after the alert `after`. */
export function pageBalanceAlerts(
  target: Queryable,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<BalanceAlertRow[]> {
  return target.query<BalanceAlertRow>(
    `${ROWS}
     where a.workspace_id = $1
       and ($2::uuid is null or (a.created_at, a.id) < (select created_at, id from balance_alert where workspace_id = $1 and id = $2))
     order by a.created_at desc, a.id desc
     limit $3`,
    [workspaceId, after, limit],
  );
}

export async function findBalanceAlert(
  target: Queryable,
  workspaceId: string,
  id: string,
): Promise<BalanceAlertRow | undefined> {
  const rows = await target.query<BalanceAlertRow>(`${ROWS} where a.workspace_id = $1 and a.id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0];
}

interface NewBalanceAlert extends BalanceTerms {
  readonly id: string;
  readonly actor: Actor;
  /** Author of the alert; null for an operator. */
  readonly memberId: string | null;
  /** Maximum number of alerts of a workspace. */
  readonly max: number;
}

/** Creates an alert. Returns `known` if an alert with this id exists, perhaps in another workspace. */
export function insertBalanceAlert(
  database: Database,
  workspaceId: string,
  { id, actor, memberId, max, ...terms }: NewBalanceAlert,
): Promise<"made" | "known" | "name_taken" | "too_many"> {
  return unlessNameTaken(() =>
    database.transaction(async (tx) => {
      await lockBudgets(tx, workspaceId);
      const [state] = await tx.query<{ is_known: boolean; count: number }>(
        `select exists (select from balance_alert where id = $2) as is_known,
                (select count(*)::int from balance_alert where workspace_id = $1) as count`,
        [workspaceId, id],
      );
      if (state?.is_known === true) return "known";
      if ((state?.count ?? 0) >= max) return "too_many";
      const created = await tx.query(
        `insert into balance_alert (id, workspace_id, name, below_credits, below_days, channel_ids, is_active, created_by)
         values ($1, $2, $3, $4, $5, $6::uuid[], $7, $8)
         on conflict (id) do nothing
         returning id`,
        [id, workspaceId, ...valuesOf(terms), memberId],
      );
      if (created.length === 0) return "known";
      const after = auditValuesOf(terms);
      await recordAudit(tx, workspaceId, { actor, action: "balance_alert.create", subject: id, before: null, after });
      return "made";
    }),
  );
}

/**
 * Changes members of an alert; absent members stay unchanged. An alert whose threshold changes or that is enabled is judged anew. Returns
 * undefined if the alert does not exist.
 */
export function updateBalanceAlert(
  database: Database,
  workspaceId: string,
  { id, actor, ...asked }: Partial<BalanceTerms> & { readonly id: string; readonly actor: Actor },
): Promise<"changed" | "same" | "name_taken" | undefined> {
  return unlessNameTaken(() =>
    database.transaction(async (tx) => {
      const old = await lockBalanceAlert(tx, workspaceId, id);
      if (!old) return undefined;
      const terms = { ...old, ...asked };
      const [before, after] = [auditValuesOf(old), auditValuesOf(terms)];
      if (JSON.stringify(before) === JSON.stringify(after)) return "same";
      const isJudgedAnew =
        terms.below_credits !== old.below_credits ||
        terms.below_days !== old.below_days ||
        (terms.is_active && !old.is_active);
      await tx.query(
        `update balance_alert
         set name = $3, below_credits = $4, below_days = $5, channel_ids = $6::uuid[], is_active = $7, updated_at = now(),
             is_low = is_low and not $8
         where id = $1 and workspace_id = $2`,
        [id, workspaceId, ...valuesOf(terms), isJudgedAnew],
      );
      await recordAudit(tx, workspaceId, { actor, action: "balance_alert.update", subject: id, before, after });
      return "changed";
    }),
  );
}

/** Deletes an alert. Returns false if the alert does not exist. */
export function deleteBalanceAlert(
  database: Database,
  workspaceId: string,
  { id, actor }: { readonly id: string; readonly actor: Actor },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const old = await lockBalanceAlert(tx, workspaceId, id);
    if (!old) return false;
    await tx.query("delete from balance_alert where id = $1 and workspace_id = $2", [id, workspaceId]);
    const before = auditValuesOf(old);
    await recordAudit(tx, workspaceId, { actor, action: "balance_alert.delete", subject: id, before, after: null });
    return true;
  });
}

/**
 * Checks active alerts of all workspaces, at most `limit` of them, in the order of their ids. Fires the alerts below their threshold, each
 * once until the balance has been a tenth above it, and writes their events in the same statement. `next` is the id after which the next
 * page begins; null after the last page.
 */
export async function checkBalanceAlerts(
  target: Queryable,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly next: string | null; readonly fired: readonly string[] }> {
  const [row] = await target.query<{ last_id: string | null; fired: string[] }>(
    "select last_id, fired::text[] as fired from check_balance_alerts($1, $2)",
    [after, limit],
  );
  return { next: row?.last_id ?? null, fired: row?.fired ?? [] };
}

async function lockBalanceAlert(tx: Queryable, workspaceId: string, id: string): Promise<BalanceTerms | undefined> {
  await lockBudgets(tx, workspaceId);
  const rows = await tx.query<BalanceTerms>(
    `select ${COLUMNS} from balance_alert where id = $1 and workspace_id = $2 for update`,
    [id, workspaceId],
  );
  return rows[0];
}

function valuesOf({ name, below_credits, below_days, channel_ids, is_active }: BalanceTerms) {
  return [name, below_credits, below_days, channel_ids, is_active] as const;
}

function auditValuesOf({ name, below_credits, below_days, channel_ids, is_active }: BalanceTerms): AuditValues {
  const credits = below_credits === null ? null : creditsNumber(below_credits);
  return { name, below_credits: credits, below_days, channel_ids, is_active };
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | "name_taken"> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) === SQL.uniqueViolation) return "name_taken";
    throw error;
  }
}
