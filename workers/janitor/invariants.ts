/** The audits of the ledger, as far as it is new, and of what workspaces store: any row they find is a bug of ours and an alarm. */
import type { Database } from "#shared/database/client.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";
import { AUDIT_LIMIT_MS, auditNewEntries } from "#shared/ledger/audit.ts";
import type { Logger } from "#shared/logger.ts";

export async function checkInvariants(context: { database: Database; log: Logger }): Promise<void> {
  for (const [name, audit] of AUDITS) {
    const faults = await context.database.slowTransaction(AUDIT_LIMIT_MS, audit);
    if (faults.length === 0) context.log.info(`${name} audit: exact`);
    for (const fault of faults.slice(0, 20)) context.log.error({ ...fault }, `${name} audit found a difference`);
  }
}

const AUDITS = [
  ["ledger", auditNewEntries],
  ["storage", auditStorage],
] as const;
