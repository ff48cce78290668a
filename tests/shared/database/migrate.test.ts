/** Migrations repeat, run at once and say what is missing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

import { auditStorage } from "#shared/database/file-sweeps.ts";
import { migrate, missingMigrations } from "#shared/database/migrate.ts";
import { newId } from "#shared/ids.ts";
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
  expect(await said(migrate(db.database, log))).toContain("was changed");
});

test("what runs, workflows and files there were is counted in the storage of their workspaces from then on", async () => {
  const other = await createTestDatabase({ migrated: false });
  await other.query(
    "create table migration (name text primary key, sha256 text not null, at timestamptz not null default now())",
  );
  for (const name of ALL.filter((file) => file < "0018")) {
    const text = readFileSync(`${PROJECT_ROOT}/shared/database/migrations/${name}`, "utf8");
    await other.query(text);
    const sha256 = createHash("sha256").update(text).digest("hex");
    await other.query("insert into migration (name, sha256) values ($1, $2)", [name, sha256]);
  }
  const ids = Array.from({ length: 7 }, () => newId());
  const [workspace = "", member = "", workflow = "", ended = "", child = "", open = "", inner = ""] = ids;
  await other.query("insert into workspace (id, name) values ($1, 'w')", [workspace]);
  await other.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'ada', 'owner')", [
    member,
    workspace,
  ]);
  await other.query("insert into workflow (id, workspace_id, name, created_by) values ($1, $2, 'f', $3)", [
    workflow,
    workspace,
    member,
  ]);
  await other.query(
    `insert into workflow_version (workflow_id, version, definition, created_by) values ($1, 1, '{"steps":[]}', $2)`,
    [workflow, member],
  );
  const run = `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, max_attempts, input, parent_id, status, ended_at)
    values ($1, $2, $2, $3, '{}', 'async', 'batch', 1, repeat('x', 10000), $4, $5, case when $5 = 'succeeded' then now() end)`;
  await other.query(run, [ended, workspace, member, null, "succeeded"]);
  await other.query(run, [child, workspace, member, ended, "succeeded"]);
  await other.query(run, [open, workspace, member, null, "running"]);
  await other.query(run, [inner, workspace, member, open, "running"]);
  await other.query(
    "insert into step_item (run_id, step_id, attempt, item, status, work_id, is_run, rev) values ($1, 'a', 1, 0, 'succeeded', $2, true, 1)",
    [ended, child],
  );
  await other.query(
    `insert into file (id, workspace_id, state, bytes, filename, purpose, media_type, sha256, block_sha256, block_bytes)
     values ('file-' || md5('x'), $1, 'ready', 50, 'f', 'user_data', 'text/plain', '', '', 1)`,
    [workspace],
  );
  await other.query("insert into file_storage (workspace_id, used) values ($1, 50)", [workspace]);
  expect(await migrate(other.database, log)).toEqual(ALL.filter((file) => file >= "0018"));
  expect(await auditStorage(other.database)).toEqual([]);
  // The file; the definition; the ended run with the row of its step's, in blocks of 4,096; and that run's input.
  const used = 50n + 12n + 16_384n + 8_192n;
  expect(await other.query("select used, files from file_storage")).toEqual([{ used, files: 1 }]);
  expect(await other.query("select id, root_id from run where root_id is not null")).toEqual([
    { id: inner, root_id: open },
  ]);
  expect(await other.query("select distinct input_bytes from run where ended_at is not null")).toEqual([
    { input_bytes: 10_000 },
  ]);
  await other.drop();
});

test("a file that fails leaves nothing of itself behind and can be repeated", async () => {
  const other = await createTestDatabase({ migrated: false });
  // Stands in the way of a function in the middle of one of the files.
  const failing = ALL.indexOf("0003_ledger.sql");
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
