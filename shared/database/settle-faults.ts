/** Records of holds that were closed without charging the actual usage (table settle_fault), for operators to check. */
import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

export interface SettleFaultRow {
  readonly id: bigint;
  readonly workspace_id: string;
  readonly job_id: string;
  readonly attempt: number;
  /**
   * Reason of the fault. `usage_record` or `ledger_entry`: the id already existed in that table. Otherwise the SQLSTATE with which the
   * database rejected the usage figures.
   */
  readonly fault: string;
  /** Final status of the call; null if its usage figures were rejected. */
  readonly status: string | null;
  readonly source: string | null;
  /** Credits held for the call, in nano-credits. `used` and `settled` have the same unit. */
  readonly held: bigint;
  /** Credits used, as digits, because the amount may have been rejected for its size. Null if there was nothing to charge. */
  readonly used: string | null;
  /** Amount that an earlier settlement of the same job and attempt has charged. */
  readonly settled: bigint;
  readonly at: Date;
}

const COLUMNS = "id, workspace_id, job_id, attempt, fault, status, source, held, used::text, settled, at";

/** Returns a page of faults that no operator has resolved, newest first, starting behind the fault `after`. */
export function listSettleFaults(
  target: Queryable,
  limit: number,
  after: bigint | null = null,
): Promise<SettleFaultRow[]> {
  return target.query<SettleFaultRow>(
    `select ${COLUMNS} from settle_fault
     where resolved_at is null and ($2::bigint is null or id < $2)
     order by id desc
     limit $1`,
    [limit, after],
  );
}

export async function countSettleFaults(target: Queryable): Promise<number> {
  const [row] = await target.query<{ count: number }>(
    "select count(*)::int as count from settle_fault where resolved_at is null",
  );
  return row?.count ?? 0;
}

/** Marks a fault as resolved, which ends its alert. Returns undefined if there is no such fault, or it was already resolved. */
export async function resolveSettleFault(
  target: Queryable,
  { id, actor, note }: { readonly id: bigint; readonly actor: Actor; readonly note: string | null },
): Promise<SettleFaultRow | undefined> {
  const rows = await target.query<SettleFaultRow>(
    `with changed as (
       update settle_fault set resolved_at = clock_timestamp()
       where id = $1 and resolved_at is null
       returning *
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, after)
       select c.workspace_id, $2, 'settle_fault.resolve', c.id::text,
              jsonb_strip_nulls(jsonb_build_object('job_id', c.job_id, 'fault', c.fault, 'note', $3::text))
       from changed c
     )
     select ${COLUMNS} from changed`,
    [id, actorJson(actor), note],
  );
  return rows[0];
}
