/** POST /workspaces/{workspaceId}/api-keys/{keyId}/rotate: a key in place of another. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { ApiKey } from "#schemas/generated/types.ts";
import type { Preset } from "#shared/access/authenticate.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import type { Person } from "../managed-bed.ts";
import { audited, auditOf, BAD_BODIES, putKey } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
  const presets = bed.fake.context.catalogue.current().presets as Map<string, Preset>;
  presets.set("wide", { name: "wide", requests_per_minute: null, daily_tokens: null });
});
afterAll(() => bed.close());

const HOUR_MS = 3_600_000;
const at = (of: Team, id: string, rest = ""): string => `/workspaces/${of.id}/api-keys/${id}${rest}`;
const rotate = (of: Team, id: string, body: unknown, by: Person = of.owner) =>
  audited(bed, of, by, { method: "POST", path: at(of, id, "/rotate"), body, status: 201 });
const statusOf = async (key: string | undefined, own: Team): Promise<number> =>
  (await bed.send("GET", `/workspaces/${own.id}`, key)).status;

describe("replacing a key", () => {
  test("ends the old one immediately, with an audit entry that contains neither", async () => {
    const team = await bed.team(0n);
    const { keyId, key: old } = team.developer;
    const line = await rotate(team, keyId, undefined, team.developer);
    const made = line.answer as unknown as ApiKey & { key: string };
    expect(line).toMatchObject({
      action: "key.rotate",
      subject: keyId,
      before: { name: "test", expires_at: null },
      after: { new_key: made.id, is_revoked: true },
    });
    expect(made).toMatchObject({ name: "test", preset: "standard", status: "active", expires_at: null });
    expect(made.member.id).toBe(team.developer.id);
    const told = JSON.stringify(await auditOf(bed, team));
    for (const secret of [old, made.key]) expect(told).not.toContain(secret);
    bed.pass(KEY_CACHE_MS);
    expect([await statusOf(old, team), await statusOf(made.key, team)]).toEqual([401, 200]);
    expect((await bed.ask("ApiKey", "GET", at(team, keyId), team.owner.key)).status).toBe("revoked");
    expect(await bed.ask("ApiKey", "GET", at(team, made.id), team.owner.key)).not.toHaveProperty("key");
  });

  test("is rejected for a key that expires before the one it would replace", async () => {
    const team = await bed.team(0n);
    const endless = await putKey(bed, team, team.developer);
    for (const person of [team.developer, team.owner]) {
      await bed.db.query("update api_key set expires_at = now() + interval '1 hour' where id = $1", [person.keyId]);
      const refused = await bed.refusal(403, "POST", at(team, endless, "/rotate"), person.key);
      expect(refused).toEqual({ code: "permission_denied", param: null });
    }
    await rotate(team, team.developer.keyId, undefined, team.developer);
  });

  test("keeps both active during the overlap", async () => {
    const team = await bed.team(0n);
    const { keyId, key: old } = team.developer;
    const { answer, after } = await rotate(team, keyId, { overlap_seconds: 604_800 });
    expect(after).toMatchObject({ is_revoked: false });
    const ends = Date.parse((await bed.ask("ApiKey", "GET", at(team, keyId), team.owner.key)).expires_at ?? "");
    expect(Math.abs(ends - Date.now() - 604_800_000)).toBeLessThan(HOUR_MS);
    bed.pass(KEY_CACHE_MS);
    expect([await statusOf(old, team), await statusOf(String(answer["key"]), team)]).toEqual([200, 200]);
    await bed.db.query("update api_key set expires_at = now() where id = $1", [keyId]);
    bed.pass(KEY_CACHE_MS);
    expect([await statusOf(old, team), await statusOf(String(answer["key"]), team)]).toEqual([401, 200]);
  });

  test("extends the expiry of neither", async () => {
    const team = await bed.team(0n);
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const id = await putKey(bed, team, team.developer, { expiresAt });
    const { answer } = await rotate(team, id, { overlap_seconds: 604_800 });
    expect(answer["expires_at"]).toBe(expiresAt.toISOString());
    expect((await bed.ask("ApiKey", "GET", at(team, id), team.owner.key)).expires_at).toBe(expiresAt.toISOString());
  });

  test("happens once for concurrent requests", async () => {
    const team = await bed.team(0n);
    const id = await putKey(bed, team, team.developer);
    const answers = await Promise.all([1, 2, 3].map(() => bed.send("POST", at(team, id, "/rotate"), team.owner.key)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409, 409]);
    expect(await auditOf(bed, team)).toHaveLength(1);
  });

  test("is rejected for a revoked or expired key", async () => {
    const team = await bed.team(0n);
    const id = await putKey(bed, team, team.developer);
    for (const column of ["expires_at", "revoked_at"]) {
      await bed.db.query(`update api_key set ${column} = now() where id = $1`, [id]);
      for (const body of [undefined, { overlap_seconds: 60 }]) {
        expect(await bed.refusal(409, "POST", at(team, id, "/rotate"), team.owner.key, body)).toEqual({
          code: "conflict",
          param: null,
        });
      }
    }
    expect(await auditOf(bed, team)).toEqual([]);
  });

  test("is rejected for a member who is disabled", async () => {
    const team = await bed.team(0n);
    await bed.db.query("update member set is_active = false where id = $1", [team.developer.id]);
    const path = at(team, team.developer.keyId, "/rotate");
    expect(await bed.refusal(409, "POST", path, team.owner.key)).toEqual({ code: "conflict", param: null });
    expect(await auditOf(bed, team)).toEqual([]);
  });

  test("is rejected if its preset is wider than the caller's", async () => {
    const team = await bed.team(0n);
    const id = await putKey(bed, team, team.developer, { preset: "wide" });
    expect(await bed.refusal(403, "POST", at(team, id, "/rotate"), team.owner.key)).toEqual({
      code: "permission_denied",
      param: "preset",
    });
  });

  test("is rejected for overlaps out of bounds, and invalid bodies", async () => {
    const team = await bed.team(0n);
    const path = at(team, team.developer.keyId, "/rotate");
    for (const overlap_seconds of [-1, 604_801, 1.5, "60"]) {
      expect((await bed.refusal(400, "POST", path, team.owner.key, { overlap_seconds })).param).toBe("overlap_seconds");
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "POST", path, team.owner.key, body)).code).toBe(code);
    }
    const unknown = { key: "sk_mine", id: team.owner.keyId, member_id: team.owner.id, preset: "wide", limits: null };
    for (const [name, value] of Object.entries(unknown)) {
      const refused = await bed.refusal(400, "POST", path, team.owner.key, { [name]: value });
      expect(refused).toEqual({ code: "unknown_parameter", param: name });
    }
  });
});
