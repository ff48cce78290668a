/**
 * Recomputes balances and counters from the ledger and reports differences. `admin credits check` and fault tests audit everything; the
 * janitor audits new entries.
 */
import { type Database, type Queryable, SQL, sqlState } from "#shared/database/client.ts";

/** Maximum duration of an audit, in milliseconds. A full audit reads every entry, and so does the first incremental one. */
export const AUDIT_LIMIT_MS = 900_000;

export interface LedgerFault {
  readonly workspace_id: string;
  readonly fault: string;
  readonly expected: string;
  readonly found: string;
}

/**
 * Audits the complete ledger. Returns the differences; empty if balances and checkpoints are exact. Reads one snapshot, so that concurrent
 * calls cause no differences.
 */
export function auditLedger(target: Queryable): Promise<LedgerFault[]> {
  return target.query<LedgerFault>("select * from audit_ledger()");
}

/** Key of the advisory lock that prevents two audits of operators from running at the same time. */
const ALONE_LOCK = 7_514_200_112n;
/** Additional time that the driver waits after the server's timeout, in milliseconds, so that the server's error arrives first. */
const CANCEL_MS = 2_000;

/**
 * Audits the ledger while an operator waits. Returns `busy` without an audit while another operator's audit runs in any process. Returns
 * `late` if the audit took longer than `limitMs` milliseconds.
 */
export async function auditAlone(database: Database, limitMs: number): Promise<LedgerFault[] | "busy" | "late"> {
  try {
    return await database.slowTransaction(limitMs + CANCEL_MS, async (tx) => {
      await tx.query("select set_config('statement_timeout', $1, true)", [String(limitMs)]);
      const [lock] = await tx.query<{ ours: boolean }>("select pg_try_advisory_xact_lock($1) as ours", [ALONE_LOCK]);
      return lock?.ours === true ? auditLedger(tx) : "busy";
    });
  } catch (error) {
    if (sqlState(error) === SQL.statementTimeout) return "late";
    throw error;
  }
}

/** Maximum entries and hours of usage in one audit step. A million calls take one minute, or two on a busy machine. */
const STEP_ENTRIES_MAX = 1_000_000;
const STEP_HOURS_MAX = 1;
/** A limit that is larger than any number of entries. */
const ALL_ENTRIES = 2n ** 62n;

/**
 * Audits the checkpoints and the ledger entries after them. Compares every balance if one step covers all new entries. If an audit finds no
 * difference, it may close a period: its entries are added to the checkpoints and not read again.
 * @param tx transaction that has written and locked nothing yet
 */
export function auditNewEntries(tx: Queryable, entriesMax: number | bigint = STEP_ENTRIES_MAX): Promise<LedgerFault[]> {
  return tx.query<LedgerFault>("select * from audit_new_entries($1, $2 * interval '1 hour')", [
    entriesMax,
    STEP_HOURS_MAX,
  ]);
}

/**
 * Progress of an incremental audit. `place` identifies the last audited entry, and the time up to which usage is audited. `is_behind` is
 * true if entries remain for a further step.
 */
interface Progress {
  readonly place: string;
  readonly is_behind: boolean;
}

async function auditProgress(target: Queryable, entriesMax: number): Promise<Progress> {
  const [row] = await target.query<Progress>(
    `select b.entry_id || ' ' || b.usage_until as place,
            b.entry_id > 0 and (s.last_value - b.entry_id > $1
              or date_trunc('hour', b.usage_until, 'UTC') + $2 * interval '1 hour' < u.until) as is_behind
     from ledger_border b cross join ledger_entry_id_seq s cross join usage_rollup u`,
    [entriesMax, STEP_HOURS_MAX],
  );
  return row ?? { place: "", is_behind: false };
}

/**
 * Number of audit steps without progress after which all remaining entries are audited in one step. Another transaction then seems to stay
 * open.
 */
const STANDSTILLS_MAX = 10;
const STANDSTILL_MS = 1_000;

/**
 * Audits in steps until all new entries and every balance were compared, or until a difference is found. A transaction that stays open
 * prevents periods from being closed, so that steps make no progress. One step then covers all entries.
 */
export async function auditInSteps(
  database: Database,
  { entriesMax = STEP_ENTRIES_MAX, standstillMs = STANDSTILL_MS } = {},
): Promise<LedgerFault[]> {
  let standstills = 0;
  for (;;) {
    const before = await auditProgress(database, entriesMax);
    const isStuck = standstills >= STANDSTILLS_MAX;
    const faults = await database.slowTransaction(AUDIT_LIMIT_MS, (tx) =>
      auditNewEntries(tx, isStuck ? ALL_ENTRIES : entriesMax),
    );
    if (faults.length > 0 || isStuck || !before.is_behind) return faults;
    if ((await auditProgress(database, entriesMax)).place !== before.place) {
      standstills = 0;
      continue;
    }
    standstills += 1;
    await Bun.sleep(standstillMs);
  }
}
