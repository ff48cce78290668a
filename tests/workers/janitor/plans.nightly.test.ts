/** Cost of frequent statements while much is open: an index finds what is due, nothing is walked. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Database, Queryable } from "#shared/database/client.ts";
import { readKeyUsage } from "#shared/database/key-spend.ts";
import { countDeliveries } from "#shared/database/deliveries.ts";
import {
  dropEndedJobs,
  findOverdue,
  findExpired,
  lanesWaiting,
  oldestDispatch,
  redispatchUnknown,
  redispatchUnsent,
  takeUnclaimed,
} from "#shared/database/job-sweeps.ts";
import {
  ALL_RUNS,
  ALL_WORK,
  nextOldRuns,
  nextOpenWork,
  takeDueRuns,
  takeRunsOfEndedJobs,
  takeRunsOfEndedRuns,
  takeStalledRuns,
  takeUnbegunRuns,
} from "#shared/database/run-sweeps.ts";
import { findEndedWork } from "#shared/database/run-work.ts";
import { unknownNames } from "#shared/database/open-starts.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { rollUpAll } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { openUsageRollUp, sweepExpiredHolds } from "#workers/janitor/money.ts";
import { sweepRetention } from "#workers/janitor/retention.ts";

const MANY = 20_000;
/** Rows of one insert: a client of ours gives a statement up after ten seconds. */
const PIECE = 1_000;
const log = createLogger({ level: "silent", role: "test" });

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  // Half of the jobs wait on the queue, half have ended; each has a hold, and so have as many calls without a job.
  await inPieces(MANY, (count) =>
    database.query(
      `insert into job (id, workspace_id, pool, lane, kind, modality, state, dispatch, dispatched_at, stream_seq, deadline,
                        work, ended_at)
       select uuidv7(), gen_random_uuid(), 'chat', 'batch', 'chat', 'text', case when i % 2 = 0 then 'queued' else 'completed' end,
              1, now(), i, now() + interval '1 day', '{}', case when i % 2 = 1 then now() end
       from generate_series((select count(*) from job) + 1, (select count(*) from job) + $1::int) i`,
      [count],
    ),
  );
  await inPieces(MANY, (count) =>
    database.query(
      `insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
       (select id, 1, workspace_id, gen_random_uuid(), 'm', 1, false, current_date, 0, deadline from job
        where not exists (select from hold where job_id = id) limit $1)
       union all
       select uuidv7(), 1, gen_random_uuid(), gen_random_uuid(), 'm', 1, false, current_date, 0, now() + interval '10 minutes'
       from generate_series(1, $1::int)`,
      [count],
    ),
  );
  await database.query("analyze job, hold");
}, 120_000);

afterAll(() => database.drop());

async function inPieces(count: number, add: (count: number) => Promise<unknown>): Promise<void> {
  for (let left = count; left > 0; left -= PIECE) await add(Math.min(PIECE, left));
}

interface Plan {
  readonly statement: string;
  readonly lines: readonly string[];
}

/** Returns the plan by which Postgres runs each statement that `work` sends. */
async function plansOf(work: (target: Database) => Promise<unknown>): Promise<Plan[]> {
  const sent: { text: string; values: Parameters<Queryable["query"]>[1] }[] = [];
  const query: Queryable["query"] = (text, values, name) => {
    sent.push({ text, values });
    return database.database.query(text, values, name);
  };
  await work({ ...database.database, query });
  return Promise.all(
    sent.map(async ({ text, values }) => {
      const rows = await database.database.query<Record<string, string>>(`explain ${text}`, values);
      return { statement: text, lines: rows.map((row) => String(row["QUERY PLAN"]).trim()) };
    }),
  );
}

const walks = ({ lines }: Plan): boolean => lines.some((line) => line.includes("Seq Scan"));

/** The conditions that an index was searched with. */
const conditions = ({ lines }: Plan): string[] => lines.filter((line) => line.startsWith("Index Cond:"));

