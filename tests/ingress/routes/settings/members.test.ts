/** /workspaces/{workspaceId}/members, beside the contract of resources: owners, and what keys are told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { eventually } from "#tests/faults/wait.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { auditOf, putMember } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, rest = ""): string => `/workspaces/${of.id}/members${rest}`;
const conflict = { code: "conflict", param: null };
const untilOneWaits = (): Promise<true> =>
  eventually("a statement waits for a lock", async () => {
    const waiting = await bed.db.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return waiting.length > 0;
  });

describe("adding a member", () => {
  test("is allowed for an owner only if the role is owner", async () => {
    const body = { name: `owner ${newId()}`, role: "owner" };
    expect(await bed.refusal(403, "POST", at(team), team.admin.key, body)).toEqual({
      code: "permission_denied",
      param: "role",
    });
    await bed.ask("Member", "POST", at(team), team.owner.key, { body, status: 201 });
  });

  test("is rejected for an address that another has until it is deleted, and not for one of another workspace", async () => {
    const [own, other] = [await bed.team(0n), await bed.team(0n)];
    const add = (of: Team, email: string) =>
      bed.ask("Member", "POST", at(of), of.owner.key, { body: { name: email, role: "billing", email }, status: 201 });
    const refused = (body: object) =>
      bed.refusal(409, "POST", at(own), own.owner.key, { name: `second ${newId()}`, role: "billing", ...body });
    const { id } = await add(own, "Ada@example.com");
    for (const isActive of [true, false]) {
      await bed.db.query("update member set is_active = $2 where id = $1", [id, isActive]);
      for (const body of [{ email: "ada@EXAMPLE.com" }, { email: "ada@example.com", id: newId() }]) {
        expect(await refused(body)).toEqual({ code: "conflict", param: "email" });
      }
    }
    await add(other, "ada@example.com");
    await bed.ask("Deleted", "DELETE", at(own, `/${id}`), own.owner.key);
    await add(own, "ada@example.com");
  });
});

describe("changing a member", () => {
  const change = (own: Team, id: string, body: unknown) =>
    bed.ask("Member", "PATCH", at(own, `/${id}`), own.owner.key, { body });

  test("of the role owner, or into it, is not allowed for an admin", async () => {
    for (const [method, body] of [
      ["PATCH", { name: "lower" }],
      ["PATCH", { role: "developer" }],
      ["DELETE"],
    ] as const) {
      expect(await bed.refusal(403, method, at(team, `/${team.owner.id}`), team.admin.key, body)).toEqual({
        code: "permission_denied",
        param: null,
      });
    }
    for (const id of [team.admin.id, team.developer.id]) {
      expect(await bed.refusal(403, "PATCH", at(team, `/${id}`), team.admin.key, { role: "owner" })).toEqual({
        code: "permission_denied",
        param: "role",
      });
    }
  });

  test("to the role owner by a concurrent change is not allowed for an admin either", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${own.developer.id}`);
    const late = await bed.db.database.transaction(async (tx) => {
      await tx.query("select id from workspace where id = $1 for no key update", [own.id]);
      const refusal = bed.refusal(403, "PATCH", path, own.admin.key, { is_active: false });
      refusal.catch(() => undefined);
      await untilOneWaits();
      await tx.query("update member set role = 'owner' where id = $1", [own.developer.id]);
      return { refusal };
    });
    expect((await late.refusal).code).toBe("permission_denied");
    expect(await bed.ask("Member", "GET", path, own.owner.key)).toMatchObject({ role: "owner", is_active: true });
  });

  test("always leaves an active owner", async () => {
    const own = await bed.team(0n);
    await putMember(bed, own, { role: "owner" });
    await bed.db.query("update member set is_active = false where workspace_id = $1 and name like 'member %'", [
      own.id,
    ]);
    const path = at(own, `/${own.owner.id}`);
    for (const [method, body] of [
      ["PATCH", { role: "admin" }],
      ["PATCH", { is_active: false, name: "gone" }],
      ["DELETE"],
    ] as const) {
      expect(await bed.refusal(409, method, path, own.owner.key, body)).toEqual(conflict);
    }
    expect(await auditOf(bed, own)).toEqual([]);
    expect(await bed.ask("Member", "GET", path, own.owner.key)).toMatchObject({ role: "owner", is_active: true });
  });

  test("by two owners who demote each other concurrently succeeds for one of them", async () => {
    const own = await bed.team(0n);
    await bed.db.query("update member set role = 'owner' where id = $1", [own.admin.id]);
    const pair = [
      [own.owner, own.admin],
      [own.admin, own.owner],
    ] as const;
    // What both keys may is known before either goes.
    for (const [by] of pair) await bed.ask("Workspace", "GET", `/workspaces/${own.id}`, by.key);
    const statuses = await Promise.all(
      pair.map(
        async ([by, other]) => (await bed.send("PATCH", at(own, `/${other.id}`), by.key, { role: "developer" })).status,
      ),
    );
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 409]);
    const owners = await bed.db.query("select id from member where workspace_id = $1 and role = 'owner'", [own.id]);
    expect(owners).toHaveLength(1);
    expect(await auditOf(bed, own)).toHaveLength(1);
  });

  test("is rejected for a name that another has, also a concurrent one", async () => {
    const own = await bed.team(0n);
    const id = await putMember(bed, own);
    const taken = { code: "conflict", param: "name" };
    const refused = (name: string) => bed.refusal(409, "PATCH", at(own, `/${id}`), own.owner.key, { name });
    expect(await refused(`owner ${own.owner.id}`)).toEqual(taken);
    const late = await bed.db.database.transaction(async (tx) => {
      await tx.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'meanwhile', 'billing')", [
        newId(),
        own.id,
      ]);
      const refusal = refused("meanwhile");
      refusal.catch(() => undefined);
      await untilOneWaits();
      return { refusal };
    });
    expect(await late.refusal).toEqual(taken);
  });

  test("is rejected for an address that another has, in any case, also a concurrent one", async () => {
    const own = await bed.team(0n);
    const id = await putMember(bed, own, { email: "grace@example.com" });
    await putMember(bed, own, { email: "Ada@Example.com" });
    const taken = { code: "conflict", param: "email" };
    const refused = (email: string) => bed.refusal(409, "PATCH", at(own, `/${id}`), own.owner.key, { email });
    expect(await refused("aDa@example.com")).toEqual(taken);
    const late = await bed.db.database.transaction(async (tx) => {
      await tx.query(
        "insert into member (id, workspace_id, name, role, email) values ($1, $2, 'late', 'billing', 'late@example.com')",
        [newId(), own.id],
      );
      const refusal = refused("late@example.com");
      refusal.catch(() => undefined);
      await untilOneWaits();
      return { refusal };
    });
    expect(await late.refusal).toEqual(taken);
    expect(await bed.ask("Member", "GET", at(own, `/${id}`), own.owner.key)).toMatchObject({
      email: "grace@example.com",
    });
    expect(await auditOf(bed, own)).toEqual([]);
    await change(own, id, { email: "Grace@example.com" });
  });

  test("applies to its keys within a second", async () => {
    const own = await bed.team(0n);
    const read = async (): Promise<number> => (await bed.send("GET", at(own), own.developer.key)).status;
    expect(await read()).toBe(200);
    await change(own, own.developer.id, { role: "billing" });
    bed.pass(KEY_CACHE_MS);
    expect(await read()).toBe(403);
    await change(own, own.developer.id, { is_active: false });
    bed.pass(KEY_CACHE_MS);
    expect(await read()).toBe(401);
    expect(KEY_CACHE_MS).toBeLessThan(1_000);
  });
});
