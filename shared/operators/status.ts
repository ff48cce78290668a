/** Status of an installation for operators: versions and counts. */
import { countDeadLetters } from "#shared/database/dead-letters.ts";
import { isDatabaseAway, type Queryable } from "#shared/database/client.ts";
import { openHolds } from "#shared/database/holds.ts";
import { countUnknown } from "#shared/database/job-sweeps.ts";
import { databaseVersions } from "#shared/database/migrate.ts";
import { countWorkspaces } from "#shared/database/workspaces.ts";

export interface DatabaseStatus {
  readonly schema: string | null;
  readonly postgres: string | null;
  readonly counts: {
    readonly workspaces: number;
    readonly open_holds: number;
    readonly unknown_jobs: number;
    readonly dead_letters: number;
  } | null;
}

/**
 * Returns the status of the database. During a database outage, all of its values are null, so that the operator still receives the rest of
 * the status.
 */
export async function databaseStatus(database: Queryable): Promise<DatabaseStatus> {
  try {
    const [versions, workspaces, holds, unknown, letters] = await Promise.all([
      databaseVersions(database),
      countWorkspaces(database),
      openHolds(database),
      countUnknown(database),
      countDeadLetters(database),
    ]);
    const counts = { workspaces, open_holds: holds.count, unknown_jobs: unknown.count, dead_letters: letters };
    return { ...versions, counts };
  } catch (error) {
    if (isDatabaseAway(error)) return { schema: null, postgres: null, counts: null };
    throw error;
  }
}
