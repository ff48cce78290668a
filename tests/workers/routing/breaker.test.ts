import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import { resetSource } from "#shared/database/source-breaker.ts";
import { newId } from "#shared/base/ids.ts";
import { BREAKER } from "#workers/routing/limits.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { breakerSubject, sourceResetSubject } from "#shared/queue/subjects.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { type Breaker, openBreaker } from "#workers/routing/breaker.ts";

const log = createLogger({ level: "silent", role: "test" });
const SOURCE = "acme/large";

interface Worker extends Breaker {
  readonly connection: NatsConnection;
  readonly metrics: Metrics;
  /** Fate of its statements. Held ones run when `letGo` is called. */
  postgres: "there" | "away" | "slow";
  letGo(): void;
  /** Its statements have ended. */
  settled(): Promise<unknown>;
}

interface Row {
  source: string;
  cooldown_ms: number;
  probe_by: string | null;
  probe_until: Date | null;
  key_mark: string | null;
}

let nats: TestNats;
let postgres: TestDatabase;
let spy: NatsConnection;
let workers: Worker[] = [];
let clock = 0;

beforeAll(async () => {
  nats = await startNats();
  postgres = await createTestDatabase();
  spy = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
}, 60_000);

afterAll(async () => {
  await spy.close();
  await nats.close();
  await postgres.drop();
});

beforeEach(async () => {
  await postgres.query("delete from source_breaker");
});

afterEach(async () => {
  for (const worker of workers) await stop(worker);
  workers = [];
});

const [ONE_KEY, OTHER_KEY] = ["1".repeat(16), "2".repeat(16)];

/** @param keyOf mark of the key that the worker has now */
async function start(keyOf: () => string = () => ONE_KEY): Promise<Worker> {
  const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
  const metrics = createMetrics("worker");
  const link: Pick<Worker, "postgres"> = { postgres: "there" };
  let held: (() => void)[] = [];
  const asked: Promise<unknown>[] = [];
  const query: Database["query"] = async (text, values, name) => {
    if (link.postgres === "away") throw new Error("connection refused");
    if (link.postgres === "slow") await new Promise<void>((resolve) => held.push(resolve));
    const answer = postgres.database.query<never>(text, values, name);
    asked.push(answer);
    return await answer;
  };
  const breaker = openBreaker({
    pool: "chat",
    connection,
    database: { ...postgres.database, query },
    log,
    metrics,
    markOf: keyOf,
    now: () => clock,
  });
  const worker: Worker = {
    ...breaker,
    connection,
    metrics,
    get postgres() {
      return link.postgres;
    },
    set postgres(state) {
      link.postgres = state;
    },
    letGo() {
      link.postgres = "there";
      for (const go of held) go();
      held = [];
    },
    settled: () => Promise.allSettled(asked),
  };
  workers.push(worker);
  // Once what is open has been read.
  await breaker.admit("warm/up");
  await connection.flush();
  return worker;
}

async function stop(worker: Worker): Promise<void> {
  worker.letGo();
  worker.close();
  worker.metrics.close();
  await worker.settled();
  await worker.connection.close();
}

/** Everything told so far has been taken in by everybody. */
async function heard(): Promise<void> {
  for (const { connection } of workers) await connection.flush();
  for (const { connection } of workers) await connection.flush();
}

/** Lets time pass for the workers and for what they noted in Postgres. */
async function pass(ms: number): Promise<void> {
  clock += ms;
  await postgres.query(
    `update source_breaker set open_until = open_until - $1 * interval '1 millisecond',
       probe_until = probe_until - $1 * interval '1 millisecond'`,
    [ms],
  );
}

const rows = (): Promise<Row[]> => postgres.query<Row>("select * from source_breaker order by source");

/** Asks until it is so. @throws Error when it is not so for far longer than any worker waits */
async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 15_000;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error("it did not come about");
    await Bun.sleep(5);
  }
}

const noted = (cooldownMs: number): Promise<void> =>
  eventually(async () => (await rows())[0]?.cooldown_ms === cooldownMs);
const woken = (): Promise<void> => eventually(async () => (await rows()).length === 0);

function fail(worker: Breaker, times = 5, source = SOURCE): void {
  for (let n = 0; n < times; n++) worker.record(source, "failed", false);
}

/** Two workers that both know that SOURCE is open, and Postgres too. */
async function atRest(): Promise<[Worker, Worker]> {
  const [a, b] = [await start(), await start()];
  fail(a);
  await heard();
  await noted(BREAKER.cooldownMs);
  return [a, b];
}

