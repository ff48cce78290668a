/**
 * Closes holds: settle or release, once per job and attempt, grouped. With move.ts the only code that moves money.
 * Idempotency key: (workspace id, job id, attempt). Every write may happen twice; the second finds the hold gone and changes nothing.
 */
import { plainArray } from "#shared/database/arrays.ts";
import { type Database, isDataFault, SQL, sqlState, waitingForLocks } from "#shared/database/client.ts";
import { retryStatement, LOCK_TIMEOUT_MS } from "#shared/database/retry.ts";
import { type GroupRun, lockingLate, openGrouped, GROUP_SIZE_MAX } from "#shared/database/grouped.ts";
import { BUSY } from "#shared/database/grouper.ts";
import { InFlightSet } from "#shared/in-flight.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";

import { type LinedHold, placeLinedHold } from "./credit-lines.ts";

/**
 * Calls that are answered before they are settled wait this long to be settled with others. By then a hold that was placed behind its call
 * stands.
 */
const SETTLE_LINGER_MS = 20;
/** The same under load, where a larger group makes fewer commits. */
const SETTLE_LINGER_MAX_MS = 40;

/** A settle waits this long for the hold of a call on a credit line, and takes it out of the line then. */
export const LINED_WAIT_MS = paced(4_000);
const LINED_PAUSE_MIN_MS = 10;
const LINED_PAUSE_MAX_MS = 500;

export type UsageStatus = "succeeded" | "failed" | "cancelled" | "lost";

export interface CallSettlement {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  /** Nano-credits used; null releases the hold. */
  readonly usedNano: bigint | null;
  readonly status: UsageStatus;
  /** `provider/model` that served, null when none did. */
  readonly source: string | null;
  /** Measured units, for the usage record. */
  readonly units: Readonly<Record<string, number>>;
  readonly isEstimated: boolean;
  /** Tokens used, corrects the daily counter. */
  readonly tokens: number;
  /** No caller waits for it: it may wait a few milliseconds for others. */
  readonly isPatient?: boolean;
  /** It went on its way on a credit line: its hold may not stand yet. */
  readonly lined?: LinedHold | undefined;
  /** The caller has the whole answer: what a hold that had been closed for less did not pay is taken from what is available. */
  readonly isDelivered?: boolean;
}

/** Nano-credits taken; `wasClosed` when an earlier settle had done it (the amount is then that one's). */
export interface Settled {
  readonly takenNano: bigint;
  readonly wasClosed: boolean;
  /** Those of them that were taken now, from what is available: the hold had been closed for less. */
  readonly lateNano?: bigint;
}

/** A call whose hold may have been placed. */
export type PlacedCall = Pick<CallSettlement, "workspaceId" | "jobId">;

export interface Ledger {
  /**
   * Figures that the database refuses release the hold, and leave a settle_fault for an operator.
   * @throws Error when the database stays away longer than `retryMs`; the hold then waits for the janitor
   */
  settle(settlement: CallSettlement): Promise<Settled>;
  /** Releases holds whose admission may or may not have been committed. Never throws; tries for half a minute. */
  undo(calls: readonly PlacedCall[]): void;
  /** Resolves when everything accepted has been written. */
  idle(): Promise<void>;
}

const GROUP_SQL = waitingForLocks(
  `settle_calls($1::uuid[], $2::uuid[], $3::smallint[], $4::bigint[], $5::text[], $6::text[], $7::jsonb[], $8::boolean[], $9::bigint[],
  $10, $11) as taken`,
  "$12",
);
const SINGLE_SQL = waitingForLocks("settle_call($1, $2, $3::smallint, $4, $5, $6, $7::jsonb, $8, $9) as taken", "$10");
const REFUSE_SQL = "select refuse_settle($1, $2, $3::smallint, $4, $5) as taken";
const DELIVERED_SQL = "select taken, late from settle_delivered($1, $2, $3::smallint, $4, $5, $6::jsonb, $7, $8)";

