/** Rows that a sweep fails on: as many as it takes at once, and the one behind them is worked on all the same. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type NatsConnection } from "nats";

import { newFileId } from "#shared/files/id.ts";
import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import { sweepUploads } from "#workers/janitor/files.ts";
import { type JobSweepContext, sweepJobRecords, sweepLeases, sweepUnknownJobs } from "#workers/janitor/jobs.ts";
import { sweepExpiredHolds } from "#workers/janitor/money.ts";
import { watchFailures } from "#workers/janitor/queue.ts";
import { SWEEP_RETRY_MAX_MS, SWEEP_RETRY_MIN_MS } from "#shared/database/sweep-retries.ts";

const log = createLogger({ level: "silent", role: "test" });

let nats: TestNats;
let db: TestDatabase;
let connection: NatsConnection;
let metrics: Metrics;
let storage: Storage;
let context: JobSweepContext;
let workspaceId: string;

beforeAll(async () => {
  const [server, database, bucket] = await Promise.all([startNats(), createTestDatabase(), createTestBucket()]);
  [nats, db] = [server, database];
  connection = await connect({ servers: nats.url });
  await ensureTopology(connection, 1);
  metrics = createMetrics("test");
  storage = openStorage(bucket.settings);
  const publisher = createPublisher(connection, "janitor");
  const dispatcher = createJobDispatcher({ database: db.database, publisher, metrics, log });
  context = { connection, database: db.database, storage, dispatcher, metrics, log, unknownKeepMs: 3_600_000 };
  // What is bad in a row that nothing can be done with.
  await db.query(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'bad row' using errcode = 'check_violation'; end $$",
  );
  await db.query(
    "create trigger bad before delete on hold for each row when (old.model = 'bad') execute function refuse()",
  );
  await db.query(
    "create trigger bad before update on job for each row when (old.model = 'bad') execute function refuse()",
  );
  await db.query(
    "create trigger bad before update on file for each row when (old.filename = 'bad') execute function refuse()",
  );
}, 120_000);
beforeEach(async () => {
  workspaceId = await createWorkspace(db.database);
});
afterAll(async () => {
  metrics.close();
  storage.close();
  await connection.close();
  await Promise.all([nats.close(), db.drop()]);
});

/** Jobs as the sweeps find them; the bad ones have waited longer. */
async function jobs(bad: number, columns: Readonly<Record<string, string>>): Promise<string> {
  const names = Object.keys(columns);
  const insert = (model: string, from: string): Promise<{ id: string }[]> =>
    db.query<{ id: string }>(
      `insert into job (id, workspace_id, pool, lane, kind, modality, model, deadline, work, created_at, ${names.join(", ")})
       select gen_random_uuid(), $1, 'chat', 'batch', 'chat', 'text', '${model}', now() + interval '1 day', '{}', at,
              ${Object.values(columns).join(", ")}
       from (${from}) g(at)
       returning id`,
      [workspaceId],
    );
  await insert("bad", `select now() - interval '2 hours' from generate_series(1, ${bad})`);
  const [good] = await insert("good", "select now() - interval '1 hour'");
  return good?.id ?? "";
}

const put = async (sweep: string): Promise<number> =>
  Number((await db.query<{ n: bigint }>("select count(*) as n from sweep_retry where sweep = $1", [sweep]))[0]?.n);

