/** GET /workspaces/{workspaceId}/audit-log. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { recordAudit } from "#shared/database/audit-log.ts";
import { newId } from "#shared/base/ids.ts";

import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

const at = (team: Team, query = ""): string => `/workspaces/${team.id}/audit-log${query}`;

/** A change by its owner, one by an operator and one by Sluice. */
async function changed(): Promise<Team> {
  const team = await bed.team(0n);
  const { database } = bed.db;
  const request = { ip: "192.0.2.7", request_id: newId() };
  await recordAudit(database, team.id, {
    actor: { type: "member", id: team.owner.id, key_id: team.owner.keyId, ...request },
    action: "key.create",
    subject: "k",
    after: { name: "=danger" },
  });
  await recordAudit(database, team.id, {
    actor: { type: "operator", id: "night shift", ...request },
    action: "workspace.rename",
    subject: team.id,
    before: { name: "old" },
    after: { name: "new" },
  });
  await recordAudit(database, team.id, { actor: { type: "system", id: "sluice" }, action: "key.revoke", subject: "k" });
  return team;
}

test("it names actor, action, subject and address; addresses of operators are hidden", async () => {
  const team = await changed();
  const { data } = await bed.ask("AuditLogList", "GET", at(team), team.admin.key);
  expect(data.map(({ actor, ip, action, before, after }) => ({ actor, ip, action, before, after }))).toEqual([
    { actor: { type: "system", id: "sluice", name: null }, ip: null, action: "key.revoke", before: null, after: null },
    {
      actor: { type: "operator", id: "night shift", name: null },
      ip: null,
      action: "workspace.rename",
      before: { name: "old" },
      after: { name: "new" },
    },
    {
      actor: { type: "member", id: team.owner.id, name: `owner ${team.owner.id}` },
      ip: "192.0.2.7",
      action: "key.create",
      before: null,
      after: { name: "=danger" },
    },
  ]);
  expect(data[2]?.key_id).toBe(team.owner.keyId);
});

test("it is filtered and paged", async () => {
  const team = await changed();
  const read = (query: string) => bed.ask("AuditLogList", "GET", at(team, query), team.owner.key);
  const actions = async (query: string): Promise<string[]> => (await read(query)).data.map(({ action }) => action);
  expect(await actions(`?actor=${team.owner.id}`)).toEqual(["key.create"]);
  expect(await actions("?actor=night%20shift")).toEqual(["workspace.rename"]);
  expect(await actions("?action=key.revoke")).toEqual(["key.revoke"]);
  expect(await actions("?subject=k")).toEqual(["key.revoke", "key.create"]);
  expect(await actions(`?start_time=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  const first = await read("?limit=2");
  expect([first.has_more, first.data.length]).toEqual([true, 2]);
  expect(await actions(`?limit=2&after=${first.last_id}`)).toEqual(["key.create"]);
  expect(await bed.refusal(400, "GET", at(team, "?after=x"), team.owner.key)).toEqual({
    code: "unsupported_value",
    param: "after",
  });
});

test("its download is an entry of it", async () => {
  const team = await changed();
  const rows = await bed.table(at(team, "?action=key.revoke"), team.owner.key);
  expect(rows.map(({ actor_type, action }) => [actor_type, action])).toEqual([["system", "key.revoke"]]);
  const { data } = await bed.ask("AuditLogList", "GET", at(team, "?limit=1"), team.owner.key);
  expect(data[0]).toMatchObject({
    action: "audit_log.export",
    subject: team.id,
    actor: { type: "member", id: team.owner.id },
    after: { rows: 1, filters: { action: "key.revoke" } },
  });
});
