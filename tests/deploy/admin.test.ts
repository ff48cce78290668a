import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";
import { hashKey, isMintedKey } from "#shared/secrets/api-keys.ts";

import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { commandsOn, type Json, TIME, UUID } from "./admin/commands.ts";

let db: TestDatabase;
const { audited, json, makeWorkspace, outcome, refusal, text } = commandsOn(() => db);

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

function makeKey(workspace: string, ...args: string[]): Promise<Json & { id: string; key: string }> {
  return json("key", "create", workspace, "--member", "ada", "--preset", "free", ...args);
}

describe("workspaces", () => {
  test("are made, listed, disabled and enabled, and each change is on record", async () => {
    const name = "Ünïcode & co";
    expect(await text("workspace", "create", name)).toMatch(/^workspace Ünïcode & co made, id [0-9a-f-]{36}$/);
    const list = await json<Json[]>("workspace", "list");
    const row = list.find((workspace) => workspace["name"] === name);
    expect(row).toEqual({
      id: expect.stringMatching(UUID),
      name,
      is_active: true,
      created_at: expect.stringMatching(TIME),
      credits: "0",
      held: "0",
      available: "0",
    });
    const id = String(row?.["id"]);
    expect(await json("workspace", "disable", name)).toMatchObject({ id, is_active: false });
    expect(await text("workspace", "disable", id)).toBe(`workspace ${name} was disabled`);
    expect(await text("workspace", "enable", id.toUpperCase())).toBe(`workspace ${name} is enabled`);
    expect((await audited(id)).map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      "command workspace.create",
      "command workspace.disable",
      "command workspace.enable",
    ]);
    expect(await refusal("workspace", "create", name)).toContain("already");
    expect(await refusal("workspace", "disable", "nobody")).toBe('there is no workspace "nobody"');
    await db.query("update workspace set name = $2 where id = $1", [id, `new ${name}`]);
    expect(await refusal("credits", "top-up", name, "5")).toBe(
      `there is no workspace "${name}"; the one that had this name is called new ${name} now, id ${id}`,
    );
    expect(await refusal("workspace", "create", name)).toContain("was in the last 30 days");
  });

  test("are listed in columns that line up", async () => {
    await makeWorkspace();
    const [titles = "", ...rows] = (await text("workspace", "list")).split("\n");
    expect(titles).toMatch(/^Name +Id +Active +Credits +Held +Available +Created$/);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.slice(titles.indexOf("Active")).split(/\s/)[0]).toMatch(/^(yes|no)$/);
  });
});

describe("members", () => {
  test("are added, given another role, disabled, enabled and listed", async () => {
    const { id, name } = await makeWorkspace();
    expect(await json("member", "role", name, "ada", "billing")).toMatchObject({
      name: "ada",
      email: null,
      role: "billing",
    });
    expect(await json("member", "disable", id, "ada")).toMatchObject({ is_active: false });
    expect(await refusal("key", "create", name, "--member", "ada", "--preset", "free")).toContain("disabled");
    expect(await text("member", "enable", name, "ada")).toBe(`member ada of ${name} is enabled`);
    expect(await json<Json[]>("member", "list", name)).toEqual([
      {
        id: expect.stringMatching(UUID),
        workspace_id: id,
        name: "ada",
        email: null,
        role: "billing",
        is_active: true,
        created_at: expect.stringMatching(TIME),
      },
    ]);
    expect((await audited(id)).map(({ action }) => action)).toEqual([
      "workspace.create",
      "member.add",
      "member.role",
      "member.disable",
      "member.enable",
    ]);
    expect(await refusal("member", "add", name, "ada", "--role", "owner")).toContain("already");
    expect(await refusal("member", "role", name, "bob", "owner")).toContain('no member "bob"');
  });
});

