/** Recomputes every balance and counter from the ledger; used by `admin credits check`, the janitor and fault tests. */
import type { Queryable } from "#shared/database/client.ts";

/** The audit reads every entry there is. */
export const AUDIT_LIMIT_MS = 900_000;

export interface LedgerFault {
  readonly workspace_id: string;
  readonly fault: string;
  readonly expected: string;
  readonly found: string;
}

/** Empty when the books are exact. One snapshot: concurrent calls cannot make it lie. */
export function auditLedger(target: Queryable): Promise<LedgerFault[]> {
  return target.query<LedgerFault>("select * from audit_ledger()");
}
