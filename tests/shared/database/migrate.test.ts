/** Migrations repeat, run at once and say what is missing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";

import { migrate, missingMigrations } from "#shared/database/migrate.ts";
import { createLogger } from "#shared/logger.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
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

test("a newer database is no obstacle to an older program, a database behind is named", async () => {
  await db.query("insert into migration (name, sha256) values ('9999_from_the_future.sql', '')");
  expect(await missingMigrations(db.database)).toEqual([]);
  await db.query("delete from migration where name = $1", [ALL.at(-1) ?? ""]);
  expect(await missingMigrations(db.database)).toEqual(ALL.slice(-1));
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
