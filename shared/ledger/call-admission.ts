/**
 * Admits HTTP and NATS calls with one SQL statement. It counts a call in the rate-limit window of its workspace. For a paid call, it also
 * reserves daily tokens and places the hold. Several calls share one statement (shared/database/grouped.ts).
 */
import { plainArray } from "#shared/database/arrays.ts";
import { budgetReached } from "#shared/database/budget-firings.ts";
import {
  type Database,
  isDataFault,
  type Queryable,
  SQL,
  sqlState,
  type SqlValue,
  waitingForLocks,
} from "#shared/database/client.ts";
import { GROUP_SIZE_MAX, type GroupRun, lockingLate, openGrouped, reserveForGroups } from "#shared/database/grouped.ts";
import { BUSY, type Grouper } from "#shared/database/grouper.ts";
import { ApiError } from "#shared/base/errors.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { formatCredits } from "#shared/base/money.ts";

import type { CreditLines } from "./credit-lines.ts";
import type { CreditLineHold } from "./credit-line-calls.ts";
import { RECLAIM_WAIT_MAX_MS, type ReclaimableCredits, reclaimLines } from "./reclaim-lines.ts";
import type { Ledger } from "./settle.ts";
import { spendRefusal } from "./spend-limits.ts";

/** Credits and tokens that a paid call reserves. */
export interface HoldRequest {
  readonly jobId: string;
  readonly keyId: string;
  readonly model: string;
  readonly amountNano: bigint;
  /** True for a chat call without an output limit, whose charge may exceed the hold. */
  readonly mayExceed: boolean;
  /** Maximum number of tokens that the call can use. They are reserved under the key's daily limit while the call is open. */
  readonly tokensMax: number;
  /** Daily token limit of the key; null for no limit. */
  readonly dailyTokens: number | null;
  /** Lifetime of the hold, in milliseconds. Afterwards, the janitor may close the hold. */
  readonly lifeMs: number;
  /** True if the key or its member has a spend limit. */
  readonly hasSpendLimit?: boolean;
  /** Ids of further subjects whose spend limits apply to the call: its end user, tags, run or batch. */
  readonly scopes?: readonly string[];
  /** Labels of the call for usage reports, by name. */
  readonly labels?: Labels;
}

/** Labels of a call for usage reports: tags, end user and chain, by name. */
export type Labels = Readonly<Record<string, string>>;

interface Call {
  readonly workspaceId: string;
  /** Maximum calls of the workspace per 60 s for this key; null for no limit. */
  readonly limit: number | null;
  readonly hold: HoldRequest | null;
}

type Verdict = 0 | 1 | 2 | 3 | 5 | typeof BUDGET_REACHED | typeof LIMIT_REACHED;

/** Result code for a spent budget. The error message is read from the database. */
const BUDGET_REACHED = 9;
/** Result code for a reached spend limit. The error is read from the database. */
const LIMIT_REACHED = 13;
const WINDOW_FULL = 1;
const FUNDS_MISSING = 3;
/** Value of `limit` for a call that was already counted in the rate-limit window. It is not counted again. */
const COUNTED = -1;

export interface CallAdmission {
  /** Counts a call in the rate-limit window, without a hold. @throws ApiError `rate_limit_exceeded`, `overloaded`, `service_unavailable` */
  count(workspaceId: string, limit: number | null): Promise<void>;
  /**
   * Counts a call and reserves its credits. If a credit line of the workspace covers the call, returns the call's share of the line, which
   * the settlement requires. Otherwise places a separate hold and returns undefined.
   * @throws ApiError `rate_limit_exceeded`, `daily_tokens_exceeded`, `insufficient_credits`, `budget_reached`, `key_limit_reached`,
   * `max_credits_exceeded`, `overloaded`, `service_unavailable`
   */
  place(
    workspaceId: string,
    limit: number | null,
    hold: HoldRequest & { readonly canUseCreditLine?: boolean },
  ): Promise<CreditLineHold | undefined>;
  /**
   * Checks if a call would be admitted now, without counting it. Call this before costly preparation of the call begins.
   * @param leastNano lowest possible hold of the call, in nano-credits; for a free call, only the rate-limit window is checked
   * @throws ApiError `budget_reached`, `rate_limit_exceeded`, `insufficient_credits`, `service_unavailable`
   */
  check(workspaceId: string, limit: number | null, leastNano?: bigint): Promise<void>;
}

