/** The setting `bodies` of workspaces and keys: owners alone change it, within what the operator allows. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { audited } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

const NONE = { keep: "none", retention_hours: 168, redact: { members: [], patterns: [] } };
const ASKED = {
  keep: "errors",
  retention_hours: 24,
  redact: { members: ["Phone", "email", "EMAIL"], patterns: ["emails"] },
};
const SET = { keep: "errors", retention_hours: 24, redact: { members: ["email", "phone"], patterns: ["emails"] } };

let bed: SpendBed;
let strict: SpendBed;
let team: Team;

beforeAll(async () => {
  bed = await openSpendBed();
  strict = await openSpendBed({ bodyRetentionHoursMax: 48 });
  team = await bed.team();
});
afterAll(async () => {
  await bed?.close();
  await strict?.close();
});

const pathOf = ({ id }: Team): string => `/workspaces/${id}`;
const keyOf = (of: Team, keyId = of.developer.keyId): string => `${pathOf(of)}/api-keys/${keyId}`;

test("a new workspace keeps nothing, and its keys have no setting", async () => {
  const workspace = await bed.ask("Workspace", "GET", pathOf(team), team.billing.key);
  expect([workspace.bodies, workspace.kept_bodies.used_bytes]).toEqual([NONE as typeof workspace.bodies, 0]);
  expect((await bed.ask("ApiKey", "GET", keyOf(team), team.owner.key)).bodies).toBeNull();
});

test("an owner changes the setting of the workspace, with an audit row, and without a new name", async () => {
  const { action, before, after, answer } = await audited(bed, team, team.owner, {
    method: "PATCH",
    path: pathOf(team),
    body: { bodies: ASKED },
  });
  expect([action, before, after]).toEqual(["workspace.bodies", { bodies: null }, { bodies: SET }]);
  expect(answer["bodies"]).toEqual(SET);
  bed.pass(1_001);
  expect((await bed.authenticator.authenticate(`Bearer ${team.developer.key}`)).bodies).toEqual(SET as never);
});

test("an owner changes the setting of a key, which replaces that of the workspace", async () => {
  const own = { ...NONE, keep: "all" };
  const set = await audited(bed, team, team.owner, { method: "PATCH", path: keyOf(team), body: { bodies: { keep: "all" } } }); // prettier-ignore
  expect([set.action, set.answer["bodies"]]).toEqual(["key.update", own]);
  bed.pass(1_001);
  expect((await bed.authenticator.authenticate(`Bearer ${team.developer.key}`)).bodies).toEqual(own as never);
  const none = await bed.ask("ApiKey", "PATCH", keyOf(team), team.owner.key, { body: { bodies: { keep: "none" } } });
  expect(none.bodies?.keep).toBe("none");
  bed.pass(1_001);
  expect(await bed.authenticator.authenticate(`Bearer ${team.developer.key}`)).not.toHaveProperty("bodies");
  const reset = await bed.ask("ApiKey", "PATCH", keyOf(team), team.owner.key, { body: { bodies: null } });
  expect(reset.bodies).toBeNull();
});

test("a key is created with a setting, and a repeat with another one is refused", async () => {
  const path = `${pathOf(team)}/api-keys`;
  const body = { id: "0198c0de-0000-7000-8000-000000000001", name: "kept", bodies: { keep: "all" } };
  const { bodies } = await bed.ask("ApiKey", "POST", path, team.owner.key, { body, status: 201 });
  expect(bodies?.keep).toBe("all");
  await bed.ask("ApiKey", "POST", path, team.owner.key, { body });
  expect(await bed.refusal(422, "POST", path, team.owner.key, { ...body, bodies: { keep: "errors" } })).toMatchObject({
    code: "idempotency_key_reused",
  });
});

test("other roles may not change it, neither of the workspace nor of a key", async () => {
  const denied = { code: "permission_denied", param: "bodies" };
  const body = { bodies: { keep: "none" } };
  expect(await bed.refusal(403, "PATCH", pathOf(team), team.admin.key, { name: "other", ...body })).toEqual(denied);
  expect(await bed.refusal(403, "PATCH", keyOf(team), team.admin.key, body)).toEqual(denied);
  expect(await bed.refusal(403, "PATCH", keyOf(team), team.developer.key, body)).toEqual(denied);
  expect(await bed.refusal(403, "PATCH", keyOf(team), team.developer.key, { bodies: null })).toEqual(denied);
  const created = { name: "new", ...body };
  expect(await bed.refusal(403, "POST", `${pathOf(team)}/api-keys`, team.developer.key, created)).toEqual(denied);
});

test("malformed settings are refused by name", async () => {
  const refused = async (bodies: unknown): Promise<string | null> =>
    (await bed.refusal(400, "PATCH", pathOf(team), team.owner.key, { bodies })).param;
  expect(await refused({})).toBe("bodies.keep");
  expect(await refused({ keep: "some" })).toBe("bodies.keep");
  expect(await refused({ keep: "all", retention_hours: 721 })).toBe("bodies.retention_hours");
  expect(await refused({ keep: "all", retention_hours: 0 })).toBe("bodies.retention_hours");
  expect(await refused({ keep: "all", redact: { patterns: [".*"] } })).toBe("bodies.redact.patterns[0]");
  expect(await refused({ keep: "all", redact: { members: ["x".repeat(65)] } })).toBe("bodies.redact.members[0]");
  expect(await refused({ keep: "all", redact: { members: Array.from({ length: 51 }, (_, i) => `m${i}`) } })).toBe("bodies.redact.members"); // prettier-ignore
  expect(await bed.refusal(400, "PATCH", pathOf(team), team.owner.key, {})).toMatchObject({
    code: "missing_required_parameter",
  });
});

test("the operator bounds the retention, or forbids to keep bodies", async () => {
  const own = await strict.team();
  const change = (bodies: object, on: SpendBed, of: Team): Promise<Response> =>
    on.send("PATCH", pathOf(of), of.owner.key, { bodies });
  expect(await strict.refusal(400, "PATCH", pathOf(own), own.owner.key, { bodies: { keep: "all", retention_hours: 49 } })).toEqual({ code: "unsupported_value", param: "bodies.retention_hours" }); // prettier-ignore
  const response = await change({ keep: "all" }, strict, own);
  expect(((await response.json()) as { bodies: unknown }).bodies).toMatchObject({ retention_hours: 48 });
  const forbidding = await openSpendBed({ bodyRetentionHoursMax: 0 });
  try {
    const third = await forbidding.team();
    expect(await forbidding.refusal(403, "PATCH", pathOf(third), third.owner.key, { bodies: { keep: "errors" } })).toEqual({ code: "permission_denied", param: "bodies.keep" }); // prettier-ignore
    expect((await change({ keep: "none" }, forbidding, third)).status).toBe(200);
  } finally {
    await forbidding.close();
  }
});
