/** /workspaces/{workspaceId}/api-keys: made, read, changed and revoked. Replacing them: key-rotation.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";

import type { Preset } from "#shared/access/authenticate.ts";
import { newId } from "#shared/ids.ts";
import { hashKey, isMintedKey } from "#shared/secrets/api-keys.ts";
import { KEYS_PER_WORKSPACE_MAX } from "#shared/database/api-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { audited, auditOf, BAD_BODIES, BAD_IDS, BAD_NAMES, putKey, putMember, walk } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  const presets = bed.fake.context.catalogue.current().presets as Map<string, Preset>;
  presets.set("narrow", { name: "narrow", requests_per_minute: 60, daily_tokens: 1_000 });
  presets.set("tokens", { name: "tokens", requests_per_minute: null, daily_tokens: 500 });
  presets.set("wide", { name: "wide", requests_per_minute: null, daily_tokens: null });
  team = await bed.team(0n);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, rest = ""): string => `/workspaces/${of.id}/api-keys${rest}`;
const HOUR_MS = 3_600_000;
const inAnHour = (): string => new Date(Date.now() + HOUR_MS).toISOString();

/** Returns the status that a call with the key gets now. */
const statusOf = async (key: string | undefined, own: Team): Promise<number> =>
  (await bed.send("GET", `/workspaces/${own.id}`, key)).status;

