/** /operator/tokens, beside the contract of resources (settings/resource-contract.test.ts): names, ends, and how soon one is gone. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { isOperatorToken } from "#shared/secrets/api-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { openBed, type OperatorBed, tokenOf } from "./bed.ts";

const LIST = "/operator/tokens";

let bed: OperatorBed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

test("a token works from its creation until its revocation, within a cache lifetime", async () => {
  const body = { name: "night shift", scope: "write" };
  const { id, token = "" } = await bed.ask("OperatorToken", "POST", LIST, { body, status: 201 });
  expect(isOperatorToken(token)).toBe(true);
  for (const status of [200, 401]) {
    bed.pass(KEY_CACHE_MS);
    expect((await bed.send("GET", "/operator/presets", { token })).status).toBe(status);
    await bed.ask("OperatorDeleted", "DELETE", `${LIST}/${id}`);
  }
});

test("an id or a name refers to one token permanently, and some names to none", async () => {
  const body = { name: "ci", scope: "read" };
  const { id } = await bed.ask("OperatorToken", "POST", LIST, { body, status: 201 });
  await bed.ask("OperatorDeleted", "DELETE", `${LIST}/${id}`);
  for (const name of ["ci", "settings", "command", "bootstrap"]) {
    expect(await bed.refusal(409, "POST", LIST, { ...body, name })).toEqual({ code: "conflict", param: "name" });
  }
  const { code } = await bed.refusal(422, "POST", LIST, { ...body, id, scope: "write" });
  expect(code).toBe("idempotency_key_reused");
});

test("an expiring token cannot create a token that expires later", async () => {
  const end = new Date(Date.now() + 3_600_000);
  const token = await tokenOf(bed.db, "money", end);
  bed.pass(KEY_CACHE_MS);
  const late = { name: "late", scope: "read", expires_at: new Date(end.getTime() + 1).toISOString() };
  expect((await bed.send("POST", LIST, { token, body: late })).status).toBe(403);
  const made = await bed.send("POST", LIST, { token, body: { name: "heir", scope: "money" } });
  expect(((await made.json()) as { expires_at: string }).expires_at).toBe(end.toISOString());
});
