/** Migrations repeat, run at once and say what is missing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { migrate, missingMigrations } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/base/logger.ts";
import { eventually } from "#tests/faults/wait.ts";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const log = createLogger({ level: "silent", role: "test" });
const ALL = readdirSync(`${PROJECT_ROOT}/shared/database/migrations`).toSorted();

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase({ migrated: false });
});
afterAll(() => db.drop());

test("two processes that migrate concurrently apply each file once, and a third finds no pending file", async () => {
  expect(await missingMigrations(db.database)).toEqual(ALL);
  const applied = await Promise.all([migrate(db.database, log), migrate(db.database, log)]);
  expect(applied.flat().toSorted()).toEqual(ALL);
  expect(await missingMigrations(db.database)).toEqual([]);
  expect(await migrate(db.database, log)).toEqual([]);
});

test("a database of the next release works with an older program, an outdated database is named", async () => {
  await db.query("insert into migration (name, sha256, release) values ('9999_from_the_future.sql', '', 2)");
  expect(await migrate(db.database, log)).toEqual([]);
  expect(await missingMigrations(db.database)).toEqual([]);
  await db.query("delete from migration where name = $1", [ALL.at(-1) ?? ""]);
  expect(await missingMigrations(db.database)).toEqual(ALL.slice(-1));
});

test("a database more than one release ahead is rejected, by migrate too", async () => {
  await db.query("insert into migration (name, sha256, release) values ('9999_from_far.sql', '', 3)");
  const sentence = "the database is of release 3, and this version of Sluice works on 1 and 2; start a newer one";
  const said = (work: Promise<unknown>) => work.catch((error: unknown) => (error as Error).message);
  expect(await said(missingMigrations(db.database))).toBe(sentence);
  expect(await said(migrate(db.database, log))).toBe(sentence);
  await db.query("delete from migration where release = 3");
});

test("releases are applied one by one", async () => {
  const { directory, remove } = temporaryDirectory();
  const folder = pathToFileURL(`${directory}/`);
  const own = await createTestDatabase({ migrated: false });
  const add = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  try {
    add("0001_first.sql", "create table thing (id int primary key);");
    expect(await migrate(own.database, log, { folder })).toEqual(["0001_first.sql"]);
    add("0002_second.sql", "-- Release 2\nalter table thing add column name text;");
    add("0003_third.sql", "-- Release 3\nalter table thing add column size int;");
    const refused = migrate(own.database, log, { folder }).catch((error: unknown) => (error as Error).message);
    expect(await refused).toBe(
      "the database is of release 1, and this version of Sluice, of release 3, upgrades from 2 only; upgrade to that one first",
    );
    rmSync(join(directory, "0003_third.sql"));
    expect(await migrate(own.database, log, { folder })).toEqual(["0002_second.sql"]);
    expect(await own.query("select name, release from migration order by name")).toEqual([
      { name: "0001_first.sql", release: 1 },
      { name: "0002_second.sql", release: 2 },
    ]);
  } finally {
    remove();
    await own.drop();
  }
});

/** A folder of two files, the first of which makes a table with rows. */
async function withFiles(second: string, work: (own: TestDatabase, folder: URL) => Promise<void>): Promise<void> {
  const { directory, remove } = temporaryDirectory();
  const folder = pathToFileURL(`${directory}/`);
  const own = await createTestDatabase({ migrated: false });
  const first =
    "create table thing (id int primary key, name text not null); insert into thing values (1, 'a'), (2, 'b');";
  writeFileSync(join(directory, "0001_first.sql"), first);
  try {
    expect(await migrate(own.database, log, { folder })).toEqual(["0001_first.sql"]);
    writeFileSync(join(directory, "0002_second.sql"), second);
    await work(own, folder);
  } finally {
    remove();
    await own.drop();
  }
}

const OUTSIDE = "-- Release 2, outside a transaction";
const INDEXES =
  "select c.relname as name, i.indisvalid as is_valid from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname like 'thing_n%' order by 1";

test("an index is created concurrently by two processes, while rows are written", async () => {
  const text = `${OUTSIDE}\n-- For looks at names.\ncreate index concurrently thing_name on thing (name);\ncreate unique index concurrently thing_name_id on thing (name, id);\n`;
  await withFiles(text, async (own, folder) => {
    const written = own.database.transaction(async (tx) => {
      await tx.query("insert into thing values (3, 'c')");
      await Bun.sleep(300);
    });
    const applied = await Promise.all([
      migrate(own.database, log, { folder }),
      migrate(own.database, log, { folder }),
      written,
    ]);
    expect(applied.flat().filter(Boolean)).toEqual(["0002_second.sql"]);
    const made = ["thing_name", "thing_name_id"].map((name) => ({ name, is_valid: true }));
    expect(await own.query(INDEXES)).toEqual(made);
    expect(await own.query("select name, release from migration where release = 2")).toEqual([
      { name: "0002_second.sql", release: 2 },
    ]);
    expect(await own.query("show statement_timeout")).toEqual([{ statement_timeout: "10s" }]);
  });
});

