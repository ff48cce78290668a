/**
 * Rejects calls of a workspace without free storage before any processing or charge, if their content would be stored. The response itself
 * is stored even beyond the limit, because its provider is paid by then.
 */
import { isDatabaseAway } from "#shared/database/client.ts";
import { findFreeStorage } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";

import type { IngressContext } from "../../context.ts";

/** Free storage above which a workspace is not checked again for `BELIEVED_MS`, in bytes. */
const AMPLE_BYTES = 256 * 1_048_576;
const BELIEVED_MS = 10_000;
const WORKSPACES_MAX = 10_000;

/** performance.now() time until which each workspace is assumed to have enough storage. */
const ample = new Map<string, number>();

/**
 * Checks that the workspace has free storage. A workspace with ample storage is checked only once in ten seconds.
 * @param bytesOf returns the approximate number of bytes to be stored; not called for a workspace with ample storage
 * @throws ApiError `storage_limit_exceeded`
 */
export async function checkFreeStorage(
  { config, database }: Pick<IngressContext, "config" | "database">,
  workspaceId: string,
  bytesOf: () => number,
): Promise<void> {
  if ((ample.get(workspaceId) ?? 0) > performance.now()) return;
  const max = config.storageBytesMax;
  // While the database is down, the call itself reports that.
  const free = await findFreeStorage(database, workspaceId, max).catch((error: unknown) => {
    if (isDatabaseAway(error)) return undefined;
    throw error;
  });
  if (free === undefined) return;
  if (free.bytes >= AMPLE_BYTES) {
    if (ample.size >= WORKSPACES_MAX) ample.clear();
    ample.set(workspaceId, performance.now() + BELIEVED_MS);
  }
  if (free.bytes >= bytesOf()) return;
  const message = `The response would exceed the workspace's storage limit of ${max} bytes. Delete files, responses or conversations, or set store to false.`;
  throw new ApiError("storage_limit_exceeded", message);
}
