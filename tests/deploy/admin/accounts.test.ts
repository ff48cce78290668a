/** Commands that create workspaces, members and keys on the database. */
import { describe, expect, test } from "bun:test";

import { hashKey, isMintedKey } from "#shared/secrets/api-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { type Json, openCommands, TIME, UUID } from "./commands.ts";

const { audited, bed, json, makeWorkspace, refusal, text } = openCommands();

function makeKey(workspace: string, ...args: string[]): Promise<Json & { id: string; key: string }> {
  return json("key", "create", workspace, "--member", "ada", "--preset", "free", ...args);
}

test("a workspace name is unique, also among recently deleted workspaces", async () => {
  const name = "Ünïcode & co";
  const made = await json("workspace", "create", name);
  const id = String(made["id"]);
  expect(made).toEqual({
    id: expect.stringMatching(UUID),
    name,
    is_active: true,
    created_at: expect.stringMatching(TIME),
  });
  expect(await text("workspace", "create", "plain")).toMatch(/^created workspace plain, id [0-9a-f-]{36}$/);
  expect(await refusal("workspace", "create", name)).toContain("taken");
  await bed().db.query("update workspace set name = $2 where id = $1", [id, `new ${name}`]);
  expect(await refusal("workspace", "create", name)).toContain("released less than 30 days ago");
  const renamed = `there is no workspace "${name}"; it was renamed to new ${name}, id ${id}`;
  expect(await refusal("member", "add", name, "ada", "--role", "owner")).toBe(renamed);
});

test("members are added, change their role, are disabled and enabled, each with an audit entry", async () => {
  const { id, name } = await makeWorkspace();
  const row = { id: expect.stringMatching(UUID), workspace_id: id, name: "ada", email: null };
  const changed = await json("member", "role", name, "ada", "billing");
  expect(changed).toEqual({ ...row, role: "billing", is_active: true, created_at: expect.stringMatching(TIME) });
  expect(await text("member", "role", name, "ada", "billing")).toBe(`member ada of ${name} was billing`);
  expect(await json("member", "disable", id, "ada")).toMatchObject({ ...row, is_active: false });
  expect(await refusal("key", "create", name, "--member", "ada", "--preset", "free")).toContain("disabled");
  expect(await text("member", "enable", name, "ada")).toBe(`member ada of ${name} is enabled`);
  expect((await audited(id)).map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    "command workspace.create",
    "command member.add",
    "command member.role",
    "command member.disable",
    "command member.enable",
  ]);
  expect(await refusal("member", "add", name, "ada", "--role", "owner")).toContain("already");
  expect(await refusal("member", "role", name, "bob", "owner")).toContain('no member "bob"');
});

describe("a key", () => {
  test("is displayed once and stored as a hash", async () => {
    const { id, name } = await makeWorkspace();
    const made = await makeKey(name, "--name", "laptop");
    expect(isMintedKey(made.key)).toBe(true);
    expect(made).toMatchObject({ workspace_id: id, name: "laptop", member: "ada", role: "developer", preset: "free" });
    const stored = await bed().db.query<{ sha256: Buffer }>("select sha256 from api_key where id = $1", [made.id]);
    expect(stored[0]?.sha256.toString("hex")).toBe(Buffer.from(hashKey(made.key)).toString("hex"));
    for (const said of [await text("key", "list", name), JSON.stringify(await audited(id))]) {
      expect(said).not.toContain(made.key);
    }
  });

  test("appears in the text output, with the name of its member", async () => {
    const { name } = await makeWorkspace();
    const facts = await text("key", "create", name, "--member", "ada", "--preset", "pro");
    expect(isMintedKey(/^key +(\S+)$/m.exec(facts)?.[1] ?? "")).toBe(true);
    expect(facts).toMatch(/^name +ada$/m);
  });

  test("accepts every preset that `preset list` displays, including presets of the service's own files", async () => {
    const { name } = await makeWorkspace();
    const { presets } = bed().context.catalogue.current();
    const free = presets.get("free");
    if (!free) throw new Error("there is no preset free");
    (presets as Map<string, typeof free>).set("gold", { ...free, name: "gold" });
    try {
      const data = await json<{ name: string }[]>("preset", "list");
      expect(data.map((preset) => preset.name)).toContain("gold");
      for (const preset of data) {
        expect(await json("key", "create", name, "--member", "ada", "--preset", preset.name)).toMatchObject({ preset: preset.name }); // prettier-ignore
      }
    } finally {
      (presets as Map<string, typeof free>).delete("gold");
    }
  });

  test("accepts a preset of the catalogue, and rejects a preset of a disabled workspace", async () => {
    const { name } = await makeWorkspace();
    const create = (preset: string) => refusal("key", "create", name, "--member", "ada", "--preset", preset);
    expect(await create("gold")).toBe('expected a preset of free, standard, pro, unlimited, got "gold"');
    await text("workspace", "disable", name);
    expect(await create("free")).toContain("disabled");
  });

  test("is accepted, and rejected after it, its member or its workspace is disabled", async () => {
    const { name } = await makeWorkspace();
    const { id, key } = await makeKey(name);
    const status = async (): Promise<number> => {
      bed().pass(KEY_CACHE_MS);
      return (await bed().send("GET", "/v1/models", { token: key })).status;
    };
    expect(await status()).toBe(200);
    for (const [off, on] of [
      [
        ["workspace", "disable", name],
        ["workspace", "enable", name],
      ],
      [
        ["member", "disable", name, "ada"],
        ["member", "enable", name, "ada"],
      ],
    ] as const) {
      await text(...off);
      expect(await status()).toBe(401);
      await text(...on);
      expect(await status()).toBe(200);
    }
    await text("key", "revoke", id);
    expect(await status()).toBe(401);
  });
});

test("a key is created with limits, and not with limits that the API would refuse", async () => {
  const { name } = await makeWorkspace();
  const create = ["key", "create", name, "--member", "ada", "--preset", "free"];
  const made = await json(...create, "--credits-per-month", "0.000000001", "--models", "sandbox-*");
  expect(made["limits"]).toMatchObject({ credits: { month: 1e-9, day: null }, models: ["sandbox-*"] });
  const [row] = await bed().db.query<{ caps: bigint[] }>("select caps from spend_limit where id = $1", [
    String(made["id"]),
  ]);
  expect(row?.caps.map((cap) => cap ?? null)).toEqual([null, null, 1n, null] as never);
  expect((await json(...create))["limits"]).toBeNull();
  expect(await refusal(...create, "--endpoints", "chats")).toContain("Did you mean chat?");
  expect(await refusal(...create, "--credits-per-day", "0.0000000001")).toContain("nine decimal places");
});
