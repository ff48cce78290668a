/** Reads balances and ledger entries. Only shared/ledger writes them. */
import type { Queryable } from "./client.ts";

export interface BalanceRow {
  /** Balance in nano-credits. The amount that can be spent is `amount` minus `held`. */
  readonly amount: bigint;
  readonly held: bigint;
}

export const LEDGER_KINDS = ["settle", "top_up", "correction"] as const;
type LedgerKind = (typeof LEDGER_KINDS)[number];

export interface LedgerRow {
  readonly id: bigint;
  readonly kind: LedgerKind;
  /** Amount in nano-credits; negative for a deduction. */
  readonly amount: bigint;
  /** Id of the job for a settlement. For other entries, the id that the operator chose or that was generated. */
  readonly source_id: string;
  readonly attempt: number;
  readonly note: string | null;
  readonly at: Date;
}

/** Reads the balance of a workspace. @throws Error if the workspace does not exist */
export async function readBalance(target: Queryable, workspaceId: string): Promise<BalanceRow> {
  const rows = await target.query<BalanceRow>(
    `select amount - unbooked_credits(workspace_id) as amount, held - lined_credits(workspace_id) as held
     from balance
     where workspace_id = $1`,
    [workspaceId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no balance of a workspace ${workspaceId}`);
  return row;
}

export interface OutlookRow extends BalanceRow {
  /** Mean spend per day since the UTC day seven days ago, or since the creation of the workspace, in nano-credits. */
  readonly per_day: bigint;
  /** Days that the available credits last at this rate, with one decimal place; null without spending. */
  readonly days_left: number | null;
}

/** Reads the balance of a workspace with its rate of spending. @throws Error if the workspace does not exist */
export async function readOutlook(target: Queryable, workspaceId: string): Promise<OutlookRow> {
  const [row] = await target.query<OutlookRow>(
    `select b.amount - unbooked_credits($1) as amount, b.held - lined_credits($1) as held, round(o.per_day)::bigint as per_day,
            round(o.days_left, 1)::float8 as days_left
     from balance b
     cross join balance_outlook($1) o
     where b.workspace_id = $1`,
    [workspaceId],
  );
  if (row === undefined) throw new Error(`there is no balance of a workspace ${workspaceId}`);
  return row;
}

export interface LedgerQuery {
  readonly after: bigint | null;
  readonly limit: number;
  readonly kind?: LedgerKind | null;
  readonly startTime?: Date | null;
  readonly endTime?: Date | null;
}

/** Returns one page of the workspace's ledger entries, newest first. The page starts after the entry `after`. */
export function pageLedger(target: Queryable, workspaceId: string, query: LedgerQuery): Promise<LedgerRow[]> {
  const { kind = null, startTime = null, endTime = null } = query;
  const entries = (ids: string): string => `(
     select id, kind, amount, source_id, attempt, note, at
     from ledger_entry
     where workspace_id = $1 ${ids}
       and ($2::bigint is null or id < $2)
       and ($4::text is null or kind = $4)
       ${kind === null || kind === "settle" ? "" : "-- As the index has it.\n       and kind <> 'settle'"}
       and ($5::timestamptz is null or at >= $5)
       and ($6::timestamptz is null or at < $6)
     order by id desc
     limit $3)`;
  // A row of ledger_span covers the ids up to its own. All spans up to `since` end before the period, and no span after `until` begins in it.
  const timed = `with span as (
       select *, bool_and(last_at < coalesce($5, '-infinity'::timestamptz)) over (order by last_id) as is_before from ledger_span
     ), bound as materialized (
       select coalesce(max(last_id), 0) as covered,
              coalesce(max(last_id) filter (where first_at < coalesce($6, 'infinity'::timestamptz)), 0) as until,
              coalesce(max(last_id) filter (where is_before), 0) as since
       from span
     )
     ${entries("and id > (select covered from bound)")}
     union all
     ${entries("and id > (select since from bound) and id <= (select until from bound)")}
     order by id desc
     limit $3`;
  return target.query<LedgerRow>(startTime === null && endTime === null ? entries("") : timed, [
    workspaceId,
    query.after,
    query.limit,
    kind,
    startTime,
    endTime,
  ]);
}

/** Returns the top-up or correction with this id. */
export async function findMove(
  target: Queryable,
  workspaceId: string,
  move: { readonly kind: "top_up" | "correction"; readonly sourceId: string },
): Promise<LedgerRow | undefined> {
  const rows = await target.query<LedgerRow>(
    `select id, kind, amount, source_id, attempt, note, at
     from ledger_entry
     where source_id = $2 and attempt = 0 and kind = $3 and workspace_id = $1`,
    [workspaceId, move.sourceId, move.kind],
  );
  return rows[0];
}
