/** The ledger audit of what is new, regularly: any row it finds is a bug of ours and an alarm. */
import type { Database } from "#shared/database/client.ts";
import { AUDIT_LIMIT_MS, auditNewEntries } from "#shared/ledger/audit.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

export async function checkInvariants(context: {
  database: Database;
  log: Logger;
  metrics: Pick<Metrics, "ledgerFaults">;
}): Promise<void> {
  const faults = await context.database.slowTransaction(AUDIT_LIMIT_MS, auditNewEntries);
  context.metrics.ledgerFaults.set(faults.length);
  if (faults.length === 0) {
    context.log.info("ledger audit: exact");
    return;
  }
  for (const fault of faults.slice(0, 20)) context.log.error({ ...fault }, "ledger audit found a difference");
}
