/** Reads and writes the limits of keys and members: their lists, which are a column of the row, and their credit limits. */
import { type Actor, type AuditValues, recordAudit } from "#shared/database/audit-log.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { AccessLists } from "#shared/database/members.ts";
import { readSpendLimits, removeSpendLimit, setSpendLimit, type SpendLimitState } from "#shared/ledger/spend-limits.ts";
import { readSpendTerms, type SpendTerms } from "#shared/ledger/spend-terms.ts";

/** Limits of a key or member. */
export interface Limits {
  readonly lists: AccessLists | null;
  readonly spend: SpendTerms | null;
}

export const NO_LIMITS: Limits = { lists: null, spend: null };

/** Row of a key or member, as far as limits need it. */
export interface LimitedRow {
  readonly id: string;
  /** Id of the spend limit; null or absent if it is the id of the row. */
  readonly limit_id?: string | null;
  readonly access_lists: AccessLists | null;
}

/** Limits of a key or member with its spend; `spend` is undefined without credit limits. */
export interface Held {
  readonly limits: Limits;
  readonly spend: SpendLimitState | undefined;
}

/** Adds limits and spend to rows of keys or members, in the same order. */
export async function withLimits<R extends LimitedRow>(
  target: Queryable,
  workspaceId: string,
  rows: readonly R[],
): Promise<readonly (R & Held)[]> {
  const ids = rows.map(spendIdOf);
  const terms = await readSpendTerms(target, workspaceId, ids);
  const states =
    terms.size === 0 ? new Map<string, SpendLimitState>() : await readSpendLimits(target, workspaceId, ids);
  return rows.map((row) => {
    const id = spendIdOf(row);
    const limits = { lists: row.access_lists, spend: terms.get(id) ?? null };
    return { ...row, limits, spend: states.get(id) };
  });
}

/** Adds limits and spend to one row. */
export async function withOwnLimits<R extends LimitedRow>(
  target: Queryable,
  workspaceId: string,
  row: R,
): Promise<R & Held> {
  const [held] = await withLimits(target, workspaceId, [row]);
  if (held === undefined) throw new Error("the limits of a row are missing");
  return held;
}

/** Returns the id of the spend limit of a key or member. */
function spendIdOf({ id, limit_id }: Pick<LimitedRow, "id" | "limit_id">): string {
  return limit_id ?? id;
}

export interface LimitsChange {
  readonly kind: "key" | "member";
  readonly row: LimitedRow;
  readonly before: Limits;
  readonly after: Limits;
  readonly actor: Actor;
  /** Values for the audit log. */
  readonly audit: { readonly before: AuditValues; readonly after: AuditValues };
}

const TABLES = { key: "api_key", member: "member" } as const;

/**
 * Replaces the limits of a key or member, with the audit row. Call it as the last statement of a transaction that `repeatSpendChange`
 * executes.
 */
export async function replaceLimits(tx: Queryable, workspaceId: string, change: LimitsChange): Promise<void> {
  const { kind, row, before, after, actor, audit } = change;
  if (Bun.deepEquals(before, after, true)) return;
  const { lists, spend } = after;
  await tx.query(`update ${TABLES[kind]} set access_lists = $3::jsonb where workspace_id = $1 and id = $2`, [
    workspaceId,
    row.id,
    lists === null ? null : JSON.stringify(lists),
  ]);
  await recordAudit(tx, workspaceId, { actor, action: `${kind}.limits`, subject: row.id, ...audit });
  if (Bun.deepEquals(before.spend, spend, true)) return;
  const id = spendIdOf(row);
  if (spend === null) return removeSpendLimit(tx, workspaceId, id);
  const { credits, warnAt, raise } = spend;
  await setSpendLimit(tx, workspaceId, { id, kind, credits, warnAt, ...(raise === null ? {} : { raise }) });
}
