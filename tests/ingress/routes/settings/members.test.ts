/** /workspaces/{workspaceId}/members. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";

import { newId } from "#shared/ids.ts";
import { eventually } from "#tests/faults/wait.ts";
import { MEMBERS_PER_WORKSPACE_MAX } from "#ingress/routes/settings/members.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import { SETTINGS_PAGE_DEFAULT } from "#ingress/settings/page.ts";

import { audited, auditOf, BAD_BODIES, BAD_IDS, BAD_NAMES, putMember, walk } from "./settings-bed.ts";
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
  test("is answered with it, and stands on record", async () => {
    const own = await bed.team(0n);
    const body = { name: "Ada", role: "admin", email: "ada@example.com" };
    const line = await audited(bed, own, own.admin, { method: "POST", path: at(own), body, status: 201 });
    const after = { name: "Ada", role: "admin", email: "ada@example.com" };
    expect(line).toMatchObject({ action: "member.add", before: null, after, answer: { ...after, is_active: true } });
    const id = String(line.answer["id"]);
    expect(line.subject).toBe(id);
    expect(await bed.ask("Member", "GET", at(own, `/${id}`), own.developer.key)).toMatchObject({ id, ...after });
  });

  test("is the owner's where the role is owner", async () => {
    const body = { name: `owner ${newId()}`, role: "owner" };
    expect(await bed.refusal(403, "POST", at(team), team.admin.key, body)).toEqual({
      code: "permission_denied",
      param: "role",
    });
    await bed.ask("Member", "POST", at(team), team.owner.key, { body, status: 201 });
  });

  test("repeats under an id of the caller's, and does nothing under one that stands for something else", async () => {
    const id = newId();
    const body = { id: id.toUpperCase(), name: `once ${id}`, role: "billing" };
    const made = await bed.ask("Member", "POST", at(team), team.owner.key, { body, status: 201 });
    expect(made.id).toBe(id);
    expect(await bed.ask("Member", "POST", at(team), team.owner.key, { body })).toEqual(made);
    for (const other of [{ name: "another" }, { role: "developer" }, { email: "a@example.com" }]) {
      const refusal = await bed.refusal(422, "POST", at(team), team.owner.key, { ...body, ...other });
      expect(refusal).toEqual({ code: "idempotency_key_reused", param: "id" });
    }
    const foreign = await bed.team(0n);
    const { code } = await bed.refusal(422, "POST", at(team), team.owner.key, {
      ...body,
      id: foreign.developer.id,
      name: "x",
    });
    expect(code).toBe("idempotency_key_reused");
    const [row] = await bed.db.query("select workspace_id, role from member where id = $1", [foreign.developer.id]);
    expect(row).toEqual({ workspace_id: foreign.id, role: "developer" });
  });

  test("is refused for a name that is taken", async () => {
    const name = `taken ${newId()}`;
    await bed.ask("Member", "POST", at(team), team.owner.key, { body: { name, role: "developer" }, status: 201 });
    for (const id of [undefined, newId()]) {
      const body = { ...(id === undefined ? {} : { id }), name, role: "developer" };
      expect(await bed.refusal(409, "POST", at(team), team.owner.key, body)).toEqual({
        code: "conflict",
        param: "name",
      });
    }
  });

  test.each([...BAD_BODIES])("is refused for %p", async (body, status, code) => {
    expect((await bed.refusal(status, "POST", at(team), team.owner.key, body)).code).toBe(code);
  });

  test("is refused for names, addresses, roles and ids that are none", async () => {
    const good = { name: "fine", role: "developer" };
    const bad: [object, string][] = [
      ...BAD_NAMES.map((name): [object, string] => [{ ...good, name }, "name"]),
      ...["a", "a@b@c", "a@example.com, b@example.com", "A <a@example.com>", "a@example.com\nbcc: b@c", 7].map(
        (email): [object, string] => [{ ...good, email }, "email"],
      ),
      ...["root", "", null].map((role): [object, string] => [{ ...good, role }, "role"]),
      ...["x", `urn:uuid:${newId()}`, `{${newId()}}`, 7].map((id): [object, string] => [{ ...good, id }, "id"]),
      [{ name: "fine" }, "role"],
      [{ role: "owner" }, "name"],
    ];
    for (const [body, param] of bad) {
      const refusal = await bed.refusal(400, "POST", at(team), team.owner.key, body);
      expect([body, refusal.param]).toEqual([body, param]);
    }
  });

  test("goes on up to the limit, where repeats are still answered", async () => {
    const own = await bed.team(0n);
    const there = 5;
    await bed.db.query(
      `insert into member (id, workspace_id, name, role)
       select gen_random_uuid(), $1, 'm' || n, 'developer' from generate_series(1, $2) n`,
      [own.id, MEMBERS_PER_WORKSPACE_MAX - there - 1],
    );
    const body = { id: newId(), name: "the last", role: "developer" };
    const made = await bed.ask("Member", "POST", at(own), own.owner.key, { body, status: 201 });
    expect(await bed.refusal(409, "POST", at(own), own.owner.key, { name: "too many", role: "billing" })).toEqual(
      conflict,
    );
    expect(await bed.ask("Member", "POST", at(own), own.owner.key, { body })).toEqual(made);
  });

  test("takes no fields that are ours", async () => {
    const foreign = await bed.team(0n);
    const body = {
      name: `plain ${newId()}`,
      role: "developer",
      workspaceId: foreign.id,
      workspace_id: foreign.id,
      is_active: false,
      created_at: "2000-01-01T00:00:00Z",
      createdByUserId: foreign.owner.id,
    };
    const made = await bed.ask("Member", "POST", at(team), team.owner.key, { body, status: 201 });
    expect(made.is_active).toBe(true);
    expect(Date.parse(made.created_at)).toBeGreaterThan(Date.parse("2001-01-01"));
    await bed.ask("Member", "GET", at(team, `/${made.id}`), team.owner.key);
  });
});

describe("changing a member", () => {
  const change = (own: Team, id: string, body: unknown, by = own.owner) =>
    audited(bed, own, by, { method: "PATCH", path: at(own, `/${id}`), body });

  test("stands on record by what it is", async () => {
    const own = await bed.team(0n);
    const id = await putMember(bed, own);
    const name = `member ${id}`;
    const plain = { name, role: "developer", email: null, is_active: true };
    const steps: [object, string][] = [
      [{ name: "Grace" }, "member.update"],
      [{ email: "g@example.com" }, "member.update"],
      [{ role: "billing" }, "member.role"],
      [{ is_active: false }, "member.disable"],
      [{ is_active: true }, "member.enable"],
      [{ email: null }, "member.update"],
    ];
    let is: object = plain;
    for (const [body, action] of steps) {
      const line = await change(own, id, body, own.admin);
      const next = { ...is, ...body };
      expect(line).toMatchObject({ action, subject: id, before: is, after: next, answer: next });
      is = next;
    }
    const seen = (await auditOf(bed, own)).length;
    for (const body of [{}, is]) await bed.ask("Member", "PATCH", at(own, `/${id}`), own.owner.key, { body });
    expect(await auditOf(bed, own)).toHaveLength(seen);
  });

  test("of an owner, or into one, is not for an admin", async () => {
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

  test("who becomes an owner meanwhile is not for an admin either", async () => {
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

  test("leaves an active owner, whichever way the last one would go", async () => {
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

  test("by two owners who demote each other at once is done for one of them", async () => {
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

  test("is refused for a name that another has, also one that comes meanwhile", async () => {
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

  test("is refused for values that are none, and takes no fields that are ours", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${own.developer.id}`);
    for (const name of BAD_NAMES) {
      expect((await bed.refusal(400, "PATCH", path, own.owner.key, { name })).param).toBe("name");
    }
    for (const body of [{ email: "x" }, { role: "root" }, { role: null }, { is_active: "no" }, { is_active: null }]) {
      expect((await bed.refusal(400, "PATCH", path, own.owner.key, body)).param).toBe(Object.keys(body)[0] ?? "");
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "PATCH", path, own.owner.key, body)).code).toBe(code);
    }
    const body = { id: own.owner.id, workspace_id: team.id, created_at: "2000-01-01T00:00:00Z" };
    const before = await bed.ask("Member", "GET", path, own.owner.key);
    expect(await bed.ask("Member", "PATCH", path, own.owner.key, { body })).toEqual(before);
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test("is told to its keys within a second", async () => {
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

describe("deleting a member", () => {
  test("disables it, forgets its e-mail, and may be repeated", async () => {
    const own = await bed.team(0n);
    const id = await putMember(bed, own, { email: "gone@example.com" });
    const path = at(own, `/${id}`);
    const line = await audited(bed, own, own.admin, { method: "DELETE", path });
    expect(line).toMatchObject({
      action: "member.disable",
      subject: id,
      before: { is_active: true },
      after: { is_active: false, email: null },
      answer: { id, deleted: true },
    });
    await bed.ask("Deleted", "DELETE", path, own.owner.key);
    expect(await auditOf(bed, own)).toHaveLength(1);
    expect(await bed.ask("Member", "GET", path, own.owner.key)).toMatchObject({ email: null, is_active: false });
  });
});

describe("members", () => {
  test("are paged from the newest without gaps or repeats, whoever made their ids", async () => {
    const own = await bed.team(0n);
    await bed.db.query(
      `insert into member (id, workspace_id, name, role, created_at)
       select gen_random_uuid(), $1, 'm' || n, 'developer', now() + (n / 3) * interval '1 second' from generate_series(1, 40) n`,
      [own.id],
    );
    const rows = await bed.db.query<{ id: string }>(
      "select id from member where workspace_id = $1 order by created_at desc, id desc",
      [own.id],
    );
    const read = (query: string) => bed.ask("MemberList", "GET", at(own, `?${query}`), own.developer.key);
    for (const limit of [1, 7, 9, 45, 100]) expect(await walk(read, limit)).toEqual(rows.map(({ id }) => id));
    expect((await read("")).data).toHaveLength(SETTINGS_PAGE_DEFAULT);
    expect((await read(`after=${team.owner.id}`)).data).toEqual([]);
    const id = randomUUID();
    await bed.ask("Member", "POST", at(own), own.owner.key, {
      body: { id, name: "newest", role: "developer" },
      status: 201,
    });
    await bed.db.query("update member set created_at = now() + interval '1 hour' where id = $1", [id]);
    expect((await read("limit=1")).data[0]?.id).toBe(id);
  });

  test.each(["limit=0", "limit=101", "limit=x", "limit=1e1", "limit=-1", "after=x", `after=urn:uuid:${newId()}`])(
    "are not listed for %s",
    async (query) => {
      expect(await bed.refusal(400, "GET", at(team, `?${query}`), team.owner.key)).toEqual({
        code: "unsupported_value",
        param: query.split("=")[0] ?? "",
      });
    },
  );

  test("of another workspace are unknown ones, and so is what is no id", async () => {
    const foreign = await bed.team(0n);
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const) {
      const told = async (id: string): Promise<unknown> => {
        const answer = await bed.send(method, at(team, `/${id}`), team.owner.key, body);
        return [answer.status, await answer.text()];
      };
      const unknown = await told(newId());
      expect(unknown).toEqual([404, expect.stringContaining("not_found") as unknown]);
      for (const id of [foreign.developer.id, ...BAD_IDS]) expect([id, await told(id)]).toEqual([id, unknown]);
    }
    expect(await auditOf(bed, foreign)).toEqual([]);
  });
});