const GROUP_SQL = waitingForLocks(
  `admit_calls($1::uuid[], $2::int[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::boolean[], $8::bigint[], $9::bigint[],
  $10::bigint[], $11, null, $12, $13::text[], $14::jsonb[]) as verdicts`,
  "$15",
);
const CHECK_SQL =
  "select is_full, free, is_stopped, case when free < $3 then funds_due($1, $3) end as due from check_window($1, $2)";
const SINGLE_SQL = waitingForLocks(
  "admit_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, null, $11::uuid[], $12::jsonb) as verdict",
  "$13",
);

/**
 * Maximum time that a call waits for further calls of its group, in milliseconds. Without it, a group contains two or three calls at 1,000
 * calls a second. At 1,200 calls a second, the wait lowers the CPU time of a call from about 1,440 to 1,290 µs (measured). It lowers p99
 * from 86 to 66 ms.
 */
const GATHER_MAX_MS = 3;
/** Maximum attempts after a deadlock. Our lock order excludes deadlocks, but an operator's session may lock in another order. */
const TRIES_MAX = 3;

export function createCallAdmission(options: {
  database: Database;
  log: Logger;
  /** Releases a hold that may exist although its statement failed, for example because the connection was lost at the commit. */
  ledger: Pick<Ledger, "undo">;
  /** Credit lines. If undefined, every call gets a separate hold. */
  lines?: CreditLines | undefined;
  metrics?: Pick<Metrics, "groupSize" | "creditLineCalls">;
}): CallAdmission {
  const grouper: Grouper<Call, Verdict> = openGrouped<Call, Verdict>({
    connections: reserveForGroups(options.database, "admission"),
    name: "admission",
    sizeMax: GROUP_SIZE_MAX,
    gatherMaxMs: GATHER_MAX_MS,
    metrics: options.metrics,
    async run(calls, on) {
      for (let tries = 1; ; tries++) {
        try {
          const first = calls[0];
          // The group form costs several times as much for a group of one.
          if (calls.length === 1 && first && on.lockWait !== "long") return await admitSingle(first, on);
          return await admitGroup(calls, on);
        } catch (error) {
          const state = sqlState(error);
          if (tries < TRIES_MAX && (state === SQL.deadlock || state === SQL.serialization)) {
            await Bun.sleep(Math.random() * 20 * tries);
            continue;
          }
          if (state === SQL.lockTimeout || (calls.length > 1 && isDataFault(error))) throw error;
          throw failure(error, calls);
        }
      }
    },
  });

  const failure = (error: unknown, calls: readonly Call[]): ApiError => {
    options.log.error({ err: error, calls: calls.length }, "admission statement failed");
    // Refused values were certainly rolled back; after a lost connection, the commit may have succeeded.
    if (!isDataFault(error)) {
      options.ledger.undo(calls.flatMap(({ workspaceId, hold }) => (hold ? [{ workspaceId, jobId: hold.jobId }] : [])));
    }
    return new ApiError("service_unavailable", AWAY, { cause: error });
  };

  /** Reclaims of credit lines that are still running, by workspace. Calls of one workspace share one reclaim. */
  const reclaims = new Map<string, { readonly nano: bigint; readonly reclaimed: Promise<ReclaimableCredits> }>();
  /**
   * Reclaims the credit lines of a workspace for a call that its balance does not cover. `comesBack` is true if the reclaimed credits
   * suffice for the call. `dueMs` and `freeNano` are described in `ReclaimableCredits`.
   */
  const reclaim = async ({ workspaceId, hold }: Call): Promise<{ comesBack: boolean } & Funds> => {
    const nano = hold?.amountNano ?? 0n;
    let asked = reclaims.get(workspaceId);
    if (!asked) {
      const reclaimed = unavailable(AWAY, reclaimLines(options.database, workspaceId, nano));
      asked = { nano, reclaimed: reclaimed.finally(() => reclaims.delete(workspaceId)) };
      reclaims.set(workspaceId, asked);
    }
    const { covered, dueMs, freeNano } = await asked.reclaimed;
    const comesBack = covered !== undefined && nano <= covered;
    return { comesBack, freeNano, dueMs: nano <= asked.nano ? dueMs : undefined };
  };

  const ask = async (call: Call): Promise<void> => {
    let verdict = await grouper.call(call);
    const until = performance.now() + RECLAIM_WAIT_MAX_MS;
    let funds: Funds = {};
    while (verdict === FUNDS_MISSING && performance.now() < until) {
      const reclaimed = await reclaim(call);
      funds = reclaimed;
      if (!reclaimed.comesBack) break;
      verdict = await grouper.call({ ...call, limit: COUNTED });
    }
    if (verdict === BUDGET_REACHED) throw await stopped(call.workspaceId);
    if (verdict === LIMIT_REACHED) throw await overLimit(call);
    if (verdict === WINDOW_FULL) throw await tooMany(call.workspaceId, call.limit ?? 0);
    if (verdict !== 0) throw refusal(verdict, call, funds);
  };
  const windows = createFullWindows(options.database);
  const tooMany = async (workspaceId: string, limit: number): Promise<ApiError> =>
    windowFull(limit, await unavailable(AWAY, windows.secondsUntilFree(workspaceId, limit)));
  const overLimit = ({ workspaceId, hold }: Call): Promise<ApiError> => {
    if (hold === null) throw new Error("a call without a hold has no spend limit");
    // The verdict is final, so a call is refused even if the database cannot describe the limit. Only jobs have limits of runs and batches.
    return spendRefusal(options.database, workspaceId, hold).catch(
      () => new ApiError("key_limit_reached", SPEND_LIMIT_REACHED, { param: "limits.credits" }),
    );
  };
  const stopped = async (workspaceId: string): Promise<ApiError> =>
    new ApiError("budget_reached", await unavailable(AWAY, budgetReached(options.database, workspaceId)));
  return {
    async place(workspaceId, limit, hold) {
      // Limits are exact, so a call with a limit waits for the verdict of the database.
      const canUseCreditLine = hold.canUseCreditLine === true && limit === null && !hasExactLimit(hold);
      const creditLineHold = canUseCreditLine ? options.lines?.draw(workspaceId, hold) : undefined;
      if (creditLineHold) {
        options.metrics?.creditLineCalls.inc();
        return creditLineHold;
      }
      const askedAt = performance.now();
      await ask({ workspaceId, limit, hold });
      if (canUseCreditLine) options.lines?.noteWait(workspaceId, hold.amountNano, performance.now() - askedAt);
      return undefined;
    },
    count: (workspaceId, limit) => ask({ workspaceId, limit, hold: null }),
    check: async (workspaceId, limit, leastNano = 0n) => {
      const [row] = await unavailable(
        AWAY,
        options.database.query<CheckRow>(CHECK_SQL, [workspaceId, limit, leastNano], "look"),
      );
      if (row?.is_stopped === true && leastNano > 0n) throw await stopped(workspaceId);
      if (row?.is_full === true) throw await tooMany(workspaceId, limit ?? 0);
      const { free = null, due = null } = row ?? {};
      if (leastNano <= (free ?? 0n)) return;
      throw tooExpensive(leastNano, { freeNano: free ?? undefined, dueMs: due === null ? undefined : Number(due) });
    },
  };
}

