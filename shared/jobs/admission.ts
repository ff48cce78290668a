/**
 * Admission of durable jobs. One transaction checks rate-limit window, daily tokens and balance, and stores hold and job row. Jobs are
 * grouped like HTTP calls and decided by the same database functions (see admit_jobs, and admit_job for a single job). If the rate-limit
 * window is full, the job of a batch message is neither counted nor stored. The message waits and is offered again.
 */
import { type HoldRequest, refusal } from "#shared/ledger/call-admission.ts";
import type { Led } from "#shared/database/batch-work.ts";
import { type Database, SQL, sqlState, waitingForLocks } from "#shared/database/client.ts";
import { type GroupRun, openGrouped, reserveForGroups } from "#shared/database/grouped.ts";
import { BUSY } from "#shared/database/grouper.ts";
import type { JobError } from "#shared/database/jobs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { RECLAIM_WAIT_MAX_MS, RECLAIM_POLL_INTERVAL_MS } from "#shared/ledger/reclaim-lines.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";

import { jobError } from "./error.ts";

export interface JobRequest {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string | null;
  readonly pool: Pool;
  readonly lane: Lane;
  readonly kind: string;
  readonly modality: string;
  readonly model: string | null;
  /** Body of the job's queue message, without the request. */
  readonly work: object;
  readonly request: { readonly text: string } | { readonly reference: string } | null;
  readonly publisherKey: string | null;
  readonly reply: string | null;
  /** True if callers cannot find the job by its id or in lists. */
  readonly isHidden?: boolean;
  /** True if the object store keeps a record of the job. */
  readonly keepsRecord?: boolean;
  /** Rate limit of the job's key, in calls per 60 s. Null: the job is counted, but never delayed. */
  readonly limit: number | null;
  /** False if the rate-limit window neither counts nor rejects the job. */
  readonly isCounted?: false;
  /** Step of a run that the job executes. `parentId` is the job that started the run. */
  readonly step?: { readonly runId: string; readonly stepId: string; readonly parentId?: string };
  /** W3C trace context. */
  readonly traceparent?: string;
  /**
   * Behaviour if the rate-limit window is full. `wait`: the batch message waits and is not counted. `refuse`: the HTTP call is counted and
   * rejected.
   */
  readonly ifFull: "wait" | "refuse";
  /**
   * True if the batch message has waited for longer than a rate-limit window. A share of the window is reserved for such messages (see
   * window_share).
   */
  readonly starves?: boolean;
  /** Batch whose line the job executes, and the epoch in which the calling process leads this batch. Undefined outside of batches. */
  readonly batch?: Led;
  /**
   * Required hold, or an error that rejects the job without checking its limits in the database. A rejected job is only counted and
   * recorded.
   */
  readonly terms: { readonly hold: HoldRequest } | { readonly refusal: ApiError };
  readonly lifeMs: number;
}

export type JobVerdict =
  /**
   * The job was admitted. `attempt` is above 1 if the id was used before. `dispatch` is the number of the queue message to send now; 0 if
   * the job waits for queue capacity. `isFromShare` is true if the rate-limit window was full and the job used the share reserved for
   * messages that waited too long.
   */
  | { readonly kind: "admitted"; readonly attempt: number; readonly dispatch: number; readonly isFromShare?: true }
  /**
   * The job must wait; nothing is stored. `waitMs`: milliseconds until the rate-limit window has capacity. With `isForFunds`, milliseconds
   * until the missing credits may be available.
   */
  | { readonly kind: "full"; readonly waitMs: number; readonly isForFunds?: true }
  | { readonly kind: "refused"; readonly error: JobError }
  | { readonly kind: "known" }
  | { readonly kind: "unknown_workspace" }
  /** Another process leads the job's batch. Nothing is stored. */
  | { readonly kind: "superseded" };

/**
 * Decision of the database about a job. `recalled`: credit lines of the workspace are being reclaimed; afterwards the balance suffices.
 * `due`: credit lines of crashed processes contain the missing credits, and return them in `dueMs` milliseconds. In both cases, the job is
 * counted in the rate-limit window but not stored.
 */
type Decision =
  | JobVerdict
  | { readonly kind: "recalled"; readonly isFromShare?: true }
  | { readonly kind: "due"; readonly dueMs: number };

export interface JobAdmission {
  /**
   * Decides about a job and stores it if admitted.
   * @throws ApiError `overloaded`; a driver error if it is unknown whether the job was admitted: then ask again
   */
  admit(job: JobRequest): Promise<JobVerdict>;
}

