/** The audits of the ledger, as far as it is new, and of what workspaces store: any row they find is a bug of ours and an alarm. */
import type { Database } from "#shared/database/client.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";
import { AUDIT_LIMIT_MS, auditNewEntries } from "#shared/ledger/audit.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

export async function checkInvariants(context: {
  database: Database;
  log: Logger;
  metrics: Pick<Metrics, "ledgerFaults">;
}): Promise<void> {
  const { database, log, metrics } = context;
  for (const [name, audit] of AUDITS) {
    const faults = await database.slowTransaction(AUDIT_LIMIT_MS, audit);
    if (name === "ledger") metrics.ledgerFaults.set(faults.length);
    if (faults.length === 0) log.info(`${name} audit: exact`);
    for (const fault of faults.slice(0, 20)) log.error({ ...fault }, `${name} audit found a difference`);
  }
}

const AUDITS = [
  ["ledger", auditNewEntries],
  ["storage", auditStorage],
] as const;
