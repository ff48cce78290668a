/** /workspaces/{workspaceId}/api-keys, beside the contract of resources: for whom, until when, how wide. Replacing them: key-rotation.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Preset } from "#shared/access/authenticate.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, isMintedKey } from "#shared/secrets/api-keys.ts";
import { KEYS_PER_WORKSPACE_MAX } from "#shared/database/api-keys.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { audited, auditOf, putKey, putMember, walk } from "./settings-bed.ts";
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

describe("creating a key", () => {
  test("is for the caller by default, and only a hash of the key is stored", async () => {
    const own = await bed.team(0n);
    const body = { name: "ci" };
    const line = await audited(bed, own, own.developer, { method: "POST", path: at(own), body, status: 201 });
    const { key, id, hint, member } = line.answer as { key: string; id: string; hint: string; member: object };
    expect([isMintedKey(key), await statusOf(key, own)]).toEqual([true, 200]);
    expect(hint).not.toContain(key.slice(8, -8));
    expect([member, line.after]).toMatchObject([{ id: own.developer.id }, { member: own.developer.id }]);
    const kept = await bed.db.query("select 1 from api_key where id = $1 and sha256 = $2", [
      id,
      Buffer.from(hashKey(key)),
    ]);
    expect(kept).toHaveLength(1);
  });

  test("is for any member of the same or a lower role, and for a developer itself", async () => {
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

  test("limits its expiry to that of the creating key, and names the limit", async () => {
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

  test("is not for a member who is disabled, unknown or of another workspace", async () => {
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

  test("accepts no wider preset than the caller's own, which is the default", async () => {
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

  test("lists capabilities and categories that exist", async () => {
    const own = await bed.team(0n);
    for (const tool of ["image.resise", "nope.*", "images.*", "constructor.*"]) {
      const ask = { name: "tools", tools: ["web.*", tool] };
      expect(await bed.refusal(400, "POST", at(own), own.owner.key, ask)).toEqual({
        code: "unsupported_value",
        param: "tools[1]",
      });
    }
    const ask = { body: { name: "tools", tools: ["image.*", "workflow.*", "web.fetch"] }, status: 201 } as const;
    const made = await bed.ask("ApiKey", "POST", at(own), own.owner.key, ask);
    expect(made.tools).toEqual(["image.*", "web.fetch", "workflow.*"]);
  });

  test("accepts only tools of the caller's own key, which are the default", async () => {
    const own = await bed.team(0n);
    const wide = await putKey(bed, own, own.admin);
    await bed.db.query("update api_key set tools = '{image.resize,web.*}' where id = $1", [own.admin.keyId]);
    bed.pass(KEY_CACHE_MS);
    const ask = (tools?: string[] | null) => ({ name: "tools", ...(tools === undefined ? {} : { tools }) });
    const refused = { code: "permission_denied", param: "tools" };
    for (const tools of [null, ["image.*"], ["image.crop"], ["workflow.*"], [newId()]]) {
      expect(await bed.refusal(403, "POST", at(own), own.admin.key, ask(tools))).toEqual(refused);
      for (const id of [own.admin.keyId, wide]) {
        expect(await bed.refusal(403, "PATCH", at(own, `/${id}`), own.admin.key, { tools })).toEqual(refused);
      }
    }
    const rotated = await bed.refusal(403, "POST", at(own, `/${wide}/rotate`), own.admin.key);
    expect(rotated).toEqual({ code: "permission_denied", param: null });
    const same = await bed.ask("ApiKey", "POST", at(own), own.admin.key, { body: ask(), status: 201 });
    expect(same.tools).toEqual(["image.resize", "web.*"]);
    const less = ask(["web.links", "image.resize"]);
    const { id } = await bed.ask("ApiKey", "POST", at(own), own.admin.key, { body: ask(["web.*"]), status: 201 });
    expect((await bed.ask("ApiKey", "PATCH", at(own, `/${id}`), own.owner.key, { body: less })).tools).toEqual([
      "image.resize",
      "web.links",
    ]);
    const next = await bed.ask("ApiKey", "POST", at(own, `/${id}/rotate`), own.admin.key, { status: 201 });
    expect(next.tools).toEqual(["image.resize", "web.links"]);
  });

  test("works up to the limit of active keys, as does a replacement", async () => {
    const own = await bed.team(0n);
    await bed.db.query(
      `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, revoked_at, expires_at)
       select gen_random_uuid(), $1, $2, 'k', sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'slk_…', 'standard',
              case when n = 1 then now() end, case when n = 2 then now() end
       from generate_series(1, $3) n`,
      [own.id, own.owner.id, KEYS_PER_WORKSPACE_MAX - 5 - 1 + 2],
    );
    const body = { name: "the last" };
    const made = await bed.ask("ApiKey", "POST", at(own), own.owner.key, { body, status: 201 });
    const conflict = { code: "conflict", param: null };
    expect(await bed.refusal(409, "POST", at(own), own.owner.key, { name: "one more" })).toEqual(conflict);
    const rotate = at(own, `/${made.id}/rotate`);
    expect(await bed.refusal(409, "POST", rotate, own.owner.key, { overlap_seconds: 60 })).toEqual(conflict);
    await bed.ask("ApiKey", "POST", rotate, own.owner.key, { status: 201 });
  });
});

describe("changing a key", () => {
  test("never lets a developer extend a key's expiry", async () => {
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

  test("sets no later expiry than the calling key's, for every role", async () => {
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

  test("sets no wider preset than the caller's own", async () => {
    const path = at(team, `/${await putKey(bed, team, team.developer)}`);
    for (const preset of ["wide", "tokens"]) {
      expect((await bed.refusal(403, "PATCH", path, team.developer.key, { preset })).param).toBe("preset");
    }
  });

  test("takes effect within a second: a preset, and an expiry in the past", async () => {
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
  test("takes effect within a second, permanently", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${own.developer.keyId}`);
    expect(await statusOf(own.developer.key, own)).toBe(200);
    await bed.ask("Deleted", "DELETE", path, own.developer.key);
    bed.pass(KEY_CACHE_MS);
    expect(await statusOf(own.developer.key, own)).toBe(401);
    for (const body of [{ name: "again" }, { expires_at: null }]) {
      expect((await bed.refusal(409, "PATCH", path, own.owner.key, body)).code).toBe("conflict");
    }
  });

  test("of a disabled member is distinguished in the list", async () => {
    const own = await bed.team(0n);
    await bed.db.query("update member set is_active = false where id = $1", [own.developer.id]);
    expect((await bed.ask("ApiKey", "GET", at(own, `/${own.developer.keyId}`), own.owner.key)).status).toBe("disabled");
  });
});

describe("keys", () => {
  test("of an owner are readable for an admin, and not writable", async () => {
    const own = await bed.team(0n);
    for (const [method, rest, body] of [
      ["PATCH", "", { name: "x" }],
      ["DELETE", ""],
      ["POST", "/rotate"],
    ] as const) {
      const path = at(own, `/${own.owner.keyId}${rest}`);
      expect((await bed.refusal(403, method, path, own.admin.key, body)).code).toBe("permission_denied");
    }
    await bed.ask("ApiKey", "GET", at(own, `/${own.owner.keyId}`), own.admin.key);
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test("are listed to a developer if they are its own", async () => {
    const own = await bed.team(0n);
    const mine = [own.developer.keyId];
    for (const person of [own.developer, own.other, own.developer]) {
      const id = await putKey(bed, own, person);
      if (person === own.developer) mine.unshift(id);
    }
    const read = (query: string) => bed.ask("ApiKeyList", "GET", at(own, `?${query}`), own.developer.key);
    for (const limit of [1, 2, 100]) expect(await walk(read, limit)).toEqual(mine);
  });

  test("are found by a part of the name in any case and by the start of the key, page by page", async () => {
    const own = await bed.team(0n);
    const made: string[] = [];
    for (const name of ["Nightly build", "100% nightly_run", "Größe"]) {
      const { id } = await bed.ask("ApiKey", "POST", at(own), own.developer.key, { body: { name }, status: 201 });
      made.unshift(id);
    }
    const find = (search: string, key = own.developer.key) => {
      const read = (query: string) =>
        bed.ask("ApiKeyList", "GET", at(own, `?search=${encodeURIComponent(search)}&${query}`), key);
      return walk(read, 1);
    };
    const [umlaut = "", percent = "", build = ""] = made;
    expect(await find("NIGHTLY")).toEqual([percent, build]);
    // Both are wildcards in patterns of SQL.
    expect(await find("%")).toEqual([percent]);
    expect(await find("_run")).toEqual([percent]);
    expect(await find("GRÖSSE")).toEqual([]);
    expect(await find("größe")).toEqual([umlaut]);
    const { hint } = await bed.ask("ApiKey", "GET", at(own, `/${build}`), own.developer.key);
    expect(await find(hint)).toEqual([build]);
    expect(await find(hint.slice(0, 8).toUpperCase())).toEqual([]);
    expect(await find("nightly", own.other.key)).toEqual([]);
    const tooLong = at(own, `?search=${"x".repeat(201)}`);
    expect((await bed.refusal(400, "GET", tooLong, own.developer.key)).param).toBe("search");
  });
});