async function admitSingle(call: Call, { target, lockMs }: GroupRun): Promise<(Verdict | typeof BUSY)[]> {
  const hold = call.hold;
  const rows = await target.query<{ verdict: number }>(
    SINGLE_SQL,
    [
      call.workspaceId,
      call.limit,
      hold?.jobId ?? null,
      hold?.keyId ?? null,
      hold?.model ?? null,
      hold?.amountNano ?? null,
      hold?.mayExceed ?? null,
      hold?.tokensMax ?? null,
      hold?.dailyTokens ?? null,
      hold?.lifeMs ?? null,
      hold?.scopes === undefined ? null : plainArray(hold.scopes),
      hold?.labels === undefined ? null : JSON.stringify(hold.labels),
      lockMs,
    ],
    "admit_call",
  );
  return [toVerdict(rows[0]?.verdict)];
}

function admitGroup(calls: readonly Call[], on: GroupRun): Promise<(Verdict | typeof BUSY)[]> {
  const decidesLocked = on.lockWait === "none" || calls.some(({ hold }) => hold !== null && hasExactLimit(hold));
  return decidesLocked ? sendGroup(calls, on, false) : lockingLate((isLate) => sendGroup(calls, on, isLate));
}

async function sendGroup(
  calls: readonly Call[],
  { target, waitMs, lockMs }: GroupRun,
  isLate: boolean,
): Promise<(Verdict | typeof BUSY)[]> {
  const rows = await target.query<{ verdicts: number[] }>(
    GROUP_SQL,
    [
      plainArray(calls.map((call) => call.workspaceId)),
      plainArray(calls.map((call) => call.limit)),
      plainArray(calls.map((call) => call.hold?.jobId ?? null)),
      plainArray(calls.map((call) => call.hold?.keyId ?? null)),
      calls.map((call) => call.hold?.model ?? null),
      plainArray(calls.map((call) => call.hold?.amountNano ?? null)),
      plainArray(calls.map((call) => call.hold?.mayExceed ?? null)),
      plainArray(calls.map((call) => call.hold?.tokensMax ?? null)),
      plainArray(calls.map((call) => call.hold?.dailyTokens ?? null)),
      plainArray(calls.map((call) => call.hold?.lifeMs ?? null)),
      waitMs,
      isLate,
      ...columnsOf(calls),
      lockMs,
    ],
    "admit_calls",
  );
  return rows[0]?.verdicts.map(toVerdict) ?? [];
}