describe("among many open holds", () => {
  test("expired holds are found by an index, and none is scanned to count them", async () => {
    const metrics = createMetrics("test");
    const ledger = openLedger({ database: database.database, log, retryMs: 1_000 });
    const plans = await plansOf((target) =>
      sweepExpiredHolds({ database: target, ledger, log, metrics, startedMs: 0 }),
    );
    expect(plans.filter(walks)).toEqual([]);
    expect(conditions(plans[0] ?? { statement: "", lines: [] }).join()).toContain("deadline <");
    // Beyond what is counted, the figure is Postgres' own estimate.
    const counted = Number(/ (\d+)\s*$/.exec(await metrics.registry.getSingleMetricAsString("sluice_holds_open"))?.[1]);
    expect(counted).toBeGreaterThan(MANY);
    metrics.close();
    await ledger.idle();
  });
});

describe("among the sums of many keys", () => {
  test("the usage of a key is read from its own hours, records and total", async () => {
    const workspaceId = newId();
    const ids = Array.from({ length: 50 }, () => newId());
    await inPieces(ids.length, (count) =>
      database.query(
        `with key as (select unnest($2::uuid[]) as id), totals as (
           insert into usage_key (workspace_id, key_id, calls, failed, settled, tokens) select $1, id, 400, 0, 400, 0 from key)
         insert into usage_hour (workspace_id, hour, key_id, model, workflow_id, status, calls, settled, uncollected, tokens)
         select $1, date_trunc('month', now(), 'UTC') + i * interval '1 hour', id, 'm', gen_random_uuid(), 'succeeded', 1, 1, 0, 0
         from key cross join generate_series(0, 399) i`,
        [workspaceId, `{${ids.splice(0, count).join(",")}}`],
      ),
    );
    await database.query("vacuum analyze usage_hour");
    await database.query("vacuum analyze usage_key");
    const [{ id = "" } = {}] = await database.query<{ id?: string }>("select key_id as id from usage_key limit 1");
    const plans: string[] = [];
    const explaining: Database = {
      ...database.database,
      transaction: (work) =>
        database.database.transaction((tx) => {
          const query: Queryable["query"] = async (text, values) => {
            if (text.startsWith("with")) {
              const rows = await tx.query<Record<string, string>>(`explain ${text}`, values);
              plans.push(...rows.map((row) => String(row["QUERY PLAN"]).trim()));
            }
            return tx.query(text, values);
          };
          return work({ ...tx, query });
        }),
    };
    const { month, total } = await readKeyUsage(explaining, workspaceId, id);
    expect([month.calls, total.calls]).toEqual([400n, 400n]);
    const indexes = plans.filter((line) => line.startsWith("Index Cond:"));
    for (const column of ["hour >= ", "ended_at >= "]) {
      expect(indexes.filter((line) => line.includes(column) && line.includes("key_id = "))).toHaveLength(1);
    }
    expect(plans.filter((line) => /Seq Scan on usage_(?!rollup)/.test(line))).toEqual([]);
  });
});

describe("among many jobs", () => {
  test.each<[string, (target: Queryable) => Promise<unknown>]>([
    ["not confirmed by the queue", (target) => redispatchUnsent(target, 60_000, 100)],
    ["not taken for long", (target) => takeUnclaimed(target, 60_000, 100)],
    ["overdue", (target) => findOverdue(target, [{ lane: "batch", graceMs: 60_000 }], 100)],
    ["of unknown outcome for too long", (target) => findExpired(target, 60_000, 100)],
    ["to be asked about", (target) => redispatchUnknown(target, 100)],
    ["ended long ago", (target) => dropEndedJobs(target, 60_000, 100)],
  ])("jobs %s are found by an index", async (_name, work) => {
    const plans = await plansOf(work);
    expect(plans.filter(walks)).toEqual([]);
    for (const plan of plans) expect(conditions(plan).join(), plan.statement).toContain("now()");
  });

  test("jobs by a provider's names are found by an index", async () => {
    await database.query(
      `update job set provider_job = jsonb_build_object('source', 'vendor/model', 'names', jsonb_build_array(id))
       where state = 'completed' and stream_seq % 5 = 0`,
    );
    await database.query("vacuum analyze job");
    const names = Array.from({ length: 100 }, (_, index) => `name ${index}`);
    const plans = await plansOf((target) => unknownNames(target, "vendor", names));
    expect(plans.filter(walks)).toEqual([]);
  });

  test.each<[string, (target: Queryable) => Promise<unknown>]>([
    ["is on the queue for longest", oldestDispatch],
    ["waits in a lane", (target) => lanesWaiting(target, [{ pool: "chat", lane: "batch" }])],
  ])("the job that %s is found by an index", async (_name, work) => {
    const plans = await plansOf(work);
    expect(plans.filter(walks)).toEqual([]);
    expect(plans.flatMap(({ lines }) => lines.filter((line) => line.startsWith("Sort")))).toEqual([]);
  });
});

