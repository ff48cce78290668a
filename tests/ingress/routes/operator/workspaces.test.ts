/** /operator/workspaces: made whole and once, changed, read; their members and keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { OperatorWorkspaceCreated } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { isMintedKey } from "#shared/secrets/api-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { openBed, type OperatorBed } from "./bed.ts";

const LIST = "/operator/workspaces";
const ADA = { name: "ada", email: "ada@example.com" };

let bed: OperatorBed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

async function make(members: object = {}): Promise<OperatorWorkspaceCreated & { readonly id: string }> {
  const body = { name: `team ${newId()}`, owner: ADA, ...members };
  const made = await bed.ask("OperatorWorkspaceCreated", "POST", LIST, { body, status: 201 });
  return { ...made, id: made.workspace.id };
}

const works = async (key: string | undefined): Promise<number> =>
  (await bed.send("GET", "/v1/models", { token: key ?? null })).status;

describe("a workspace", () => {
  test("is created with its owner and a working key, each with an audit entry", async () => {
    const made = await make({ preset: "pro" });
    expect(made).toMatchObject({
      workspace: { is_active: true, balance: 0, held: 0, available: 0 },
      owner: { ...ADA, role: "owner", is_active: true },
      api_key: { preset: "pro", member: { name: "ada", role: "owner" }, revoked_at: null },
    });
    expect(isMintedKey(made.api_key.key ?? "")).toBe(true);
    expect(await works(made.api_key.key)).toBe(200);
    expect(await bed.ask("OperatorWorkspace", "GET", `${LIST}/${made.id}`)).toEqual(made.workspace);
    expect((await bed.ask("OperatorMemberList", "GET", `${LIST}/${made.id}/members`)).data).toEqual([made.owner]);
    const { data } = await bed.ask("OperatorApiKeyList", "GET", `${LIST}/${made.id}/api-keys`);
    const { key: _secret, ...masked } = made.api_key;
    expect(data).toEqual([masked]);
    const log = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?workspace_id=${made.id}`);
    expect(log.data.map(({ action }) => action)).toEqual(["key.create", "member.add", "workspace.create"]);
    for (const { actor, request_id } of log.data) {
      expect(actor).toEqual({ type: "operator", id: expect.stringContaining("money "), name: null });
      expect(request_id).toEqual(expect.any(String));
    }
    expect(JSON.stringify(log)).not.toContain(made.api_key.key ?? "no key");
  });

  test("has a first key of the preset standard by default", async () => {
    expect((await make()).api_key.preset).toBe("standard");
  });

  test("is created once under the caller's id, also after later changes", async () => {
    const body = { id: newId(), name: `team ${newId()}`, owner: ADA, preset: "free" };
    const answers = await Promise.all([1, 2, 3].map(() => bed.send("POST", LIST, { body })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 201]);
    const renamed = await bed.ask("OperatorWorkspace", "PATCH", `${LIST}/${body.id}`, {
      body: { name: `b ${newId()}` },
    });
    const repeat = await bed.ask("OperatorWorkspaceCreated", "POST", LIST, {
      body: { ...body, id: body.id.toUpperCase() },
    });
    expect(repeat).toMatchObject({ workspace: renamed, api_key: { preset: "free" } });
    expect(repeat.api_key).not.toHaveProperty("key");
    const reused = { code: "idempotency_key_reused", param: "id" };
    for (const other of [
      { name: "another" },
      { owner: { name: "grace", email: ADA.email } },
      { owner: { name: "ada" } },
      { preset: "pro" },
    ]) {
      expect(await bed.refusal(422, "POST", LIST, { ...body, ...other })).toEqual(reused);
    }
    expect(await bed.db.query("select id from api_key where workspace_id = $1", [body.id])).toHaveLength(1);
  });

  test("rejects the name of another workspace, also when it is renamed", async () => {
    const [first, second] = [await make(), await make()];
    const taken = { code: "conflict", param: "name" };
    const body = { name: first.workspace.name, owner: ADA };
    expect(await bed.refusal(409, "POST", LIST, body)).toEqual(taken);
    expect(await bed.refusal(409, "POST", LIST, { ...body, id: newId() })).toEqual(taken);
    const change = { name: first.workspace.name, is_active: false };
    expect(await bed.refusal(409, "PATCH", `${LIST}/${second.id}`, change)).toEqual(taken);
    expect(await bed.ask("OperatorWorkspace", "GET", `${LIST}/${second.id}`)).toEqual(second.workspace);
  });

  test("is disabled and enabled, together with its keys", async () => {
    const { id, api_key } = await make();
    for (const is_active of [false, true]) {
      expect(await bed.ask("OperatorWorkspace", "PATCH", `${LIST}/${id}`, { body: { is_active } })).toMatchObject({
        is_active,
      });
      bed.pass(KEY_CACHE_MS);
      expect(await works(api_key.key)).toBe(is_active ? 200 : 401);
    }
    expect(await bed.ask("OperatorWorkspace", "PATCH", `${LIST}/${id}`, { body: {} })).toMatchObject({ id });
    const { data } = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?workspace_id=${id}&limit=2`);
    expect(data.map(({ action }) => action)).toEqual(["workspace.enable", "workspace.disable"]);
  });

  test.each<[string, object, string, string]>([
    ["without an owner", { owner: undefined }, "missing_required_parameter", "owner"],
    ["with an owner without a name", { owner: {} }, "missing_required_parameter", "owner.name"],
    ["with an address that is none", { owner: { name: "a", email: "at home" } }, "unsupported_value", "owner.email"],
    ["with two addresses", { owner: { name: "a", email: "a@b.c,d@e.f" } }, "unsupported_value", "owner.email"],
    ["with a preset that there is not", { preset: "platinum" }, "unsupported_value", "preset"],
    ["called like an id", { name: newId() }, "unsupported_value", "name"],
    ["with blanks at the ends of its name", { name: " a" }, "unsupported_value", "name"],
    ["with a NUL in its name", { name: "a\u0000b" }, "unsupported_value", "name"],
    ["with a lone surrogate in its name", { name: "a\ud800" }, "unsupported_value", "name"],
  ])("%s is not created", async (_what, members, code, param) => {
    const body = { name: `team ${newId()}`, owner: ADA, ...members };
    expect(await bed.refusal(400, "POST", LIST, body)).toEqual({ code, param });
  });

  test("that does not exist is not found", async () => {
    for (const id of [newId(), "x", "%00", "a%2Fb"]) {
      for (const path of ["", "/members", "/api-keys", "/credits", "/ledger"]) {
        expect((await bed.refusal(404, "GET", `${LIST}/${id}${path}`)).code).toBe("not_found");
      }
      expect((await bed.refusal(404, "PATCH", `${LIST}/${id}`, { is_active: true })).code).toBe("not_found");
    }
  });
});

test("workspaces are listed newest first, for any ids, in complete pages", async () => {
  // Ids of callers tell no order.
  const made = [];
  for (const head of ["f", "0", "8"]) made.push((await make({ id: newId().replace(/^./, head) })).id);
  const seen: string[] = [];
  for (let after = ""; ;) {
    const page = await bed.ask("OperatorWorkspaceList", "GET", `${LIST}?limit=2${after}`);
    seen.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    after = `&after=${page.last_id}`;
  }
  expect(seen.slice(0, 3)).toEqual(made.toReversed());
  const rows = await bed.db.query<{ id: string }>("select id from workspace");
  expect(seen.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
});

test("a workspace is found by its name, and by a recent former name", async () => {
  const { id, workspace } = await make();
  const named = async (name: string) => {
    const { data } = await bed.ask("OperatorWorkspaceList", "GET", `${LIST}?name=${encodeURIComponent(name)}`);
    return data.map((found) => [found.id, found.name]);
  };
  expect(await named(workspace.name)).toEqual([[id, workspace.name]]);
  const name = `renamed & ${id}`;
  await bed.ask("OperatorWorkspace", "PATCH", `${LIST}/${id}`, { body: { name } });
  for (const word of [name, workspace.name]) expect(await named(word)).toEqual([[id, name]]);
  await bed.db.query("update released_name set released_at = now() - interval '31 days'");
  expect(await named(workspace.name)).toEqual([]);
  expect(await bed.refusal(400, "GET", `${LIST}?name=%00`)).toEqual({ code: "unsupported_value", param: "name" });
});

describe("a workspace's own settings", () => {
  test("are changed by an operator: fallback chains, with the reason for an unavailable model", async () => {
    const [mine, other] = [await make(), await make()];
    const path = ({ id }: { id: string }) => `${LIST}/${id}/fallback-chains`;
    const body = { fallbacks: ["sandbox-slow"] };
    const chain = await bed.ask("FallbackChain", "PUT", `${path(mine)}/sandbox-error`, { body });
    expect(chain).toMatchObject({ model: "sandbox-error", ...body });
    expect(await bed.ask("FallbackChainList", "GET", path(mine))).toEqual({ object: "list", data: [chain] });
    expect((await bed.ask("FallbackChainList", "GET", path(other))).data).toEqual([]);
    const missing = { code: "model_not_found", param: "fallbacks[0]" };
    expect(await bed.refusal(400, "PUT", `${path(mine)}/sandbox-error`, { fallbacks: ["gpt-5.5"] })).toEqual(missing);
    expect((await bed.refusal(404, "DELETE", `${path(other)}/sandbox-error`)).code).toBe("not_found");
    await bed.ask("FallbackChainDeleted", "DELETE", `${path(mine)}/sandbox-error`);
    const { data } = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?workspace_id=${mine.id}`);
    expect(data[0]).toMatchObject({ action: "fallback_chain.delete", actor: { type: "operator" } });
    for (const id of [newId(), "x"]) {
      expect((await bed.refusal(404, "PUT", `${path({ id })}/sandbox-error`, body)).code).toBe("not_found");
      expect((await bed.refusal(404, "GET", path({ id }))).code).toBe("not_found");
    }
  });

  test("are read by an operator: the usage of each call, of every member", async () => {
    const [mine, other] = [await make(), await make()];
    const call = newId();
    await bed.db.query(
      `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held,
                                 settled, uncollected, day, tokens, started_at)
       values ($1, 1, $2, $3, 'm', 'failed', '{}', false, 0, 0, 0, current_date, 0, now())`,
      [call, mine.id, mine.api_key.id],
    );
    const path = ({ id }: { id: string }) => `${LIST}/${id}/usage/requests`;
    const one = await bed.ask("UsageRequest", "GET", `${path(mine)}/${call}`);
    expect((await bed.ask("UsageRequestList", "GET", path(mine))).data).toEqual([one]);
    expect((await bed.ask("UsageRequestList", "GET", path(other))).data).toEqual([]);
    expect((await bed.refusal(404, "GET", `${path(other)}/${call}`)).code).toBe("not_found");
    expect((await bed.refusal(404, "GET", path({ id: newId() }))).code).toBe("not_found");
  });
});

describe("a key", () => {
  const path = (id: string): string => `/operator/api-keys/${id}`;

  test("gets any preset of the catalogue, and is revoked permanently", async () => {
    const { api_key: key } = await make();
    expect(await bed.ask("OperatorApiKey", "PATCH", path(key.id), { body: { preset: "unlimited" } })).toMatchObject({
      preset: "unlimited",
      revoked_at: null,
    });
    const revoked = await bed.ask("OperatorApiKey", "PATCH", path(key.id), {
      body: { preset: "pro", is_revoked: true },
    });
    expect(revoked).toMatchObject({ preset: "pro", revoked_at: expect.any(String) as string });
    expect(await bed.ask("OperatorApiKey", "PATCH", path(key.id), { body: { is_revoked: true } })).toEqual(revoked);
    bed.pass(KEY_CACHE_MS);
    expect(await works(key.key)).toBe(401);
    expect((await bed.refusal(409, "PATCH", path(key.id), { preset: "free" })).code).toBe("conflict");
    const { data } = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?subject=${key.id}`);
    expect(data.map(({ action }) => action)).toEqual(["key.revoke", "key.preset", "key.preset", "key.create"]);
  });

  test("is not changed by an invalid request", async () => {
    const { api_key: key } = await make();
    const refused = { code: "unsupported_value", param: "preset" };
    expect(await bed.refusal(400, "PATCH", path(key.id), { preset: "platinum" })).toEqual(refused);
    expect(await bed.refusal(400, "PATCH", path(key.id), { is_revoked: false })).toMatchObject({ param: "is_revoked" });
    for (const id of [newId(), "x"]) expect((await bed.refusal(404, "PATCH", path(id), {})).code).toBe("not_found");
  });

  test("has one of the listed presets", async () => {
    const { data } = await bed.ask("OperatorPresetList", "GET", "/operator/presets");
    expect(data).toContainEqual({ name: "free", requests_per_minute: 30, daily_tokens: 1_000_000 });
    expect(data).toContainEqual({ name: "unlimited", requests_per_minute: null, daily_tokens: null });
  });
});
