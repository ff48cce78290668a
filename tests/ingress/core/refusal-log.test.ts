/** Refused calls are stored in groups, within bounds, and never delay or fail a call. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { openRefusalLog, REFUSALS_PER_MINUTE_MAX } from "#ingress/core/refusal-log.ts";
import { REFUSED_CALLS_MAX } from "#shared/database/refused-calls.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import type { Model } from "#shared/calls/model.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { setSpendLimit, type SpendLimit, spendRefusal } from "#shared/ledger/spend-limits.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { admitLone, createKey, createWorkspace, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const ROUTE = { method: "POST", path: "/v1/chat/completions", errors: [], countsItself: true } as const;
const catalogue = {
  current: () => ({ models: new Map([["known", {} as Model]]), unroutable: new Map([["unset", "no key"]]) }),
};
const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
let metrics: ReturnType<typeof createMetrics>;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(() => {
  metrics = createMetrics("test");
});

const open = () => openRefusalLog({ database: db.database, log, metrics, catalogue, lingerMs: 60_000 });
const callOf = (workspaceId: string, requestId = newId()) => ({ requestId, caller: { workspaceId, keyId: newId() } });
const refusal = (code: Code = "rate_limit_exceeded", param: string | null = null) =>
  new ApiError(code, "no", { param });

async function stored(workspaceId: string): Promise<{ request_id: string; code: string; param: string | null }[]> {
  return db.query("select request_id, code, param from refused_call where workspace_id = $1 order by at, request_id", [
    workspaceId,
  ]);
}

async function dropped(): Promise<number> {
  const text = await metrics.registry.metrics();
  metrics.close();
  return Number(/^sluice_refusals_dropped_total\S* (\d+)$/m.exec(text)?.[1] ?? 0);
}

describe("a refusal log", () => {
  test("stores refusals of calls with their code and parameter", async () => {
    const refusals = open();
    const workspaceId = newId();
    const [a, b] = [callOf(workspaceId), callOf(workspaceId)];
    refusals.note(ROUTE, a, refusal("rate_limit_exceeded"));
    refusals.note(ROUTE, b, refusal("unsupported_value", "messages[0].content"));
    await refusals.close();
    expect(await stored(workspaceId)).toEqual([
      { request_id: a.requestId, code: "rate_limit_exceeded", param: null },
      { request_id: b.requestId, code: "unsupported_value", param: "messages[0].content" },
    ]);
    expect(await dropped()).toBe(0);
  });

  test("stores the requested model if the catalogue has it, or the capability, and sentences without texts of the caller", async () => {
    const refusals = open();
    const workspaceId = newId();
    const ask = (model: unknown, error: ApiError): void =>
      refusals.note(ROUTE, { ...callOf(workspaceId), asked: { model } }, error);
    ask("known", new ApiError("insufficient_credits", "1 credit is left."));
    ask("unset", new ApiError("unsupported_value", 'Expected voice to be a, got "a secret".'));
    ask("my secret", new ApiError("model_not_found", "There is no such model."));
    const run = { ...callOf(workspaceId), asked: { model: "known", capability: "image.resize" } };
    refusals.note(ROUTE, run, new ApiError("insufficient_credits", "1 credit is left."));
    ask(7, new ApiError("key_limit_reached", "The limit of the end user alice is reached."));
    refusals.note(ROUTE, callOf(workspaceId), new ApiError("daily_tokens_exceeded", "x".repeat(3_000)));
    await refusals.close();
    const rows = await db.query<{ model: string | null; message: string | null }>(
      "select model, message from refused_call where workspace_id = $1 order by request_id",
      [workspaceId],
    );
    expect(rows).toEqual([
      { model: "known", message: "1 credit is left." },
      { model: "unset", message: null },
      { model: null, message: null },
      { model: "image.resize", message: "1 credit is left." },
      { model: null, message: null },
      { model: null, message: "x".repeat(500) },
    ]);
  });

  test("stores the amounts of a spend limit, and not the name of its end user or tag", async () => {
    const refusals = open();
    const workspaceId = await createWorkspace(db.database, 100n * CREDIT);
    const { keyId } = await createKey(db.database, undefined, workspaceId);
    const [user, tag] = [newId(), newId()];
    const value = "alice (7) leaves 8. She\n";
    const limits: readonly SpendLimit[] = [
      { id: keyId, kind: "key", credits: { day: 3n * CREDIT } },
      { id: user, kind: "end_user", label: { name: "user", value }, credits: { week: 2n * CREDIT } },
      { id: tag, kind: "tag", label: { name: "project", value }, credits: { total: CREDIT } },
    ];
    for (const limit of limits) {
      await db.database.transaction((tx) => setSpendLimit(tx, workspaceId, limit));
      const call = { keyId, scopes: [user, tag], amountNano: 5n * CREDIT, mayExceed: limit.kind === "tag" };
      refusals.note(ROUTE, callOf(workspaceId), await spendRefusal(db.database, workspaceId, call));
      await refusals.close();
    }
    const rows = await db.query<{ message: string }>(
      "select message from refused_call where workspace_id = $1 order by request_id",
      [workspaceId],
    );
    const advice = "Request less, or ask an owner of the workspace to raise the limit.";
    const sentence = (limit: string, left: number): string =>
      `This call may cost up to 5 credits; the ${limit} (${left}) leaves ${left}.`;
    expect(rows.map(({ message }) => message.replace(/It resets at \d[\w:-]+Z\./, "It resets."))).toEqual([
      `${sentence("daily limit of the key", 3)} It resets. ${advice}`,
      `${sentence("weekly limit of the end user", 2)} It resets. ${advice}`,
      `${sentence("total limit of the tag", 1)} ${advice.replace("Request less", "Set an output limit (max_completion_tokens or max_output_tokens)")}`,
    ]);
  });

  test.each([
    ["metadata.alice", "metadata"],
    ["metadata.model.alice", "metadata.model"],
    ["messages[0].alice", "messages[0]"],
    ["messages[0].content[12].text", "messages[0].content[12].text"],
    [`messages[0].${"x".repeat(300)}\0`, "messages[0]"],
    ["input.alice[3]", "input"],
    ["input..model", "input"],
    ['input["alice"]', "input"],
    ["limits.credits.day", "limits.credits.day"],
    ["image[]", "image"],
    ["metadata[alice]", "metadata"],
    ["x-max-credits", "x-max-credits"],
    ["alice", null],
    ["7", null],
    ["", null],
  ])("stores the known part of the parameter %j", async (param, known) => {
    const refusals = open();
    const call = callOf(newId());
    refusals.note(ROUTE, call, refusal("unknown_parameter", param));
    await refusals.close();
    expect(await stored(call.caller.workspaceId)).toMatchObject([{ param: known }]);
  });

  test("ignores faults, errors of admitted calls, and routes without paid calls", async () => {
    const refusals = open();
    const workspaceId = newId();
    refusals.note(ROUTE, callOf(workspaceId), new Error("a fault"));
    refusals.note(ROUTE, callOf(workspaceId), refusal("upstream_error"));
    const other = { method: "POST", path: "/v1/files", errors: ["storage_limit_exceeded"] } as const;
    refusals.note(other, callOf(workspaceId), refusal());
    refusals.note({ ...other, method: "GET", path: "/v1/workflows/{id}/runs" }, callOf(workspaceId), refusal());
    const [batch, run] = [callOf(workspaceId), callOf(workspaceId)];
    refusals.note({ ...other, path: "/v1/batches", errors: ["insufficient_credits"] }, batch, refusal());
    refusals.note({ ...other, path: "/v1/workflows/{id}/runs" }, run, refusal());
    await refusals.close();
    expect((await stored(workspaceId)).map(({ request_id }) => request_id)).toEqual([batch.requestId, run.requestId]);
  });

  test("stores no call that has a hold or a usage record", async () => {
    const refusals = open();
    const workspaceId = await createWorkspace(db.database);
    const [held, settled] = [newId(), newId()];
    for (const jobId of [held, settled]) await admitLone(db.database, { workspaceId, jobId, amount: 1n });
    await settleSingle(db.database, { jobId: settled, used: 1n });
    for (const id of [held, settled]) refusals.note(ROUTE, callOf(workspaceId, id), refusal("overloaded"));
    await refusals.close();
    expect(await stored(workspaceId)).toEqual([]);
  });

  test("drops what a workspace sends beyond its share of a minute, and counts it", async () => {
    const refusals = open();
    const [noisy, quiet] = [newId(), newId()];
    for (let n = 0; n < REFUSALS_PER_MINUTE_MAX + 30; n++) refusals.note(ROUTE, callOf(noisy), refusal());
    refusals.note(ROUTE, callOf(quiet), refusal());
    await refusals.close();
    expect([(await stored(noisy)).length, (await stored(quiet)).length]).toEqual([REFUSALS_PER_MINUTE_MAX, 1]);
    expect(await dropped()).toBe(30);
  });

  test("keeps the newest of each workspace, also when ingresses store at the same time", async () => {
    const workspaceId = newId();
    await db.query(
      `insert into refused_call (workspace_id, request_id, key_id, at, endpoint, code)
       select $1, gen_random_uuid(), gen_random_uuid(), now() - n * interval '1 second', '/v1/embeddings', 'overloaded'
       from generate_series(1, $2::int) n`,
      [workspaceId, REFUSED_CALLS_MAX],
    );
    const logs = Array.from({ length: 4 }, open);
    const calls = logs.map((refusals) => {
      const call = callOf(workspaceId);
      refusals.note(ROUTE, call, refusal());
      return call.requestId;
    });
    await Promise.all(logs.map((refusals) => refusals.close()));
    const last = open();
    last.note(ROUTE, callOf(workspaceId), refusal());
    await last.close();
    const rows = await stored(workspaceId);
    expect(rows).toHaveLength(REFUSED_CALLS_MAX);
    expect(rows.map(({ request_id }) => request_id)).toEqual(expect.arrayContaining(calls));
    const [oldest] = await db.query("select extract(epoch from now() - min(at))::int > 990 as is_old from refused_call where workspace_id = $1", [workspaceId]); // prettier-ignore
    expect(oldest).toEqual({ is_old: true });
  });

  test("counts what the database did not take, and stores later refusals", async () => {
    let isAway = true;
    const refusals = openRefusalLog({
      database: {
        query: (text, values, name) =>
          isAway ? Promise.reject(new Error("away")) : db.database.query(text, values, name),
      },
      log,
      metrics,
      catalogue,
      lingerMs: 60_000,
    });
    const workspaceId = newId();
    refusals.note(ROUTE, callOf(workspaceId), refusal());
    await refusals.close();
    isAway = false;
    refusals.note(ROUTE, callOf(workspaceId), refusal());
    await refusals.close();
    expect(await stored(workspaceId)).toHaveLength(1);
    expect(await dropped()).toBe(1);
  });
});
