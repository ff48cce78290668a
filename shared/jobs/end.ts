/** Ends jobs. One idempotent statement settles the hold and writes usage record, outcome and small files. */
import type { Database } from "#shared/database/client.ts";
import { isDataFault, sqlState } from "#shared/database/client.ts";
import { LOCKED, retryStatement, CONTENDED_WAIT_MS } from "#shared/database/retry.ts";
import { FILES_PER_WORKSPACE_MAX } from "#shared/database/files.ts";
import type { JobError, JobState } from "#shared/database/jobs.ts";
import { FILE_BLOCK_BYTES } from "#shared/files/digest.ts";
import { type StoredFile, storageRefusal } from "#shared/files/upload.ts";
import { type CallSettlement, courseText } from "#shared/ledger/settle.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Fallback } from "#shared/queue/frames.ts";

import { storableText } from "./error.ts";

export interface JobEnd {
  readonly id: string;
  readonly epoch: number;
  /** True if the job's owner ends it; false if another process ends a job without live owner. */
  readonly isOwned: boolean;
  readonly state: Exclude<JobState, "queued" | "running" | "refused">;
  /** Usage for the settlement, in the same form as for a synchronous call. */
  readonly usage: Pick<
    CallSettlement,
    "usedNano" | "status" | "source" | "units" | "isEstimated" | "tokens" | "course"
  >;
  /** Result as JSON text, or the object-store reference of it; null if there is none. */
  readonly result: { readonly text: string } | { readonly reference: string } | null;
  readonly error: JobError | null;
  /** Set for a failed job if fallback models were tried. */
  readonly fallback?: Fallback | undefined;
  /** True if the row keeps the request, because an operator may redrive the job. */
  readonly keepsRequest?: boolean;
  /** Small files of the result, whose rows are written in the same statement, and the workspace's storage limit in bytes. */
  readonly files?: { readonly stored: readonly StoredFile[]; readonly storageBytesMax: number };
}

/**
 * Returns zero usage, so that the settlement releases the hold. Use it for a job that no provider received, or whose outcome can never be
 * known.
 */
export function nothingUsed(status: "succeeded" | "failed" | "cancelled" | "lost"): JobEnd["usage"] {
  return { usedNano: null, status, source: null, units: {}, isEstimated: false, tokens: 0 };
}

const SQL_TEXT = `select end_job($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12, $13::jsonb, $14, $15, $16::jsonb) as taken`;
const WITH_FILES_TEXT = `select end_job_with_files($1::json, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13, $14, $15::jsonb, $16, $17, $18::jsonb) as taken`;
/** SQL for a job whose usage figures the database rejected: releases the hold and writes a settle_fault, as for a call. */
const REFUSE_TEXT = `select refuse_settle(workspace_id, id, attempt, $3, $4) as taken from job where id = $1 and epoch = $2 and state = 'running'`;
const HOLD_LOCKED = -1n;
/** Result codes of the SQL function if the workspace has no capacity for the files. */
const REFUSALS: ReadonlyMap<bigint | undefined, "full" | "crowded"> = new Map([
  [-2n, "full"],
  [-3n, "crowded"],
]);

/**
 * Ends a job. Returns the charged nano-credits. Returns undefined, without changes, if the job has ended or another worker owns it. If the
 * database rejects the usage figures, the job ends without them and its hold is released.
 * @throws ApiError `storage_limit_exceeded` without changes if the workspace has no capacity for the files; Error if the database is
 * unavailable for longer than `retryMs`, or rejects the result
 */
export async function endJob(
  context: { readonly database: Database; readonly log: Logger },
  end: JobEnd,
  retryMs: number,
): Promise<bigint | undefined> {
  try {
    return await endAs(context, end, retryMs);
  } catch (error) {
    const { id, epoch, isOwned, usage } = end;
    if (!isDataFault(error) || !isOwned || usage.usedNano === null) throw error;
    context.log.error({ err: error, job_id: id }, "a settlement was rejected");
    await context.database.query(REFUSE_TEXT, [id, epoch, usage.usedNano.toString(), sqlState(error) ?? ""]);
    return endAs(context, { ...end, usage: { ...usage, usedNano: null, units: {}, tokens: 0 } }, retryMs);
  }
}

interface Taken {
  readonly taken: bigint | null;
}

async function endAs(
  { database, log }: { readonly database: Database; readonly log: Logger },
  end: JobEnd,
  retryMs: number,
): Promise<bigint | undefined> {
  const { usage, result, files } = end;
  const which = [end.id, end.epoch];
  const facts = [
    end.state,
    usage.usedNano,
    usage.status,
    usage.source,
    JSON.stringify(usage.units),
    usage.isEstimated,
    usage.tokens,
    result && "text" in result ? result.text : null,
    result && "reference" in result ? result.reference : null,
    end.error === null ? null : JSON.stringify({ ...end.error, fallback: end.fallback }),
    end.keepsRequest ?? false,
    // A locked workspace waits between the attempts, not on a connection that others need.
    CONTENDED_WAIT_MS,
    courseText(usage),
  ];
  const rowsOfFiles = files && [
    JSON.stringify(files.stored.map(rowOf)),
    files.storageBytesMax,
    FILES_PER_WORKSPACE_MAX,
  ];
  const taken = await retryStatement(
    async () => {
      const rows = await (rowsOfFiles
        ? database.query<Taken>(WITH_FILES_TEXT, [...rowsOfFiles, ...which, ...facts], "end_job_with_files")
        : database.query<Taken>(SQL_TEXT, [...which, end.isOwned, ...facts], "end_job"));
      const taken = rows[0]?.taken ?? null;
      return taken === HOLD_LOCKED ? LOCKED : (taken ?? undefined);
    },
    {
      forMs: retryMs,
      onRetry: (error, attempts) => log.warn({ err: error, job_id: end.id, attempts }, "retrying to write a job's end"),
      locked: () => new Error(`the hold of job ${end.id} stays locked`),
    },
  );
  const refusal = REFUSALS.get(taken);
  if (refusal && files) throw storageRefusal(refusal, files.storageBytesMax);
  return taken;
}

/** Converts a file to a row for the SQL function end_job_with_files. */
function rowOf({ id, filename, purpose, mediaType, digested }: StoredFile): object {
  const { bytes, sha256, blockSha256 } = digested;
  const hashes = { sha256: sha256.toString("hex"), block_sha256: blockSha256.toString("hex"), block_bytes: FILE_BLOCK_BYTES }; // prettier-ignore
  return { id, bytes, filename: storableText(filename), purpose, media_type: mediaType, ...hashes };
}