interface VerdictRow {
  readonly n: number;
  readonly verdict: number;
  readonly wait_ms: bigint;
  readonly number: number;
  readonly attempt: number;
  /** Message, and code and parameter if they differ from `budget_reached`, of a rejection whose error the database creates. */
  readonly reason: Partial<JobError> | null;
}

/** Maximum number of jobs in a group. The requests of a group are one SQL parameter. */
const GROUP_MAX = 64;

export function createJobAdmission({
  database,
  metrics,
}: {
  database: Database;
  metrics?: Pick<Metrics, "groupSize">;
}): JobAdmission {
  /**
   * Time (performance.now()) until which a workspace's jobs use the grouped statement, by workspace id. Set after a job could not be
   * admitted alone.
   */
  const apartUntil = new Map<string, number>();
  const grouper = openGrouped<JobRequest, Decision>({
    connections: reserveForGroups(database, "job admission"),
    name: "job admission",
    sizeMax: GROUP_MAX,
    metrics,
    async run(jobs, on) {
      const { target, waitMs, lockWait } = on;
      const [first] = jobs;
      if (first && jobs.length === 1 && lockWait !== "long" && !isApart(apartUntil, first)) {
        const lone = await admitLone(first, on);
        if (lone) return [lone];
        noteApart(apartUntil, first);
      }
      const rows = await target.query<VerdictRow>(
        "select * from admit_jobs($1::jsonb, $2)",
        [JSON.stringify(jobs.map(toAdmissionRequest)), waitMs],
        "admit_jobs",
      );
      const byPlace = new Map(rows.map((row) => [row.n, row]));
      return jobs.map((job, n) => toVerdict(job, byPlace.get(n)));
    },
  });
  return {
    async admit(job) {
      let verdict = await grouper.call(job);
      const share = verdict.kind === "recalled" && verdict.isFromShare ? { isFromShare: true as const } : {};
      for (
        const until = performance.now() + RECLAIM_WAIT_MAX_MS;
        verdict.kind === "recalled" && performance.now() < until;
      ) {
        await Bun.sleep(RECLAIM_POLL_INTERVAL_MS);
        verdict = await grouper.call({ ...job, isCounted: false });
      }
      if (verdict.kind === "admitted") return { ...verdict, ...share };
      if (verdict.kind === "due") return untilDue(job, verdict.dueMs);
      if (verdict.kind !== "recalled") return verdict;
      throw new ApiError("overloaded", "The workspace is busy; try again shortly.");
    },
  };
}

/** Maximum pause before a job that waits for credits of a crashed process is offered again, in milliseconds. */
const DUE_RETRY_MAX_MS = paced(30_000);

/**
 * Returns how long a batch message must wait for credits of a crashed process.
 * @throws ApiError for a job that cannot wait: `overloaded` for a step of a run, otherwise the error for missing credits
 */
function untilDue({ terms, step, ifFull, ...job }: JobRequest, dueMs: number): JobVerdict {
  if (ifFull === "wait") return { kind: "full", waitMs: Math.min(dueMs, DUE_RETRY_MAX_MS), isForFunds: true };
  if (step) throw new ApiError("overloaded", "A lost process still holds credits of the workspace; try again shortly.");
  const hold = "hold" in terms ? terms.hold : null;
  throw refusal(FUNDS, { ...job, hold }, { dueMs });
}

/**
 * Time for which a workspace's jobs use the grouped statement after a single admission failed, in milliseconds. Each such failure costs a
 * rollback.
 */
const APART_MS = 1_000;
const APART_MAX = 1_000;

function isApart(until: ReadonlyMap<string, number>, { workspaceId, batch, starves, terms }: JobRequest): boolean {
  if (batch !== undefined || starves === true || "refusal" in terms) return true;
  return (until.get(workspaceId) ?? 0) > performance.now();
}

function noteApart(until: Map<string, number>, { workspaceId }: JobRequest): void {
  if (until.size >= APART_MAX) until.clear();
  until.set(workspaceId, performance.now() + APART_MS);
}

const LONE_SQL = waitingForLocks("admit_job($1::jsonb) as number", "$2");

