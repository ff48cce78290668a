/** The check of the books, and the rotation of master keys. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { raiseUsageFloor, rollUpStep } from "#shared/database/usage-sums.ts";
import { newId } from "#shared/base/ids.ts";
import { auditNewEntries } from "#shared/ledger/audit.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { rollUpAll, spend } from "#tests/shared/usage-records.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admin } from "./commands.ts";

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const [old, next] = [createSealer([OLD]), createSealer([NEW])];
let db: TestDatabase;
let workspaceId: string;
const ids = Array.from({ length: 120 }, () => newId());

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await createWorkspace(db.database, 0n);
  for (const id of ids) {
    await db.query(
      "insert into notification_channel (id, workspace_id, type, name, config, sealed) values ($1, $2, 'webhook', $1::uuid::text, '{}', $3::jsonb)",
      [
        id,
        workspaceId,
        JSON.stringify(sealAll(old, { workspaceId, id }, { url: `https://x.example/${id}`, signingSecret: "s" })),
      ],
    );
  }
});
afterAll(() => db.drop());

const rotate = (settings: Record<string, string>) =>
  admin(["secrets", "rotate", "--json"], {
    DATABASE_URL: db.url,
    SLUICE_PRODUCTION: "on",
    SLUICE_SANDBOX: "off",
    ...settings,
  });
const base64 = (key: Uint8Array): string => Buffer.from(key).toString("base64");

test("without the key that encrypted the stored data, the command changes nothing and names the key", async () => {
  const { code, stderr } = await rotate({ SLUICE_SECRETS_KEY: base64(NEW) });
  expect(code).toBe(1);
  expect(stderr).toContain(`sealed with the key ${old.keyIds[0]}`);
  expect(stderr).toContain("SLUICE_SECRETS_KEY_PREVIOUS");
  expect((await rotate({})).stderr).toContain("SLUICE_SECRETS_KEY is not set");
});

test("with both keys, all data is encrypted again, including an interrupted rotation; a second run finds nothing", async () => {
  const both = { SLUICE_SECRETS_KEY: base64(NEW), SLUICE_SECRETS_KEY_PREVIOUS: base64(OLD) };
  // As one that died after its fiftieth row.
  for (const id of ids.slice(0, 50)) {
    await db.query("update notification_channel set sealed = $2::jsonb where id = $1", [
      id,
      JSON.stringify(sealAll(next, { workspaceId, id }, { url: `https://x.example/${id}`, signingSecret: "s" })),
    ]);
  }
  const noTexts = { texts_sealed: 0, texts_left: 0, body_keys_sealed: 0 };
  expect(JSON.parse((await rotate(both)).stdout)).toEqual({ sealed: 70, current: 50, ...noTexts });
  expect(JSON.parse((await rotate({ SLUICE_SECRETS_KEY: base64(NEW) })).stdout)).toEqual({
    sealed: 0,
    current: 120,
    ...noTexts,
  });
  const rows = await db.query<{ id: string; sealed: Record<string, string> }>(
    "select id, sealed from notification_channel",
  );
  for (const { id, sealed } of rows) {
    expect(openAll(next, { workspaceId, id }, sealed)).toEqual({ url: `https://x.example/${id}`, signingSecret: "s" });
  }
});

test("old usage is moved into a new file; an invalid or recent day is rejected", async () => {
  // Not the usual folder, which is in memory: no archive may lie there.
  const { directory, remove } = temporaryDirectory("/var/tmp");
  const to = join(directory, "usage.jsonl");
  const archive = (before: string, file = to) =>
    admin(["ledger", "archive", "--before", before, "--to", file], { DATABASE_URL: db.url });
  for (const day of [
    "2026-02-30",
    "yesterday",
    "2026-1-1",
    "2026-01-01T10:00:00Z",
    new Date().toISOString().slice(0, 10),
  ]) {
    expect(await archive(day)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("expected --before as a day") as string,
    });
  }
  if (process.platform === "linux") {
    expect(await archive("2020-01-01", "/dev/shm/sluice-archive.jsonl")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("expected a folder on a disk") as string,
    });
  }
  expect(await archive("2020-01-01")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("moved nothing") as string,
  });
  expect(await archive("2020-01-01")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("it must not exist yet") as string,
  });
  const books = await createWorkspace(db.database, 100n);
  await db.query("update usage_rollup set until = '2019-01-01', next_at = '2019-01-01'");
  const [jobId] = await spend(db.database, [{ workspaceId: books, nano: 40n, at: new Date("2019-06-01T10:00:00Z") }]);
  const step = async (): Promise<void> => {
    await raiseUsageFloor(db.database);
    await rollUpStep(db.database, 1e12);
  };
  await rollUpAll(db.database, step);
  const isOpen = "select 1 from ledger_border where entry_id < (select max(id) from ledger_entry)";
  do expect(await db.database.transaction((tx) => auditNewEntries(tx))).toEqual([]);
  while ((await db.query(isOpen)).length > 0);
  const second = join(directory, "more.jsonl");
  expect(await archive("2020-01-01", second)).toEqual({
    code: 0,
    stdout: `moved 1 usage records of before 2020-01-01T00:00:00.000Z into ${second}`,
    stderr: "",
  });
  expect(JSON.parse(readFileSync(second, "utf8"))).toMatchObject({ job_id: jobId, settled: "40" });
  expect(
    await db.query(
      "select subject, actor->>'id' as actor from audit_log where action = 'usage.archive' order by id desc limit 1",
    ),
  ).toEqual([{ subject: second, actor: "command" }]);
  remove();
});

test("both audit commands check the books; a balance without matching entries exits with 1", async () => {
  const check = (...args: string[]) => admin(args, { DATABASE_URL: db.url });
  expect(await check("ledger", "check")).toEqual({ code: 0, stdout: "every balance matches the ledger", stderr: "" });
  await db.query("update balance set amount = amount + 7 where workspace_id = $1", [workspaceId]);
  const found = await check("credits", "check", "--json");
  expect(found).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(found.stdout)).toMatchObject({
    is_exact: false,
    faults: [{ workspace_id: workspaceId, expected: "0", found: "7" }],
  });
  expect(await check("ledger", "check")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(workspaceId) as string,
  });
});
