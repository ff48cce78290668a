/** Workspaces with money for tests, and the admission and finish functions called with plain values. */
import { plainArray } from "#shared/database/arrays.ts";
import { type Database, type Queryable, SQL, sqlState } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { CallSettlement } from "#shared/ledger/settle.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

export const CREDIT = 1_000_000_000n;

export interface TestCall {
  readonly workspaceId: string;
  readonly limit?: number | null;
  /** Absent: the call is only counted. */
  readonly jobId?: string;
  readonly amount?: bigint;
  readonly mayExceed?: boolean;
  readonly tokens?: number;
  readonly cap?: number | null;
  readonly lifeMs?: number;
  /** Absent: a key without a row. */
  readonly keyId?: string;
  readonly scopes?: readonly string[];
}

export interface TestSettlement {
  readonly jobId: string;
  readonly attempt?: number;
  /** Null or absent: release. */
  readonly used?: bigint | null;
  readonly tokens?: number;
}

const KEY_ID = newId();

/** A new workspace with this balance. */
export async function createWorkspace(target: Queryable, nano = 1_000n * CREDIT): Promise<string> {
  const id = newId();
  await target.query("insert into workspace (id, name) values ($1, $2)", [id, `workspace ${id}`]);
  if (nano > 0n) await target.query("select move_credits($1, 'top_up', $2, $3, null)", [id, nano, newId()]);
  return id;
}

interface TestKey {
  readonly key: string;
  readonly keyId: string;
  readonly memberId: string;
  readonly workspaceId: string;
}