describe("making a key", () => {
  test("shows it once, keeps its hash alone, and stands on record without it", async () => {
    const own = await bed.team(0n);
    const expires_at = inAnHour();
    const body = { name: "ci", preset: "narrow", expires_at };
    const line = await audited(bed, own, own.developer, { method: "POST", path: at(own), body, status: 201 });
    const { key, id, hint } = line.answer as { key: string; id: string; hint: string };
    expect(isMintedKey(key)).toBe(true);
    expect(line).toMatchObject({
      action: "key.create",
      subject: id,
      before: null,
      after: { name: "ci", preset: "narrow", member: own.developer.id },
      answer: {
        member: { id: own.developer.id, role: "developer" },
        status: "active",
        expires_at,
        last_used_at: null,
        revoked_at: null,
      },
    });
    expect(hint).not.toContain(key.slice(8, -8));
    const { key: _once, ...rest } = line.answer;
    const read = await bed.ask("ApiKey", "GET", at(own, `/${id}`), own.owner.key);
    expect(read as unknown).toEqual(rest);
    expect((await bed.ask("ApiKeyList", "GET", at(own), own.owner.key)).data[0]).toEqual(read);
    const hash = Buffer.from(hashKey(key));
    const told = JSON.stringify(await auditOf(bed, own));
    for (const secret of [key, hash.toString("hex"), hash.toString("base64")]) expect(told).not.toContain(secret);
    expect(await statusOf(key, own)).toBe(200);
    const [row] = await bed.db.query<{ text: string }>("select k::text as text from api_key k where id = $1", [id]);
    expect(row?.text).not.toContain(key);
    expect(row?.text).toContain(hash.toString("hex"));
  });

  test("says that nobody is to keep the answer", async () => {
    const made = await bed.send("POST", at(team), team.owner.key, { name: "kept" });
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
  });

  test("is for any member who is not above, and of a developer for itself", async () => {
    for (const [by, whom, status] of [
      [team.owner, team.owner, 201],
      [team.owner, team.billing, 201],
      [team.admin, team.developer, 201],
      [team.admin, team.owner, 403],
      [team.developer, team.developer, 201],
      [team.developer, team.other, 403],
      [team.developer, team.billing, 403],
      [team.developer, team.owner, 403],
      [team.billing, team.billing, 403],
    ] as const) {
      const answer = await bed.send("POST", at(team), by.key, { name: "for", member_id: whom.id.toUpperCase() });
      expect([by.id, whom.id, answer.status]).toEqual([by.id, whom.id, status]);
    }
  });

  test("gives it no later end than that of the key that makes it, and says which that was", async () => {
    const own = await bed.team(0n);
    const ends = inAnHour();
    for (const person of [own.developer, own.owner]) {
      await bed.db.query("update api_key set expires_at = $2 where id = $1", [person.keyId, ends]);
      const later = { name: "for ever", expires_at: new Date(Date.parse(ends) + 1).toISOString() };
      expect(await bed.refusal(403, "POST", at(own), person.key, later)).toEqual({
        code: "permission_denied",
        param: "expires_at",
      });
      const body = { id: newId(), name: "as long" };
      const made = await audited(bed, own, person, { method: "POST", path: at(own), body, status: 201 });
      expect([made.answer["expires_at"], made.after]).toMatchObject([ends, { made_with: person.keyId }]);
      await bed.ask("ApiKey", "POST", at(own), person.key, { body });
      await bed.ask("ApiKey", "POST", at(own), person.key, { body: { name: "a", expires_at: ends }, status: 201 });
    }
    const made = await bed.ask("ApiKey", "POST", at(own), own.admin.key, { body: { name: "no end" }, status: 201 });
    expect(made.expires_at).toBeNull();
  });

  test("is not for a member who is disabled, unknown or another workspace's", async () => {
    const foreign = await bed.team(0n);
    for (const member_id of [newId(), foreign.developer.id]) {
      for (const { key } of [team.owner, team.developer]) {
        expect(await bed.refusal(404, "POST", at(team), key, { name: "for", member_id })).toEqual({
          code: "not_found",
          param: "member_id",
        });
      }
    }
    const member_id = await putMember(bed, team);
    await bed.db.query("update member set is_active = false where id = $1", [member_id]);
    expect(await bed.refusal(409, "POST", at(team), team.owner.key, { name: "for", member_id })).toEqual({
      code: "conflict",
      param: "member_id",
    });
  });

  test("gives no wider preset than the caller's own, which is taken when none is named", async () => {
    const own = await bed.team(0n);
    await bed.db.query("update api_key set preset = 'narrow' where id = $1", [own.admin.keyId]);
    const ask = (preset?: string) => ({ name: "preset", ...(preset === undefined ? {} : { preset }) });
    const made = await bed.ask("ApiKey", "POST", at(own), own.admin.key, { body: ask(), status: 201 });
    expect(made.preset).toBe("narrow");
    for (const [by, preset] of [
      [own.admin, "standard"],
      [own.admin, "tokens"],
      [own.admin, "wide"],
      [own.owner, "tokens"],
      [own.owner, "wide"],
    ] as const) {
      expect([preset, await bed.refusal(403, "POST", at(own), by.key, ask(preset))]).toEqual([
        preset,
        { code: "permission_denied", param: "preset" },
      ]);
    }
    for (const preset of ["none", "__proto__", "Standard"]) {
      expect(await bed.refusal(400, "POST", at(own), own.owner.key, ask(preset))).toEqual({
        code: "unsupported_value",
        param: "preset",
      });
    }
  });

  test("repeats under an id of the caller's without the key, and not under one that stands for something else", async () => {
    const id = randomUUID();
    const body = { id: id.toUpperCase(), name: "once", expires_at: inAnHour() };
    const { key: _once, ...made } = await bed.ask("ApiKey", "POST", at(team), team.owner.key, { body, status: 201 });
    expect(made.id).toBe(id);
    expect(await bed.ask("ApiKey", "POST", at(team), team.owner.key, { body })).toEqual(made);
    const reused = { code: "idempotency_key_reused", param: "id" } as const;
    for (const other of [
      { name: "another" },
      { preset: "narrow" },
      { member_id: team.other.id },
      { expires_at: undefined },
    ]) {
      expect(await bed.refusal(422, "POST", at(team), team.owner.key, { ...body, ...other })).toEqual(reused);
    }
    expect(await bed.refusal(422, "POST", at(team), team.developer.key, body)).toEqual(reused);
    const foreign = await bed.team(0n);
    const taken = { ...body, id: foreign.owner.keyId };
    expect(await bed.refusal(422, "POST", at(team), team.owner.key, taken)).toEqual(reused);
    expect(await auditOf(bed, foreign)).toEqual([]);
  });

  test("goes on up to the limit of keys that live, where repeats are still answered", async () => {
    const own = await bed.team(0n);
    await bed.db.query(
      `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, revoked_at, expires_at)
       select gen_random_uuid(), $1, $2, 'k', sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'slk_…', 'standard',
              case when n = 1 then now() end, case when n = 2 then now() end
       from generate_series(1, $3) n`,
      [own.id, own.owner.id, KEYS_PER_WORKSPACE_MAX - 5 - 1 + 2],
    );
    const body = { id: newId(), name: "the last" };
    const { key: _once, ...made } = await bed.ask("ApiKey", "POST", at(own), own.owner.key, { body, status: 201 });
    const conflict = { code: "conflict", param: null };
    expect(await bed.refusal(409, "POST", at(own), own.owner.key, { name: "one more" })).toEqual(conflict);
    expect(await bed.ask("ApiKey", "POST", at(own), own.owner.key, { body })).toEqual(made);
    const rotate = at(own, `/${made.id}/rotate`);
    expect(await bed.refusal(409, "POST", rotate, own.owner.key, { overlap_seconds: 60 })).toEqual(conflict);
    await bed.ask("ApiKey", "POST", rotate, own.owner.key, { status: 201 });
  });

  test("is refused for what is no name, id or time to come", async () => {
    const bad: [object, string][] = [
      [{}, "name"],
      ...BAD_NAMES.map((name): [object, string] => [{ name }, "name"]),
      ...["x", `urn:uuid:${newId()}`, 7].flatMap((id): [object, string][] => [
        [{ name: "fine", id }, "id"],
        [{ name: "fine", member_id: id }, "member_id"],
      ]),
      [{ name: "fine", id: "00000000-0000-0000-0000-000000000000" }, "id"],
      ...["2000-01-01T00:00:00Z", new Date().toISOString(), "tomorrow", "2030-01-01", "2030-02-30T00:00:00Z", 7].map(
        (expires_at): [object, string] => [{ name: "fine", expires_at }, "expires_at"],
      ),
    ];
    for (const [body, param] of bad) {
      expect([body, (await bed.refusal(400, "POST", at(team), team.owner.key, body)).param]).toEqual([body, param]);
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "POST", at(team), team.owner.key, body)).code).toBe(code);
    }
  });

  test("takes no fields that are ours", async () => {
    const foreign = await bed.team(0n);
    const body = {
      name: "plain",
      workspaceId: foreign.id,
      key: "sk_mine",
      sha256: "00",
      hint: "mine",
      revoked_at: "2000-01-01T00:00:00Z",
      last_used_at: "2000-01-01T00:00:00Z",
      created_at: "2000-01-01T00:00:00Z",
      status: "revoked",
      createdByUserId: foreign.owner.id,
    };
    const made = await bed.ask("ApiKey", "POST", at(team), team.owner.key, { body, status: 201 });
    expect(made).toMatchObject({ status: "active", revoked_at: null, last_used_at: null });
    expect([made.hint, made.key]).not.toContain("mine");
    expect(await statusOf(made.key, team)).toBe(200);
  });
});

