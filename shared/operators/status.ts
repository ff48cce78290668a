/** Status of an installation for operators: versions and counts. */
import { countDeadLetters } from "#shared/database/dead-letters.ts";
import { isDatabaseAway, type Queryable } from "#shared/database/client.ts";
import { openHolds } from "#shared/database/holds.ts";
import { countUnknown } from "#shared/database/job-sweeps.ts";
import { databaseVersions } from "#shared/database/migrate.ts";
import { listWorkerVersions, type WorkerVersion } from "#shared/database/pools.ts";
import { countSettleFaults } from "#shared/database/settle-faults.ts";
import { countWorkspaces } from "#shared/database/workspaces.ts";

export interface DatabaseStatus {
  readonly schema: string | null;
  readonly postgres: string | null;
  readonly workers: readonly WorkerVersion[] | null;
  readonly counts: {
    readonly workspaces: number;
    readonly open_holds: number;
    readonly unknown_jobs: number;
    readonly dead_letters: number;
    readonly settle_faults: number;
  } | null;
}

/**
 * Returns the status of the database. During a database outage, all of its values are null, so that the operator still receives the rest of
 * the status.
 */
export async function databaseStatus(database: Queryable): Promise<DatabaseStatus> {
  try {
    const [versions, workers, workspaces, holds, unknown, letters, faults] = await Promise.all([
      databaseVersions(database),
      listWorkerVersions(database),
      countWorkspaces(database),
      openHolds(database),
      countUnknown(database),
      countDeadLetters(database),
      countSettleFaults(database),
    ]);
    return {
      ...versions,
      workers,
      counts: {
        workspaces,
        open_holds: holds.count,
        unknown_jobs: unknown.count,
        dead_letters: letters,
        settle_faults: faults,
      },
    };
  } catch (error) {
    if (isDatabaseAway(error)) return { schema: null, postgres: null, workers: null, counts: null };
    throw error;
  }
}
