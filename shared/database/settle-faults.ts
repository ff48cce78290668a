/** Holds that were closed without being settled at what was used (settle_fault), for operators. */
import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

export interface SettleFaultRow {
  readonly id: bigint;
  readonly workspace_id: string;
  readonly job_id: string;
  readonly attempt: number;
  /** usage_record, ledger_entry: the key was taken. Else the SQLSTATE with which the figures were refused. */
  readonly fault: string;
  /** The call's outcome; null where its figures were refused. */
  readonly status: string | null;
  readonly source: string | null;
  /** Nano-credits, like the two below. */
  readonly held: bigint;
  /** Digits, since figures may have been refused for their size; null: nothing was to be taken. */
  readonly used: string | null;
  /** The books' amount under the key. */
  readonly settled: bigint;
  readonly at: Date;
}

const COLUMNS = "id, workspace_id, job_id, attempt, fault, status, source, held, used::text, settled, at";

/** Those that no operator has dealt with, the newest first, behind `after`. */
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

/** From now on no alarm tells of it. Undefined: there is none, or it was resolved before. */
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
