/** Ends jobs: hold, usage record and outcome in one statement, once, whoever asks and however often. */
import type { Database } from "#shared/database/client.ts";
import { isDataFault, sqlState } from "#shared/database/client.ts";
import { LOCKED, retryStatement, CONTENDED_WAIT_MS } from "#shared/database/retry.ts";
import type { JobError, JobState } from "#shared/database/jobs.ts";
import type { CallSettlement } from "#shared/ledger/settle.ts";
import type { Logger } from "#shared/logger.ts";

export interface JobEnd {
  readonly id: string;
  readonly epoch: number;
  /** True for the owner; false for whoever ends a job that has no live owner. */
  readonly isOwned: boolean;
  readonly state: Exclude<JobState, "queued" | "running" | "refused">;
  /** Money: as for a call. */
  readonly usage: Pick<CallSettlement, "usedNano" | "status" | "source" | "units" | "isEstimated" | "tokens">;
  /** JSON text, or where it lies. */
  readonly result: { readonly text: string } | { readonly reference: string } | null;
  readonly error: JobError | null;
  /** The request stays in the row, for an operator who may send the job on its way again. */
  readonly keepsRequest?: boolean;
}

/** Usage of a job that no provider saw, or of which nothing will ever be known: its hold is released. */
export function nothingUsed(status: "succeeded" | "failed" | "cancelled" | "lost"): JobEnd["usage"] {
  return { usedNano: null, status, source: null, units: {}, isEstimated: false, tokens: 0 };
}

const SQL_TEXT = `select end_job($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12, $13::jsonb, $14, $15) as taken`;
/** The statement of a call's settle for refused figures: it releases the hold and writes a settle_fault. */
const REFUSE_TEXT = `select refuse_settle(workspace_id, id, attempt, $3, $4) as taken from job where id = $1 and epoch = $2 and state = 'running'`;
const HOLD_LOCKED = -1n;

/**
 * Returns the nano-credits taken, or undefined where the job has ended or another worker has it: nothing changes then. A job whose
 * figures the database refuses ends without them, and its hold is released.
 * @throws Error when the database stays away longer than `retryMs`, or refuses what the job made
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
    context.log.error({ err: error, job_id: id }, "a settle was refused");
    await context.database.query(REFUSE_TEXT, [id, epoch, usage.usedNano.toString(), sqlState(error) ?? ""]);
    return endAs(context, { ...end, usage: { ...usage, usedNano: null, units: {}, tokens: 0 } }, retryMs);
  }
}

async function endAs(
  context: { readonly database: Database; readonly log: Logger },
  end: JobEnd,
  retryMs: number,
): Promise<bigint | undefined> {
  const { usage, result } = end;
  return retryStatement(
    async () => {
      const rows = await context.database.query<{ taken: bigint | null }>(
        SQL_TEXT,
        [
          end.id,
          end.epoch,
          end.isOwned,
          end.state,
          usage.usedNano,
          usage.status,
          usage.source,
          JSON.stringify(usage.units),
          usage.isEstimated,
          usage.tokens,
          result && "text" in result ? result.text : null,
          result && "reference" in result ? result.reference : null,
          end.error === null ? null : JSON.stringify(end.error),
          end.keepsRequest ?? false,
          // A locked workspace waits between the tries, not on a connection that others need.
          CONTENDED_WAIT_MS,
        ],
        "end_job",
      );
      const taken = rows[0]?.taken ?? null;
      return taken === HOLD_LOCKED ? LOCKED : (taken ?? undefined);
    },
    {
      forMs: retryMs,
      onRetry: (error, tries) =>
        context.log.warn({ err: error, job_id: end.id, tries }, "the end of a job is repeated"),
      locked: () => new Error(`the hold of job ${end.id} stays locked`),
    },
  );
}
