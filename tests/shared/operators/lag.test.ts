/** Load of the pools as an autoscaler reads it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import type { Model } from "#shared/calls/model.ts";
import { beatJobs } from "#shared/database/jobs.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createLagPage, type Lag, sumLanes } from "#shared/operators/lag.ts";
import { loadOf } from "#shared/operators/pools.ts";
import { POOLS } from "#shared/queue/subjects.ts";
import { admitLone, createWorkspace, CREDIT } from "#tests/shared/accounts.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const TOKEN = "lag_0123456789abcdef0123";

let db: TestDatabase;
let workspaceId: string;
let now: number;
let ask: (query?: string, token?: string | null) => Promise<Response>;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  for (const table of ["job", "hold", "worker_slots"]) await db.query(`delete from ${table}`);
  await db.query("update balance set held = 0");
  workspaceId = await createWorkspace(db.database, 100n * CREDIT);
  now = 0;
  const page = createLagPage({
    database: db.database,
    catalogue: () => ({ models: new Map<string, Model>() }),
    token: TOKEN,
    now: () => now,
  });
  ask = (query = "", token = TOKEN) => {
    const url = new URL(`http://janitor/lag${query}`);
    return page(url, new Request(url.href, token === null ? {} : { headers: { authorization: `Bearer ${token}` } }));
  };
});

const lagOf = async (pool: string): Promise<Lag> => (await (await ask(`?pool=${pool}`)).json()) as Lag;

async function call(): Promise<void> {
  expect(await admitLone(db.database, { workspaceId, jobId: newId(), amount: CREDIT })).toBe(0);
}

describe("/lag", () => {
  test("counts calls with waiting callers, jobs of both lanes and the fleet's slots", async () => {
    await beatJobs(db.database, { worker: newId(), pool: "chat", lane: "live", slots: 2, jobs: [], leaseMs: 1_000 });
    await beatJobs(db.database, { worker: newId(), pool: "chat", lane: "batch", slots: 1, jobs: [], leaseMs: 1_000 });
    for (let count = 0; count < 3; count++) await call();
    const request = jobRequest({ workspaceId, pool: "chat", lane: "batch" });
    expect(await createJobAdmission({ database: db.database }).admit(request)).toMatchObject({ kind: "admitted" });
    await db.query("update job set created_at = now() - interval '90 seconds'");
    const lag = await lagOf("chat");
    expect(lag).toMatchObject({ queued: 2, running: 2, wanted_slots: 4, slots: 3, processes: 1, pool: "chat" });
    expect(lag.oldest_waiting_seconds).toBeWithin(90, 95);
    expect(await lagOf("image")).toEqual({
      pool: "image",
      queued: 0,
      running: 0,
      wanted_slots: 0,
      oldest_waiting_seconds: 0,
      slots: 0,
      processes: 0,
    });
  });

  test("requests no slot for a job that is not due yet, and one for it when it is", async () => {
    const request = jobRequest({ workspaceId, pool: "image", lane: "batch" });
    expect(await createJobAdmission({ database: db.database }).admit(request)).toMatchObject({ kind: "admitted" });
    await db.query("update job set dispatched_at = null, not_before = now() + interval '1 hour'");
    expect(await lagOf("image")).toMatchObject({ queued: 1, wanted_slots: 0 });
    await db.query("update job set not_before = now() - interval '1 second'");
    now += 1_000;
    expect(await lagOf("image")).toMatchObject({ queued: 1, wanted_slots: 1 });
  });

  test("returns all pools by default, and rejects unknown ones", async () => {
    const { pools } = (await (await ask()).json()) as { pools: Lag[] };
    expect(pools.map(({ pool }) => pool)).toEqual([...POOLS]);
    for (const query of ["?pool=", "?pool=Chat", "?pool=nowhere"]) expect((await ask(query)).status).toBe(404);
  });

  test.each([null, "", TOKEN.slice(1), `${TOKEN}0`, TOKEN.toUpperCase()])("rejects a token like %j", async (token) => {
    expect((await ask("", token)).status).toBe(401);
  });

  test("is cached for a second", async () => {
    expect((await lagOf("chat")).wanted_slots).toBe(0);
    await call();
    expect((await lagOf("chat")).wanted_slots).toBe(0);
    now += 1_000;
    expect((await lagOf("chat")).wanted_slots).toBe(1);
  });

  test("reports an unresponsive Postgres in time", async () => {
    const gone = { ...db.database, transaction: () => Promise.reject(new Error("Connection terminated")) };
    const page = createLagPage({ database: gone, catalogue: () => ({ models: new Map() }), token: TOKEN });
    const url = new URL("http://janitor/lag");
    expect((await page(url, new Request(url.href, { headers: { authorization: `bearer ${TOKEN}` } }))).status).toBe(
      503,
    );
  });
});

test("a run that waits for its steps requests no slot", () => {
  const lane = { pool: "workflow", lane: "live", oldest_waiting_seconds: 0 } as const;
  const load = loadOf({ ...lane, queued: 2, deferred: 0, running: 500 }, { ...lane, slots: 224, processes: 1 }, 0);
  expect(sumLanes([load]).find(({ pool }) => pool === "workflow")).toMatchObject({ wanted_slots: 2, running: 500 });
});
