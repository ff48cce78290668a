/** `limits` of keys and members: what is stored, what is refused, who may change them, and what the calling key is told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { audited, auditOf } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

const keysOf = (team: Pick<Team, "id">, rest = ""): string => `/workspaces/${team.id}/api-keys${rest}`;
const membersOf = (team: Pick<Team, "id">, rest = ""): string => `/workspaces/${team.id}/members${rest}`;
const HOUR_MS = 3_600_000;
const inAnHour = (): string => new Date(Date.now() + HOUR_MS).toISOString();

const ALL = {
  credits: { day: 5, week: 0.000000001, month: 12.123456789, total: 1_000_000_000 },
  models: ["o*", "one"],
  endpoints: ["chat", "settings", "3d"],
  ips: ["203.0.113.0/24", "2001:db8::/32", "203.0.113.9"],
  warn_at: [80, 95],
  raise: { credits: { day: 7, week: null, month: null, total: null }, until: inAnHour() },
};
const NONE = { credits: null, models: null, endpoints: null, ips: null, warn_at: null, raise: null };

const made = (team: Team, limits: unknown, by = team.owner) =>
  bed.ask("ApiKey", "POST", keysOf(team), by.key, { body: { name: "limited", limits }, status: 201 });

describe("limits of keys", () => {
  test("are returned as they were sent, with the spend of each limited period", async () => {
    const team = await bed.team(0n);
    const key = await made(team, ALL);
    expect(key.limits).toEqual(ALL);
    const left = { credits_used: 0, credits_held: 0 };
    expect(key.limit_usage).toMatchObject({
      day: { ...left, credits_left: 7, resets_at: expect.stringMatching(/T00:00:00\.000Z$/) },
      week: { ...left, credits_left: 1e-9 },
      month: { ...left, credits_left: 12.123456789 },
      total: { ...left, credits_left: 1e9, resets_at: null },
    });
    const read = await bed.ask("ApiKey", "GET", keysOf(team, `/${key.id}`), team.owner.key);
    expect([read.limits, read.limit_usage]).toEqual([key.limits, key.limit_usage]);
    const { data } = await bed.ask("ApiKeyList", "GET", keysOf(team), team.owner.key);
    expect(data.find(({ id }) => id === key.id)?.limits).toEqual(ALL);
  });

  test("are replaced as a whole, and null removes them; each change has one audit entry", async () => {
    const team = await bed.team(0n);
    const { id } = await made(team, ALL);
    const change = { method: "PATCH", path: keysOf(team, `/${id}`) };
    const body = { limits: { models: ["one"] } };
    const replaced = await audited(bed, team, team.owner, { ...change, body });
    expect(replaced).toMatchObject({
      action: "key.limits",
      subject: id,
      before: { limits: ALL },
      after: { limits: { ...NONE, models: ["one"] } },
      answer: { limits: { ...NONE, models: ["one"] }, limit_usage: null },
    });
    const log = await auditOf(bed, team);
    await bed.ask("ApiKey", "PATCH", keysOf(team, `/${id}`), team.owner.key, { body });
    await bed.ask("ApiKey", "PATCH", keysOf(team, `/${id}`), team.owner.key, { body: {} });
    expect(await auditOf(bed, team)).toEqual(log);
    const removed = await audited(bed, team, team.owner, { ...change, body: { limits: null } });
    expect(removed).toMatchObject({ after: { limits: null }, answer: { limits: null, limit_usage: null } });
  });

  test("can be sent back as they were returned", async () => {
    const team = await bed.team(0n);
    const { id, limits } = await made(team, { credits: { total: 3 } });
    const log = await auditOf(bed, team);
    const again = await bed.ask("ApiKey", "PATCH", keysOf(team, `/${id}`), team.owner.key, { body: { limits } });
    expect([again.limits, await auditOf(bed, team)]).toEqual([limits, log]);
  });

  test("of a repeated request must be the same", async () => {
    const team = await bed.team(0n);
    const body = { id: newId(), name: "once", limits: { credits: { day: 1 }, models: ["one"] } };
    const first = await bed.ask("ApiKey", "POST", keysOf(team), team.owner.key, { body, status: 201 });
    const second = await bed.ask("ApiKey", "POST", keysOf(team), team.owner.key, { body });
    expect([second.id, second.limits]).toEqual([first.id, first.limits]);
    for (const limits of [null, { credits: { day: 2 }, models: ["one"] }, { credits: { day: 1 } }]) {
      const refused = await bed.refusal(422, "POST", keysOf(team), team.owner.key, { ...body, limits });
      expect(refused.code).toBe("idempotency_key_reused");
    }
  });

  test.each([
    [{ models: [] }, "limits.models"],
    [{ endpoints: [] }, "limits.endpoints"],
    [{ ips: [] }, "limits.ips"],
    [{ models: ["sandbox chat"] }, "limits.models[0]"],
    [{ models: Array.from({ length: 101 }, () => "*") }, "limits.models"],
    [{ endpoints: ["chats"] }, "limits.endpoints[0]"],
    [{ ips: ["203.0.113.0/33"] }, "limits.ips[0]"],
    [{ ips: ["203.0.113"] }, "limits.ips[0]"],
    [{ ips: ["::1/64/64"] }, "limits.ips[0]"],
    [{ ips: ["fe80::1%eth0"] }, "limits.ips[0]"],
    [{ credits: { day: 0 } }, "limits.credits.day"],
    [{ credits: { day: -1 } }, "limits.credits.day"],
    [{ credits: { day: "5" } }, "limits.credits.day"],
    [{ credits: { week: 0.0000000001 } }, "limits.credits.week"],
    [{ credits: { total: 1_000_000_001 } }, "limits.credits.total"],
    [{ warn_at: [80] }, "limits.warn_at"],
    [{ credits: { day: 1 }, warn_at: [0] }, "limits.warn_at[0]"],
    [{ credits: { day: 1 }, warn_at: [101] }, "limits.warn_at[0]"],
    [{ credits: { day: 1 }, warn_at: [1, 2, 3, 4, 5, 6] }, "limits.warn_at"],
    [{ raise: { credits: { day: 2 }, until: inAnHour() } }, "limits.raise"],
    [{ credits: { day: 2 }, raise: { credits: { day: 2 }, until: inAnHour() } }, "limits.raise.credits.day"],
    [{ credits: { day: 2 }, raise: { credits: { week: 2 }, until: inAnHour() } }, "limits.raise.credits.week"],
    [{ credits: { day: 2 }, raise: { credits: {}, until: inAnHour() } }, "limits.raise.credits"],
    [{ credits: { day: 2 }, raise: { credits: { day: 3 }, until: "2020-01-01T00:00:00Z" } }, "limits.raise.until"],
    ["none", "limits"],
  ])("%j are refused: %s", async (limits, param) => {
    const team = await bed.team(0n);
    for (const [method, path] of [
      ["POST", keysOf(team)],
      ["PATCH", keysOf(team, `/${team.developer.keyId}`)],
      ["PATCH", membersOf(team, `/${team.developer.id}`)],
    ] as const) {
      const refused = await bed.refusal(400, method, path, team.owner.key, { name: "x", limits });
      expect([method, path, refused]).toMatchObject([method, path, { param }]);
      expect(["unsupported_value", "invalid_request"]).toContain(refused.code);
    }
    expect(await auditOf(bed, team)).toEqual([]);
  });

  test("name near names of a misspelt model, endpoint or member, and say what an empty list means", async () => {
    const team = await bed.team(0n);
    const messageOf = async (limits: unknown): Promise<readonly unknown[]> => {
      const response = await bed.send("POST", keysOf(team), team.owner.key, { name: "x", limits });
      const { error } = (await response.json()) as { error: { code: string; param: string; message: string } };
      return [response.status, error.code, error.param, error.message];
    };
    expect(await messageOf({ models: ["onee"] })).toMatchObject([
      400,
      "model_not_found",
      "limits.models[0]",
      expect.stringContaining("Did you mean one"),
    ]);
    expect(await messageOf({ endpoints: ["embedding"] })).toMatchObject([
      400,
      "unsupported_value",
      "limits.endpoints[0]",
      expect.stringContaining("Did you mean embeddings?"),
    ]);
    expect(await messageOf({ credits: { days: 5 } })).toMatchObject([
      400,
      "unknown_parameter",
      "limits.credits.days",
      expect.stringContaining("Did you mean day?"),
    ]);
    expect(await messageOf({ models: [] })).toMatchObject([
      400,
      "unsupported_value",
      "limits.models",
      expect.stringMatching(/omit it to allow all models, or revoke the key/),
    ]);
  });
});

describe("a developer", () => {
  test("can only tighten limits that are set on a key, and needs no permission to set the first", async () => {
    const team = await bed.team(0n);
    const path = keysOf(team, `/${team.developer.keyId}`);
    const limits = { credits: { day: 5 }, models: ["o*"], ips: ["203.0.113.0/24"] };
    const { id } = await made(team, limits);
    await bed.db.query("update api_key set member_id = $2 where id = $1", [id, team.developer.id]);
    for (const [wider, param] of [
      [null, "limits.models"],
      [{ ...limits, models: null }, "limits.models"],
      [{ ...limits, models: ["*"] }, "limits.models"],
      [{ ...limits, ips: ["203.0.0.0/16"] }, "limits.ips"],
      [{ ...limits, credits: { day: 5.000000001 } }, "limits.credits.day"],
      [{ ...limits, credits: { week: 1 } }, "limits.credits.day"],
      [{ ...limits, raise: { credits: { day: 6 }, until: inAnHour() } }, "limits.raise"],
    ] as const) {
      const refused = await bed.refusal(403, "PATCH", keysOf(team, `/${id}`), team.developer.key, { limits: wider });
      expect([wider, refused]).toEqual([wider, { code: "permission_denied", param }]);
    }
    const tighter = { credits: { day: 4, week: 10 }, models: ["one"], ips: ["203.0.113.9"], endpoints: ["chat"] };
    const changed = await bed.ask("ApiKey", "PATCH", keysOf(team, `/${id}`), team.developer.key, {
      body: { limits: tighter },
    });
    expect(changed.limits).toMatchObject({ credits: { day: 4, week: 10 }, models: ["one"] });
    await bed.ask("ApiKey", "PATCH", path, team.developer.key, { body: { limits: { credits: { total: 9 } } } });
    expect((await bed.refusal(403, "PATCH", path, team.developer.key, { limits: null })).code).toBe(
      "permission_denied",
    );
  });

  test("cannot change members", async () => {
    const team = await bed.team(0n);
    const path = membersOf(team, `/${team.developer.id}`);
    const body = { limits: { credits: { day: 5 } } };
    expect((await bed.refusal(403, "PATCH", path, team.developer.key, body)).code).toBe("permission_denied");
  });
});

describe("a key with limits", () => {
  const limited = async (limits: unknown): Promise<{ team: Team; key: string; id: string }> => {
    const team = await bed.team(0n);
    const { key = "", id } = await made(team, limits);
    return { team, key, id };
  };

  test("creates keys with its lists or narrower ones", async () => {
    const { team, key } = await limited({ models: ["o*"], endpoints: ["chat", "settings"] });
    const inherited = await bed.ask("ApiKey", "POST", keysOf(team), key, { body: { name: "a" }, status: 201 });
    expect(inherited.limits).toEqual({ ...NONE, models: ["o*"], endpoints: ["chat", "settings"] });
    const narrow = { models: ["one"], endpoints: ["chat"], credits: { day: 1 } };
    await bed.ask("ApiKey", "POST", keysOf(team), key, { body: { name: "b", limits: narrow }, status: 201 });
    for (const [limits, param] of [
      [null, "limits.models"],
      [{ models: ["*"], endpoints: ["chat"] }, "limits.models"],
      [{ models: ["one"] }, "limits.endpoints"],
    ] as const) {
      const refused = await bed.refusal(403, "POST", keysOf(team), key, { name: "c", limits });
      expect([limits, refused]).toEqual([limits, { code: "permission_denied", param }]);
    }
  });

  test("with a credit limit creates no keys, and widens no limits", async () => {
    const { team, key, id } = await limited({ credits: { day: 5 } });
    const denied = { code: "permission_denied" };
    expect(await bed.refusal(403, "POST", keysOf(team), key, { name: "a" })).toMatchObject(denied);
    const tiny = { credits: { day: 0.1 } };
    expect(await bed.refusal(403, "POST", keysOf(team), key, { name: "a", limits: tiny })).toMatchObject(denied);
    const other = await made(team, { credits: { day: 1 } });
    for (const [path, limits] of [
      [keysOf(team, `/${id}`), null],
      [keysOf(team, `/${id}`), { credits: { day: 6 } }],
      [keysOf(team, `/${other.id}`), { credits: { day: 2 } }],
    ] as const) {
      expect(await bed.refusal(403, "PATCH", path, key, { limits })).toMatchObject(denied);
    }
    await bed.ask("ApiKey", "PATCH", keysOf(team, `/${id}`), key, { body: { limits: { credits: { day: 4 } } } });
    await bed.ask("ApiKey", "PATCH", keysOf(team, `/${other.id}`), key, {
      body: { limits: { credits: { day: 0.5 } } },
    });
    const member = membersOf(team, `/${team.developer.id}`);
    await bed.ask("Member", "PATCH", member, key, { body: { limits: { credits: { day: 3 } } } });
    expect(await bed.refusal(403, "PATCH", member, key, { limits: null })).toMatchObject(denied);
  });

  test("rotates itself, and no key that may do more", async () => {
    const { team, key, id } = await limited({ models: ["one"] });
    for (const other of [(await made(team, null)).id, (await made(team, { models: ["*"] })).id]) {
      expect((await bed.refusal(403, "POST", keysOf(team, `/${other}/rotate`), key)).code).toBe("permission_denied");
    }
    const narrow = await made(team, { models: ["one"], credits: { day: 1 } });
    await bed.ask("ApiKey", "POST", keysOf(team, `/${narrow.id}/rotate`), key, { status: 201 });
    const next = await bed.ask("ApiKey", "POST", keysOf(team, `/${id}/rotate`), key, { status: 201 });
    expect(next.limits).toEqual({ ...NONE, models: ["one"] });
  });
});

describe("an owner with limits", () => {
  const denied = (param: string | null) => ({ code: "permission_denied", param });

  /** Team of an owner with limits and one without. */
  const limited = async (limits: object): Promise<Team> => {
    const team = await bed.team(0n);
    const own = membersOf(team, `/${team.owner.id}`);
    expect(await bed.refusal(409, "PATCH", own, team.owner.key, { limits })).toEqual({
      code: "conflict",
      param: "limits",
    });
    const second = { name: "second", role: "owner" };
    await bed.ask("Member", "POST", membersOf(team), team.owner.key, { body: second, status: 201 });
    await bed.ask("Member", "PATCH", own, team.owner.key, { body: { limits } });
    return team;
  };

  test("on its spend grants itself and others no more than the limits", async () => {
    const team = await limited({ credits: { day: 5 } });
    const { owner, admin, developer } = team;
    const others = await bed.ask("ApiKey", "POST", keysOf(team), admin.key, { body: { name: "free" }, status: 201 });
    await bed.ask("Member", "PATCH", membersOf(team, `/${developer.id}`), admin.key, { body: { is_active: false } });
    const own = membersOf(team, `/${owner.id}`);
    const wide = { credits: { day: 6 } };
    for (const [method, path, body, param] of [
      ["PATCH", own, { limits: null }, "limits.credits.day"],
      ["PATCH", own, { limits: wide }, "limits.credits.day"],
      ["POST", membersOf(team), { name: "new", role: "admin" }, "limits"],
      ["POST", membersOf(team), { name: "new", role: "admin", limits: { credits: { day: 1 } } }, "limits"],
      ["POST", keysOf(team), { name: "new", member_id: admin.id }, "limits"],
      ["POST", keysOf(team, `/${others.id}/rotate`), {}, null],
      ["PATCH", membersOf(team, `/${admin.id}`), { email: "me@example.com" }, "email"],
      ["PATCH", membersOf(team, `/${developer.id}`), { is_active: true }, "is_active"],
    ] as const) {
      expect([path, body, await bed.refusal(403, method, path, owner.key, body)]).toEqual([path, body, denied(param)]);
    }
    // Its own keys share its limits, and tighter limits grant nothing.
    await bed.ask("ApiKey", "POST", keysOf(team), owner.key, { body: { name: "own" }, status: 201 });
    await bed.ask("Member", "PATCH", own, owner.key, { body: { limits: { credits: { day: 4 } } } });
    await bed.ask("Member", "PATCH", membersOf(team, `/${admin.id}`), owner.key, { body: { limits: wide } });
    await bed.ask("Member", "PATCH", own, owner.key, { body: { email: "owner@example.com" } });
  });

  test("on its models grants others the same models or fewer", async () => {
    const team = await limited({ models: ["o*"] });
    const { owner, admin } = team;
    const path = membersOf(team);
    expect(await bed.refusal(403, "POST", path, owner.key, { name: "new", role: "admin" })).toEqual(denied("limits.models")); // prettier-ignore
    const narrow = { name: "new", role: "admin", limits: { models: ["one"] } };
    await bed.ask("Member", "POST", path, owner.key, { body: narrow, status: 201 });
    const key = { name: "k", member_id: admin.id };
    expect(await bed.refusal(403, "POST", keysOf(team), owner.key, key)).toEqual(denied("limits.models"));
    const body = { ...key, limits: { models: ["one"] } };
    await bed.ask("ApiKey", "POST", keysOf(team), owner.key, { body, status: 201 });
  });
});

