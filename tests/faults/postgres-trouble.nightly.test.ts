/**
 * Fault: Postgres is there and gives nobody what they need: its connections are all taken, its locks are asked for in another order, an old
 * snapshot stays open, a migration dies half-way. Injection: sessions that sleep, transactions of others, SIGKILL. Expected: 503 in
 * bounded time and never 401 or 500, what runs goes on, deadlocks are tried again, the books are exact, a migration that is repeated
 * ends where one without a crash does.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { launch } from "#deploy/embedded/process.mjs";
import { type Database, openDatabase, SQL, sqlState } from "#shared/database/client.ts";
import { missingMigrations } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/base/logger.ts";

import { Histogram } from "../load/histogram.ts";
import { ENTRY, PROJECT_ROOT } from "../support/infrastructure.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { seeded, testSeed } from "../support/seed.ts";
import { soakMinutes, storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { type Answer, errorCode } from "./client.ts";
import { isServed, sentTwice, startLoad, tally } from "./load.ts";
import { eventually } from "./wait.ts";

const SERVER_CONNECTIONS = 80;
/** The driver waits three seconds for a connection, an admission is tried again for a while. */
const REFUSED_WITHIN_MS = storm(30_000, 12_000);
const LOCKING_CLIENTS = storm(6, 50);
const LOCKING_MS = storm(2_500, 30_000);
const SNAPSHOT_MS = storm(1_500, Math.min(60, soakMinutes()) * 60_000);
const KILLS = storm(3, 20);

const log = createLogger({ level: "silent", role: "test" });
let bed: Bed;
beforeAll(async () => {
  bed = await startBed({
    ingress: 2,
    ownPostgres: { settings: { max_connections: String(SERVER_CONNECTIONS), deadlock_timeout: "20ms" } },
  });
}, 60_000);
afterAll(() => bed?.stop());

/** Takes every connection that the server has or gets until it is told to stop. */
function takeConnections(url: string): { stop(): Promise<void> } {
  const over = new AbortController();
  const greedy = openDatabase({ url, poolMax: SERVER_CONNECTIONS, log });
  const one = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await greedy.query("select pg_sleep(1)").catch(() => Bun.sleep(10));
    }
  };
  const all = Array.from({ length: SERVER_CONNECTIONS }, one);
  return {
    async stop() {
      over.abort();
      await Promise.all(all);
      await greedy.close();
    },
  };
}

test("calls receive 503 in bounded time while others use all connections, streams continue, and the pools recover", async () => {
  const { client, stack, upstream } = bed;
  upstream.setDefault({ tokens: 60, intervalMs: 50 });
  const stream = await client.open(bed.target(), ask("metered", { stream: true }));
  await stream.frames(3);
  const greedy = takeConnections(stack.databaseUrl);
  const refused: Answer[] = [];
  try {
    // What the roles had open goes to whoever comes first, time and again.
    const ended = "select pg_terminate_backend(pid) from pg_stat_activity where query not like '%pg_sleep%' and backend_type = 'client backend' and pid <> pg_backend_pid()"; // prettier-ignore
    // A role may be the first: then they are ended once more.
    await eventually(
      "a call is refused",
      async () => {
        for (let times = 0; times < 5; times += 1) {
          await stack.query(ended).catch(() => undefined);
          await Bun.sleep(100);
        }
        const startedAt = performance.now();
        const calls = Array.from({ length: 20 }, (_, at) => client.chat(bed.target(at % 2), ask("flat")));
        refused.push(...(await Promise.all(calls)));
        expect(performance.now() - startedAt).toBeLessThan(REFUSED_WITHIN_MS);
        return refused.some(({ status }) => status === 503);
      },
      60_000,
    );
    for (const { adminUrl } of [...stack.ingresses, ...stack.workers, ...stack.janitors]) {
      expect((await fetch(`${adminUrl}/healthz`)).status).toBe(200);
    }
    await eventually("the stream goes on", () => stream.answer.frames.length > 40);
  } finally {
    await greedy.stop();
  }
  const told = tally(refused);
  expect(Object.keys(told).filter((status) => status !== "503" && status !== "200")).toEqual([]);
  const codes = new Set(refused.filter(({ status }) => status === 503).map(errorCode));
  for (const code of codes) expect(["overloaded", "service_unavailable"]).toContain(code as string);
  upstream.setDefault({});
  await eventually("calls are served", async () => isServed(await client.chat(bed.target(1), ask("flat"))));
  expect(isServed(await stream.ended)).toBe(true);
  await audit(bed, { withinMs: 40_000 });
}, 90_000);

