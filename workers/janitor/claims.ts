/** Claim checks whose call is over: the worker deletes its own, this takes what crashed workers left. */
import { plainArray } from "#shared/database/arrays.ts";
import type { Database } from "#shared/database/client.ts";
import { isUuid } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import { deleteClaim, listClaims, type StoredClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Younger ones may belong to a call whose hold is being placed. */
const AGE_MIN_MS = 3_600_000;

interface Context {
  readonly storage: Storage;
  readonly database: Database;
  readonly log: Logger;
}

/** @param pageMax claims looked at in one go */
export async function sweepClaims(context: Context, pageMax?: number): Promise<number> {
  let deleted = 0;
  for await (const page of listClaims(context.storage, pageMax)) deleted += await sweepPage(context, page);
  if (deleted > 0) context.log.info({ claims: deleted }, "claims of ended calls deleted");
  return deleted;
}

async function sweepPage({ storage, database }: Context, claims: readonly StoredClaim[]): Promise<number> {
  const old = claims.filter((claim) => claim.at.getTime() < Date.now() - AGE_MIN_MS && isUuid(claim.jobId));
  if (old.length === 0) return 0;
  // A dead letter's job may yet be sent on its way again.
  const open = await database.query<{ job_id: string }>(
    `select job_id from hold where job_id = any($1::uuid[])
     union all
     select job_id from dead_letter where job_id = any($1::uuid[]) and redriven_at is null`,
    [plainArray(old.map((claim) => claim.jobId))],
  );
  const isOpen = new Set(open.map((row) => row.job_id));
  const done = old.filter((claim) => !isOpen.has(claim.jobId));
  for (const claim of done) await deleteClaim(storage, claim.key);
  return done.length;
}
