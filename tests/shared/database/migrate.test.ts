/** Migrations repeat, run at once and say what is missing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { migrate, missingMigrations } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/logger.ts";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const log = createLogger({ level: "silent", role: "test" });
const ALL = readdirSync(`${PROJECT_ROOT}/shared/database/migrations`).toSorted();

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase({ migrated: false });
});
afterAll(() => db.drop());

test("two processes that migrate at once apply each file once, and a third finds nothing to do", async () => {
  expect(await missingMigrations(db.database)).toEqual(ALL);
  const applied = await Promise.all([migrate(db.database, log), migrate(db.database, log)]);
  expect(applied.flat().toSorted()).toEqual(ALL);
  expect(await missingMigrations(db.database)).toEqual([]);
  expect(await migrate(db.database, log)).toEqual([]);
});

test("a database of the next release is no obstacle to an older program, a database behind is named", async () => {
  await db.query("insert into migration (name, sha256, release) values ('9999_from_the_future.sql', '', 2)");
  expect(await migrate(db.database, log)).toEqual([]);
  expect(await missingMigrations(db.database)).toEqual([]);
  await db.query("delete from migration where name = $1", [ALL.at(-1) ?? ""]);
  expect(await missingMigrations(db.database)).toEqual(ALL.slice(-1));
});

test("a database of a later release than the next is refused, by migrate too", async () => {
  await db.query("insert into migration (name, sha256, release) values ('9999_from_far.sql', '', 3)");
  const sentence = "the database is of release 3, and this version of Sluice works on 1 and 2; start a newer one";
  const said = (work: Promise<unknown>) => work.catch((error: unknown) => (error as Error).message);
  expect(await said(missingMigrations(db.database))).toBe(sentence);
  expect(await said(migrate(db.database, log))).toBe(sentence);
  await db.query("delete from migration where release = 3");
});

test("releases are gone through one by one", async () => {
  const { directory, remove } = temporaryDirectory();
  const folder = pathToFileURL(`${directory}/`);
  const own = await createTestDatabase({ migrated: false });
  const add = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  try {
    add("0001_first.sql", "create table thing (id int primary key);");
    expect(await migrate(own.database, log, folder)).toEqual(["0001_first.sql"]);
    add("0002_second.sql", "-- Release 2\nalter table thing add column name text;");
    add("0003_third.sql", "-- Release 3\nalter table thing add column size int;");
    const refused = migrate(own.database, log, folder).catch((error: unknown) => (error as Error).message);
    expect(await refused).toBe(
      "the database is of release 1, and this version of Sluice, of release 3, upgrades from 2 only; upgrade to that one first",
    );
    rmSync(join(directory, "0003_third.sql"));
    expect(await migrate(own.database, log, folder)).toEqual(["0002_second.sql"]);
    expect(await own.query("select name, release from migration order by name")).toEqual([
      { name: "0001_first.sql", release: 1 },
      { name: "0002_second.sql", release: 2 },
    ]);
  } finally {
    remove();
    await own.drop();
  }
});

test("a file that was edited after it had been applied is refused by name", async () => {
  await db.query("update migration set sha256 = 'other' where name = $1", [ALL[0] ?? ""]);
  const said = (work: Promise<unknown>) => work.catch((error: unknown) => String(error));
  expect(await said(missingMigrations(db.database))).toContain(ALL[0] ?? "");
  expect(await said(migrate(db.database, log))).toContain("cannot be upgraded");
});

test("a file that fails leaves nothing of itself behind and can be repeated", async () => {
  const other = await createTestDatabase({ migrated: false });
  // Stands in the way of a function in the middle of one of the files.
  const failing = ALL.indexOf("0004_ledger.sql");
  await other.query(
    "create function settle_call(uuid, uuid, smallint, bigint, text, text, jsonb, boolean, bigint) returns bigint language sql as 'select 1::bigint'",
  );
  expect(await migrate(other.database, log).catch((error: unknown) => String(error))).toContain("settle_call");
  expect(await missingMigrations(other.database)).toEqual(ALL.slice(failing));
  expect(await other.query("select to_regproc('settle_calls')::text as name")).toEqual([{ name: null }]);
  await other.query("drop function settle_call");
  expect(await migrate(other.database, log)).toEqual(ALL.slice(failing));
  await other.drop();
});
