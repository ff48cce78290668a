/** Sign-in links of the console by command. */
import { expect, test } from "bun:test";

import { ensureBootstrap } from "#deploy/admin/bootstrap.ts";

import { admin, type Json, openCommands } from "./commands.ts";

const { bed, json, makeWorkspace, outcome, refusal, settings, text } = openCommands();

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/console#code=([\w-]{43})$/;

/** Signs in with the code of a link and returns the session. */
async function sessionOf(link: string): Promise<Json> {
  const [, code = ""] = LINK.exec(link) ?? [];
  const headers = { "x-sluice-console": "1", "content-type": "application/json" };
  const path = `${settings().SLUICE_URL}/console/session`;
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify({ code }) });
  expect(answer.status).toBe(204);
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return (await (await fetch(path, { headers: { ...headers, cookie } })).json()) as Json;
}

async function makeKey(workspace: string, name: string): Promise<string> {
  return String((await json("key", "create", workspace, "--member", name, "--preset", "standard"))["id"]);
}

test("without a bootstrap key, a link needs an option; with one, it signs in for that key", async () => {
  expect(await refusal("console", "link")).toContain("there is no active bootstrap key");
  await ensureBootstrap(bed().db.database, "sk_test_of_twenty_characters");
  const link = await text("console", "link");
  expect(await sessionOf(link)).toMatchObject({ member: { name: "first owner" }, workspace: { name: "default" } });
});

test("a link signs in for the named key, or for the oldest active key of an owner", async () => {
  const { id, name } = await makeWorkspace();
  const ada = await makeKey(name, "ada");
  expect(await refusal("console", "link", "--workspace", name)).toBe(
    `no owner of the workspace ${name} has an active key`,
  );
  await text("member", "add", name, "eve", "--role", "owner");
  const keys = [await makeKey(name, "eve"), await makeKey(name, "eve")];
  const made = await json("console", "link", "--key", ada);
  expect(made).toEqual({
    url: expect.stringMatching(LINK),
    code: expect.stringMatching(/^[\w-]{43}$/),
    key_id: ada,
    minutes: 15,
  });
  expect(String(made["url"])).toEndWith(`/console#code=${String(made["code"])}`);
  expect(await sessionOf(String(made["url"]))).toMatchObject({ key: { id: ada }, workspace: { id } });
  expect(await json("console", "link", "--workspace", name)).toMatchObject({ key_id: keys[0] });
  await text("key", "revoke", String(keys[0]));
  expect(await json("console", "link", "--workspace", id)).toMatchObject({ key_id: keys[1] });
  expect(await refusal("console", "link", "--key", String(keys[0]))).toContain("there is no active key");
});

test("a link has the public address", async () => {
  const environment = { ...settings(), SLUICE_PUBLIC_URL: "https://ai.example.com/" };
  const { stdout } = await admin(["console", "link"], environment);
  expect(stdout).toMatch(/^https:\/\/ai\.example\.com\/console#code=[\w-]{43}$/);
});

test("malformed options are refused", async () => {
  const key = "019f0c7a-5b1e-7000-8000-000000000001";
  const both = await outcome("console", "link", "--key", key, "--workspace", "default");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("expected --key or --workspace")]);
  const malformed = await outcome("console", "link", "--key", "slk_secret_of_somebody");
  expect([malformed.code, malformed.stderr.includes("secret")]).toEqual([2, false]);
});