test(
  "transactions that lock balances in another order get deadlocks, and calls are served",
  async () => {
    const { client, stack } = bed;
    const credits = { creditsNano: 10n ** 13n };
    const [one, other] = [await createWorkspace(stack, credits), await createWorkspace(stack, credits)];
    const over = new AbortController();
    const stranger = openDatabase({ url: stack.databaseUrl, poolMax: 2, log });
    const lock = async (first: string, second: string): Promise<void> => {
      while (!over.signal.aborted) {
        await stranger
          .transaction(async (tx) => {
            await tx.query("select 1 from balance where workspace_id = $1 for update", [first]);
            await Bun.sleep(5);
            await tx.query("select 1 from balance where workspace_id = $1 for update", [second]);
          })
          .catch((error: unknown) => {
            if (sqlState(error) !== SQL.deadlock && sqlState(error) !== SQL.lockTimeout) throw error;
          });
        await Bun.sleep(20);
      }
    };
    const answers: Answer[] = [];
    const call = async (at: number): Promise<void> => {
      for (let count = at; !over.signal.aborted; count += 1) {
        const { key } = count % 2 === 0 ? one : other;
        answers.push(await client.chat(bed.target(at % 2, key), ask("flat", { user: `locked-${at}-${count}` })));
      }
    };
    const working = Promise.all([lock(one.id, other.id), lock(other.id, one.id), ...Array.from({ length: LOCKING_CLIENTS }, (_, at) => call(at))]); // prettier-ignore
    await Bun.sleep(LOCKING_MS);
    over.abort();
    await working;
    await stranger.close();
    const [row] = await stack.query<{ deadlocks: bigint }>("select deadlocks from pg_stat_database where datname = current_database()"); // prettier-ignore
    expect(Number(row?.deadlocks)).toBeGreaterThan(0);
    const told = tally(answers);
    process.stdout.write(`${JSON.stringify({ ...told, deadlocks: Number(row?.deadlocks) })}\n`);
    expect(Object.keys(told).filter((status) => status !== "200" && status !== "503")).toEqual([]);
    expect(told["200"] ?? 0).toBeGreaterThan(answers.length / 2);
    expect(sentTwice(bed.upstream)).toEqual([]);
    await audit(bed, { withinMs: 40_000 });
  },
  60_000 + LOCKING_MS,
);

/** Times of calls that are made one after the other by a few clients, for so long. */
async function timesOf(ms: number): Promise<Histogram> {
  const times = new Histogram();
  const until = performance.now() + ms;
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      const startedAt = performance.now();
      expect(isServed(await bed.client.chat(bed.target(), ask("flat")))).toBe(true);
      times.record(performance.now() - startedAt);
    }
  };
  await Promise.all([call(), call(), call()]);
  return times;
}

test(
  "an open old snapshot delays no call",
  async () => {
    const calm = await timesOf(storm(500, 30_000));
    const old = openDatabase({ url: bed.stack.databaseUrl, poolMax: 1, log });
    const held = await old.slowTransaction(SNAPSHOT_MS + 60_000, async (tx) => {
      // As long as it is open, no row that it might still read is cleaned away.
      await tx.query("declare old_snapshot cursor for select * from usage_record");
      return timesOf(SNAPSHOT_MS);
    });
    await old.close();
    const [before, during] = [calm, held].map((times) => times.percentile(0.99));
    process.stdout.write(`p99 of calls: ${before} ms, beside an old snapshot ${during} ms\n`);
    expect(during).toBeLessThan(storm(Infinity, Math.max(250, 2 * (before ?? 0))));
    await audit(bed);
  },
  SNAPSHOT_MS + 120_000,
);

const SCHEMA =
  "select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2";

test("a migration that is killed repeatedly, under load, ends like an uninterrupted one", async () => {
  const { stack } = bed;
  const random = seeded(testSeed("migration"));
  const empty = await createTestDatabase({ migrated: false, serverUrl: bed.stack.postgres?.url ?? "" });
  const env = { ...stack.env, DATABASE_URL: empty.url };
  const start = () =>
    launch({ name: "migrate", command: ENTRY[0], args: [...ENTRY.slice(1), "migrate"], cwd: PROJECT_ROOT, env });
  const load = startLoad(bed);
  const applied = async (database: Database = empty.database): Promise<number> =>
    (await missingMigrations(database)).length;
  try {
    const all = await applied();
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const running = start();
      const ended = running.exited;
      // At some moment of the file behind the next one that is applied.
      const goal = all - Math.ceil((kill * all) / (KILLS + 2));
      while (running.alive() && (await applied()) > goal) await Bun.sleep(1);
      await Bun.sleep(random() * 15);
      running.kill("SIGKILL");
      await ended;
    }
    // Twice at once, and of the database under load as well: nothing is to be done there.
    const last = [start(), start(), launch({ name: "migrate", command: ENTRY[0], args: [...ENTRY.slice(1), "migrate"], cwd: PROJECT_ROOT, env: stack.env })]; // prettier-ignore
    const exits = await Promise.all(last.map(({ exited }) => exited));
    expect(exits.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await applied()).toBe(0);
    expect(await empty.query(SCHEMA)).toEqual(await stack.query(SCHEMA));
  } finally {
    const answers = await load.stop();
    expect(tally(answers)).toEqual({ 200: answers.length });
    await empty.database.close();
  }
  await audit(bed);
}, 120_000);
