/**
 * Closes holds and calls on credit lines, by charging or by releasing them, once per job and attempt, in groups. Only this file and move.ts
 * move credits. The idempotency key is (workspace id, job id, attempt). Every write may happen twice: the second one finds the hold closed
 * or the usage record written, and has no effect.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { plainArray } from "#shared/database/arrays.ts";
import { type Database, isDataFault, SQL, sqlState, type SqlValue, waitingForLocks } from "#shared/database/client.ts";
import { retryStatement, LOCK_TIMEOUT_MS } from "#shared/database/retry.ts";
import { type GroupRun, lockingLate, openGrouped, GROUP_SIZE_MAX, reserveForGroups } from "#shared/database/grouped.ts";
import { BUSY } from "#shared/database/grouper.ts";
import { timeOfId } from "#shared/base/ids.ts";
import { InFlightSet } from "#shared/limits/in-flight.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { FailedAttempt } from "#shared/database/usage-failures.ts";

import { type CreditLineHold, labelsColumn, placeCreditLineHold } from "./credit-line-calls.ts";

/** Time that the settlement of an already answered call waits for other settlements of its group, in milliseconds. */
const SETTLE_LINGER_MS = 20;
/** Time that a settlement waits for others of its group under load, in milliseconds. Larger groups need fewer commits. */
const SETTLE_LINGER_MAX_MS = 40;

/** Kind of a usage record: the kind of the call, or the format of a chat call whose format has an endpoint of its own. */
export type UsageKind = JobMessage["kind"] | "messages" | "responses";

export type UsageStatus = "succeeded" | "failed" | "cancelled" | "lost";

export interface CallSettlement {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  /** Nano-credits to charge; null releases the hold. */
  readonly usedNano: bigint | null;
  readonly status: UsageStatus;
  /** Source that served the call, as `provider/model`; null if none did. */
  readonly source: string | null;
  /** Usage in measured units, for the usage record. */
  readonly units: Readonly<Record<string, number>>;
  readonly isEstimated: boolean;
  /** Number of tokens used, for the daily limit of the key. */
  readonly tokens: number;
  /** True if no caller waits for the settlement. It may then wait some milliseconds for other settlements of its group. */
  readonly isPatient?: boolean;
  /** Credit line against which the call is settled; undefined if the call has a separate hold. */
  readonly creditLineHold?: CreditLineHold | undefined;
  /**
   * True if the caller has the complete response. If an earlier settlement closed the hold for less, the difference is charged from the
   * workspace's available credits.
   */
  readonly isDelivered?: boolean;
  /** Facts for the usage record; absent if the process knows none. */
  readonly course?: CallCourse | undefined;
}

/** Facts about a call that its usage record contains, as the SQL functions read them. Times are in whole Unix milliseconds. */
export interface CallCourse {
  readonly kind?: UsageKind;
  /** Time of the last request to a provider. */
  readonly asked_ms?: number | undefined;
  /** Time at which the first part of a streamed response was sent to the client. */
  readonly first_ms?: number | undefined;
  /** Failed attempts of a call that succeeded after them, in order; absent without any. */
  readonly tries?: readonly FailedAttempt[] | undefined;
}

/**
 * Result of a settlement. `takenNano`: charged nano-credits. `wasClosed`: true if an earlier settlement had closed the hold; `takenNano` is
 * then the amount of the earlier one.
 */
export interface Settled {
  readonly takenNano: bigint;
  readonly wasClosed: boolean;
  /** Part of `takenNano` that was charged from the available credits now, because an earlier settlement had closed the hold for less. */
  readonly lateNano?: bigint;
}

/** A call for which a hold may exist. */
export type PlacedCall = Pick<CallSettlement, "workspaceId" | "jobId">;

export interface Ledger {
  /**
   * Settles a call. If the database rejects the usage figures, releases the hold and writes a settle_fault for an operator.
   * @throws Error if the database is unavailable for longer than `retryMs`; the janitor then closes the hold
   */
  settle(settlement: CallSettlement): Promise<Settled>;
  /** Releases holds whose admission may or may not have been committed. Never throws; retries for 30 s. */
  undo(calls: readonly PlacedCall[]): void;
  /** Resolves when all accepted settlements are written. */
  idle(): Promise<void>;
}