/** The same, when the cooldown is over and `a` has the probe. */
async function onTrial(): Promise<[Worker, Worker]> {
  const [a, b] = await atRest();
  await pass(6_000);
  expect(await a.admit(SOURCE)).toBe("probe");
  return [a, b];
}

/** Returns the answers to that many calls at once, by turns in the one and the other worker. */
function admitAll(calls: number, ...between: readonly Worker[]): Promise<("closed" | "probe" | "open")[]> {
  return Promise.all(
    Array.from({ length: calls }, async (_, n) => between[n % between.length]?.admit(SOURCE) ?? "open"),
  );
}

/** The first messages that workers send once `act` has run, as they come. */
async function messages(wanted: number, act: () => void): Promise<Record<string, unknown>[]> {
  const subscription = spy.subscribe(breakerSubject("chat"), { max: wanted });
  await spy.flush();
  act();
  const heardNow: Record<string, unknown>[] = [];
  for await (const message of subscription) heardNow.push(message.json());
  return heardNow;
}

describe("a failing source", () => {
  test("is disabled immediately, in every worker and in Postgres", async () => {
    const [a, b] = [await start(), await start()];
    expect(a.admit(SOURCE)).toBe("closed");
    fail(a);
    expect(a.admit(SOURCE)).toBe("open");
    await heard();
    expect(b.admit(SOURCE)).toBe("open");
    expect(b.retryInMs(SOURCE)).toBe(a.retryInMs(SOURCE));
    expect(b.admit("acme/small")).toBe("closed");
    expect(b.retryInMs("acme/small")).toBe(0);
    await noted(BREAKER.cooldownMs);
  });

  test("is judged by the calls of all workers together", async () => {
    const [a, b] = [await start(), await start()];
    const sent = await messages(2, () => {
      fail(a, 3);
      fail(b, 1);
    });
    // Whoever's comes first.
    expect(sent.map(({ counts }) => JSON.stringify(counts)).toSorted()).toEqual([
      JSON.stringify([[SOURCE, 0, 1, 1]]),
      JSON.stringify([[SOURCE, 0, 3, 3]]),
    ]);
    await heard();
    expect([a.admit(SOURCE), b.admit(SOURCE)]).toEqual(["closed", "closed"]);
    fail(b, 1);
    expect(b.admit(SOURCE)).toBe("open");
  });

  test("is not counted twice by the echo of its own report", async () => {
    const a = await start();
    const [sent] = await messages(1, () => fail(a, 4));
    expect(sent?.["counts"]).toEqual([[SOURCE, 0, 4, 4]]);
    await heard();
    expect(a.admit(SOURCE)).toBe("closed");
    fail(a, 1);
    expect(a.admit(SOURCE)).toBe("open");
  });

  test("is listed for operators", async () => {
    const [a, b] = await onTrial();
    a.record(SOURCE, "failed", true);
    a.down("other/one", false);
    await heard();
    const open = async (worker: Worker): Promise<string[]> =>
      (await worker.metrics.registry.metrics()).split("\n").filter((line) => line.startsWith("sluice_breaker_"));
    expect(await open(a)).toEqual([
      'sluice_breaker_open_sources{provider="acme",role="worker"} 1',
      'sluice_breaker_open_sources{provider="other",role="worker"} 1',
      'sluice_breaker_changes_total{provider="acme",change="opened",role="worker"} 1',
      'sluice_breaker_changes_total{provider="acme",change="lengthened",role="worker"} 1',
      'sluice_breaker_changes_total{provider="other",change="opened",role="worker"} 1',
    ]);
    // What it only heard of is no decision of its own.
    expect(await open(b)).toEqual([
      'sluice_breaker_open_sources{provider="acme",role="worker"} 1',
      'sluice_breaker_open_sources{provider="other",role="worker"} 1',
    ]);
  });
});

