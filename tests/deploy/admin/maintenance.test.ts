/** The check of the books, and the rotation of master keys. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { newId } from "#shared/ids.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
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

test("without the key that sealed what is stored nothing is done, and it is named", async () => {
  const { code, stderr } = await rotate({ SLUICE_SECRETS_KEY: base64(NEW) });
  expect(code).toBe(1);
  expect(stderr).toContain(`sealed with the key ${old.keyIds[0]}`);
  expect(stderr).toContain("SLUICE_SECRETS_KEY_PREVIOUS");
  expect((await rotate({})).stderr).toContain("SLUICE_SECRETS_KEY is not set");
});

test("with both, all of it is sealed anew, also what a rotation that was killed left behind; a repeat finds nothing to do", async () => {
  const both = { SLUICE_SECRETS_KEY: base64(NEW), SLUICE_SECRETS_KEY_PREVIOUS: base64(OLD) };
  // As one that died after its fiftieth row.
  for (const id of ids.slice(0, 50)) {
    await db.query("update notification_channel set sealed = $2::jsonb where id = $1", [
      id,
      JSON.stringify(sealAll(next, { workspaceId, id }, { url: `https://x.example/${id}`, signingSecret: "s" })),
    ]);
  }
  expect(JSON.parse((await rotate(both)).stdout)).toEqual({ sealed: 70, current: 50 });
  expect(JSON.parse((await rotate({ SLUICE_SECRETS_KEY: base64(NEW) })).stdout)).toEqual({ sealed: 0, current: 120 });
  const rows = await db.query<{ id: string; sealed: Record<string, string> }>(
    "select id, sealed from notification_channel",
  );
  for (const { id, sealed } of rows) {
    expect(openAll(next, { workspaceId, id }, sealed)).toEqual({ url: `https://x.example/${id}`, signingSecret: "s" });
  }
});

test("the books are checked under both names, and a balance that its entries do not explain is told with exit code 1", async () => {
  const check = (...args: string[]) => admin(args, { DATABASE_URL: db.url });
  expect(await check("ledger", "check")).toEqual({ code: 0, stdout: "the books are exact", stderr: "" });
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