describe("keys", () => {
  test("are shown once, stored as a hash, listed by hint, and revoked for good", async () => {
    const { id, name } = await makeWorkspace();
    const made = await makeKey(name, "--name", "laptop");
    expect(isMintedKey(made.key)).toBe(true);
    expect(made).toMatchObject({ workspace_id: id, name: "laptop", member: "ada", role: "developer", preset: "free" });
    const stored = await db.query<{ sha256: Buffer }>("select sha256 from api_key where id = $1", [made.id]);
    expect(stored[0]?.sha256.toString("hex")).toBe(Buffer.from(hashKey(made.key)).toString("hex"));

    const list = await text("key", "list", name);
    expect(list).toContain(made.id);
    expect(list).not.toContain(made.key);
    expect(await json("key", "revoke", made.id)).toMatchObject({ revoked_at: expect.stringMatching(TIME) });
    expect(await text("key", "revoke", made.id)).toContain("was revoked");
    const rows = await json<Json[]>("key", "list", name);
    expect(rows).toMatchObject([{ id: made.id, hint: `${made.key.slice(0, 8)}…`, revoked_at: expect.any(String) }]);
    expect(JSON.stringify(rows)).not.toContain(made.key);
    const log = await audited(id);
    expect(log.map(({ action }) => action).slice(2)).toEqual(["key.create", "key.revoke"]);
    expect(JSON.stringify(log)).not.toContain(made.key);
  });

  test("say themselves in the human answer too, named after their member", async () => {
    const { name } = await makeWorkspace();
    const facts = await text("key", "create", name, "--member", "ada", "--preset", "pro");
    const key = /^key +(\S+)$/m.exec(facts)?.[1] ?? "";
    expect(isMintedKey(key)).toBe(true);
    expect(facts).toMatch(/^name +ada$/m);
  });

  test("get presets of the catalogue only, and none once they are revoked", async () => {
    const { id, name } = await makeWorkspace();
    const made = await makeKey(name);
    expect(await json("preset", "set", made.id, "pro")).toMatchObject({ id: made.id, preset: "pro" });
    expect(await text("preset", "set", made.id, "pro")).toContain("had the preset pro already");
    expect(await refusal("preset", "set", made.id, "gold")).toContain("free, standard, pro, unlimited");
    expect(await refusal("key", "create", name, "--member", "ada", "--preset", "gold")).toContain('got "gold"');
    await text("key", "revoke", made.id);
    expect(await refusal("preset", "set", made.id, "free")).toContain("is revoked");
    const changes = (await audited(id)).filter(({ action }) => action === "key.preset");
    expect(changes).toMatchObject([{ before: { preset: "free" }, after: { preset: "pro" } }]);
  });

  test("of nobody, and for a disabled workspace, are refused", async () => {
    const { name } = await makeWorkspace();
    expect(await refusal("key", "revoke", newId())).toContain("there is no key");
    expect(await refusal("preset", "set", newId(), "free")).toContain("there is no key");
    await text("workspace", "disable", name);
    expect(await refusal("key", "create", name, "--member", "ada", "--preset", "free")).toContain("disabled");
  });
});

