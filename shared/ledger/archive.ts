/**
 * Moves old usage records with their parts and ledger entries from the tables to an archive. Balances do not change: a sum for each
 * workspace keeps the archived amounts, and audits add that sum to the remaining entries.
 */
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";

/** Maximum number of records archived in one transaction. */
const STEP_MAX = 5_000;
/**
 * Maximum duration of one step, in milliseconds. A step waits for the hourly audit, because the audit locks the limit of closed periods.
 */
const STEP_LIMIT_MS = 900_000;

export interface Archive {
  /** End of the usage to archive, at a whole hour. At most the time up to which the last hourly audit found no difference. */
  readonly before: Date;
  /** Name of the archive in the audit log. */
  readonly name: string;
  readonly actor: Actor;
  /** Stores the records permanently, each as JSON text. If this function rejects, the records stay in the tables. */
  readonly keep: (records: readonly string[]) => Promise<void>;
}

/**
 * Archives usage records. Can be repeated after any interruption. Records are stored before they are removed from the tables, so that a
 * record may be stored twice.
 * @returns number of archived records, and end of their last hour; null if no audit has succeeded yet
 */
export async function archiveUsage(
  database: Database,
  { before, name, actor, keep }: Archive,
): Promise<{ readonly records: number; readonly until: Date | null }> {
  const until = await database.slowTransaction(STEP_LIMIT_MS, async (tx) => {
    const [row] = await tx.query<{ until: Date | null }>(
      "select case when isfinite(until) then until end as until from begin_archive($1) until",
      [before],
    );
    await recordAudit(tx, null, {
      actor,
      action: "usage.archive",
      subject: name,
      after: { before: row?.until ?? null },
    });
    return row?.until ?? null;
  });
  let records = 0;
  if (until === null) return { records, until };
  // A scalar subquery uses the index for each workspace; `exists` may become a join that reads every record.
  const workspaces = await database.slowTransaction(STEP_LIMIT_MS, (tx) =>
    tx.query<{ id: string }>(
      `select workspace_id as id from balance b
       where (select u.attempt from usage_record u where u.workspace_id = b.workspace_id and u.ended_at < $1 limit 1) is not null
       order by 1`,
      [until],
    ),
  );
  for (const { id } of workspaces) {
    for (;;) {
      const moved = await database.slowTransaction(STEP_LIMIT_MS, async (tx) => {
        const rows = await tx.query<{ line: string }>("select line::text from archive_usage($1, $2, $3) line", [
          id,
          until,
          STEP_MAX,
        ]);
        if (rows.length > 0) await keep(rows.map(({ line }) => line));
        return rows.length;
      });
      records += moved;
      if (moved < STEP_MAX) break;
    }
  }
  return { records, until };
}
