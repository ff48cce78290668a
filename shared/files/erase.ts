/** Deletes the bytes of files that were deleted or never completed. */
import type { Queryable } from "#shared/database/client.ts";
import { dropFile, type EndedUpload } from "#shared/database/files.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Storage } from "#shared/storage/client.ts";
import { deleteObject, dropParts } from "#shared/storage/objects.ts";

import { objectKey } from "./id.ts";

/**
 * Deletes all S3 objects of a deleted file and then its row. Idempotent; any process may call it.
 * @throws Error of the SDK; the row then stays for the janitor
 */
export async function eraseBytes(storage: Storage, database: Queryable, ended: EndedUpload): Promise<void> {
  const key = objectKey(ended.id);
  if (ended.upload_id !== null) await dropParts(storage, key, ended.upload_id);
  await deleteObject(storage, key);
  failpoint("bytes.erased");
  await dropFile(database, ended.id);
}
