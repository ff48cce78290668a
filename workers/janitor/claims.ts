/**
 * Deletes claim checks of ended calls, expired responses, and texts without a job, run or response. Owners normally delete their own texts,
 * but crashes leave orphans.
 */
import { commonNow } from "#shared/base/clock.ts";
import { plainArray } from "#shared/database/arrays.ts";
import type { Database } from "#shared/database/client.ts";
import {
  dropExcess,
  dropExpired,
  dropOldResponseEvents,
  findKeptTexts,
  type Gone,
} from "#shared/database/responses.ts";
import { findRunInputs } from "#shared/database/run-sweeps.ts";
import { isUuid } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import {
  deleteClaim,
  listClaims,
  listResponseTexts,
  listResults,
  listRunInputs,
  listRunOutputs,
  type StoredClaim,
} from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

/**
 * Minimum age of a claim check before it is deleted, in milliseconds. A younger claim check may belong to a call that is being admitted.
 */
const AGE_MIN_MS = 3_600_000;

interface Context {
  readonly storage: Storage;
  readonly database: Database;
  readonly log: Logger;
}

/** Deletes the claim checks of ended calls. @param pageMax claim checks per page */
export async function sweepClaims(context: Context, pageMax?: number): Promise<number> {
  let deleted = 0;
  for await (const page of listClaims(context.storage, pageMax)) deleted += await sweepPage(context, page);
  if (deleted > 0) context.log.info({ claims: deleted }, "deleted the claims of ended calls");
  return deleted;
}

/**
 * Deletes stored results that no job refers to: the job was deleted, or another worker took it over and stored another result.
 * @param pageMax results per page
 */
export async function sweepResults(context: Context, pageMax?: number): Promise<number> {
  const { storage, database, log } = context;
  let deleted = 0;
  for await (const page of listResults(storage, pageMax)) {
    const old = page.filter(isOld);
    if (old.length === 0) continue;
    const jobs = await database.query<{ id: string; result_ref: string | null; is_open: boolean }>(
      "select id, result_ref, state in ('queued', 'running') as is_open from job where id = any($1::uuid[])",
      [plainArray(old.map(({ jobId }) => jobId))],
    );
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const { key, jobId } of old) {
      const job = byId.get(jobId);
      if (job?.is_open || job?.result_ref?.startsWith(`${key}#`)) continue;
      if (await isDeleted(context, key)) deleted += 1;
    }
  }
  if (deleted > 0) log.info({ results: deleted }, "deleted results without a job");
  return deleted;
}

/**
 * Deletes stored outputs of deleted runs. Also deletes stored inputs that no run refers to, because the run was refused or its input has
 * expired.
 * @param pageMax texts per page
 */
export async function sweepRunTexts(context: Context, pageMax?: number): Promise<number> {
  const { storage, database, log } = context;
  let deleted = 0;
  const sweep = async (pages: typeof listRunInputs, isKept: (key: string, inputRef: string | null) => boolean) => {
    for await (const page of pages(storage, pageMax)) {
      const old = page.filter(isOld);
      if (old.length === 0) continue;
      const runs = await findRunInputs(database, [...new Set(old.map(({ jobId }) => jobId))]);
      for (const { key, jobId } of old) {
        const inputRef = runs.get(jobId);
        if (inputRef !== undefined && isKept(key, inputRef)) continue;
        await deleteClaim(storage, key);
        deleted += 1;
      }
    }
  };
  await sweep(listRunOutputs, () => true);
  await sweep(listRunInputs, (key, inputRef) => inputRef?.startsWith(`${key}#`) === true);
  if (deleted > 0) log.info({ texts: deleted }, "deleted texts without a run");
  return deleted;
}

/** Maximum count and total bytes of the stored responses of a workspace. Conversations have the same limits. */
const RESPONSES_KEPT_MAX = { countMax: 10_000, bytesMax: 1_073_741_824 };

const BATCH = 500;

/**
 * Deletes expired responses, conversations and stream events. Also deletes the oldest responses and conversations of a workspace above its
 * limits.
 */
export async function sweepResponses(context: Context, keptMax = RESPONSES_KEPT_MAX): Promise<void> {
  const { database } = context;
  const drop = async (batch: () => Promise<Gone[]>): Promise<void> => {
    for (let count = BATCH; count === BATCH;) {
      const gone = await batch();
      for (const { reference } of gone) if (reference !== null) await isDeleted(context, reference);
      count = gone.length;
    }
  };
  for (const table of ["response", "conversation"] as const) {
    await drop(() => dropExpired(database, table, BATCH));
    await drop(() => dropExcess(database, table, keptMax, BATCH));
  }
  for (let count = BATCH; count === BATCH;) count = await dropOldResponseEvents(database, BATCH);
}

/** Deletes texts of responses that were deleted or never stored. @param pageMax texts per page */
export async function sweepResponseTexts(context: Context, pageMax?: number): Promise<number> {
  const { storage, database, log } = context;
  let deleted = 0;
  for await (const page of listResponseTexts(storage, pageMax)) {
    const old = page.filter(isOld);
    if (old.length === 0) continue;
    const kept = await findKeptTexts(database, [...new Set(old.map(({ jobId }) => jobId))]);
    for (const { key, jobId } of old) {
      if (kept.get(jobId)?.startsWith(`${key}#`) === true) continue;
      if (await isDeleted(context, key)) deleted += 1;
    }
  }
  if (deleted > 0) log.info({ texts: deleted }, "deleted texts without a response");
  return deleted;
}

function isOld({ at, jobId }: StoredClaim): boolean {
  return at.getTime() < commonNow() - AGE_MIN_MS && isUuid(jobId);
}

/** Deletes an object. Returns false on failure, so that the remaining objects are still deleted. */
async function isDeleted({ storage, log }: Context, key: string): Promise<boolean> {
  try {
    await deleteClaim(storage, key);
    return true;
  } catch (error) {
    log.warn({ err: error, key }, "a claim or result could not be deleted; it is retried");
    return false;
  }
}

async function sweepPage(context: Context, claims: readonly StoredClaim[]): Promise<number> {
  const old = claims.filter(isOld);
  if (old.length === 0) return 0;
  const ids = [...new Set(old.map((claim) => claim.jobId))];
  // An operator may send the job of a dead letter again, so its request is kept.
  const jobs = await context.database.query<{ id: string; is_open: boolean }>(
    `select id, state in ('queued', 'running')
            or exists (select from dead_letter l where l.job_id = job.id and l.redriven_at is null) as is_open
     from job where id = any($1::uuid[])`,
    [plainArray(ids)],
  );
  const isOpen = new Set(jobs.filter((job) => job.is_open).map(({ id }) => id));
  const known = new Set(jobs.map(({ id }) => id));
  const live = ids.filter((id) => !known.has(id));
  // A claim contains its call and no workspace, so all open holds are searched. Nearly all claims of this age belong to jobs, which are
  // found by id above; claims of synchronous calls are left by dead processes only.
  const held =
    live.length === 0
      ? []
      : await context.database.query<{ job_id: string }>("select job_id from hold where job_id = any($1::uuid[])", [
          plainArray(live),
        ]);
  for (const row of held) isOpen.add(row.job_id);
  let deleted = 0;
  for (const { jobId, key } of old) if (!isOpen.has(jobId) && (await isDeleted(context, key))) deleted += 1;
  return deleted;
}
