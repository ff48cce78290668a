/** Calls that were admitted on a credit line instead of a separate hold. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import { plainArray } from "#shared/database/arrays.ts";
import { type Queryable, SQL, sqlState, waitingForLocks } from "#shared/database/client.ts";
import { SINGLE_CALL_WAIT_MS } from "#shared/database/grouped.ts";
import { LOCK_TIMEOUT_MS } from "#shared/database/retry.ts";
import { timeOfId } from "#shared/base/ids.ts";
import { InFlightMap } from "#shared/limits/in-flight.ts";
import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";

/** Share of a credit line that a call has drawn, with the same fields as a hold. */
export interface CreditLineHold {
  readonly lineId: string;
  readonly keyId: string;
  readonly model: string;
  readonly amountNano: bigint;
  readonly mayExceed: boolean;
  /** Latest time at which the call ends, in Unix milliseconds. */
  readonly deadlineMs: number;
  /** Labels of the call for usage reports, by name. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Reads a call's share of a credit line from its queue message. Returns undefined if the call has a separate hold. */
export function creditLineHoldOf(
  job: Pick<JobMessage, "credit_line" | "key_id" | "model" | "hold_nano" | "may_exceed" | "deadline_ms" | "labels">,
): CreditLineHold | undefined {
  if (job.credit_line === undefined) return undefined;
  return {
    lineId: job.credit_line,
    keyId: job.key_id,
    model: job.model,
    amountNano: BigInt(job.hold_nano),
    mayExceed: job.may_exceed,
    deadlineMs: job.deadline_ms,
    ...(job.labels === undefined ? {} : { labels: job.labels }),
  };
}

/** Returns the labels of calls as an SQL array of JSON texts; null if none has labels. */
export function labelsColumn(holds: readonly CreditLineHold[]): (string | null)[] | null {
  if (holds.every(({ labels }) => labels === undefined)) return null;
  return holds.map(({ labels }) => (labels === undefined ? null : JSON.stringify(labels)));
}

const PLACE_SQL = "select place_lined_hold($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb) as verdict";
/**
 * Additional lifetime of a separate hold after the latest end of its call, in milliseconds. The settlement may be retried during this time.
 */
const HOLD_SLACK_MS = 120_000;

/**
 * Replaces a call's share of a credit line by a separate hold. Takes the credits from the line, or from the workspace's available credits
 * if the line has ended. Idempotent.
 * @returns `stands`: the hold exists, with a smaller amount if credits were missing. `closed`: the call was already settled.
 * @throws Error while other credit lines of the workspace are being reclaimed for the hold
 */
export async function placeCreditLineHold(
  database: Queryable,
  of: { readonly workspaceId: string; readonly jobId: string },
  { lineId, keyId, model, amountNano, mayExceed, deadlineMs, labels }: CreditLineHold,
): Promise<"stands" | "closed"> {
  const lifeMs = Math.max(0, Math.round(deadlineMs - commonNow())) + HOLD_SLACK_MS;
  const kept = labels === undefined ? null : JSON.stringify(labels);
  const values = [of.workspaceId, lineId, of.jobId, keyId, model, amountNano, mayExceed, lifeMs, kept];
  const [row] = await database.query<{ verdict: number }>(PLACE_SQL, values, "place_lined_hold");
  if (row?.verdict === 4) throw new Error(`credit lines are on their way back for job ${of.jobId}`);
  return row?.verdict === 0 ? "stands" : "closed";
}

/**
 * Age at which a hold row is written for an open call on a credit line, in milliseconds. The janitor then finds the call if no process
 * settles it.
 */
const LIST_AFTER_MS = paced(1_000);
const LIST_BATCH_MAX = 1_000;

const LIST_SQL = waitingForLocks(
  "show_lined_calls($1, $2, $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::boolean[], $8::bigint[], $9::bigint[], $10::jsonb[])",
  "$11",
);

interface OpenCall {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly creditLineHold: CreditLineHold;
  /** Time of the admission, as performance.now(). */
  readonly at: number;
}

/** Calls that this process admitted on credit lines, by job. A call is removed when it is settled, or when its hold row is written. */
export class UnlistedCalls {
  private readonly options: { readonly database: Queryable; readonly log: Logger };
  private readonly calls = new InFlightMap<OpenCall>();
  private isListing = false;

  constructor(options: UnlistedCalls["options"]) {
    this.options = options;
  }

  get size(): number {
    return this.calls.size;
  }

  add(call: OpenCall): void {
    this.calls.set(call.jobId, call);
  }

  forget(jobId: string): void {
    this.calls.take(jobId);
  }

  /** Writes hold rows for calls that were admitted more than a second ago. Never throws. */
  async listDue(): Promise<void> {
    if (this.isListing) return;
    this.isListing = true;
    await this.listBefore(performance.now() - LIST_AFTER_MS, SINGLE_CALL_WAIT_MS);
    this.isListing = false;
  }

  /** Writes hold rows for all calls. Called before the process stops. Never throws. */
  listAll(): Promise<void> {
    return this.listBefore(Infinity, LOCK_TIMEOUT_MS);
  }

  private async listBefore(before: number, lockMs: number): Promise<void> {
    const due: OpenCall[] = [];
    for (const call of this.calls.values()) {
      if (call.at > before) break;
      due.push(call);
    }
    for (const theirs of Map.groupBy(due, ({ creditLineHold }) => creditLineHold.lineId).values()) {
      for (let from = 0; from < theirs.length; from += LIST_BATCH_MAX) {
        await this.listBatch(theirs.slice(from, from + LIST_BATCH_MAX), lockMs).catch((error: unknown) => {
          // A locked line must not delay the calls of other lines.
          if (sqlState(error) !== SQL.lockTimeout) {
            this.options.log.warn({ err: error }, "calls on a credit line could not be published; it is retried");
          }
        });
      }
    }
  }

  /**
   * Writes hold rows for calls as parts of their credit line, and removes the calls from this list.
   * @param calls calls of one credit line
   */
  private async listBatch(calls: readonly OpenCall[], lockMs: number): Promise<void> {
    const [first] = calls;
    if (!first) return;
    const values = [
      first.workspaceId,
      first.creditLineHold.lineId,
      plainArray(calls.map(({ jobId }) => jobId)),
      plainArray(calls.map(({ creditLineHold }) => creditLineHold.keyId)),
      calls.map(({ creditLineHold }) => creditLineHold.model),
      plainArray(calls.map(({ creditLineHold }) => creditLineHold.amountNano)),
      plainArray(calls.map(({ creditLineHold }) => creditLineHold.mayExceed)),
      plainArray(calls.map(({ jobId }) => timeOfId(jobId))),
      plainArray(calls.map(({ creditLineHold }) => Math.max(0, Math.round(creditLineHold.deadlineMs - commonNow())))),
      labelsColumn(calls.map(({ creditLineHold }) => creditLineHold)),
      lockMs,
    ];
    await this.options.database.query(LIST_SQL, values, "show_lined_calls");
    for (const { jobId } of calls) this.calls.take(jobId);
  }
}
