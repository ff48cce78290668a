/** Deletes kept requests and responses whose retention has ended, or which the operator no longer allows. */
import { dropBodies, type BodyId, findExpiredBodies } from "#shared/database/kept-bodies.ts";
import type { Queryable } from "#shared/database/client.ts";
import { deleteBodies } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

const BATCH = 200;
/** Number of objects that are deleted at the same time. */
const DELETED_AT_ONCE = 4;

/**
 * Deletes expired bodies. If the object store is unavailable, the rows stay for the next sweep, because they name the objects.
 * @param hoursMax maximum age that the operator allows, in hours; 0 deletes all bodies
 * @returns number of deleted bodies
 * @throws the error of the object store or the database
 */
export async function sweepKeptBodies(
  { storage, database }: { readonly storage: Storage; readonly database: Queryable },
  hoursMax: number,
): Promise<number> {
  for (let deleted = 0; ;) {
    const expired = await findExpiredBodies(database, hoursMax, BATCH);
    const gone = await deleteObjects(storage, expired);
    for (const [workspaceId, bodies] of Map.groupBy(gone, (body) => body.workspaceId)) {
      await dropBodies(
        database,
        workspaceId,
        bodies.map(({ requestId }) => requestId),
      );
    }
    deleted += gone.length;
    if (expired.length < BATCH) return deleted;
  }
}

async function deleteObjects(storage: Storage, bodies: readonly BodyId[]): Promise<readonly BodyId[]> {
  const next = bodies.values();
  const gone: BodyId[] = [];
  const deleteNext = async (): Promise<void> => {
    for (const body of next) {
      await deleteBodies(storage, body.requestId);
      gone.push(body);
    }
  };
  await Promise.all(Array.from({ length: Math.min(DELETED_AT_ONCE, bodies.length) }, deleteNext));
  return gone;
}
