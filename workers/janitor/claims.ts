/** Claim checks whose call is over: the worker deletes its own, this takes what crashed workers left. */
import { ListObjectsV2Command } from "@aws-sdk/client-s3";

import { plainArray } from "#shared/database/arrays.ts";
import type { Database } from "#shared/database/client.ts";
import { isUuid } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import { STORAGE_TIMEOUT_MS, type Storage } from "#shared/storage/client.ts";

/** Younger ones may belong to a call whose hold is being placed. */
const AGE_MIN_MS = 3_600_000;

export async function sweepClaims(context: { storage: Storage; database: Database; log: Logger }): Promise<number> {
  const { storage, database, log } = context;
  const page = await storage.client.send(new ListObjectsV2Command({ Bucket: storage.bucket, Prefix: "claims/", MaxKeys: 1_000 }), {
    abortSignal: AbortSignal.timeout(STORAGE_TIMEOUT_MS),
  });
  const old = (page.Contents ?? [])
    .filter((object) => (object.LastModified?.getTime() ?? Date.now()) < Date.now() - AGE_MIN_MS)
    .map((object) => object.Key ?? "")
    .filter((key) => isUuid(key.slice("claims/".length)));
  if (old.length === 0) return 0;
  const open = await database.query<{ job_id: string }>("select job_id from hold where job_id = any($1::uuid[])", [
    plainArray(old.map((key) => key.slice("claims/".length))),
  ]);
  const isOpen = new Set(open.map((row) => row.job_id));
  const done = old.filter((key) => !isOpen.has(key.slice("claims/".length)));
  for (const key of done) await deleteClaim(storage, key);
  if (done.length > 0) log.info({ claims: done.length }, "claims of ended calls deleted");
  return done.length;
}