describe("failing rows, as many as a batch of a sweep, block no other of", () => {
  test("expired holds", async () => {
    const ledger = openLedger({ database: db.database, log, retryMs: 0 });
    const hold = (model: string, count: number, minutes: number): Promise<object[]> =>
      db.query(
        `with made as (
           insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
           select gen_random_uuid(), 1, $1, gen_random_uuid(), $2, 1, false, current_date, 0, now() - $4 * interval '1 minute'
           from generate_series(1, $3::int) returning amount)
         update balance set held = held + (select sum(amount) from made) where workspace_id = $1`,
        [workspaceId, model, count, minutes],
      );
    // Each is refused three times, one after the other on the rows of one workspace: a turn of 500 is 2,000 statements in a row.
    const batch = 50;
    await hold("bad", batch, 2);
    await hold("good", 1, 1);
    const sweep = (): Promise<number> =>
      sweepExpiredHolds({ database: db.database, ledger, log, metrics, startedMs: 0, batch });
    expect(await sweep()).toBe(batch);
    await sweep();
    expect(await db.query("select model, count(*) as n from hold group by 1")).toEqual([
      { model: "bad", n: BigInt(batch) },
    ]);
    expect(await put("expired holds")).toBe(batch);
    // A row that can be closed again is, when its time comes.
    await db.query("update hold set model = 'mended'");
    await db.query("update sweep_retry set retry_at = now()");
    await sweep();
    expect(await db.query("select 1 from hold")).toEqual([]);
    await ledger.idle();
  }, 60_000);

  test("expired holds, and a server that has just started leaves them to processes with pending settlements", async () => {
    const ledger = openLedger({ database: db.database, log, retryMs: 0 });
    await db.query(
      `insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
       values (gen_random_uuid(), 1, $1, gen_random_uuid(), 'good', 0, false, current_date, 0, now() - interval '1 minute')`,
      [workspaceId],
    );
    const [up] = await db.query<{ ms: number }>(
      "select (extract(epoch from now() - pg_postmaster_start_time()) * 1000)::float8 as ms",
    );
    const sweep = (startedMs: number): Promise<number> =>
      sweepExpiredHolds({ database: db.database, ledger, log, metrics, startedMs });
    expect(await sweep((up?.ms ?? 0) + 60_000)).toBe(0);
    expect(await sweep(up?.ms ?? 0)).toBe(1);
    await ledger.idle();
  });

  test("jobs whose owner stopped its heartbeats", async () => {
    const expired = { state: "'running'", claims: "6", lease_until: "at" };
    const good = await jobs(200, expired);
    expect(await sweepLeases(context)).toBe(200);
    await sweepLeases(context);
    expect(await db.query("select model, state from job where id = $1", [good])).toEqual([
      { model: "good", state: "failed" },
    ]);
    expect(await put("job leases")).toBe(200);
    await db.query("delete from job");
    await db.query("delete from dead_letter");
  }, 60_000);

  test("jobs of unreported outcome", async () => {
    const good = await jobs(200, { state: "'running'", unknown_since: "at - interval '1 day'" });
    await sweepUnknownJobs(context);
    await sweepUnknownJobs(context);
    expect(await db.query("select model, state from job where id = $1", [good])).toEqual([
      { model: "good", state: "failed" },
    ]);
    expect(await put("unknown jobs")).toBe(200);
    await db.query("delete from job");
  }, 60_000);

  test("records of jobs, whose store stays", async () => {
    // No JSON, as no worker writes it.
    const facts = { state: "'completed'", keeps_record: "true", ended_at: "at" };
    const good = await jobs(100, {
      ...facts,
      result: "case when at < now() - interval '90 minutes' then 'no JSON' end",
    });
    const turns = Math.ceil(100 / 8) + 1;
    for (let turn = 0; turn < turns; turn++) await sweepJobRecords(context);
    expect(await db.query("select recorded from job where id = $1", [good])).toEqual([{ recorded: "completed" }]);
    expect(await put("job records")).toBeGreaterThanOrEqual(100);
    await db.query("delete from job");
  }, 60_000);

  test("files, whose other sweeps continue as well", async () => {
    const file = (state: string, name: string, count: number, minutes: number): Promise<{ id: string }[]> => {
      const ids = Array.from({ length: count }, newFileId);
      return db.query<{ id: string }>(
        `insert into file (id, workspace_id, state, filename, purpose, media_type, sha256, block_sha256, block_bytes, lease_until, expires_at,
                           ended_at, bytes)
         select id, $1, $3, $4, 'user_data', 'text/plain', '', '', 1, case when $3 = 'uploading' then at end,
                case when $3 = 'ready' then at end, case when $3 = 'deleted' then at end, 0
         from unnest($2::text[]) id, (select now() - $5 * interval '1 minute' as at) t
         returning id`,
        [workspaceId, ids, state, name, minutes],
      );
    };
    await file("uploading", "bad", 500, 120);
    await file("ready", "bad", 500, 120);
    const good = [...(await file("uploading", "good", 1, 60)), ...(await file("ready", "good", 1, 60))];
    await file("deleted", "good", 1, 60);
    const sweep = (): Promise<void> => sweepUploads({ storage, database: db.database, log });
    await sweep();
    await sweep();
    const left = await db.query<{ id: string; filename: string }>(
      "select id, filename from file where filename = 'good'",
    );
    expect(left).toEqual([]);
    expect(good).toHaveLength(2);
    expect([await put("expired uploads"), await put("outlived files")]).toEqual([500, 500]);
    await db.query("delete from file");
  }, 60_000);
});

test("a deferred row is retried at growing intervals, is counted, and is forgotten after a long success", async () => {
  await db.query("delete from sweep_retry");
  const good = await jobs(1, { state: "'running'", claims: "6", lease_until: "at" });
  const waits: number[] = [];
  for (let failures = 1; failures <= 12; failures++) {
    await sweepLeases(context);
    const [row] = await db.query<{ failures: number; ms: number; error: string }>(
      "select failures, (extract(epoch from retry_at - clock_timestamp()) * 1000)::float8 as ms, error from sweep_retry",
    );
    expect(row).toMatchObject({ failures, error: "23514" });
    waits.push(row?.ms ?? 0);
    if (failures === 1) {
      await db.query("update sweep_retry set retry_at = now() + interval '1 hour'");
      await watchFailures(db.database, metrics);
      expect(await metrics.registry.getSingleMetricAsString("sluice_sweep_put_off")).toMatch(
        /job leases",role="test"\} 1\n/,
      );
    }
    await db.query("update sweep_retry set retry_at = now()");
  }
  for (const [index, wait] of waits.entries()) {
    const before = waits[index - 1] ?? 0;
    expect(wait).toBeGreaterThan(before > SWEEP_RETRY_MAX_MS / 2 ? SWEEP_RETRY_MAX_MS / 2 : before);
  }
  expect(waits[0]).toBeLessThanOrEqual(SWEEP_RETRY_MIN_MS);
  expect(waits.at(-1)).toBeLessThanOrEqual(SWEEP_RETRY_MAX_MS);
  expect(waits.at(-1)).toBeGreaterThan(SWEEP_RETRY_MAX_MS / 2);
  expect(good).not.toBe("");
  await db.query("delete from job");
});