describe("credits", () => {
  test("are topped up once per id", async () => {
    const { id, name } = await makeWorkspace();
    const moveId = newId();
    const line = ["credits", "top-up", name, "12.000000001", "--id", moveId, "--note", "invoice 7"];
    expect(await json(...line)).toEqual({
      id: moveId,
      workspace_id: id,
      workspace: name,
      kind: "top_up",
      credits: "12.000000001",
      note: "invoice 7",
      was_done_before: false,
      balance: "12.000000001",
      available: "12.000000001",
    });
    expect(await json(...line)).toMatchObject({ was_done_before: true, balance: "12.000000001" });
    expect(await text(...line)).toContain("nothing changed");
    expect((await audited(id)).slice(2)).toEqual([
      {
        actor: "command",
        action: "credits.top_up",
        before: null,
        after: { credits: "12.000000001", note: "invoice 7" },
      },
    ]);
    expect(await refusal("credits", "top-up", name, "13", "--id", moveId)).toContain("was used for 12.000000001");
    const other = await makeWorkspace();
    // An id is a workspace's own.
    expect(await json("credits", "top-up", other.name, "3", "--id", moveId)).toMatchObject({ balance: "3" });
  });

  test("two top-ups under one id at the same time move once", async () => {
    const { name } = await makeWorkspace();
    const line = ["credits", "top-up", name, "5", "--id", newId()];
    const answers = await Promise.all([json(...line), json(...line)]);
    expect(answers.filter((answer) => answer["was_done_before"] === true)).toHaveLength(1);
    expect(await json("credits", "balance", name)).toMatchObject({ credits: "5" });
  });

  test("are corrected both ways, never below what is available", async () => {
    const { id, name } = await makeWorkspace();
    await text("credits", "top-up", name, "10");
    expect(await json("credits", "correct", name, "-2.5", "--note", "double")).toMatchObject({ balance: "7.5" });
    expect(await json("credits", "correct", name, "--note", "back", "0.5")).toMatchObject({ balance: "8" });
    expect(await refusal("credits", "correct", name, "-8.1")).toContain("has 8 credits available");
    expect(await json("credits", "balance", id)).toEqual({
      workspace_id: id,
      workspace: name,
      credits: "8",
      held: "0",
      available: "8",
    });
    expect(await text("credits", "balance", name)).toMatch(/^available +8$/m);
    const entries = await json<Json[]>("credits", "ledger", name);
    expect(entries.map(({ kind, credits, note }) => [kind, credits, note])).toEqual([
      ["correction", "0.5", "back"],
      ["correction", "-2.5", "double"],
      ["top_up", "10", null],
    ]);
    expect(entries[0]).toMatchObject({ id: expect.any(String), source_id: expect.stringMatching(UUID), attempt: 0 });
    expect(await json<Json[]>("credits", "ledger", name, "--limit", "1")).toHaveLength(1);
    expect(await text("credits", "ledger", name)).toMatch(/top_up +\+10 /);
    expect((await audited(id)).map(({ action }) => action).slice(2)).toEqual([
      "credits.top_up",
      "credits.correction",
      "credits.correction",
    ]);
  });

  test("check finds a balance that its entries do not explain, under both its names", async () => {
    const { id, name } = await makeWorkspace();
    await text("credits", "top-up", name, "1");
    expect(await json("credits", "check")).toEqual({ is_exact: true, faults: [] });
    expect(await text("ledger", "check")).toBe("the books are exact");
    await db.query("update balance set amount = amount + 7 where workspace_id = $1", [id]);
    const found = await outcome("credits", "check", "--json");
    expect(found).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(found.stdout)).toMatchObject({
      is_exact: false,
      faults: [{ workspace_id: id, expected: "1000000000", found: "1000000007" }],
    });
    expect(await outcome("ledger", "check")).toMatchObject({ code: 1, stdout: expect.stringContaining(id) });
    await db.query("update balance set amount = amount - 7 where workspace_id = $1", [id]);
  });
});

describe("against a running service", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ workers: 0, janitor: false });
  });
  afterAll(() => stack.stop());

  const status = async (key: string): Promise<number> => {
    const answer = await fetch(`${stack.baseUrls[0]}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.body?.cancel();
    return answer.status;
  };

  /** Asks until the answer is this one; the test's own time limit ends it otherwise. */
  async function becomes(key: string, wanted: number): Promise<void> {
    while ((await status(key)) !== wanted) await Bun.sleep(50);
  }

  test("a made key is accepted, and refused when it, its member or its workspace is taken away", async () => {
    const command = async (...args: string[]): Promise<Json> => {
      const outcome = await stack.command("admin", ...args, "--json");
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      return JSON.parse(outcome.stdout) as Json;
    };
    expect(await status(stack.key)).toBe(200);
    await command("workspace", "create", "acme");
    await command("member", "add", "acme", "ada", "--role", "developer");
    const made = await command("key", "create", "acme", "--member", "ada", "--preset", "free");
    const key = String(made["key"]);
    expect(await status(key)).toBe(200);
    await command("workspace", "disable", "acme");
    await becomes(key, 401);
    await command("workspace", "enable", "acme");
    await becomes(key, 200);
    await command("member", "disable", "acme", "ada");
    await becomes(key, 401);
    await command("member", "enable", "acme", "ada");
    await becomes(key, 200);
    await command("key", "revoke", String(made["id"]));
    await becomes(key, 401);
    expect(await status(stack.key)).toBe(200);
  });
});