/** A developer's key of a new workspace without money. */
export async function createKey(target: Queryable, key = mintKey(), workspace?: string): Promise<TestKey> {
  const workspaceId = workspace ?? (await createWorkspace(target, 0n));
  const [memberId, keyId] = [newId(), newId()];
  await target.query("insert into member (id, workspace_id, name, role) values ($1, $2, $3, 'developer')", [
    memberId,
    workspaceId,
    `ada ${memberId}`,
  ]);
  await target.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     values ($1, $2, $3, 'test', $4, $5, 'standard')`,
    [keyId, workspaceId, memberId, Buffer.from(hashKey(key)), keyHint(key)],
  );
  return { key, keyId, memberId, workspaceId };
}

/** Spends a nano-credit and has a daily budget of that name stop the workspace's calls for it. */
export async function stopCalls(target: Queryable, workspaceId: string, name: string): Promise<void> {
  const jobId = newId();
  await admitLone(target, { workspaceId, jobId, amount: 1n });
  await settleSingle(target, { jobId, used: 1n });
  await target.query(
    "insert into budget_alert (id, workspace_id, name, threshold, period, stops_calls) values ($1, $2, $3, 1, 'daily', true)",
    [newId(), workspaceId, name],
  );
  await target.query("select set_budget_bounds($1)", [workspaceId]);
}

/** Verdicts of the group function. */
export async function admitGroup(
  target: Queryable,
  calls: readonly TestCall[],
  options: { waitMs?: number | null; isLate?: boolean; nowMs?: number } = {},
): Promise<number[]> {
  const rows = await target.query<{ verdicts: number[] }>(
    `select admit_calls($1::uuid[], $2::int[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::boolean[],
       $8::bigint[], $9::bigint[], $10::bigint[], $11, $12, $13, $14::text[]) as verdicts`,
    [
      plainArray(calls.map((call) => call.workspaceId)),
      plainArray(calls.map((call) => call.limit ?? null)),
      plainArray(calls.map((call) => call.jobId ?? null)),
      plainArray(calls.map((call) => (call.jobId === undefined ? null : (call.keyId ?? KEY_ID)))),
      calls.map((call) => (call.jobId === undefined ? null : "test-model")),
      plainArray(calls.map((call) => (call.jobId === undefined ? null : (call.amount ?? 0n)))),
      plainArray(calls.map((call) => (call.jobId === undefined ? null : (call.mayExceed ?? false)))),
      plainArray(calls.map((call) => (call.jobId === undefined ? null : (call.tokens ?? 0)))),
      plainArray(calls.map((call) => call.cap ?? null)),
      plainArray(calls.map((call) => (call.jobId === undefined ? null : (call.lifeMs ?? 60_000)))),
      options.waitMs ?? null,
      options.nowMs ?? null,
      options.isLate ?? false,
      calls.map(({ scopes }) => (scopes === undefined ? null : plainArray(scopes))),
    ],
  );
  return rows[0]?.verdicts ?? [];
}

/** A target whose statements give up a lock after 20 ms. */
export function impatient(database: Database): Queryable {
  return {
    query: (text, values, name) =>
      database.transaction(async (tx) => {
        await tx.query("select set_config('lock_timeout', '20', true)");
        return tx.query(text, values, name);
      }),
  };
}

/** Verdict of the function for a lone call. */
export async function admitLone(target: Queryable, call: TestCall, nowMs?: number): Promise<number> {
  const isPaid = call.jobId !== undefined;
  const rows = await target.query<{ verdict: number }>(
    "select admit_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::uuid[]) as verdict",
    [
      call.workspaceId,
      call.limit ?? null,
      call.jobId ?? null,
      isPaid ? (call.keyId ?? KEY_ID) : null,
      isPaid ? "test-model" : null,
      isPaid ? (call.amount ?? 0n) : null,
      isPaid ? (call.mayExceed ?? false) : null,
      isPaid ? (call.tokens ?? 0) : null,
      call.cap ?? null,
      isPaid ? (call.lifeMs ?? 60_000) : null,
      nowMs ?? null,
      call.scopes === undefined ? null : plainArray(call.scopes),
    ],
  );
  return rows[0]?.verdict ?? -1;
}

/** SQL: whose the open holds of these jobs are, in their order; null for one that is closed. */
const ownersOf = (jobs: string): string =>
  `(select array_agg((select h.workspace_id from hold h where h.job_id = j.id limit 1) order by j.n) from unnest(${jobs}) with ordinality j(id, n))`;

/** Amounts that the group function took: nano-credits, null when closed before, -1n when busy. */
export async function settleGroup(
  target: Queryable,
  calls: readonly TestSettlement[],
  options: { waitMs?: number | null; isLate?: boolean } = {},
): Promise<(bigint | null)[]> {
  const rows = await target.query<{ taken: (bigint | null)[] }>(
    `select settle_calls(${ownersOf("$1::uuid[]")}, $1::uuid[], $2::smallint[], $3::bigint[], $4::text[], $5::text[], $6::jsonb[],
       $7::boolean[], $8::bigint[], $9, $10) as taken`,
    [
      plainArray(calls.map((call) => call.jobId)),
      plainArray(calls.map((call) => call.attempt ?? 1)),
      plainArray(calls.map((call) => call.used ?? null)),
      plainArray(calls.map((call) => statusOf(call))),
      calls.map(() => "sandbox/test-model"),
      calls.map((call) => JSON.stringify({ output: call.tokens ?? 0 })),
      plainArray(calls.map(() => false)),
      plainArray(calls.map((call) => call.tokens ?? 0)),
      options.waitMs ?? null,
      options.isLate ?? false,
    ],
  );
  return rows[0]?.taken ?? [];
}

/** The same for a lone call. */
export async function settleSingle(target: Queryable, call: TestSettlement): Promise<bigint | null> {
  const rows = await target.query<{ taken: bigint | null }>(
    `select settle_call((${ownersOf("array[$1::uuid]")})[1], $1, $2::smallint, $3, $4, $5, $6::jsonb, $7, $8) as taken`,
    [
      call.jobId,
      call.attempt ?? 1,
      call.used ?? null,
      statusOf(call),
      "sandbox/test-model",
      JSON.stringify({ output: call.tokens ?? 0 }),
      false,
      call.tokens ?? 0,
    ],
  );
  return rows[0]?.taken ?? null;
}

/** Runs a statement that locks balances late, and again with early locks when it says that it must. */
export async function lateIfPossible<T>(statement: (isLate: boolean) => Promise<T>): Promise<T> {
  try {
    return await statement(true);
  } catch (error) {
    if (sqlState(error) !== SQL.decideLocked) throw error;
    return statement(false);
  }
}

function statusOf(call: TestSettlement): string {
  return call.used === undefined || call.used === null ? "failed" : "succeeded";
}

export interface TestBalance {
  readonly amount: bigint;
  readonly held: bigint;
  readonly day_tokens: bigint;
  readonly holds: bigint;
}

export async function balanceOf(target: Queryable, workspaceId: string): Promise<TestBalance> {
  const [row] = await target.query<TestBalance>(
    `select amount, held, day_tokens, (select count(*) from hold h where h.workspace_id = b.workspace_id) as holds
     from balance b
     where workspace_id = $1`,
    [workspaceId],
  );
  if (row === undefined) throw new Error(`no balance of ${workspaceId}`);
  return row;
}

/** Small, fast and repeatable: the seed is printed when a test fails. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** Settlement of a call, as a process hands it to the ledger. @param usedNano null releases */
export function settlementOf(
  workspaceId: string,
  jobId: string,
  usedNano: bigint | null,
  changes: Partial<CallSettlement> = {},
): CallSettlement {
  return {
    workspaceId,
    jobId,
    attempt: 1,
    usedNano,
    status: usedNano === null ? "failed" : "succeeded",
    source: "sandbox/test-model",
    units: { output: 3 },
    isEstimated: false,
    tokens: 3,
    ...changes,
  };
}

/** "ok", or the code of the refusal. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}