describe("a source whose cooldown is over", () => {
  test("is tried by exactly one of many calls, in any worker", async () => {
    const [a, b] = await atRest();
    await pass(6_000);
    const answers = await admitAll(100, a, b);
    expect(answers.toSorted()).toEqual([...Array.from({ length: 99 }, () => "open" as const), "probe"]);
    // Who was refused asks again a second later, and is refused again.
    await pass(1_000);
    expect([await a.admit(SOURCE), await b.admit(SOURCE)]).toEqual(["open", "open"]);
  });

  test("is enabled everywhere after a successful trial", async () => {
    const [a, b] = await onTrial();
    a.record(SOURCE, "ok", true);
    expect(a.admit(SOURCE)).toBe("closed");
    await heard();
    expect(b.admit(SOURCE)).toBe("closed");
    await woken();
  });

  test("stays open longer everywhere after a failed trial, and is then tried again", async () => {
    const [a, b] = await onTrial();
    a.record(SOURCE, "failed", true);
    await heard();
    for (const worker of [a, b]) {
      expect(worker.admit(SOURCE)).toBe("open");
      expect(worker.retryInMs(SOURCE)).toBeGreaterThanOrEqual(4_600);
      expect(worker.retryInMs(SOURCE)).toBeLessThanOrEqual(6_900);
    }
    await noted(5_750);
    await pass(6_900);
    expect(await b.admit(SOURCE)).toBe("probe");
    b.record(SOURCE, "failed", true);
    await noted(6_612);
  });

  test("may be tried by another once its trial was returned", async () => {
    const [a, b] = await onTrial();
    a.forget(SOURCE);
    await eventually(async () => (await rows())[0]?.probe_until === null);
    expect(await b.admit(SOURCE)).toBe("probe");
    // Only who has the trial can give it back.
    a.forget(SOURCE);
    await pass(1_000);
    expect(await a.admit(SOURCE)).toBe("open");
  });

  test("is tried by another when the worker of its trial died", async () => {
    const [a, b] = await onTrial();
    await stop(a);
    await pass(BREAKER.probeLeaseMs - 1_000);
    expect(await b.admit(SOURCE)).toBe("open");
    await pass(1_000);
    expect(await b.admit(SOURCE)).toBe("probe");
  });

  test("stays open when a worker finds our key rejected during the trial", async () => {
    const [a, b] = await onTrial();
    b.down(SOURCE, true);
    await heard();
    await noted(BREAKER.downMs);
    a.record(SOURCE, "ok", true);
    await heard();
    expect([a.admit(SOURCE), b.admit(SOURCE)]).toEqual(["open", "open"]);
    // The trial was given back: after the longer cooldown nobody waits for its lease.
    await eventually(async () => (await rows())[0]?.probe_until === null);
    await pass(36_000);
    expect(await b.admit(SOURCE)).toBe("probe");
  });
});

describe("a source that rejects our key", () => {
  test("is disabled as such in every worker, also in one that reads it from Postgres", async () => {
    const [a, b] = [await start(), await start()];
    a.down(SOURCE, false, 401);
    await heard();
    await noted(BREAKER.downMs);
    const fresh = await start();
    for (const worker of [a, b, fresh]) {
      expect(worker.admit(SOURCE)).toBe("open");
      expect(worker.isRefused(SOURCE)).toBeTrue();
    }
    expect(await rows()).toMatchObject([{ source: SOURCE, key_mark: ONE_KEY, status: 401 }]);
  });

  test("is called by workers that have another key, and by no others", async () => {
    const [a, other] = [await start(), await start(() => OTHER_KEY)];
    a.down(SOURCE, false, 401);
    await heard();
    await noted(BREAKER.downMs);
    // A worker that starts with another key deletes the row. When `a` reads that, it calls the source once more; here it must not read it.
    a.postgres = "away";
    const fresh = await start(() => OTHER_KEY);
    expect([a, other, fresh].map((worker) => worker.admit(SOURCE))).toEqual(["open", "closed", "closed"]);
    fresh.record(SOURCE, "ok", false);
    await heard();
    expect(a.admit(SOURCE)).toBe("open");
  });

  test("is called immediately when the key or the address of a running worker changes, and the record is deleted", async () => {
    let key = ONE_KEY;
    const a = await start(() => key);
    a.down(SOURCE, false, 403);
    await noted(BREAKER.downMs);
    key = OTHER_KEY;
    expect(a.retryInMs(SOURCE)).toBe(0);
    expect(a.admit(SOURCE)).toBe("closed");
    expect(a.isRefused(SOURCE)).toBeFalse();
    await woken();
  });

  test("is no longer disabled as such when its trial fails in another way", async () => {
    const a = await start();
    a.down(SOURCE, false, 401);
    await noted(BREAKER.downMs);
    await pass(30_000);
    expect(await a.admit(SOURCE)).toBe("probe");
    a.record(SOURCE, "failed", true);
    expect([a.admit(SOURCE), a.isRefused(SOURCE)]).toEqual(["open", false]);
    await eventually(async () => (await rows())[0]?.key_mark === null);
  });
});

