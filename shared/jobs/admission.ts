/**
 * Admission of durable jobs: window, daily tokens, funds, hold and row in one transaction, grouped like the calls of the
 * HTTP door and decided by the same functions of the database (see admit_jobs, and admit_job for a lone one). A job whose window is full is
 * neither counted nor kept: its publisher's message waits.
 */
import { type HoldRequest, refusal } from "#shared/ledger/call-admission.ts";
import type { Led } from "#shared/database/batch-work.ts";
import { type Database, SQL, sqlState, waitingForLocks } from "#shared/database/client.ts";
import { type GroupRun, openGrouped, reserveForGroups } from "#shared/database/grouped.ts";
import { BUSY } from "#shared/database/grouper.ts";
import type { JobError } from "#shared/database/jobs.ts";
import { ApiError } from "#shared/errors.ts";
import { RECALL_MAX_MS, RECALL_MS } from "#shared/ledger/recall-lines.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
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
  /** The work message without its request. */
  readonly work: object;
  readonly request: { readonly text: string } | { readonly reference: string } | null;
  readonly publisherKey: string | null;
  readonly reply: string | null;
  /** It cannot be asked for afterwards. */
  readonly isHidden?: boolean;
  /** A record of it is kept in the object store. */
  readonly keepsRecord?: boolean;
  /** Calls per 60 s of its key; null counts without ever making it wait. */
  readonly limit: number | null;
  /** False: the window neither counts nor refuses it. */
  readonly isCounted?: false;
  /** The step of a run that it does, and the job that started it. */
  readonly step?: { readonly runId: string; readonly stepId: string; readonly parentId?: string };
  /** W3C trace context. */
  readonly traceparent?: string;
  /** Over a full window a message waits, uncounted; a caller is counted and sent away. */
  readonly ifFull: "wait" | "refuse";
  /** It waits for longer than a window lasts: a share of the window is put aside for it and its like (see window_share). */
  readonly starves?: boolean;
  /** It is a line of this batch, offered by who leads it. */
  readonly batch?: Led;
  /** The hold that it needs, or the error that refuses it whatever the database says: then it is counted and remembered only. */
  readonly terms: { readonly hold: HoldRequest } | { readonly refusal: ApiError };
  readonly lifeMs: number;
}

export type JobVerdict =
  /**
   * attempt: above 1 where its id was used before. dispatch: number of the message to put on the queue now; 0: the job waits for room
   * there. isFromShare: the window was full.
   */
  | { readonly kind: "admitted"; readonly attempt: number; readonly dispatch: number; readonly isFromShare?: true }
  /** Nothing is kept. waitMs: until it opens, for those that may wait; isForFunds: until credits are available. */
  | { readonly kind: "full"; readonly waitMs: number; readonly isForFunds?: true }
  | { readonly kind: "refused"; readonly error: JobError }
  | { readonly kind: "known" }
  | { readonly kind: "unknown_workspace" }
  /** Another leads its batch. Nothing is kept. */
  | { readonly kind: "superseded" };

/**
 * `recalled`: credit lines of the workspace are on their way back, with which the balance covers it. `due`: it is covered by what lines of
 * dead processes still have, which comes back in `dueMs`. Counted, nothing is kept.
 */
type Decision =
  | JobVerdict
  | { readonly kind: "recalled"; readonly isFromShare?: true }
  | { readonly kind: "due"; readonly dueMs: number };

export interface JobAdmission {
  /** @throws ApiError `overloaded`; Error of the driver when it is not known whether the job was admitted: ask again */
  admit(job: JobRequest): Promise<JobVerdict>;
}

interface VerdictRow {
  readonly n: number;
  readonly verdict: number;
  readonly wait_ms: bigint;
  readonly number: number;
  readonly attempt: number;
  /** The sentence of a refusal that the database knows best. */
  readonly reason: string | null;
}

/** A group's requests travel in one parameter. */
const GROUP_MAX = 64;

export function createJobAdmission({
  database,
  metrics,
}: {
  database: Database;
  metrics?: Pick<Metrics, "groupSize">;
}): JobAdmission {
  /** Workspace → performance.now() until which what speaks against one of its jobs is taken to speak against the next. */
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
        [JSON.stringify(jobs.map(toOffer)), waitMs],
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
      for (const until = performance.now() + RECALL_MAX_MS; verdict.kind === "recalled" && performance.now() < until;) {
        await Bun.sleep(RECALL_MS);
        verdict = await grouper.call({ ...job, isCounted: false });
      }
      if (verdict.kind === "admitted") return { ...verdict, ...share };
      if (verdict.kind === "due") return untilDue(job, verdict.dueMs);
      if (verdict.kind !== "recalled") return verdict;
      throw new ApiError("overloaded", "The workspace is busy; try again shortly.");
    },
  };
}

/** Longest time until work that waits for credits of a dead process is offered again. */
const DUE_LOOK_MS = paced(30_000);

/** Has work wait that may, and a run with its step. @throws ApiError for others */
function untilDue({ terms, step, ifFull, ...job }: JobRequest, dueMs: number): JobVerdict {
  if (ifFull === "wait") return { kind: "full", waitMs: Math.min(dueMs, DUE_LOOK_MS), isForFunds: true };
  if (step) throw new ApiError("overloaded", "A lost process still holds credits of the workspace; try again shortly.");
  const hold = "hold" in terms ? terms.hold : null;
  throw refusal(FUNDS, { ...job, hold }, { dueMs });
}

/** A refusal in the lone form costs a statement that is undone: for so long the workspace's next jobs go straight to the other form. */
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

/** Undefined: nothing was done, and the form of groups is to decide. */
async function admitLone(job: JobRequest, { target, lockMs }: GroupRun): Promise<JobVerdict | undefined> {
  try {
    const [row] = await target.query<{ number: number | null }>(
      LONE_SQL,
      [JSON.stringify(toOffer(job, 0)), lockMs],
      "admit_job",
    );
    return row?.number == null ? undefined : { kind: "admitted", attempt: 1, dispatch: row.number };
  } catch (error) {
    if (sqlState(error) === SQL.notTogether) return undefined;
    throw error;
  }
}

/** Returns a job_offer. @param n its place among the offers of a statement */
export function toOffer(job: JobRequest, n: number): Record<string, unknown> {
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
    budget_error: hold ? budgetError("") : null,
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
  };
}

const DAILY_TOKENS = 2;
const FUNDS = 3;
const BUDGET_REACHED = 9;

function budgetError(message: string): JobError {
  return jobError({ code: "budget_reached", message });
}

function refusalOf(job: JobRequest, hold: HoldRequest, verdict: typeof DAILY_TOKENS | typeof FUNDS): ApiError {
  return refusal(verdict, { workspaceId: job.workspaceId, limit: job.limit, hold });
}

/** The numbers are those of `admit_jobs`. */
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
      return { kind: "refused", error: budgetError(row.reason ?? "") };
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