/** Admits one job without a group. Returns undefined and changes nothing if the grouped statement must decide. */
async function admitLone(job: JobRequest, { target, lockMs }: GroupRun): Promise<JobVerdict | undefined> {
  try {
    const [row] = await target.query<{ number: number | null }>(
      LONE_SQL,
      [JSON.stringify(toAdmissionRequest(job, 0)), lockMs],
      "admit_job",
    );
    return row?.number == null ? undefined : { kind: "admitted", attempt: 1, dispatch: row.number };
  } catch (error) {
    if (sqlState(error) === SQL.notTogether) return undefined;
    throw error;
  }
}

/** Converts a job to a row of the SQL type `job_offer`. @param n index of the job in its statement */
export function toAdmissionRequest(job: JobRequest, n: number): Record<string, unknown> {
  const { terms, request } = job;
  const hold = "hold" in terms ? terms.hold : undefined;
  return {
    n,
    id: job.id,
    workspace_id: job.workspaceId,
    key_id: job.keyId,
    pool: job.pool,
    lane: job.lane,
    kind: job.kind,
    modality: job.modality,
    model: job.model,
    work: job.work,
    request: request && "text" in request ? request.text : null,
    request_ref: request && "reference" in request ? request.reference : null,
    publisher_key: job.publisherKey,
    reply: job.reply,
    is_hidden: job.isHidden ?? false,
    keeps_record: job.keepsRecord ?? false,
    error: "refusal" in terms ? jobError(terms.refusal) : null,
    tokens_error: hold ? jobError(refusalOf(job, hold, DAILY_TOKENS)) : null,
    funds_error: hold ? jobError(refusalOf(job, hold, FUNDS)) : null,
    budget_error: hold ? limitError(null) : null,
    call_limit: job.limit,
    may_wait: job.ifFull === "wait",
    starves: job.starves ?? false,
    amount: hold?.amountNano.toString() ?? null,
    may_exceed: hold?.mayExceed ?? null,
    tokens: hold?.tokensMax ?? null,
    day_cap: hold?.dailyTokens ?? null,
    deadline_ms: job.lifeMs,
    hold_ms: hold?.lifeMs ?? null,
    is_counted: job.isCounted ?? true,
    run_id: job.step?.runId ?? null,
    step_id: job.step?.stepId ?? null,
    parent_id: job.step?.parentId ?? null,
    traceparent: job.traceparent ?? null,
    batch_id: job.batch?.id ?? null,
    batch_epoch: job.batch?.epoch ?? null,
    ...(hold?.scopes === undefined ? {} : { scopes: hold.scopes }),
    ...(hold?.labels === undefined ? {} : { labels: hold.labels }),
  };
}

const DAILY_TOKENS = 2;
const FUNDS = 3;
const BUDGET_REACHED = 9;
const LIMIT_REACHED = 13;

/** Returns the error for a reached budget or spend limit. @param reason what the database returned about it */
function limitError(reason: Partial<JobError> | null): JobError {
  return { ...jobError({ code: "budget_reached", message: "" }), ...reason };
}

function refusalOf(job: JobRequest, hold: HoldRequest, verdict: typeof DAILY_TOKENS | typeof FUNDS): ApiError {
  return refusal(verdict, { workspaceId: job.workspaceId, limit: job.limit, hold });
}

/** Converts a result row of `admit_jobs`, which defines the numeric codes, to a decision. */
function toVerdict(job: JobRequest, row: VerdictRow | undefined): Decision | typeof BUSY {
  const { terms } = job;
  switch (row?.verdict) {
    case 0:
      return {
        kind: "admitted",
        attempt: row.attempt,
        dispatch: row.number,
        ...(row.wait_ms < 0n ? { isFromShare: true as const } : {}),
      };
    case 1:
      return { kind: "full", waitMs: Number(row.wait_ms) };
    case DAILY_TOKENS:
    case FUNDS:
      if ("refusal" in terms) return BUSY;
      return { kind: "refused", error: jobError(refusalOf(job, terms.hold, row.verdict)) };
    case BUDGET_REACHED:
    case LIMIT_REACHED:
      return { kind: "refused", error: limitError(row.reason) };
    case 5:
      return { kind: "unknown_workspace" };
    case 6:
      return { kind: "known" };
    case 7:
      return "refusal" in terms ? { kind: "refused", error: jobError(terms.refusal) } : BUSY;
    case 10:
      return { kind: "superseded" };
    case 12:
      return { kind: "due", dueMs: Number(row.wait_ms) };
    case 11:
      return { kind: "recalled", ...(row.wait_ms < 0n ? { isFromShare: true as const } : {}) };
    default:
      return BUSY;
  }
}
