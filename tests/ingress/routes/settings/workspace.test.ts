/** /workspaces/{workspaceId} and its presets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { OPERATOR } from "#shared/database/audit-log.ts";
import { insertWorkspace, renameWorkspace, WORKSPACE_RENAMES_MAX } from "#shared/database/workspaces.ts";
import { newId } from "#shared/base/ids.ts";
import { eventually } from "#tests/faults/wait.ts";

import { audited, auditOf, BAD_BODIES, BAD_NAMES } from "./settings-bed.ts";
import { openSpendBed, ROLES, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
const ADMIN_WORKSPACE = "the operators' own";
beforeAll(async () => {
  bed = await openSpendBed({ adminWorkspace: ADMIN_WORKSPACE });
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

  test("is not renamed to the name of another, nor to an id", async () => {
    const own = await bed.team(0n);
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

  test("is not renamed to a name released in the last 30 days, nor to the installation's own", async () => {
    const [own, other] = [await bed.team(0n), await bed.team(0n)];
    const given = `given ${newId()}`;
    const call = (of: Team, name: string) => bed.ask("Workspace", "PATCH", at(of), of.owner.key, { body: { name } });
    const taken = { code: "conflict", param: "name" } as const;
    await call(own, given);
    await call(own, `now ${given}`);
    for (const name of [given, "default", ADMIN_WORKSPACE]) {
      expect([name, await bed.refusal(409, "PATCH", at(other), other.owner.key, { name })]).toEqual([name, taken]);
    }
    const made = insertWorkspace(bed.db.database, { id: newId(), name: given, actor: OPERATOR });
    expect(await made).toBeUndefined();
    // Its own it may have again, and gives up another by that.
    expect((await call(own, given)).name).toBe(given);
    expect(await bed.refusal(409, "PATCH", at(other), other.owner.key, { name: `now ${given}` })).toEqual(taken);
    await call(own, `now ${given}`);
    const age = (days: number) =>
      bed.db.query(
        "update released_name set released_at = now() - $2 * interval '1 day' + interval '1 minute' where name = $1",
        [given, days],
      );
    await age(30);
    expect(await bed.refusal(409, "PATCH", at(other), other.owner.key, { name: given })).toEqual(taken);
    await age(31);
    expect((await call(other, given)).name).toBe(given);
  });

  test("rejects a name that is released concurrently as a taken one", async () => {
    const [own, other] = [await bed.team(0n), await bed.team(0n)];
    const name = `workspace ${own.id}`;
    const asked = await bed.db.database.transaction(async (tx) => {
      await renameWorkspace(tx, own.id, { name: `left ${name}`, actor: OPERATOR });
      const waiting = renameWorkspace(bed.db.database, other.id, { name, actor: OPERATOR });
      const isWaiting =
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%kept.is_taken%'";
      await eventually("it waits for the name", async () => (await bed.db.query(isWaiting)).length > 0);
      return { waiting };
    });
    expect(await asked.waiting).toBe("taken");
  });

  test("may release at most ten names in 30 days", async () => {
    const own = await bed.team(0n);
    const rename = (n: number) => ({ name: `name ${n} of ${own.id}` });
    for (let n = 0; n < WORKSPACE_RENAMES_MAX; n += 1) {
      await bed.ask("Workspace", "PATCH", at(own), own.owner.key, { body: rename(n) });
    }
    const last = WORKSPACE_RENAMES_MAX;
    const often = await bed.refusal(409, "PATCH", at(own), own.owner.key, rename(last));
    expect(often).toEqual({ code: "conflict", param: "name" });
    await bed.ask("Workspace", "PATCH", at(own), own.owner.key, { body: rename(last - 1) });
    await bed.db.query("update released_name set released_at = now() - interval '31 days' where workspace_id = $1", [
      own.id,
    ]);
    await bed.ask("Workspace", "PATCH", at(own), own.owner.key, { body: rename(last) });
    const [kept] = await bed.db.query("select count(*)::int as names from released_name where workspace_id = $1", [
      own.id,
    ]);
    expect(kept).toEqual({ names: 1 });
  });

  test.each([...BAD_BODIES])("is not changed by %p", async (body, status, code) => {
    expect((await bed.refusal(status, "PATCH", at(team), team.owner.key, body)).code).toBe(code);
  });

  test("refuses read-only members", async () => {
    const own = await bed.team(0n);
    const name = `name ${newId()}`;
    for (const readOnly of ["id", "is_active", "calls_stopped_until", "created_at"]) {
      const body = { name, [readOnly]: false };
      expect(await bed.refusal(400, "PATCH", at(own), own.owner.key, body)).toEqual({
        code: "unknown_parameter",
        param: readOnly,
      });
    }
    const [row] = await bed.db.query("select is_active from workspace where id = $1", [own.id]);
    expect(row).toEqual({ is_active: true });
  });
});

test("presets are listed for every role, with a flag for those that the calling key may assign", async () => {
  for (const role of ROLES) {
    const { data } = await bed.ask("PresetList", "GET", `${at(team)}/presets`, team[role].key);
    expect(data).toEqual([{ name: "standard", requests_per_minute: 120, daily_tokens: null, can_be_given: true }]);
  }
});
