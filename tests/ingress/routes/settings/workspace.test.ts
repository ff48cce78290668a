/** /workspaces/{workspaceId} and its presets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";

import { audited, auditOf, BAD_BODIES, BAD_NAMES } from "./settings-bed.ts";
import { openSpendBed, ROLES, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">): string => `/workspaces/${of.id}`;

describe("a workspace", () => {
  test("is read by every role, with its window and its storage", async () => {
    await bed.db.query("insert into file_storage (workspace_id, used) values ($1, 7)", [team.id]);
    for (const role of ROLES) {
      expect(await bed.ask("Workspace", "GET", at(team), team[role].key)).toMatchObject({
        id: team.id,
        name: `workspace ${team.id}`,
        window: { seconds: 60, limit: 120, used: 0 },
        storage: { used_bytes: 7, limit_bytes: 1_000 },
        calls_stopped_until: null,
      });
    }
  });

  test("is found by its name too, and by its id in capitals", async () => {
    for (const path of [`/workspaces/workspace%20${team.id}`, `/workspaces/${team.id.toUpperCase()}`]) {
      expect((await bed.ask("Workspace", "GET", path, team.owner.key)).id).toBe(team.id);
    }
  });

  test("is renamed by owner and admin, on record", async () => {
    const own = await bed.team(0n);
    for (const role of ["owner", "admin"] as const) {
      const [before, name] = [
        (await bed.ask("Workspace", "GET", at(own), own.owner.key)).name,
        `named by ${role} ${newId()}`,
      ];
      const line = await audited(bed, own, own[role], { method: "PATCH", path: at(own), body: { name } });
      expect(line).toMatchObject({
        action: "workspace.rename",
        subject: own.id,
        before: { name: before },
        after: { name },
        answer: { name },
      });
    }
    const seen = (await auditOf(bed, own)).length;
    const { name } = await bed.ask("Workspace", "GET", at(own), own.owner.key);
    await bed.ask("Workspace", "PATCH", at(own), own.owner.key, { body: { name } });
    expect(await auditOf(bed, own)).toHaveLength(seen);
  });

  test("is not renamed by others, nor to what another is called, nor to what looks like an id", async () => {
    const own = await bed.team(0n);
    for (const role of ["developer", "billing"] as const) {
      expect(await bed.refusal(403, "PATCH", at(own), own[role].key, { name: "new" })).toEqual({
        code: "permission_denied",
        param: null,
      });
    }
    expect(await bed.refusal(409, "PATCH", at(own), own.owner.key, { name: `workspace ${team.id}` })).toEqual({
      code: "conflict",
      param: "name",
    });
    for (const name of [newId(), newId().toUpperCase(), ...BAD_NAMES]) {
      const { param } = await bed.refusal(400, "PATCH", at(own), own.owner.key, { name });
      expect([name, param]).toEqual([name, "name"]);
    }
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test.each([...BAD_BODIES])("is not changed by %p", async (body, status, code) => {
    expect((await bed.refusal(status, "PATCH", at(team), team.owner.key, body)).code).toBe(code);
  });

  test("has fields that nobody sets", async () => {
    const own = await bed.team(0n);
    const name = `name ${newId()}`;
    const body = { name, id: team.id, is_active: false, stopped_until: "2030-01-01T00:00:00Z", created_at: "x" };
    const { id, calls_stopped_until } = await bed.ask("Workspace", "PATCH", at(own), own.owner.key, { body });
    expect([id, calls_stopped_until]).toEqual([own.id, null]);
    const [row] = await bed.db.query("select is_active, stopped_until from workspace where id = $1", [own.id]);
    expect(row).toEqual({ is_active: true, stopped_until: null });
  });
});

test("presets are listed for every role, with those that the key that asks may give", async () => {
  for (const role of ROLES) {
    const { data } = await bed.ask("PresetList", "GET", `${at(team)}/presets`, team[role].key);
    expect(data).toEqual([{ name: "standard", requests_per_minute: 120, daily_tokens: null, can_be_given: true }]);
  }
});
