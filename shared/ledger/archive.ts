/**
 * Moves old usage out of the tables: usage records, their parts and their settles. Balances do not change: what was taken stays in a sum
 * for each workspace, and audits add it to the entries that are left.
 */
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";

/** Records of one transaction. */
const STEP_MAX = 5_000;
/** A step waits for the hourly audit, which locks the border of what is closed. */
const STEP_LIMIT_MS = 900_000;

export interface Archive {
  /** Usage that ended before is moved, in whole hours, and as far as the hourly audit has found the books exact. */
  readonly before: Date;
  /** Name of the archive, for the audit log. */
  readonly name: string;
  readonly actor: Actor;
  /** Keeps these records for good, each a JSON text; what it throws leaves them where they are. */
  readonly keep: (records: readonly string[]) => Promise<void>;
}

/**
 * Any number of times, and after any end: what was kept is moved or will be kept once more. Nothing is moved that was not kept.
 * @returns how many records were moved, and the end of the hours they were of; null: no audit has found any exact yet
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
  // A scalar subquery looks each workspace up by its index; `exists` might be joined, with every record read for it.
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
