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

/** The most that one step looks at: entries, and hours of usage. A million calls take a minute, or two where the machine is busy. */
const STEP_ENTRIES_MAX = 1_000_000;
const STEP_HOURS_MAX = 1;
/** More than there will ever be. */
const ALL_ENTRIES = 2n ** 62n;

/**
 * The same of checkpoints and the entries after them; every balance is compared where no more are new than a step looks at. An exact
 * audit may close a period: its entries are summed into the checkpoints and not read again.
 * @param tx that has written and locked nothing yet
 */
export function auditNewEntries(tx: Queryable, entriesMax: number | bigint = STEP_ENTRIES_MAX): Promise<LedgerFault[]> {
  return tx.query<LedgerFault>("select * from audit_new_entries($1, $2 * interval '1 hour')", [
    entriesMax,
    STEP_HOURS_MAX,
  ]);
}

/** Place to which the steps have come, and whether one more step leaves anything. */
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

/** Looks at a step that came no further, before it is believed that a transaction stays open. */
const STANDSTILLS_MAX = 10;
const STANDSTILL_MS = 1_000;

/**
 * Audits in steps until all that is new has been looked at, every balance too, or until something differs. While a transaction stays open
 * no period can be closed: then all of it is looked at in one step.
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