describe("the last owner without limits", () => {
  /** Creates three owners: an owner without limits, an owner with limits, and a disabled owner. */
  async function owners(): Promise<{ readonly team: Team; readonly limitedKey: string; readonly disabled: string }> {
    const team = await bed.team(0n);
    const { owner } = team;
    const add = (name: string, limits: object | null) =>
      bed.ask("Member", "POST", membersOf(team), owner.key, { body: { name, role: "owner", limits }, status: 201 });
    const { id } = await add("limited", { credits: { day: 5 } });
    const body = { name: "key", member_id: id };
    const { key = "" } = await bed.ask("ApiKey", "POST", keysOf(team), owner.key, { body, status: 201 });
    const disabled = (await add("disabled", null)).id;
    const off = { is_active: false };
    await bed.ask("Member", "PATCH", membersOf(team, `/${disabled}`), owner.key, { body: off });
    return { team, limitedKey: key, disabled };
  }

  test("stays an active owner, also for another owner", async () => {
    const { team, limitedKey, disabled } = await owners();
    const path = membersOf(team, `/${team.owner.id}`);
    for (const key of [team.owner.key, limitedKey]) {
      for (const [method, body, param] of [
        ["PATCH", { role: "admin" }, null],
        ["PATCH", { is_active: false }, null],
        ["PATCH", { limits: { models: ["one"] } }, "limits"],
        ["DELETE", undefined, null],
      ] as const) {
        expect([body, await bed.refusal(409, method, path, key, body)]).toEqual([body, { code: "conflict", param }]);
      }
      await bed.ask("Member", "PATCH", path, key, { body: { name: `owner ${key.slice(-4)}` } });
    }
    const on = { is_active: true };
    await bed.ask("Member", "PATCH", membersOf(team, `/${disabled}`), team.owner.key, { body: on });
    await bed.ask("Member", "PATCH", path, team.owner.key, { body: { role: "admin" } });
  });

  test("is one of two owners who limit each other at the same time", async () => {
    for (let round = 0; round < 5; round++) {
      const { team, limitedKey, disabled } = await owners();
      const [first, second] = [membersOf(team, `/${team.owner.id}`), membersOf(team, `/${disabled}`)];
      await bed.ask("Member", "PATCH", second, team.owner.key, { body: { is_active: true } });
      const limits = { credits: { day: 1 } };
      const answers = await Promise.all([
        bed.send("PATCH", second, team.owner.key, { limits }),
        bed.send("PATCH", first, limitedKey, { limits }),
      ]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    }
  });
});

test.each([[{ credits: { day: 5 } }], [{ models: ["one"] }]])(
  "an owner's key with the limits %j does not change the address of its member, with which a person could sign in without them",
  async (limits) => {
    const team = await bed.team(0n);
    const { key = "" } = await made(team, limits);
    const path = membersOf(team, `/${team.owner.id}`);
    expect((await bed.refusal(403, "PATCH", path, key, { email: "me@example.com" })).code).toBe("permission_denied");
    await bed.ask("Member", "PATCH", path, key, { body: { name: "renamed" } });
    await bed.ask("Member", "PATCH", path, team.owner.key, { body: { email: "me@example.com" } });
    await bed.ask("Member", "PATCH", path, key, { body: { email: null } });
  },
);

test("a key with a credit limit creates no members", async () => {
  const team = await bed.team(0n);
  const { key = "" } = await made(team, { credits: { day: 5 } });
  const body = { name: "new", role: "developer" };
  expect((await bed.refusal(403, "POST", membersOf(team), key, body)).code).toBe("permission_denied");
});

test("a rotation keeps the limits and what is spent of them, and both keys share what is left", async () => {
  const team = await bed.team(0n);
  const old = await made(team, { credits: { total: 5 } });
  await bed.db.query("update spend_limit set spent = spent + 2000000000 where id = $1", [old.id]);
  const first = await bed.ask("ApiKey", "POST", keysOf(team, `/${old.id}/rotate`), team.owner.key, {
    body: { overlap_seconds: 60 },
    status: 201,
  });
  expect([first.limits, first.limit_usage?.total]).toMatchObject([
    old.limits,
    { credits_used: 2, credits_left: 3, resets_at: null },
  ]);
  const second = await bed.ask("ApiKey", "POST", keysOf(team, `/${first.id}/rotate`), team.owner.key, { status: 201 });
  const body = { limits: { credits: { total: 4 } } };
  const changed = await bed.ask("ApiKey", "PATCH", keysOf(team, `/${second.id}`), team.owner.key, { body });
  expect(changed.limit_usage?.total).toMatchObject({ credits_used: 2, credits_left: 2 });
  const shared = await bed.ask("ApiKey", "GET", keysOf(team, `/${old.id}`), team.owner.key);
  expect(shared.limits).toEqual(changed.limits);
});

test("owners and admins set the limits of members, with an audit entry", async () => {
  const team = await bed.team(0n);
  const body = { name: "limited", role: "developer", limits: ALL };
  const { id, limits } = await bed.ask("Member", "POST", membersOf(team), team.admin.key, { body, status: 201 });
  expect(limits).toEqual(ALL);
  const path = membersOf(team, `/${id}`);
  const line = await audited(bed, team, team.admin, { method: "PATCH", path, body: { limits: null } });
  expect(line).toMatchObject({
    action: "member.limits",
    subject: id,
    before: { limits: ALL },
    after: { limits: null },
  });
  const owner = membersOf(team, `/${team.owner.id}`);
  expect((await bed.refusal(403, "PATCH", owner, team.admin.key, { limits: ALL })).code).toBe("permission_denied");
  const both = { role: "billing", limits: { credits: { day: 1 } } };
  const changed = await bed.ask("Member", "PATCH", path, team.owner.key, { body: both });
  expect([changed.role, changed.limits?.credits?.day]).toEqual(["billing", 1]);
  const { data } = await bed.ask("MemberList", "GET", membersOf(team), team.owner.key);
  expect(data.find((one) => one.id === id)?.limits?.credits?.day).toBe(1);
});

test("a developer sees the limits of all members, and the spend of its own alone", async () => {
  const team = await bed.team(0n);
  const limits = { credits: { day: 2 } };
  const { developer, other, owner } = team;
  for (const { id } of [developer, other]) {
    await bed.ask("Member", "PATCH", membersOf(team, `/${id}`), owner.key, { body: { limits } });
  }
  const spentOf = async (person: { readonly id: string }, by: { readonly key: string }) => {
    const { data } = await bed.ask("MemberList", "GET", membersOf(team), by.key);
    const listed = data.find(({ id }) => id === person.id);
    const read = await bed.ask("Member", "GET", membersOf(team, `/${person.id}`), by.key);
    expect(listed).toEqual(read);
    expect(read.limits?.credits?.day).toBe(2);
    return read.limit_usage?.day?.credits_left;
  };
  expect(await spentOf(developer, developer)).toBe(2);
  expect(await spentOf(other, developer)).toBeUndefined();
  expect(await spentOf(other, owner)).toBe(2);
});

test("GET /v1/key returns the limits of the calling key and of its member", async () => {
  const team = await bed.team(0n);
  const limits = { credits: { day: 2 }, endpoints: ["settings"] };
  await bed.ask("ApiKey", "PATCH", keysOf(team, `/${team.developer.keyId}`), team.owner.key, { body: { limits } });
  const member = { credits: { month: 9 } };
  await bed.ask("Member", "PATCH", membersOf(team, `/${team.developer.id}`), team.owner.key, {
    body: { limits: member },
  });
  bed.pass(KEY_CACHE_MS);
  const key = await bed.ask("Key", "GET", "/v1/key", team.developer.key);
  expect(key).toMatchObject({
    limits: { credits: { day: 2 }, endpoints: ["settings"] },
    limit_usage: { day: { credits_left: 2 }, month: null },
    member: { id: team.developer.id, limits: { credits: { month: 9 } }, limit_usage: { month: { credits_left: 9 } } },
  });
});

test("lists of endpoints apply within a second, of the key and of its member", async () => {
  const team = await bed.team(0n);
  const statusOf = async (): Promise<number> => {
    bed.pass(KEY_CACHE_MS);
    return (await bed.send("GET", membersOf(team), team.developer.key)).status;
  };
  expect(await statusOf()).toBe(200);
  const key = keysOf(team, `/${team.developer.keyId}`);
  await bed.ask("ApiKey", "PATCH", key, team.owner.key, { body: { limits: { endpoints: ["chat"] } } });
  expect(await statusOf()).toBe(403);
  await bed.ask("ApiKey", "PATCH", key, team.owner.key, { body: { limits: { endpoints: ["settings"] } } });
  expect(await statusOf()).toBe(200);
  const member = membersOf(team, `/${team.developer.id}`);
  await bed.ask("Member", "PATCH", member, team.owner.key, { body: { limits: { endpoints: ["chat"] } } });
  expect(await statusOf()).toBe(403);
});