describe("a source that an operator resets", () => {
  const OPERATOR = { type: "operator", id: "test" } as const;
  const reset = async (): Promise<readonly string[]> => resetSource(postgres.database, SOURCE, OPERATOR);

  test("is enabled in every worker by one message, for any remaining cooldown", async () => {
    const [a, b] = [await start(), await start()];
    a.down(SOURCE, false, 401);
    await heard();
    await noted(BREAKER.downMs);
    expect(await reset()).toEqual(["chat"]);
    for (const message of ["", "no source", `${"x".repeat(2_000)}/y`, SOURCE])
      spy.publish(sourceResetSubject("chat"), message);
    await spy.flush();
    await heard();
    expect([a.admit(SOURCE), b.admit(SOURCE)]).toEqual(["closed", "closed"]);
    expect((await a.metrics.registry.metrics()).match(/sluice_breaker_open_sources\{.*\} (\d)/)?.[1]).toBe("0");
    expect(await reset()).toEqual([]);
  });

  test("is enabled in a worker that never received the message: the row is deleted", async () => {
    fail(await start());
    await noted(BREAKER.cooldownMs);
    const fresh = await start();
    expect(fresh.admit(SOURCE)).toBe("open");
    await reset();
    await eventually(() => fresh.retryInMs(SOURCE) === 0);
  });
});

describe("two deadlines", () => {
  test("are stored as the longer one, though the worker with the successful trial does not know it", async () => {
    const [a] = await onTrial();
    await postgres.query("update source_breaker set open_until = now() + interval '30 seconds'");
    a.record(SOURCE, "ok", true);
    await a.settled();
    expect(await rows()).toHaveLength(1);
  });

  test("are resolved to the longer one, in any order of their reports", async () => {
    const [a, b] = [await start(), await start()];
    fail(a);
    b.down(SOURCE, true);
    await heard();
    expect(a.retryInMs(SOURCE)).toBeGreaterThanOrEqual(19_200);
    expect(a.retryInMs(SOURCE)).toBe(b.retryInMs(SOURCE));
    await noted(BREAKER.downMs);
    await pass(6_000);
    expect([a.admit(SOURCE), b.admit(SOURCE)]).toEqual(["open", "open"]);
  });
});

describe("a worker that starts", () => {
  test("knows open sources before it answers its first call", async () => {
    const [a, b] = await atRest();
    await stop(a);
    await stop(b);
    const fresh = await start();
    expect(fresh.admit(SOURCE)).toBe("open");
    expect(fresh.retryInMs(SOURCE)).toBeGreaterThan(1_000);
  });

  test("does not treat a source whose trial is due as enabled", async () => {
    const [a, b] = await onTrial();
    await stop(a);
    await stop(b);
    const fresh = await start();
    expect(await fresh.admit(SOURCE)).toBe("open");
    await pass(BREAKER.probeLeaseMs);
    expect(await fresh.admit(SOURCE)).toBe("probe");
  });

  test("drops records that were not tried for an hour", async () => {
    const [a, b] = await atRest();
    await stop(a);
    await stop(b);
    await pass(BREAKER.forgetMs + 6_000);
    expect((await start()).admit(SOURCE)).toBe("closed");
    expect(await rows()).toEqual([]);
  });
});

describe("without NATS", () => {
  afterEach(() => nats.start());

  test("a worker decides alone, and the others read the result from Postgres", async () => {
    const [a, b] = await atRest();
    await nats.stop("SIGKILL");
    fail(a, 5, "acme/small");
    expect(a.admit("acme/small")).toBe("open");
    await eventually(async () => (await rows()).length === 2);
    // Missed by b, which reads Postgres while a source is open.
    await eventually(() => b.admit("acme/small") === "open");
    await pass(6_000);
    // Postgres may answer too late on a busy machine; the trial is asked for again then.
    await eventually(async () => {
      const isGranted = (await a.admit(SOURCE)) === "probe";
      if (!isGranted) await pass(BREAKER.probeAgainMs);
      return isGranted;
    });
    a.record(SOURCE, "ok", true);
    expect(a.admit(SOURCE)).toBe("closed");
    // To ask b for admission could give it a trial of its own.
    await eventually(() => b.retryInMs(SOURCE) === 0);
  }, 30_000);
});

