import { describe, expect, test } from "bun:test";

import { ensureBootstrap } from "#deploy/admin/bootstrap.ts";
import { hashKey } from "#shared/secrets/api-keys.ts";

import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { admin, type Json, type Outcome, sluice } from "./commands.ts";

describe("bootstrap", () => {
  const state = (target: TestDatabase): Promise<Json[]> =>
    target.query(
      `select (select count(*)::int from workspace where name = 'default') as workspaces,
              (select count(*)::int from member where name = 'first owner' and role = 'owner') as owners,
              (select count(*)::int from api_key) as keys,
              (select count(*)::int from api_key where revoked_at is null and preset = 'unlimited') as live_keys,
              (select amount::text from balance) as amount, (select count(*)::int from audit_log) as audit_rows`,
    );
  const ONCE = { workspaces: 1, owners: 1, keys: 1, live_keys: 1, amount: "1000000000000000", audit_rows: 4 };
  const LIVE = { workspace: "default", isRevoked: false };
  const [first, second] = ["sk_test_first_0123456789", "sk_test_second_0123456789"];

  const liveHash = async (target: TestDatabase): Promise<string[]> => {
    const rows = await target.query<{ sha256: Buffer }>("select sha256 from api_key where revoked_at is null");
    return rows.map((row) => row.sha256.toString("hex"));
  };
  const hex = (key: string): string => Buffer.from(hashKey(key)).toString("hex");

  test("runs once, however often and however concurrently it is started", async () => {
    const target = await createTestDatabase();
    try {
      const runs = Array.from({ length: 4 }, () => ensureBootstrap(target.database, first));
      expect(await Promise.all(runs)).toEqual(Array.from({ length: 4 }, () => LIVE));
      expect(await state(target)).toEqual([ONCE]);
      expect(await ensureBootstrap(target.database, first)).toEqual(LIVE);
      expect(await state(target)).toEqual([ONCE]);
    } finally {
      await target.drop();
    }
  });

  test("with another key replaces the earlier key and leaves other keys unchanged", async () => {
    const target = await createTestDatabase();
    try {
      await ensureBootstrap(target.database, first);
      const made = await admin(["key", "create", "default", "--member", "first owner", "--preset", "pro", "--json"], {
        DATABASE_URL: target.url,
      });
      const { key } = JSON.parse(made.stdout) as { key: string };
      expect(await ensureBootstrap(target.database, second)).toEqual(LIVE);
      expect(new Set(await liveHash(target))).toEqual(new Set([hex(second), hex(key)]));
      expect(await state(target)).toMatchObject([{ workspaces: 1, owners: 1, keys: 3, amount: ONCE.amount }]);
    } finally {
      await target.drop();
    }
  });

  test("does not restore a revoked key, and does not revoke the current key for it", async () => {
    const target = await createTestDatabase();
    try {
      await ensureBootstrap(target.database, first);
      await ensureBootstrap(target.database, second);
      expect(await ensureBootstrap(target.database, first)).toEqual({ workspace: "default", isRevoked: true });
      expect(await liveHash(target)).toEqual([hex(second)]);
    } finally {
      await target.drop();
    }
  });

  test("finds its workspace and its owner again after they are renamed", async () => {
    const target = await createTestDatabase();
    try {
      await ensureBootstrap(target.database, first);
      await target.query("update workspace set name = 'acme'");
      await target.query("update member set name = 'anna'");
      expect(await ensureBootstrap(target.database, first)).toEqual({ workspace: "acme", isRevoked: false });
      expect(await ensureBootstrap(target.database, second)).toEqual({ workspace: "acme", isRevoked: false });
      expect(await liveHash(target)).toEqual([hex(second)]);
      expect(await target.query("select workspace_id from ledger_entry")).toHaveLength(1);
      expect(await target.query("select name from workspace")).toEqual([{ name: "acme" }]);
    } finally {
      await target.drop();
    }
  });

  test("reports that the key belongs to another workspace", async () => {
    const target = await createTestDatabase();
    try {
      await ensureBootstrap(target.database, first);
      await target.query("insert into workspace (id, name) values ('00000000-0000-7000-8000-000000000009', 'other')");
      await target.query("update api_key set workspace_id = '00000000-0000-7000-8000-000000000009'");
      expect(ensureBootstrap(target.database, first)).rejects.toThrow(
        "SLUICE_BOOTSTRAP_KEY is the key of another workspace than default; set another key",
      );
    } finally {
      await target.drop();
    }
  });

  test("does not create an owner in a foreign workspace named default, but in an empty one", async () => {
    const target = await createTestDatabase();
    try {
      await admin(["workspace", "create", "default"], { DATABASE_URL: target.url });
      await admin(["member", "add", "default", "ada", "--role", "owner"], { DATABASE_URL: target.url });
      expect(ensureBootstrap(target.database, first)).rejects.toThrow(
        "SLUICE_BOOTSTRAP_KEY needs its own workspace default, but that workspace has other members; rename it",
      );
      expect(await target.query("select count(*)::int as keys from api_key")).toEqual([{ keys: 0 }]);
      await target.query("delete from member");
      expect(await ensureBootstrap(target.database, first)).toEqual(LIVE);
    } finally {
      await target.drop();
    }
  });

  test("runs with migrate, twice concurrently, without NATS", async () => {
    const target = await createTestDatabase({ migrated: false });
    try {
      const env = { DATABASE_URL: target.url, SLUICE_BOOTSTRAP_KEY: first };
      const migrate = (): Promise<Outcome> => sluice(["migrate"], env);
      expect(await Promise.all([migrate(), migrate()])).toMatchObject([{ code: 0 }, { code: 0 }]);
      expect(await state(target)).toEqual([ONCE]);
    } finally {
      await target.drop();
    }
  });
});
