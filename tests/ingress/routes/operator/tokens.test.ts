/** /operator/tokens: made once, shown once, gone within a cache life; each change on record. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";
import { isOperatorToken } from "#shared/secrets/api-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { openBed, type OperatorBed, tokenOf } from "./bed.ts";

const LIST = "/operator/tokens";

let bed: OperatorBed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

test("a token is shown when it is made, kept as a hash, listed without it, and revoked for good", async () => {
  const id = newId();
  const body = { id, name: "night shift", scope: "write", expires_at: "2999-01-01T00:00:00Z" };
  const made = await bed.ask("OperatorToken", "POST", LIST, { body, status: 201 });
  const token = made.token ?? "";
  expect(isOperatorToken(token)).toBe(true);
  expect(made).toMatchObject({ id, name: "night shift", scope: "write", expires_at: "2999-01-01T00:00:00.000Z" });
  bed.pass(KEY_CACHE_MS);
  expect((await bed.send("GET", "/operator/presets", { token })).status).toBe(200);

  const repeat = await bed.ask("OperatorToken", "POST", LIST, { body });
  expect(repeat).toMatchObject({ id });
  expect(repeat).not.toHaveProperty("token");
  const list = await bed.ask("OperatorTokenList", "GET", `${LIST}?limit=1`);
  expect(list).toMatchObject({ data: [{ id }], first_id: id, last_id: id, has_more: true });
  expect(JSON.stringify(list)).not.toContain(token);
  const rows = await bed.db.query("select * from operator_token");
  expect(JSON.stringify(rows)).not.toContain(token);

  const next = await bed.ask("OperatorTokenList", "GET", `${LIST}?limit=100&after=${id}`);
  expect(next.data.length).toBe(3);
  expect(next.data.map((row) => row.id)).not.toContain(id);

  for (const _twice of [1, 2]) {
    expect(await bed.ask("OperatorDeleted", "DELETE", `${LIST}/${id}`)).toEqual({ id, deleted: true });
  }
  bed.pass(KEY_CACHE_MS);
  expect((await bed.send("GET", "/operator/presets", { token })).status).toBe(401);
  const log = await bed.db.query<{ actor: object; action: string; before: object | null; after: object | null }>(
    "select workspace_id, actor, action, before, after from audit_log where subject = $1 order by id",
    [id],
  );
  expect(log).toEqual([
    {
      workspace_id: null,
      actor: { type: "operator", id: expect.stringContaining("money "), request_id: expect.any(String) },
      action: "operator_token.create",
      before: null,
      after: { name: "night shift", scope: "write", expires_at: "2999-01-01T00:00:00+00:00" },
    },
    expect.objectContaining({ action: "operator_token.revoke", after: null, before: expect.any(Object) }),
  ] as typeof log);
});

test("an id or a name stands for one token for ever", async () => {
  const [first, second] = [newId(), newId()];
  await bed.ask("OperatorToken", "POST", LIST, { body: { id: first, name: "ci", scope: "read" }, status: 201 });
  await bed.ask("OperatorDeleted", "DELETE", `${LIST}/${first}`);
  const taken = { code: "conflict", param: "name" };
  expect(await bed.refusal(409, "POST", LIST, { id: second, name: "ci", scope: "read" })).toEqual(taken);
  for (const name of ["settings", "command", "bootstrap"]) {
    expect(await bed.refusal(409, "POST", LIST, { name, scope: "read" })).toEqual(taken);
  }
  for (const other of [
    { name: "ci", scope: "write" },
    { name: "cd", scope: "read" },
  ]) {
    const reused = { code: "idempotency_key_reused", param: "id" };
    expect(await bed.refusal(422, "POST", LIST, { id: first, ...other })).toEqual(reused);
  }
});

test.each<[string, unknown, string, string | null]>([
  ["no scope", { name: "a" }, "missing_required_parameter", "scope"],
  ["another scope", { name: "a", scope: "root" }, "unsupported_value", "scope"],
  ["an empty name", { name: "", scope: "read" }, "invalid_request", "name"],
  ["a name with a line break", { name: "a\nb", scope: "read" }, "unsupported_value", "name"],
  ["a NUL in the name", { name: "a\u0000", scope: "read" }, "unsupported_value", "name"],
  [
    "an end that is over",
    { name: "a", scope: "read", expires_at: "2020-01-01T00:00:00Z" },
    "unsupported_value",
    "expires_at",
  ],
  ["an end that is no time", { name: "a", scope: "read", expires_at: "tomorrow" }, "invalid_request", "expires_at"],
  ["an id that is none", { id: "7", name: "a", scope: "read" }, "invalid_request", "id"],
  ["no JSON", "{", "invalid_json", null],
])("%s is refused", async (_what, body, code, param) => {
  expect(await bed.refusal(400, "POST", LIST, body)).toEqual({ code, param });
});

test("pages that are asked for wrongly are refused, and unknown tokens are not found", async () => {
  for (const [query, param] of [
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=x", "limit"],
    ["after=x", "after"],
  ]) {
    const expected = { code: "unsupported_value", param: param ?? "" };
    expect(await bed.refusal(400, "GET", `${LIST}?${query}`)).toEqual(expected);
  }
  for (const id of [newId(), "x", "%00"]) {
    expect((await bed.refusal(404, "DELETE", `${LIST}/${id}`)).code).toBe("not_found");
  }
});

test("a token that ends makes none that ends later", async () => {
  const end = new Date(Date.now() + 3_600_000);
  const token = await tokenOf(bed.db, "money", end);
  bed.pass(KEY_CACHE_MS);
  const late = { name: "late", scope: "read", expires_at: new Date(end.getTime() + 1).toISOString() };
  expect((await bed.send("POST", LIST, { token, body: late })).status).toBe(403);
  const made = await bed.send("POST", LIST, { token, body: { name: "heir", scope: "money" } });
  expect(((await made.json()) as { expires_at: string }).expires_at).toBe(end.toISOString());
});