describe("without Postgres", () => {
  test("open sources are not tried: they stay open a second at a time", async () => {
    const [a, b] = await atRest();
    a.postgres = b.postgres = "away";
    for (let second = 0; second < 3; second++) {
      await pass(second === 0 ? 6_000 : BREAKER.probeAgainMs);
      const answers = await admitAll(50, a, b);
      expect(new Set(answers)).toEqual(new Set(["open"]));
      expect(a.retryInMs(SOURCE)).toBe(BREAKER.probeAgainMs);
    }
    a.postgres = b.postgres = "there";
    await pass(BREAKER.probeAgainMs);
    expect((await Promise.all([a.admit(SOURCE), b.admit(SOURCE)])).toSorted()).toEqual(["open", "probe"]);
  });

  test("a source can fail, and still has one trial when Postgres is back", async () => {
    const [a, b] = [await start(), await start()];
    a.postgres = "away";
    fail(a);
    await heard();
    expect([a.admit(SOURCE), b.admit(SOURCE)]).toEqual(["open", "open"]);
    expect(await rows()).toEqual([]);
    a.postgres = "there";
    await pass(6_000);
    const answers = await Promise.all([a.admit(SOURCE), b.admit(SOURCE)]);
    expect(answers.toSorted()).toEqual(["open", "probe"]);
  });

  test("unsaved states are saved later", async () => {
    const a = await start();
    a.postgres = "away";
    fail(a);
    a.postgres = "there";
    await noted(BREAKER.cooldownMs);
  }, 20_000);

  test("a trial that is granted too late is returned", async () => {
    const [a, b] = await atRest();
    await pass(6_000);
    a.postgres = "slow";
    expect(await a.admit(SOURCE)).toBe("open");
    a.letGo();
    await eventually(async () => (await rows())[0]?.probe_by !== null);
    await eventually(async () => (await rows())[0]?.probe_until === null);
    expect(await b.admit(SOURCE)).toBe("probe");
  });
});

describe("the memory of sources", () => {
  test("is a thousand sources: the least recently used is dropped", async () => {
    const a = await start();
    fail(a, 4);
    for (let n = 1; n < BREAKER.sourcesMax; n++) a.record(`acme/${n}`, "ok", false);
    fail(a, 1);
    expect(a.admit(SOURCE)).toBe("open");

    fail(a, 4, "acme/other");
    for (let n = 1; n <= BREAKER.sourcesMax; n++) a.record(`acme/${n}`, "ok", false);
    fail(a, 1, "acme/other");
    expect(a.admit("acme/other")).toBe("closed");
  });
});

describe("an invalid message", () => {
  const from = newId();
  const opening = [SOURCE, 5_000, 5_000];
  const count = [SOURCE, 0, 50, 50];
  test.each<[string, unknown]>([
    ["no JSON", "openings"],
    ["cut JSON", '{"from":"'],
    ["no object", [opening]],
    ["null", null],
    ["nobody's", { openings: [opening], counts: [count] }],
    ["somebody unknown's", { from: "me", openings: [opening] }],
    ["a cooldown for ever", { from, openings: [[SOURCE, 1e12, 5_000]] }],
    ["a cooldown that is no number", { from, openings: [[SOURCE, "5000", 5_000]] }],
    ["a cooldown that was over long ago", { from, openings: [[SOURCE, -1, 5_000]] }],
    ["a cooldown of no length", { from, openings: [[SOURCE, 5_000, 0]] }],
    ["a fraction of a call", { from, counts: [[SOURCE, 0, 50.5, 50]] }],
    ["less than no calls", { from, counts: [[SOURCE, -50, 50, 50]] }],
    ["more calls than there can be", { from, counts: [[SOURCE, 0, 1e9, 50]] }],
    ["a run longer than its failures", { from, counts: [[SOURCE, 1, 1, 50]] }],
    ["too short a row", { from, openings: [[SOURCE, 5_000]] }],
    ["a good part and a bad one", { from, openings: [opening, ["acme/small"]], counts: [count] }],
    ["openings that are no list", { from, openings: { 0: opening, length: 1 }, counts: [count] }],
    ["a name without a provider", { from, openings: [["large", 5_000, 5_000]] }],
    ["a name with a line break", { from, openings: [["acme/la\nrge", 5_000, 5_000]] }],
    ["a name without end", { from, openings: [[`acme/${"x".repeat(400)}`, 5_000, 5_000]] }],
    [
      "more sources than one tells of",
      { from, openings: Array.from({ length: 201 }, (_, n) => [`a/${n}`, 5_000, 5_000]) },
    ],
    ["too much of it", { from, openings: [opening], more: "x".repeat(BREAKER.shareBytesMax) }],
  ])("changes nothing: %s", async (_what, message) => {
    const a = await start();
    a.record(SOURCE, "ok", true);
    spy.publish(breakerSubject("chat"), typeof message === "string" ? message : JSON.stringify(message));
    await spy.flush();
    await heard();
    expect(a.admit(SOURCE)).toBe("closed");
    expect(await a.metrics.registry.metrics()).not.toContain("sluice_breaker_open_sources{");
    // It listens on.
    spy.publish(breakerSubject("chat"), JSON.stringify({ from, openings: [opening] }));
    await spy.flush();
    await heard();
    expect(a.admit(SOURCE)).toBe("open");
  });
});
