/** Recomputes balances and counters from the ledger: whole for `admin credits check` and fault tests, what is new for the janitor. */
import { type Database, type Queryable, SQL, sqlState } from "#shared/database/client.ts";

/** The full audit reads every entry there is, and so does the first of the others. */
export const AUDIT_LIMIT_MS = 900_000;

export interface LedgerFault {
  readonly workspace_id: string;
  readonly fault: string;
  readonly expected: string;
  readonly found: string;
}

/** Empty when the books are exact, checkpoints included. One snapshot: concurrent calls cannot make it lie. */
export function auditLedger(target: Queryable): Promise<LedgerFault[]> {
  return target.query<LedgerFault>("select * from audit_ledger()");
}

/** Any fixed number: it keeps operators' audits from running side by side. */
const ALONE_LOCK = 7_514_200_112n;
/** The driver gives up this much later than the server, which then says why. */
const CANCEL_MS = 2_000;

/** The same for a caller that waits: `busy` while another one runs, in whichever process; `late` when it takes longer than that. */
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

/**
 * The same of checkpoints and the entries after them; every balance is compared. An exact audit may close a period: its
 * entries are summed into the checkpoints and not read again.
 * @param tx that has written and locked nothing yet
 */
export function auditNewEntries(tx: Queryable): Promise<LedgerFault[]> {
  return tx.query<LedgerFault>("select * from audit_new_entries()");
}