export function openLedger(options: {
  database: Database;
  log: Logger;
  /** Time for which a settle is repeated while the database is away. */
  retryMs: number;
  metrics?: Pick<Metrics, "groupSize">;
}): Ledger {
  const { database, log, retryMs } = options;
  const grouper = openGrouped<CallSettlement, bigint | null>({
    database,
    name: "settle",
    sizeMax: GROUP_SIZE_MAX,
    lingerMs: SETTLE_LINGER_MS,
    lingerMaxMs: SETTLE_LINGER_MAX_MS,
    metrics: options.metrics,
    run: settleGroup,
  });

  // Those asleep between two tries included: a process that ends must not leave them behind.
  const running = new InFlightSet<Promise<Settled>>();

  /** Returns undefined for a call that has no hold and, as far as that is looked for, was not settled before. */
  const settleInTime = async (item: CallSettlement, looksBack = true): Promise<Settled | undefined> => {
    let refusedBy: unknown;
    // The group form does not close a hold whose key is taken; what no form takes is released.
    const ways = [
      () => grouper.call(item),
      async () => (await settleSingle({ target: database, lockMs: String(LOCK_TIMEOUT_MS) }, item))[0],
      () => refuseSettle(database, item, refusedBy),
    ];
    let way = 0;
    const take = async (): Promise<Settled | undefined> => {
      try {
        const taken = await ways[way]?.();
        if (typeof taken === "bigint") return { takenNano: taken, wasClosed: false };
        if (taken === null) return looksBack ? await settleClosed(database, item) : undefined;
        throw new Error(`the hold of job ${item.jobId} stays locked`);
      } catch (error) {
        if (!isDataFault(error)) throw error;
        refusedBy = error;
        way += 1;
        log.error({ err: error, job_id: item.jobId, way }, "a settle was refused");
        if (way >= ways.length) throw error;
        return take();
      }
    };
    return retryStatement(take, {
      forMs: retryMs,
      pauseMs: (error) => (sqlState(error) === SQL.deadlock ? 20 : 100),
      onRetry: (error, tries) =>
        log.warn({ err: error, job_id: item.jobId, sqlstate: sqlState(error), tries }, "a settle is repeated"),
    });
  };

  const settle = async (item: CallSettlement): Promise<Settled> => {
    const { lined } = item;
    if (lined === undefined) return (await settleInTime(item)) ?? NOTHING;
    let giveUpAt: number | undefined;
    for (let misses = 0; ; misses++) {
      // The first time it is most likely being placed right now.
      const settled = await settleInTime(item, misses > 0);
      if (settled) return settled;
      giveUpAt ??= performance.now() + LINED_WAIT_MS;
      if (performance.now() > giveUpAt) break;
      await Bun.sleep(Math.min(LINED_PAUSE_MIN_MS * 2 ** misses, LINED_PAUSE_MAX_MS));
    }
    const state = await retryStatement(() => placeLinedHold(database, item, lined, 2 * retryMs), { forMs: retryMs });
    const fact = { job_id: item.jobId, workspace_id: item.workspaceId };
    if (state === "missing")
      log.error(fact, "a call has no hold, and neither its credit line nor the balance has enough");
    else log.warn(fact, "the hold of a call on a credit line was placed by whoever settles it");
    // It is none that comes late any more.
    return (await settleInTime({ ...item, lined: undefined })) ?? NOTHING;
  };

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

/** Nano-credits taken, null when there was no hold, BUSY while it is locked. */
type Taken = bigint | null | typeof BUSY;

function settleGroup(items: readonly CallSettlement[], on: GroupRun): Promise<Taken[]> {
  const [first] = items;
  // The group form costs several times as much for a group of one.
  if (items.length === 1 && first && on.lockWait !== "long") return settleSingle(on, first);
  return on.lockWait === "none" ? settleMany(on, items, false) : lockingLate((isLate) => settleMany(on, items, isLate));
}

async function settleSingle(
  { target, lockMs }: Pick<GroupRun, "target" | "lockMs">,
  item: CallSettlement,
): Promise<Taken[]> {
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
      lockMs,
    ],
    "settle_call",
  );
  return [busy(rows[0]?.taken ?? null)];
}

async function settleMany(
  { target, waitMs, lockMs }: GroupRun,
  items: readonly CallSettlement[],
  isLate: boolean,
): Promise<Taken[]> {
  const rows = await target.query<{ taken: (bigint | null)[] }>(
    GROUP_SQL,
    [
      plainArray(items.map((item) => item.workspaceId)),
      plainArray(items.map((item) => item.jobId)),
      plainArray(items.map((item) => item.attempt)),
      plainArray(items.map((item) => item.usedNano)),
      plainArray(items.map((item) => item.status)),
      items.map((item) => item.source),
      items.map((item) => JSON.stringify(item.units)),
      plainArray(items.map((item) => item.isEstimated)),
      plainArray(items.map((item) => item.tokens)),
      waitMs,
      isLate,
      lockMs,
    ],
    "settle_calls",
  );
  // A call on a credit line is looked for again in a moment: it is not contended for that.
  return rows[0]?.taken.map((taken, at) => (taken === -2n && items[at]?.lined ? null : busy(taken))) ?? [];
}

/** Releases the hold of figures that the database does not take. */
async function refuseSettle(database: Database, item: CallSettlement, fault: unknown): Promise<Taken> {
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

/** Tells what an earlier settle took; what a delivered answer still owes is taken now. Undefined: there was none. */
async function settleClosed(database: Database, item: CallSettlement): Promise<Settled | undefined> {
  const key = [item.workspaceId, item.jobId, item.attempt] as const;
  const [earlier] = await database.query<{ settled: bigint }>(
    "select settled from usage_record where workspace_id = $1 and job_id = $2 and attempt = $3",
    key,
  );
  if (earlier === undefined) return undefined;
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
  // The lost statement may still commit until the server's own timeout (10 s) ends it, hence the later tries.
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
      log.warn({ err: error, calls: calls.length }, "undo of an admission is repeated");
    }
  }
}

function busy(taken: bigint | null): Taken {
  return taken !== null && taken < 0n ? BUSY : taken;
}