type Values = NonNullable<Parameters<Queryable["query"]>[1]>;

/** Returns how many blocks of 8 kB Postgres reads or finds in its memory for a statement, the functions that it calls included. */
async function blocksOf(text: string, values: Values = []): Promise<number> {
  const explain = `explain (analyze, buffers, format json) ${text}`;
  // The first reads the catalogue as well.
  await database.query(explain, values);
  const [row] = await database.query(explain, values);
  const [top] = (row?.["QUERY PLAN"] ?? []) as { Plan: Record<string, number> }[];
  return (top?.Plan["Shared Hit Blocks"] ?? 0) + (top?.Plan["Shared Read Blocks"] ?? 0);
}

/** Returns what the same statement costs once `grow` has added rows that it does not look for, as a multiple. */
async function growthOf(grow: () => Promise<unknown>, text: string, values: Values = []): Promise<number> {
  const before = await blocksOf(text, values);
  await grow();
  await database.query("vacuum analyze");
  return (await blocksOf(text, values)) / before;
}

const CHANNELS = 30;

describe("growing data does not make a query more expensive:", () => {
  test("deliveries that are due later", async () => {
    const look = "select * from claim_deliveries(10, 5, 5, 5, 2, 60000, '00000000-0000-0000-0000-000000000000')";
    await database.query(
      `insert into workspace (id, name) values ('00000000-0000-4000-8000-000000000001', 'deliveries')`,
    );
    await database.query(
      `insert into notification_channel (id, workspace_id, type, name, config)
       select gen_random_uuid(), '00000000-0000-4000-8000-000000000001', 'webhook', 'channel ' || i, '{}' from generate_series(1, ${CHANNELS}) i`,
    );
    const add = (each: number): Promise<unknown> =>
      database.query(
        `insert into delivery (id, workspace_id, channel_id, event, body, next_at)
         select gen_random_uuid(), workspace_id, id, 'job.failed', '{}', now() + interval '1 hour'
         from notification_channel cross join generate_series(1, $1::int)`,
        [each],
      );
    await add(1);
    await database.query("vacuum analyze");
    expect(await growthOf(() => inPieces(60_000, (count) => add(Math.ceil(count / CHANNELS))), look)).toBeLessThan(4);
  });

  test("jobs on the queue, for the share of a workspace", async () => {
    const add = (count: number): Promise<unknown> =>
      database.query(
        `insert into job (id, workspace_id, pool, lane, kind, modality, state, dispatch, dispatched_at, deadline, work)
         select gen_random_uuid(), '00000000-0000-4000-8000-000000000002', 'image', 'batch', 'images', 'image', 'queued', 1, now(),
                now() + interval '1 day', '{}' from generate_series(1, $1::int)`,
        [count],
      );
    await add(1);
    expect(await growthOf(() => inPieces(4 * MANY, add), "select job_share('image', 'batch')")).toBeLessThan(4);
  });

  test("workspaces with jobs on the queue, for the share of one", async () => {
    const add = (count: number): Promise<unknown> =>
      database.query(
        `insert into job (id, workspace_id, pool, lane, kind, modality, state, dispatch, dispatched_at, deadline, work)
         select gen_random_uuid(), gen_random_uuid(), 'image', 'live', 'images', 'image', 'queued', 1, now(),
                now() + interval '1 day', '{}' from generate_series(1, $1::int)`,
        [count],
      );
    // As many as share sixteen slots.
    await add(16);
    expect(await growthOf(() => inPieces(MANY / 10, add), "select job_share('image', 'live')")).toBeLessThan(4);
  });

  test("calls of the present day that are in the sums, for the hourly audit", async () => {
    const add = async (count: number): Promise<void> => {
      await database.query(
        `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held, settled, uncollected, day,
                                   tokens, started_at)
         select uuidv7(), 1, $1, $1, 'm', 'succeeded', '{}', false, 0, 0, 0, (now() at time zone 'utc')::date, 3, now()
         from generate_series(1, $2::int)`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        "update balance set day = (now() at time zone 'utc')::date, day_tokens = day_tokens + 3 * $2 where workspace_id = $1",
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await rollUpAll(database.database, () => rollUp());
    };
    const metrics = createMetrics("test");
    const rollUp = openUsageRollUp({
      database: database.database,
      metrics,
      log,
    });
    await add(100);
    await database.query("vacuum analyze");
    const look = "select * from audit_present(true) where fault like 'daily%'";
    const all = "select * from audit_present(false) where fault like 'daily%'";
    expect(await database.query(look)).toEqual([]);
    expect(await growthOf(() => inPieces(MANY, add), look)).toBeLessThan(2);
    expect(await database.query(look)).toEqual([]);
    // The full audit reads each of them.
    expect((await blocksOf(all)) - (await blocksOf(look))).toBeGreaterThan(200);
    metrics.close();
  });

  test("history with a longer retention, for retention", async () => {
    const add = async (count: number): Promise<void> => {
      await database.query(
        `insert into event (workspace_id, type, metadata, fanned_out_at)
         select $1, 'job.completed', '{}', case when i % 2 = 0 then now() end from generate_series(1, $2::int) i`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        `insert into delivery (id, workspace_id, event, body, status, next_at, ended_at)
         select gen_random_uuid(), $1, 'job.failed', '{}', 'failed', null, now() from generate_series(1, $2::int) i`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        `insert into audit_log (actor, action, subject) select '{"type":"system","id":"x"}', 'a.b', 'c' from generate_series(1, $1::int)`,
        [count],
      );
      await database.query(
        `insert into dead_letter (id, stream, stream_seq, subject, reason, deliveries)
         select gen_random_uuid(), 's', nextval('ledger_entry_id_seq'), 'x', 'y', 1 from generate_series(1, $1::int)`,
        [count],
      );
      await database.query(
        `insert into settle_fault (workspace_id, job_id, attempt, fault, held, settled, resolved_at)
         select $1, gen_random_uuid(), 1, 'usage_record', 1, 0, case when i % 2 = 0 then now() end from generate_series(1, $2::int) i`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        `insert into usage_failure (workspace_id, job_id, attempt, code, tries, text)
         select $1, gen_random_uuid(), 1, 'upstream_error', '[]', 'x' from generate_series(1, $2::int)`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        `insert into released_name (name, workspace_id) select gen_random_uuid()::text, $1 from generate_series(1, $2::int)`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        `with who as (
           insert into member (id, workspace_id, name, role) values (gen_random_uuid(), $1, gen_random_uuid()::text, 'owner')
           returning id
         ), key as (
           insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
           select gen_random_uuid(), $1, id, 'of people', sha256(id::text::bytea), 'x', 'standard' from who
           returning id
         )
         insert into console_session (sha256, key_id)
         select sha256(gen_random_uuid()::text::bytea), key.id from key, generate_series(1, $2::int)`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
      await database.query(
        `insert into sign_in_code (sha256, key_id)
         select sha256(gen_random_uuid()::text::bytea), key_id from console_session`,
      );
      await database.query(
        `insert into operator_session (sha256, token_sha256)
         select sha256(gen_random_uuid()::text::bytea), 'token' from generate_series(1, $1::int)`,
        [count],
      );
      await database.query(
        `insert into sign_in_choice (sha256, email, return_to)
         select sha256(gen_random_uuid()::text::bytea), 'a@example.com', '/docs' from generate_series(1, $1::int)`,
        [count],
      );
      await database.query(
        `insert into sign_in_try (network, tried_at, last_at)
         select gen_random_uuid()::text, array[now()], now() from generate_series(1, $1::int)`,
        [count],
      );
    };
    const sent: [string, Values][] = [];
    const query: Queryable["query"] = (text, given, name) => {
      sent.push([text, given ?? []]);
      return database.database.query(text, given, name);
    };
    await sweepRetention({ query }, { hours: 168, deliveryDays: 30, auditLogDays: 730, faultDays: 90 });
    const looks = sent.filter(([text]) => !text.includes("response_cache") && !text.includes("sweep_retry"));
    expect(looks).toHaveLength(18);
    const costs = (): Promise<number[]> => Promise.all(looks.map(([text, values]) => blocksOf(text, values)));
    await add(1_000);
    await database.query("vacuum analyze");
    const before = await costs();
    await inPieces(MANY, add);
    await database.query("vacuum analyze");
    // An index may be a level deeper.
    const dearer = (await costs()).map((blocks, at) => [looks[at]?.[0], blocks - (before[at] ?? 0)] as const);
    expect(dearer.filter(([, more]) => more > 8)).toEqual([]);
  });

  test("deliveries that arrived today, for the count of those that failed", async () => {
    const add = (count: number): Promise<unknown> =>
      database.query(
        `insert into delivery (id, workspace_id, event, body, status, next_at, ended_at)
         select gen_random_uuid(), $1, 'job.failed', '{}', 'succeeded', null, now() from generate_series(1, $2::int)`,
        ["00000000-0000-4000-8000-000000000001", count],
      );
    await database.query("delete from delivery");
    await add(100);
    let sent = "";
    const query: Queryable["query"] = (text, given, name) => {
      sent = text;
      return database.database.query(text, given, name);
    };
    await countDeliveries({ query });
    await database.query("vacuum analyze");
    expect(await growthOf(() => inPieces(MANY, add), sent)).toBeLessThan(4);
  });

  test("running jobs of live workers, for those of silent workers", async () => {
    const worker = "00000000-0000-4000-8000-000000000005";
    const add = (count: number): Promise<unknown> =>
      database.query(
        `insert into job (id, workspace_id, pool, lane, kind, modality, state, dispatch, dispatched_at, epoch, worker, lease_until, deadline, work)
         select uuidv7(), gen_random_uuid(), 'video', 'batch', 'videos', 'video', 'running', 1, now(), 1, $1, now() - interval '1 hour',
                now() + interval '1 day', '{}' from generate_series(1, $2::int)`,
        [worker, count],
      );
    await database.query(
      "insert into worker_slots (worker, pool, lane, slots, lease_until) values ($1, 'video', 'batch', 4, now() + interval '1 hour')",
      [worker],
    );
    await add(100);
    await database.query("vacuum analyze");
    let sent = "";
    let values: Values = [];
    const query: Queryable["query"] = (text, given, name) => {
      sent = text;
      values = given ?? [];
      return database.database.query(text, given, name);
    };
    const look = () => findOverdue({ query }, [{ lane: "batch", graceMs: 60_000 }], 10);
    expect(await look()).toEqual([]);
    expect(await growthOf(() => inPieces(MANY, add), sent, values)).toBeLessThan(8);
    await database.query("update worker_slots set lease_until = now() - interval '2 minutes' where worker = $1", [
      worker,
    ]);
    expect(await look()).toHaveLength(10);
    await database.query("delete from job where worker = $1", [worker]);
  });

  test("open runs or runs due later, for each search for runs that need a worker", async () => {
    const ids = ["00000000-0000-4000-8000-000000000004", "00000000-0000-4000-8000-000000000001"];
    await database.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'r', 'admin')", ids);
    const add = async (count: number): Promise<void> => {
      await database.query(
        `with made as (
           insert into run (id, workspace_id, key_id, member_id, mode, lane, max_attempts, status, progressed_at, due_at)
           select gen_random_uuid(), $2, gen_random_uuid(), $1, 'async', 'live', 1, 'running', clock_timestamp() - interval '1 hour',
             case when i % 4 = 0 then now() + interval '1 hour' end
           from generate_series(1, $3::int) i returning id
         ), due as (
           insert into step_run (run_id, step_id, attempt, seq, run_attempt, type, status, due_at, rev)
           select id, 'two', 1, 1, 1, 'model', 'queued', now() + interval '1 hour', 1 from made where id < '80000000-0000-4000-8000-000000000000'
         )
         insert into step_item (run_id, step_id, attempt, item, status, work_id, late_at, rev)
         select id, 'one', 1, 0, 'running', gen_random_uuid(), now() + interval '1 hour', 1 from made`,
        [...ids, count],
      );
      // Each second run is the step of another, and has ended; its parent knows of it.
      await database.query(
        `insert into run (id, workspace_id, key_id, member_id, mode, lane, max_attempts, status, ended_at, parent_id, parent_step,
           parent_attempt, parent_index, parent_credits)
         select gen_random_uuid(), $2, gen_random_uuid(), $1, 'async', 'live', 1, 'succeeded', now() - interval '1 hour', run_id, step_id,
           attempt, item, 0 from step_item where run_id < '80000000-0000-4000-8000-000000000000' and is_run is false limit $3`,
        [...ids, count / 2],
      );
    };
    await database.query("insert into worker_slots (worker, pool, lane, slots) values ($1, 'workflow', 'live', 4)", [
      ids[0] ?? "",
    ]);
    const words = { againMs: 15_000, max: 500 };
    const costs = async (): Promise<[string, number][]> => {
      const sent: [string, Values][] = [];
      const query: Queryable["query"] = (text, given, name) => {
        sent.push([text, given ?? []]);
        return database.database.query(text, given, name);
      };
      await takeUnbegunRuns({ query }, 5_000, words);
      await takeRunsOfEndedJobs({ query }, 5_000, words, await nextOpenWork({ query }, ALL_WORK, 100));
      await takeRunsOfEndedRuns({ query }, 5_000, words);
      await takeDueRuns({ query }, words);
      const old = await nextOldRuns({ query }, ALL_RUNS, 60_000, 100);
      await takeStalledRuns({ query }, { olderMs: 60_000, max: 10 }, old);
      return Promise.all(
        sent.map(async ([text, values]): Promise<[string, number]> => [text, await blocksOf(text, values)]),
      );
    };
    await add(1_000);
    await database.query("vacuum analyze");
    const before = await costs();
    await inPieces(MANY, add);
    await database.query("vacuum analyze");
    for (const [at, [text, blocks]] of (await costs()).entries()) {
      expect(blocks, text).toBeLessThan(4 * Math.max(10, before[at]?.[1] ?? 0));
    }
    // Deleted one by one, each of them would look for its rows in four tables.
    await database.query("truncate run cascade");
  });

  test("ended items of a run, for its unreported ones", async () => {
    const ids = ["00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000001"];
    await database.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'm', 'admin')", ids);
    await database.query(
      `insert into run (id, workspace_id, key_id, member_id, mode, lane, max_attempts)
       values ($1, $2, gen_random_uuid(), $1, 'async', 'live', 1)`,
      ids,
    );
    const add = (count: number): Promise<unknown> =>
      database.query(
        `insert into step_item (run_id, step_id, attempt, item, status, work_id, credits, rev)
         select $1, 'each', 1, i, 'succeeded', gen_random_uuid(), 0, 1
         from generate_series((select count(*) from step_item), (select count(*) from step_item) + $2::int - 1) i`,
        [ids[0] ?? "", count],
      );
    await add(1);
    let sent = "";
    let values: Values = [];
    const query: Queryable["query"] = (text, given, name) => {
      sent = text;
      values = given ?? [];
      return database.database.query(text, given, name);
    };
    expect(await findEndedWork({ ...database.database, query }, ids[0] ?? "", 100)).toEqual([]);
    expect(await growthOf(() => inPieces(MANY, add), sent, values)).toBeLessThan(4);
    // The same of items that are runs: half of them go on, the other half have ended, and it knows of them.
    const addRuns = (count: number): Promise<unknown> =>
      database.query(
        `with made as (
           insert into step_item (run_id, step_id, attempt, item, status, work_id, is_run, credits, rev)
           select $1, 'run', 1, i, case when i % 2 = 0 then 'running' else 'succeeded' end, gen_random_uuid(), true,
             case when i % 2 = 1 then 0 end, 1
           from generate_series((select count(*) from step_item), (select count(*) from step_item) + $3::int - 1) i
           returning *)
         insert into run (id, workspace_id, key_id, member_id, mode, lane, max_attempts, status, ended_at, parent_id, parent_step,
           parent_attempt, parent_index, parent_credits)
         select work_id, $2, gen_random_uuid(), $1, 'async', 'live', 1, status, case when credits = 0 then now() end, run_id, step_id,
           attempt, item, credits from made`,
        [...ids, count],
      );
    await addRuns(2);
    await database.query("vacuum analyze");
    expect(await growthOf(() => inPieces(MANY / 4, addRuns), sent, values)).toBeLessThan(4);
  });
});