/** Returns the scopes and labels of calls as two SQL arrays; null for an array without values. */
function columnsOf(calls: readonly Call[]): readonly [SqlValue, SqlValue] {
  const scopes = calls.map(({ hold }) => (hold?.scopes === undefined ? null : `{${hold.scopes.join(",")}}`));
  const labels = calls.map(({ hold }) => (hold?.labels === undefined ? null : JSON.stringify(hold.labels)));
  return [scopes.some((ids) => ids !== null) ? scopes : null, labels.some((text) => text !== null) ? labels : null];
}

/** True if the call has a limit that the database must decide about, so that no credit line can cover the call. */
function hasExactLimit({ dailyTokens, hasSpendLimit, scopes }: HoldRequest): boolean {
  return dailyTokens !== null || hasSpendLimit === true || scopes !== undefined;
}

interface CheckRow {
  readonly is_full: boolean | null;
  readonly free: bigint | null;
  readonly is_stopped: boolean | null;
  readonly due: bigint | null;
}

/** Message of a refusal that the database could not describe. The verdict does not change: a repetition at once is refused too. */
const SPEND_LIMIT_REACHED =
  "A spend limit of the key, its member or the end user leaves less than this call may cost. Request less, or try again later.";

const AWAY = "The service cannot admit calls right now; try again shortly.";

function toVerdict(value: number | undefined): Verdict | typeof BUSY {
  if (value === 0 || value === 1 || value === 2 || value === 3 || value === 5) return value;
  if (value === BUDGET_REACHED || value === LIMIT_REACHED) return value;
  return BUSY;
}

/** Smallest amount of a hold, in nano-credits. Used when the price is not known yet but the workspace must have credits. */
export const LEAST_NANO = 1n;

/** Credits that may become available, as described in `ReclaimableCredits`. */
type Funds = Partial<Pick<ReclaimableCredits, "freeNano" | "dueMs">>;