const GROUP_SQL = waitingForLocks(
  `settle_calls($1::uuid[], $2::uuid[], $3::smallint[], $4::bigint[], $5::text[], $6::text[], $7::jsonb[], $8::boolean[], $9::bigint[],
  $10, $11, $12::jsonb[]) as taken`,
  "$13",
);
const SINGLE_SQL = waitingForLocks(
  "settle_call($1, $2, $3::smallint, $4, $5, $6, $7::jsonb, $8, $9, $10::jsonb) as taken",
  "$11",
);
const CREDIT_LINE_SQL = waitingForLocks(
  `settle_lined_calls($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::boolean[], $8::bigint[], $9::bigint[],
  $10::text[], $11::text[], $12::jsonb[], $13::boolean[], $14::bigint[], $15, $16::jsonb[], $17::jsonb[]) as taken`,
  "$18",
);
const REFUSE_SQL = "select refuse_settle($1, $2, $3::smallint, $4, $5) as taken";
const DELIVERED_SQL = "select taken, late from settle_delivered($1, $2, $3::smallint, $4, $5, $6::jsonb, $7, $8)";

export function openLedger(options: {
  database: Database;
  log: Logger;
  /** Time for which a settlement is retried while the database is unavailable, in milliseconds. */
  retryMs: number;
  metrics?: Pick<Metrics, "groupSize">;
}): Ledger {
  const { database, log, retryMs } = options;
  const grouping = {
    connections: reserveForGroups(database, "settle"),
    sizeMax: GROUP_SIZE_MAX,
    lingerMs: SETTLE_LINGER_MS,
    lingerMaxMs: SETTLE_LINGER_MAX_MS,
    metrics: options.metrics,
  };
  const grouper = openGrouped<CallSettlement, bigint | null>({ ...grouping, name: "settle", run: settleGroup });
  const creditLineGrouper = openGrouped<CreditLineSettlement, Taken>({
    ...grouping,
    name: "lined settle",
    run: settleCreditLineGroup,
  });

  // Includes settlements that wait for a retry: a stopping process must finish them.
  const running = new InFlightSet<Promise<Settled>>();

  const settleHeld = async (item: CallSettlement): Promise<Settled> => {
    let refusedBy: unknown;
    // The grouped statement does not close a hold whose key exists. A settlement that every statement refuses is released.
    const ways = [
      () => grouper.call(item),
      async () => (await settleSingle({ target: database, lockMs: String(LOCK_TIMEOUT_MS) }, item))[0],
      () => refuseSettle(database, item, refusedBy),
    ];
    let way = 0;
    const take = async (): Promise<Settled> => {
      try {
        const taken = await ways[way]?.();
        if (typeof taken === "bigint") return { takenNano: taken, wasClosed: false };
        if (taken === null) return await settleClosed(database, item);
        throw new Error(`the hold of job ${item.jobId} stays locked`);
      } catch (error) {
        if (!isDataFault(error)) throw error;
        refusedBy = error;
        way += 1;
        log.error({ err: error, job_id: item.jobId, failed_methods: way }, "a settlement was rejected");
        if (way >= ways.length) throw error;
        return take();
      }
    };
    return repeated(item, take);
  };

  const repeated = <T>(item: CallSettlement, work: () => Promise<T>): Promise<T> =>
    retryStatement(work, {
      forMs: retryMs,
      pauseMs: (error) => (sqlState(error) === SQL.deadlock ? 20 : 100),
      onRetry: (error, attempts) =>
        log.warn({ err: error, job_id: item.jobId, sqlstate: sqlState(error), attempts }, "retrying a settlement"),
    });

  /** Settles a call against its credit line; if that is impossible, places a separate hold and settles that. */
  const settleOnLine = async (item: CreditLineSettlement): Promise<Settled> => {
    const settled = await repeated(item, async () => {
      const taken = await creditLineGrouper.call(item).catch((error: unknown) => {
        if (!isDataFault(error)) throw error;
        log.error({ err: error, job_id: item.jobId }, "a settlement on a credit line was rejected");
        return NEEDS_HOLD;
      });
      if (taken === null) return settleClosed(database, item);
      return taken === NEEDS_HOLD ? undefined : { takenNano: taken, wasClosed: false };
    });
    if (settled) return settled;
    await repeated(item, () => placeCreditLineHold(database, item, item.creditLineHold));
    return settleHeld(item);
  };
  const settle = (item: CallSettlement): Promise<Settled> =>
    isOnCreditLine(item) ? settleOnLine(item) : settleHeld(item);

  return {
    settle(item) {
      const work = settle(item).finally(() => running.delete(entry));
      const entry = running.add(work);
      return work;
    },
    undo(calls) {
      if (calls.length === 0) return;
      void undoAdmissions(database, log, calls);
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

type CreditLineSettlement = CallSettlement & { readonly creditLineHold: CreditLineHold };

function isOnCreditLine(item: CallSettlement): item is CreditLineSettlement {
  return item.creditLineHold !== undefined;
}

/** Result code for a call that cannot be settled against its credit line. The call then needs a separate hold. */
const NEEDS_HOLD = -3n;

/** Charged nano-credits; null if there was no hold. */
type Taken = bigint | null;

function settleGroup(items: readonly CallSettlement[], on: GroupRun): Promise<(Taken | typeof BUSY)[]> {
  const [first] = items;
  // The group form costs several times as much for a group of one.
  if (items.length === 1 && first && on.lockWait !== "long") return settleSingle(on, first);
  return on.lockWait === "none" ? settleMany(on, items, false) : lockingLate((isLate) => settleMany(on, items, isLate));
}

async function settleSingle(
  { target, lockMs }: Pick<GroupRun, "target" | "lockMs">,
  item: CallSettlement,
): Promise<(Taken | typeof BUSY)[]> {
  const rows = await target.query<{ taken: bigint | null }>(
    SINGLE_SQL,
    [
      item.workspaceId,
      item.jobId,
      item.attempt,
      item.usedNano,
      item.status,
      item.source,
      JSON.stringify(item.units),
      item.isEstimated,
      item.tokens,
      courseText(item),
      lockMs,
    ],
    "settle_call",
  );
  return [busy(rows[0]?.taken ?? null)];
}

/** Returns the facts of a call as JSON text; null for none. */
export function courseText({ course }: Pick<CallSettlement, "course">): string | null {
  return course === undefined ? null : JSON.stringify(course);
}

/** Converts the settlements of calls to columns, one array per parameter, in the parameter order of both SQL statements. */
function outcomeColumns(items: readonly CallSettlement[]): SqlValue[] {
  return [
    plainArray(items.map((item) => item.usedNano)),
    plainArray(items.map((item) => item.status)),
    items.map((item) => item.source),
    items.map((item) => JSON.stringify(item.units)),
    plainArray(items.map((item) => item.isEstimated)),
    plainArray(items.map((item) => item.tokens)),
  ];
}

async function settleMany(
  { target, waitMs, lockMs }: GroupRun,
  items: readonly CallSettlement[],
  isLate: boolean,
): Promise<(Taken | typeof BUSY)[]> {
  const rows = await target.query<{ taken: (bigint | null)[] }>(
    GROUP_SQL,
    [
      plainArray(items.map((item) => item.workspaceId)),
      plainArray(items.map((item) => item.jobId)),
      plainArray(items.map((item) => item.attempt)),
      ...outcomeColumns(items),
      waitMs,
      isLate,
      items.map(courseText),
      lockMs,
    ],
    "settle_calls",
  );
  return rows[0]?.taken.map(busy) ?? [];
}

async function settleCreditLineGroup(
  items: readonly CreditLineSettlement[],
  { target, lockWait, lockMs }: GroupRun,
): Promise<(Taken | typeof BUSY)[]> {
  const rows = await target.query<{ taken: Taken[] }>(
    CREDIT_LINE_SQL,
    [
      plainArray(items.map((item) => item.workspaceId)),
      plainArray(items.map((item) => item.creditLineHold.lineId)),
      plainArray(items.map((item) => item.jobId)),
      plainArray(items.map((item) => item.creditLineHold.keyId)),
      items.map((item) => item.creditLineHold.model),
      plainArray(items.map((item) => item.creditLineHold.amountNano)),
      plainArray(items.map((item) => item.creditLineHold.mayExceed)),
      plainArray(items.map((item) => timeOfId(item.jobId))),
      ...outcomeColumns(items),
      lockWait === "none",
      labelsColumn(items.map(({ creditLineHold }) => creditLineHold)),
      items.map(courseText),
      lockMs,
    ],
    "settle_lined_calls",
  );
  return rows[0]?.taken.map((taken) => (taken === NEEDS_HOLD ? taken : busy(taken))) ?? [];
}

/** Releases the hold of a call whose usage figures the database rejects, and records a settle_fault. */
async function refuseSettle(database: Database, item: CallSettlement, fault: unknown): Promise<Taken | typeof BUSY> {
  const rows = await database.query<{ taken: bigint | null }>(REFUSE_SQL, [
    item.workspaceId,
    item.jobId,
    item.attempt,
    item.usedNano?.toString() ?? null,
    sqlState(fault) ?? "",
  ]);
  return busy(rows[0]?.taken ?? null);
}

const NOTHING: Settled = { takenNano: 0n, wasClosed: true };

/**
 * Returns the amount that an earlier settlement charged. If the response was delivered and charged too little, charges the difference now.
 */
async function settleClosed(database: Database, item: CallSettlement): Promise<Settled> {
  const key = [item.workspaceId, item.jobId, item.attempt] as const;
  const [earlier] = await database.query<{ settled: bigint }>(
    "select settled from usage_record where workspace_id = $1 and job_id = $2 and attempt = $3",
    key,
  );
  if (earlier === undefined) return NOTHING;
  const takenNano = earlier.settled;
  if (item.isDelivered !== true || takenNano >= (item.usedNano ?? 0n)) {
    return { takenNano, wasClosed: true };
  }
  const { usedNano, source, units, isEstimated, tokens } = item;
  const [row] = await database.query<{ taken: bigint; late: bigint }>(
    DELIVERED_SQL,
    [...key, usedNano, source, JSON.stringify(units), isEstimated, tokens],
    "settle_delivered",
  );
  if (row?.taken === -1n) throw new Error(`credit lines are on their way back for the answer of job ${item.jobId}`);
  return { takenNano: row?.taken ?? takenNano, wasClosed: true, lateNano: row?.late ?? 0n };
}

async function undoAdmissions(database: Database, log: Logger, calls: readonly PlacedCall[]): Promise<void> {
  // A lost statement may still commit until the timeout of the server (10 s), hence the later tries.
  for (const waitMs of [250, 3_000, 12_000, 15_000]) {
    await Bun.sleep(waitMs);
    try {
      await database.query(
        `select settle_calls(array_agg(workspace_id), array_agg(job_id), array_agg(attempt), array_agg(null::bigint), array_agg('failed'::text),
           array_agg(null::text), array_agg('{}'::jsonb), array_agg(false), array_agg(0::bigint), $3)
         from hold join unnest($1::uuid[], $2::uuid[]) c(ws, job) on workspace_id = c.ws and job_id = c.job
         having count(*) > 0`,
        [
          plainArray(calls.map((call) => call.workspaceId)),
          plainArray(calls.map((call) => call.jobId)),
          LOCK_TIMEOUT_MS,
        ],
      );
    } catch (error) {
      log.warn({ err: error, calls: calls.length }, "retrying to undo an admission");
    }
  }
}

function busy(taken: bigint | null): Taken | typeof BUSY {
  return taken !== null && taken < 0n ? BUSY : taken;
}