describe("changing a key", () => {
  test("stands on record by what it is", async () => {
    const own = await bed.team(0n);
    const id = await putKey(bed, own, own.developer);
    const path = at(own, `/${id}`);
    const end = inAnHour();
    let is: object = { name: "put", preset: "standard" };
    for (const [by, body, action] of [
      [own.developer, { name: "new name" }, "key.update"],
      [own.admin, { preset: "narrow" }, "key.preset"],
      [own.developer, { expires_at: end }, "key.update"],
      [own.owner, { expires_at: null }, "key.update"],
    ] as const) {
      const line = await audited(bed, own, by, { method: "PATCH", path, body });
      expect(line).toMatchObject({ action, subject: id, before: is, answer: { ...is, ...body } });
      const { expires_at: _time, ...rest } = body as { expires_at?: unknown };
      is = { ...is, ...rest };
      expect(line.after).toMatchObject(is);
    }
    const seen = (await auditOf(bed, own)).length;
    await bed.ask("ApiKey", "PATCH", path, own.owner.key, { body: { ...is } });
    expect(await auditOf(bed, own)).toHaveLength(seen);
  });

  test("never lets a developer outlive the end that a key has", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${await putKey(bed, own, own.developer)}`);
    await bed.ask("ApiKey", "PATCH", path, own.owner.key, { body: { expires_at: inAnHour() } });
    for (const expires_at of [null, "2100-01-01T00:00:00Z"]) {
      const refusal = await bed.refusal(403, "PATCH", path, own.developer.key, { expires_at });
      expect([refusal.code, refusal.param]).toEqual(["permission_denied", "expires_at"]);
    }
    const sooner = new Date(Date.now() + 600_000).toISOString();
    await bed.ask("ApiKey", "PATCH", path, own.developer.key, { body: { expires_at: sooner } });
    await bed.ask("ApiKey", "PATCH", path, own.owner.key, { body: { expires_at: null } });
  });

  test("gives no later end than the calling key has, whatever its role", async () => {
    const own = await bed.team(0n);
    const ends = inAnHour();
    await bed.db.query("update api_key set expires_at = $2 where id = $1", [own.owner.keyId, ends]);
    const later = { expires_at: new Date(Date.now() + 2 * HOUR_MS).toISOString() };
    for (const id of [own.owner.keyId, await putKey(bed, own, own.developer, { expiresAt: new Date(ends) })]) {
      for (const body of [later, { expires_at: null }]) {
        expect(await bed.refusal(403, "PATCH", at(own, `/${id}`), own.owner.key, body)).toEqual({
          code: "permission_denied",
          param: "expires_at",
        });
      }
    }
    // Forward, it may be brought to any time.
    const endless = at(own, `/${await putKey(bed, own, own.developer)}`);
    await bed.ask("ApiKey", "PATCH", endless, own.owner.key, { body: later });
  });

  test("follows the rules of making one", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${await putKey(bed, own, own.developer)}`);
    for (const preset of ["wide", "tokens"]) {
      expect((await bed.refusal(403, "PATCH", path, own.developer.key, { preset })).param).toBe("preset");
    }
    for (const body of [
      { preset: "none" },
      { expires_at: "2000-01-01T00:00:00Z" },
      { expires_at: 7 },
      ...BAD_NAMES.map((name) => ({ name })),
    ]) {
      expect((await bed.refusal(400, "PATCH", path, own.owner.key, body)).param).toBe(Object.keys(body)[0] ?? "");
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "PATCH", path, own.owner.key, body)).code).toBe(code);
    }
    const before = await bed.ask("ApiKey", "GET", path, own.owner.key);
    const body = {
      id: own.owner.keyId,
      member_id: own.owner.id,
      revoked_at: "2000-01-01T00:00:00Z",
      status: "revoked",
    };
    expect(await bed.ask("ApiKey", "PATCH", path, own.owner.key, { body })).toEqual(before);
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test("is in force within a second: a preset, and an end that has come", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${own.developer.keyId}`);
    const caller = () => bed.authenticator.authenticate(`Bearer ${own.developer.key}`);
    expect((await caller()).preset.name).toBe("standard");
    await bed.ask("ApiKey", "PATCH", path, own.owner.key, { body: { preset: "narrow", expires_at: inAnHour() } });
    bed.pass(KEY_CACHE_MS);
    expect((await caller()).preset.name).toBe("narrow");
    // The hour passes.
    await bed.db.query("update api_key set expires_at = now() where id = $1", [own.developer.keyId]);
    bed.pass(KEY_CACHE_MS);
    expect(await statusOf(own.developer.key, own)).toBe(401);
    expect(KEY_CACHE_MS).toBeLessThan(1_000);
    expect((await bed.ask("ApiKey", "GET", path, own.owner.key)).status).toBe("expired");
  });
});

describe("revoking a key", () => {
  test("stands on record once, and is for good", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${own.developer.keyId}`);
    expect(await statusOf(own.developer.key, own)).toBe(200);
    const line = await audited(bed, own, own.developer, { method: "DELETE", path });
    expect(line).toMatchObject({
      action: "key.revoke",
      subject: own.developer.keyId,
      before: { name: "test", preset: "standard" },
      after: null,
      answer: { id: own.developer.keyId, deleted: true },
    });
    bed.pass(KEY_CACHE_MS);
    expect(await statusOf(own.developer.key, own)).toBe(401);
    const read = await bed.ask("ApiKey", "GET", path, own.owner.key);
    expect([read.status, read.revoked_at]).toEqual(["revoked", expect.any(String) as unknown as string]);
    await bed.ask("Deleted", "DELETE", path, own.owner.key);
    expect(await bed.ask("ApiKey", "GET", path, own.owner.key)).toEqual(read);
    expect(await auditOf(bed, own)).toHaveLength(1);
    for (const body of [{ name: "again" }, { expires_at: null }]) {
      expect((await bed.refusal(409, "PATCH", path, own.owner.key, body)).code).toBe("conflict");
    }
  });

  test("of a disabled member is told apart in the list", async () => {
    const own = await bed.team(0n);
    await bed.db.query("update member set is_active = false where id = $1", [own.developer.id]);
    expect((await bed.ask("ApiKey", "GET", at(own, `/${own.developer.keyId}`), own.owner.key)).status).toBe("disabled");
  });
});

