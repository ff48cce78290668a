/** The bounds of the recorder: what does not fit is dropped and counted, and the store's outages reach no call. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { openBodyRecorder } from "#ingress/kept-bodies/recorder.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { createLogger } from "#shared/base/logger.ts";
import { newId } from "#shared/base/ids.ts";
import { bodySettingOf } from "#shared/base/body-setting.ts";
import { type BodyKeeper, openBodyKeeper } from "#shared/kept-bodies/keeper.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";

let db: TestDatabase;
let storage: Storage;
let away: Storage;
const LOG = createLogger({ level: "silent", role: "test" });
const SEALER = createSealer([new Uint8Array(32).fill(7)]);
const ROUTE = { method: "POST", path: "/v1/chat/completions", countsItself: true } as const;
const WAIT_MS = 60_000;

beforeAll(async () => {
  db = await createTestDatabase();
  const { settings } = await createTestBucket();
  storage = openStorage(settings);
  // Nothing listens on this port.
  away = openStorage({ ...settings, endpoint: "http://127.0.0.1:9" });
});
afterAll(async () => {
  storage?.close();
  away?.close();
  await db?.drop();
});

interface Bed {
  readonly keeper: BodyKeeper;
  /** Records one call of the workspace and returns its id. */
  readonly call: (workspaceId: string, text?: string) => string;
  /** Numbers of calls by outcome. */
  readonly outcomes: () => Promise<Readonly<Record<string, number>>>;
}

function open(options: {
  readonly storage?: Storage;
  readonly hoursMax?: number;
  readonly queue?: number;
  readonly bytes?: number;
  readonly workspaceBytes?: number;
}): Bed {
  const metrics = createMetrics("test");
  const { queue = 1_000, bytes = 10_000_000, workspaceBytes = 10_000_000, hoursMax = 720 } = options;
  const keeper = openBodyKeeper({
    database: db.database,
    storage: options.storage ?? storage,
    sealer: SEALER,
    log: LOG,
    metrics,
    hoursMax,
    limits: { queue, bytes, workspaceBytes },
  });
  const recorder = openBodyRecorder(keeper);
  return {
    keeper,
    call(workspaceId, text = '{"a":"some text"}') {
      const caller = { workspaceId, keyId: newId(), bodies: bodySettingOf({ keep: "all" }) } as unknown as Caller;
      const requestId = newId();
      const headers = { "content-type": "application/json" };
      const request = new Request("http://localhost/", { method: "POST", headers });
      const capture = recorder.begin(caller, ROUTE, { requestId, request });
      if (capture === undefined) return "";
      capture.onRequest(Buffer.from(text));
      // A binary response, so that the call is queued at once.
      const response = new Response(null, { headers: { "content-type": "image/png" } });
      recorder.end(capture, { response, body: undefined, code: undefined });
      return requestId;
    },
    async outcomes() {
      await keeper.close(WAIT_MS);
      const lines = (await metrics.registry.metrics()).matchAll(/bodies_kept_total\{.*outcome="(\w+)".*\} (\d+)/g);
      metrics.close();
      return Object.fromEntries([...lines].map(([, outcome = "", count]) => [outcome, Number(count)]));
    },
  };
}

const rowsOf = (
  workspaceId: string,
): Promise<{ request_id: string; reference: string | null; is_expired: boolean }[]> =>
  db.query(
    "select request_id, reference, expires_at <= now() as is_expired from kept_body where workspace_id = $1 order by request_id",
    [workspaceId],
  );

test("a full queue drops calls and counts them", async () => {
  const workspaceId = await createWorkspace(db.database);
  const { call, outcomes } = open({ queue: 3 });
  // The first call leaves the queue at once.
  const ids = Array.from({ length: 10 }, () => call(workspaceId));
  expect(await outcomes()).toEqual({ stored: 4, queue: 6 });
  expect((await rowsOf(workspaceId)).map(({ request_id: id }) => id)).toEqual(ids.slice(0, 4));
});

test("full memory drops calls of the workspace that fills it, and is free again later", async () => {
  const [first, second] = [await createWorkspace(db.database), await createWorkspace(db.database)];
  const { keeper, call, outcomes } = open({ bytes: 400_000 });
  const long = JSON.stringify("x".repeat(150_000));
  for (let index = 0; index < 3; index += 1) call(first, long);
  call(second, long);
  expect([(await rowsOf(first)).length, (await rowsOf(second)).length]).toEqual([0, 0]);
  await keeper.close(WAIT_MS);
  call(first, long);
  expect(await outcomes()).toEqual({ stored: 3, memory: 2 });
  expect([(await rowsOf(first)).length, (await rowsOf(second)).length]).toEqual([2, 1]);
});

test("a workspace at its limit keeps no further bodies, and its count equals its rows", async () => {
  const workspaceId = await createWorkspace(db.database);
  const { call, outcomes } = open({ workspaceBytes: 1_500 });
  for (let index = 0; index < 6; index += 1) call(workspaceId);
  const { stored = 0, limit = 0 } = await outcomes();
  expect(stored).toBeGreaterThan(0);
  expect([stored + limit, limit > 0]).toEqual([6, true]);
  const [sums] = await db.query<{ counted: bigint; summed: bigint }>(
    `select s.bytes as counted, (select sum(bytes)::bigint from kept_body where workspace_id = $1) as summed
     from kept_body_storage s where workspace_id = $1`,
    [workspaceId],
  );
  expect(sums?.counted).toBe(sums?.summed ?? -1n);
  expect(Number(sums?.counted)).toBeLessThanOrEqual(1_500);
});

test("while the object store is away, calls are dropped and their rows left to the janitor", async () => {
  const workspaceId = await createWorkspace(db.database);
  const { call, outcomes } = open({ storage: away });
  call(workspaceId);
  expect(await outcomes()).toEqual({ store: 1 });
  expect(await rowsOf(workspaceId)).toEqual([expect.objectContaining({ reference: null, is_expired: true })]);
}, 60_000);

test("nothing is kept where the operator forbids it", async () => {
  const { call, outcomes } = open({ hoursMax: 0 });
  expect(call(await createWorkspace(db.database))).toBe("");
  expect(await outcomes()).toEqual({});
});

test("the operator's bound shortens the retention of a setting from before", async () => {
  const workspaceId = await createWorkspace(db.database);
  const { call, outcomes } = open({ hoursMax: 2 });
  call(workspaceId);
  expect(await outcomes()).toEqual({ stored: 1 });
  const [row] = await db.query<{ hours: number }>(
    "select extract(epoch from expires_at - created_at)::int / 3600 as hours from kept_body where workspace_id = $1",
    [workspaceId],
  );
  expect(row?.hours).toBe(2);
});