function tooExpensive(amountNano: bigint, { freeNano, dueMs }: Funds): ApiError {
  const most = `This call may cost up to ${formatCredits(amountNano)} credits`;
  const free = freeNano === undefined || freeNano < 0n ? 0n : freeNano;
  const message =
    amountNano <= LEAST_NANO
      ? "The workspace has no credits available. Top it up, or wait until running calls release their holds."
      : freeNano === undefined
        ? `${most}, more than the workspace has available. Top up the workspace.`
        : `${most}; the workspace has ${formatCredits(free)} available. Top up the workspace, or request less.`;
  if (dueMs === undefined) return new ApiError("insufficient_credits", message);
  const seconds = Math.max(1, Math.ceil(dueMs / 1_000));
  const more = `A lost process still holds credits of the workspace; they are available again in ${seconds} s.`;
  return new ApiError("insufficient_credits", `${message} ${more}`, { headers: { "retry-after": String(seconds) } });
}

/**
 * Returns the error for a full rate-limit window.
 * @param seconds time until a request is admitted, if no other request comes before it
 */
function windowFull(limit: number, seconds: number | undefined): ApiError {
  const message = `The keys of the workspace made more than ${limit} requests in the last 60 seconds, the limit of this key. Refused requests count too.`;
  const wait = seconds === undefined ? "" : ` Without further requests, the next one is accepted in ${seconds} s.`;
  return new ApiError("rate_limit_exceeded", `${message}${wait}`);
}

/** Returns the error for a rejected admission. */
export function refusal(verdict: 1 | 2 | 3 | 5, call: Call, funds: Funds = {}): ApiError {
  switch (verdict) {
    case WINDOW_FULL:
      return windowFull(call.limit ?? 0, undefined);
    case 2:
      return new ApiError(
        "daily_tokens_exceeded",
        `The workspace's daily limit of ${call.hold?.dailyTokens ?? 0} tokens is reached; it resets at midnight UTC. Running calls count with their maximum.`,
      );
    case 3:
      return tooExpensive(call.hold?.amountNano ?? 0n, funds);
    case 5:
      return new ApiError("service_unavailable", "The workspace cannot accept calls; its balance is missing.");
    default:
      return verdict satisfies never;
  }
}

// Time at which a full window of a workspace accepts a request again, for the message of a refusal.

/**
 * Time for which a result is reused, in milliseconds. A flood of rejected requests then costs one statement a second per limit of a
 * workspace.
 */
const REUSED_MS = 1_000;
/** Maximum number of cached results, for all workspaces together. */
const KEPT_MAX = 1_000;

/**
 * SQL for the milliseconds until the next call is admitted. The window must first lose its oldest surplus call, which has to be 60 seconds
 * old. Rejected calls are already counted.
 */
const FREE_AT_SQL = `select window_call($1, r.calls + 1 - $2) + 60000 - greatest(clock.ms + window_shift(clock.ms, r.last_ms, r.shift_ms), r.last_ms) as ms
  from rate_window r
  cross join (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms offset 0) clock
  where r.workspace_id = $1`;

interface FullWindows {
  /**
   * Returns the seconds until a request is admitted if no other one comes before it, at least 1. Returns undefined if the time is unknown.
   * @param limit requests in 60 seconds
   */
  secondsUntilFree(workspaceId: string, limit: number): Promise<number | undefined>;
}

export function createFullWindows(database: Queryable): FullWindows {
  const freeAt = new Map<string, { readonly until: number; readonly at: Promise<number | undefined> }>();

  const read = async (workspaceId: string, limit: number): Promise<number | undefined> => {
    const [row] = await database.query<{ ms: bigint | null }>(FREE_AT_SQL, [workspaceId, limit], "full_window");
    return row?.ms == null ? undefined : performance.now() + Number(row.ms);
  };

  const known = (workspaceId: string, limit: number): Promise<number | undefined> => {
    const name = `${workspaceId} ${limit}`;
    const now = performance.now();
    const kept = freeAt.get(name);
    if (kept !== undefined && now < kept.until) return kept.at;
    if (freeAt.size >= KEPT_MAX) freeAt.clear();
    const at = read(workspaceId, limit);
    freeAt.set(name, { until: now + REUSED_MS, at });
    return at;
  };

  return {
    async secondsUntilFree(workspaceId, limit) {
      const at = await known(workspaceId, limit);
      return at === undefined ? undefined : Math.max(1, Math.ceil((at - performance.now()) / 1_000));
    },
  };
}