describe("keys", () => {
  test("of an owner are not an admin's to change, and of others not a developer's to see", async () => {
    const own = await bed.team(0n);
    for (const [method, rest, body] of [
      ["PATCH", "", { name: "x" }],
      ["DELETE", ""],
      ["POST", "/rotate"],
    ] as const) {
      const path = at(own, `/${own.owner.keyId}${rest}`);
      expect((await bed.refusal(403, method, path, own.admin.key, body)).code).toBe("permission_denied");
      for (const { keyId } of [own.owner, own.other, own.billing]) {
        const hidden = at(own, `/${keyId}${rest}`);
        expect((await bed.refusal(404, method, hidden, own.developer.key, body)).code).toBe("not_found");
      }
    }
    await bed.ask("ApiKey", "GET", at(own, `/${own.owner.keyId}`), own.admin.key);
    await bed.refusal(404, "GET", at(own, `/${own.other.keyId}`), own.developer.key);
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test("are paged from the newest without gaps or repeats, a developer's own alone", async () => {
    const own = await bed.team(0n);
    await bed.db.query(
      `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, created_at)
       select gen_random_uuid(), $1, case when n % 2 = 0 then $2::uuid else $3::uuid end, 'k',
              sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'slk_…', 'standard', now() + (n / 4) * interval '1 second'
       from generate_series(1, 60) n`,
      [own.id, own.developer.id, own.other.id],
    );
    const rows = await bed.db.query<{ id: string; member_id: string }>(
      "select id, member_id from api_key where workspace_id = $1 order by created_at desc, id desc",
      [own.id],
    );
    for (const [person, mine] of [
      [own.owner, rows],
      [own.developer, rows.filter(({ member_id }) => member_id === own.developer.id)],
    ] as const) {
      const read = (query: string) => bed.ask("ApiKeyList", "GET", at(own, `?${query}`), person.key);
      for (const limit of [7, 31, 100]) expect(await walk(read, limit)).toEqual(mine.map(({ id }) => id));
    }
    const foreign = at(own, `?after=${team.owner.keyId}`);
    expect((await bed.ask("ApiKeyList", "GET", foreign, own.owner.key)).data).toEqual([]);
    expect((await bed.refusal(400, "GET", at(own, "?limit=101"), own.owner.key)).param).toBe("limit");
  });

  test("of another workspace are unknown ones, and so is what is no id", async () => {
    const foreign = await bed.team(0n);
    for (const [method, rest, body] of [
      ["GET", ""],
      ["PATCH", "", { name: "x" }],
      ["DELETE", ""],
      ["POST", "/rotate"],
    ] as const) {
      const told = async (id: string): Promise<unknown> => {
        const answer = await bed.send(method, at(team, `/${id}${rest}`), team.owner.key, body);
        return [answer.status, await answer.text()];
      };
      const unknown = await told(newId());
      expect(unknown).toEqual([404, expect.stringContaining("not_found") as unknown]);
      for (const id of [foreign.owner.keyId, ...BAD_IDS]) expect([id, await told(id)]).toEqual([id, unknown]);
    }
    expect(await auditOf(bed, foreign)).toEqual([]);
  });
});
