/** The one file that names the driver: types as they arrive, transactions, and what a lost server does to us. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { plainArray } from "#shared/database/arrays.ts";
import {
  constraintName,
  type Database,
  isDatabaseAway,
  isDataFault,
  openDatabase,
  type Queryable,
  SQL,
  sqlState,
} from "#shared/database/client.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase({ migrated: false });
  await db.query("create table thing (id int primary key, size bigint constraint size_limit check (size < 100))");
  database = openDatabase({ url: db.url, poolMax: 3, log });
});
afterAll(async () => {
  await database.close();
  await db.drop();
});

function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("amounts are BigInt, alone and in arrays, and are sent unchanged", async () => {
  const largest = 9_223_372_036_854_775_807n;
  const [row] = await database.query("select $1::bigint as one, $2::bigint[] as many, 7 as small, $3::int[] as ints", [
    largest,
    plainArray([largest, null, -1n]),
    plainArray([1, null]),
  ]);
  expect(row).toEqual({ one: largest, many: [largest, null, -1n], small: 7, ints: [1, null] });
});

test("plain arrays carry ids, numbers, booleans and null", async () => {
  const id = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4051";
  const [row] = await database.query("select $1::uuid[] as ids, $2::boolean[] as flags, $3::smallint[] as none", [
    plainArray([id, null]),
    plainArray([true, false, null]),
    plainArray([]),
  ]);
  expect(row).toEqual({ ids: [id, null], flags: [true, false, null], none: [] });
});

test("no connection compiles its statements", async () => {
  const jit = "select current_setting('jit') as jit";
  const rows = await Promise.all([
    database.query(jit),
    database.reserve("reserved").query(jit),
    database.transaction((tx) => tx.query(jit)),
    database.slowTransaction(5_000, (tx) => tx.query(jit)),
  ]);
  expect(rows.flat()).toEqual(rows.map(() => ({ jit: "off" })));
});

test("a failed transaction is rolled back, a successful one is committed", async () => {
  const undone = database.transaction(async (tx) => {
    await tx.query("insert into thing values (1, 1)");
    throw new Error("changed my mind");
  });
  expect(String(await failure(undone))).toContain("changed my mind");
  await database.transaction((tx) => tx.query("insert into thing values (2, 2)"));
  expect(await database.query("select id from thing order by id")).toEqual([{ id: 2 }]);
});

test("a rejected statement is rolled back before its error is returned, and its connection is reused", async () => {
  const single = database.reserve("single");
  const [backend] = await single.query<{ pid: number }>("select pg_backend_pid() as pid");
  for (const refused of [
    "select 1 / count(*) from thing where id < 0",
    "insert into thing values (3, 100)",
    "do $$ begin raise exception 'again' using errcode = 'SL001'; end $$",
  ]) {
    expect(sqlState(await failure(single.query(refused)))).toBeString();
    const state = await database.query("select state from pg_stat_activity where pid = $1", [backend?.pid ?? 0]);
    expect([refused, state]).toEqual([refused, [{ state: "idle" }]]);
  }
  expect(await single.query("select pg_backend_pid() as pid")).toEqual([{ pid: backend?.pid }]);
});

test("an error contains its details", async () => {
  const check = await failure(database.query("insert into thing values (3, 100)"));
  expect([sqlState(check), constraintName(check), isDataFault(check)]).toEqual(["23514", "size_limit", true]);
  const cast = await failure(database.query("select $1::bigint", ["1.5"]));
  expect([sqlState(cast), isDataFault(cast)]).toEqual(["22P02", true]);
  const syntax = await failure(database.query("selec"));
  expect([sqlState(syntax), isDataFault(syntax)]).toEqual(["42601", false]);
  expect([sqlState(new Error("socket hang up")), isDataFault(undefined)]).toEqual([undefined, false]);
  expect(sqlState({ code: "ECONNREFUSED" })).toBeUndefined();
});

test("an unavailable database is distinguished from a rejected statement", async () => {
  const nobody = openDatabase({ url: "postgres://nobody:x@127.0.0.1:1/none", poolMax: 1, log });
  expect(isDatabaseAway(await failure(nobody.query("select 1")))).toBe(true);
  await nobody.close();
  const ended = failure(database.transaction((tx) => tx.query("select pg_terminate_backend(pg_backend_pid())")));
  expect(isDatabaseAway(await ended)).toBe(true);
  expect(isDatabaseAway(await failure(database.query("selec")))).toBe(false);
  expect(isDatabaseAway(undefined)).toBe(false);
});

test("a lock that is not acquired is a separate error, not an endless wait", async () => {
  await database.query("insert into thing values (9, 9)");
  await db.database.transaction(async (tx) => {
    await tx.query("select 1 from thing where id = 9 for update");
    const error = await failure(database.query("update thing set size = 10 where id = 9"));
    expect(sqlState(error)).toBe(SQL.lockTimeout);
  });
});

test("a reserved connection is exclusive, keeps its order and is replaced after it was killed", async () => {
  const reserved = database.reserve("lonely");
  const pid = async (): Promise<number> =>
    (await reserved.query<{ pid: number }>("select pg_backend_pid() as pid"))[0]?.pid ?? 0;
  const first = await pid();
  expect(await pid()).toBe(first);
  expect(await db.query("select application_name from pg_stat_activity where pid = $1", [first])).toEqual([
    { application_name: "sluice lonely" },
  ]);
  // Blocked by the others it is not.
  await Promise.all([
    ...Array.from({ length: 3 }, () => database.query("select pg_sleep(0.05)")),
    reserved.query("select 1"),
  ]);
  await db.query("select pg_terminate_backend($1)", [first]);
  let second = await failure(pid());
  while (typeof second !== "undefined") second = await failure(pid());
  expect(await pid()).not.toBe(first);
});

test("the number of connections is limited to the sum of the three settings", async () => {
  const few = openDatabase({ url: db.url, poolMax: 2, reservedMax: 1, slowMax: 1, log });
  const before = await few.findConnectionCapacity();
  expect(before).toEqual({
    all: expect.any(Number),
    free: expect.any(Number),
    spare: expect.any(Number),
    owner: null,
    isPooled: false,
  });
  expect(before.free).toBeLessThan(before.all);
  // One is open; each other session, of which the server of all tests has many, takes its own.
  expect(before.free - before.spare).toBeGreaterThanOrEqual(3);
  const reserved = few.reserve("only");
  expect(() => few.reserve("another")).toThrow("expected 1 reserved connections");
  const seen = new Set<number>();
  const note = async (target: Queryable): Promise<void> => {
    for (const { pid } of await target.query<{ pid: number }>("select pg_backend_pid() as pid, pg_sleep(0.02)"))
      seen.add(pid);
  };
  await Promise.all([
    ...Array.from({ length: 8 }, () => note(few)),
    ...Array.from({ length: 3 }, () => note(reserved)),
    ...Array.from({ length: 3 }, () => few.slowTransaction(5_000, note)),
  ]);
  expect(seen.size).toBe(4);
  await few.close();
  const hasty = openDatabase({ url: db.url, poolMax: 1, slowMax: 0, log });
  expect(() => hasty.slowTransaction(1, note)).toThrow("no slow transaction");
  await hasty.close();
});

test("sessions have timeouts that keep a stuck one from blocking others", async () => {
  const [row] = await database.query(
    `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
       current_setting('idle_in_transaction_session_timeout') as idle, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as commit`,
  );
  expect(row).toEqual({ statement: "10s", lock: "2s", idle: "10s", fsync: expect.any(String), commit: "on" });
});

test("a server that closes a connection right after opening it is unavailable, and nothing else fails", async () => {
  const fatal = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0";
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        const opened = [message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))];
        socket.end(Buffer.concat([...opened, message("E", Buffer.from(fatal))]));
      },
    },
  });
  const away = openDatabase({ url: `postgres://x:y@127.0.0.1:${server.port}/x`, poolMax: 1, log });
  try {
    expect(isDatabaseAway(await failure(away.query("select 1")))).toBe(true);
    expect(isDatabaseAway(await failure(away.transaction((tx) => tx.query("select 1"))))).toBe(true);
    expect(isDatabaseAway(await failure(away.slowTransaction(1_000, (tx) => tx.query("select 1"))))).toBe(true);
  } finally {
    await away.close();
    server.stop(true);
  }
});