test("an interrupted index is created again, and an existing one is kept", async () => {
  const text = `${OUTSIDE}\ncreate index concurrently thing_named on thing (name);\ncreate unique index concurrently thing_name on thing (name);`;
  await withFiles(text, async (own, folder) => {
    await own.query("insert into thing values (3, 'a')");
    const failed = await migrate(own.database, log, { folder }).catch((error: unknown) => String(error));
    expect(failed).toContain("could not create unique index");
    // As a process leaves them that dies in the middle.
    expect(await own.query(INDEXES)).toEqual([
      { name: "thing_name", is_valid: false },
      { name: "thing_named", is_valid: true },
    ]);
    const idOf = () => own.query("select 'thing_named'::regclass::oid as id");
    const before = await idOf();
    await own.query("delete from thing where id = 3");
    expect(await migrate(own.database, log, { folder })).toEqual(["0002_second.sql"]);
    expect(await own.query(INDEXES)).toEqual([
      { name: "thing_name", is_valid: true },
      { name: "thing_named", is_valid: true },
    ]);
    expect(await idOf()).toEqual(before);
  });
});

test("an index that the server still creates for a dead process is created again", async () => {
  const statement = "create index concurrently thing_name on thing (name)";
  await withFiles(`${OUTSIDE}\n${statement};`, async (own, folder) => {
    const over = Promise.withResolvers<void>();
    const written = own.database.transaction(async (tx) => {
      await tx.query("insert into thing values (3, 'c')");
      await over.promise;
    });
    // Either of the two may be ended where they wait for each other.
    const left = own.database.slowSession(60_000, (session) => session.query(statement)).catch(() => undefined);
    await eventually("the index is begun", async () => (await own.query(INDEXES)).length === 1);
    const migrated = migrate(own.database, log, { folder });
    await Bun.sleep(200);
    over.resolve();
    await Promise.all([written, left]);
    expect(await migrated).toEqual(["0002_second.sql"]);
    expect(await own.query(INDEXES)).toEqual([{ name: "thing_name", is_valid: true }]);
  });
}, 30_000);

test("a file outside a transaction may contain only repeatable statements", async () => {
  await withFiles(`${OUTSIDE}\nupdate thing set id = id + 10;`, async (own, folder) => {
    const said = await migrate(own.database, log, { folder }).catch((error: unknown) => String(error));
    expect(said).toContain("migration 0002_second.sql is outside a transaction");
    expect(await own.query("select min(id) from thing")).toEqual([{ min: 1 }]);
  });
});

describe("a migration with a locked table", () => {
  const text = "-- Release 2\nalter table thing add column size int;";
  const lines: string[] = [];
  const told = createLogger({ level: "warn", role: "test", write: (line) => void lines.push(line) });

  /** Holds the table as a long transaction of a reader does, until it is told. */
  function hold(own: TestDatabase): { readonly holds: Promise<void>; release(): Promise<void> } {
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const done = own.database.slowTransaction(60_000, async (tx) => {
      await tx.query("select count(*) from thing");
      begun.resolve();
      await over.promise;
    });
    return { holds: begun.promise, release: () => (over.resolve(), done) };
  }

  test("does not block others meanwhile, logs its wait and is applied after it", async () => {
    await withFiles(text, async (own, folder) => {
      lines.length = 0;
      const held = hold(own);
      await held.holds;
      const migrated = migrate(own.database, told, { folder });
      // A statement waits 2 s for a lock and then fails. It would fail behind a migration that waits longer for its own lock.
      // The loop ends once the migration has tried twice.
      while (lines.length < 2) {
        await own.query("select name from thing where id = 1");
        await own.query("update thing set name = name || 'b' where id = 2");
        await Bun.sleep(50);
      }
      expect(lines.join("")).toContain("a migration waits for a table locked by a transaction");
      expect(await own.query("select name from migration where release = 2")).toEqual([]);
      await held.release();
      expect(await migrated).toEqual(["0002_second.sql"]);
    });
  }, 30_000);

  test("ends with the reason if the lock stays", async () => {
    await withFiles(text, async (own, folder) => {
      const held = hold(own);
      await held.holds;
      const failed = await migrate(own.database, log, { folder, lockTriesMs: 1 }).catch(
        (error: unknown) => (error as Error).message,
      );
      expect(failed).toContain("lock timeout");
      await held.release();
      expect(await migrate(own.database, log, { folder })).toEqual(["0002_second.sql"]);
    });
  }, 30_000);
});

test("a file that was edited after it was applied is rejected by name", async () => {
  await db.query("update migration set sha256 = 'other' where name = $1", [ALL[0] ?? ""]);
  const said = (work: Promise<unknown>) => work.catch((error: unknown) => String(error));
  expect(await said(missingMigrations(db.database))).toContain(ALL[0] ?? "");
  expect(await said(migrate(db.database, log))).toContain("cannot be upgraded");
});

test("a file that fails leaves no changes and can be repeated", async () => {
  const other = await createTestDatabase({ migrated: false });
  // Stands in the way of a function in the middle of one of the files.
  const failing = ALL.indexOf("0004_ledger.sql");
  await other.query(
    "create function settle_call(uuid, uuid, smallint, bigint, text, text, jsonb, boolean, bigint, jsonb) returns bigint language sql as 'select 1::bigint'",
  );
  expect(await migrate(other.database, log).catch((error: unknown) => String(error))).toContain("settle_call");
  expect(await missingMigrations(other.database)).toEqual(ALL.slice(failing));
  expect(await other.query("select to_regproc('settle_calls')::text as name")).toEqual([{ name: null }]);
  await other.query("drop function settle_call");
  expect(await migrate(other.database, log)).toEqual(ALL.slice(failing));
  await other.drop();
});
