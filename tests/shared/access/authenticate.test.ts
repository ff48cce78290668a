/** Authentication: the cache's hard life, the cost of guesses, and a database that is away. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";

import { type Authenticator, createAuthenticator, KEY_CACHE_MAX } from "#shared/access/authenticate.ts";
import type { Preset } from "#shared/access/authenticate.ts";
import { type Database, openDatabase, type SqlValue } from "#shared/database/client.ts";
import type { Label, LabelSubject } from "#shared/database/label-limits.ts";
import { setSpendLimit } from "#shared/ledger/spend-limits.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { mintKey } from "#shared/secrets/api-keys.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { createKey } from "#tests/shared/accounts.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

const log = createLogger({ level: "silent", role: "test" });

const STANDARD: Preset = { name: "standard", requests_per_minute: 60, daily_tokens: null };
const PRESETS = new Map([STANDARD, { ...STANDARD, name: "pro" }].map((preset) => [preset.name, preset]));
let presets: ReadonlyMap<string, Preset> = PRESETS;
const catalogue = { current: () => ({ presets }) };
afterEach(() => {
  presets = PRESETS;
});

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

let nowMs: number;
/** Questions sent to the database, and those it has answered. */
let asked: { queries: number; answered: number };
/** Set to keep the answers of the next queries back. */
let gate: Promise<void> | undefined;
let authenticator: Authenticator;

beforeEach(() => {
  nowMs = 1_000_000;
  asked = { queries: 0, answered: 0 };
  gate = undefined;
  const counting: Database = {
    ...db.database,
    async query<Row extends object>(text: string, values?: readonly SqlValue[], name?: string): Promise<Row[]> {
      asked.queries += 1;
      const mine = gate;
      const rows = await db.database.query<Row>(text, values, name);
      asked.answered += 1;
      await mine;
      return rows;
    },
  };
  authenticator = createAuthenticator({ database: counting, catalogue, log, now: () => nowMs });
});

/** The caller's key id, or the code of the refusal. */
async function ask(header: string | null): Promise<string> {
  try {
    return (await authenticator.authenticate(header)).keyId;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

const bearer = (key: string): string => `Bearer ${key}`;

test("a key identifies member, workspace, role and preset", async () => {
  const { key, keyId, memberId, workspaceId } = await createKey(db.database);
  expect(await authenticator.authenticate(bearer(key))).toEqual({
    keyId,
    workspaceId,
    workspaceName: `workspace ${workspaceId}`,
    memberId,
    role: "developer",
    preset: STANDARD,
  });
});

test.each([
  ["its key is revoked", "update api_key set revoked_at = now() where id = $1", "keyId"],
  ["its member is disabled", "update member set is_active = false where id = $1", "memberId"],
  ["its workspace is disabled", "update workspace set is_active = false where id = $1", "workspaceId"],
] as const)("a caller is rejected within the cache's lifetime once %s", async (_what, sql, field) => {
  const mine = await createKey(db.database);
  expect(await ask(bearer(mine.key))).toBe(mine.keyId);
  await db.query(sql, [mine[field]]);
  nowMs += KEY_CACHE_MS;
  expect(await ask(bearer(mine.key))).toBe("invalid_api_key");
  expect(KEY_CACHE_MS).toBeLessThan(1_000);
});

test("a changed role and preset apply within the cache's lifetime", async () => {
  const { key, keyId, memberId } = await createKey(db.database);
  await ask(bearer(key));
  await db.query("update member set role = 'billing' where id = $1", [memberId]);
  await db.query("update api_key set preset = 'pro' where id = $1", [keyId]);
  nowMs += KEY_CACHE_MS;
  expect(await authenticator.authenticate(bearer(key))).toMatchObject({ role: "billing", preset: { name: "pro" } });
});

test("a preset that the catalogue changes applies from the next call, and a key with a missing preset receives an error", async () => {
  const { key } = await createKey(db.database);
  await ask(bearer(key));
  const wider = { name: "standard", requests_per_minute: null, daily_tokens: 7 };
  presets = new Map([["standard", wider]]);
  expect(await authenticator.authenticate(bearer(key))).toMatchObject({ preset: wider });
  presets = new Map();
  expect(await ask(bearer(key))).toBe("permission_denied");
  expect(asked.queries).toBe(1);
});

test("the workspace's fallback chains are loaded with the caller, by the same query", async () => {
  const mine = await createKey(db.database);
  const other = await createKey(db.database);
  for (const [id, model, fallbacks] of [
    [mine.workspaceId, "a", ["b", "c"]],
    [mine.workspaceId, "__proto__", ["a"]],
    [other.workspaceId, "z", ["a"]],
  ] as const) {
    await db.query("insert into fallback_chain (workspace_id, model, fallbacks) values ($1, $2, $3)", [
      id,
      model,
      fallbacks,
    ]);
  }
  await db.query("update fallback_chain set continue_streams = true where model = '__proto__'");
  const { fallbackChains, continuedChains } = await authenticator.authenticate(bearer(mine.key));
  expect([...(continuedChains ?? [])]).toEqual(["__proto__"]);
  expect(fallbackChains?.size).toBe(2);
  expect(fallbackChains?.get("a")).toEqual(["b", "c"]);
  expect(fallbackChains?.get("__proto__")).toEqual(["a"]);
  expect(asked.queries).toBe(1);
});

test("the labels of the workspace of which a value has a spend limit are loaded with the caller, by the same query", async () => {
  const [{ key, workspaceId }, other] = [await createKey(db.database), await createKey(db.database)];
  const limit = async (of: string, kind: LabelSubject, label: Label): Promise<void> =>
    setSpendLimit(db.database, of, { id: newId(), kind, label, credits: { day: 1n } });
  const labels = async (): Promise<readonly string[] | undefined> => {
    nowMs += KEY_CACHE_MS;
    return (await authenticator.authenticate(bearer(key))).limitedLabels;
  };
  await db.query("update workspace set tags = '{project,feature}' where id = any ($1)", [
    [workspaceId, other.workspaceId],
  ]);
  await limit(other.workspaceId, "tag", { name: "feature", value: "search" });
  await limit(other.workspaceId, "end_user", { name: "user", value: "ada" });
  expect(await labels()).toBeUndefined();
  await limit(workspaceId, "tag", { name: "project", value: "alpha" });
  await limit(workspaceId, "tag", { name: "project", value: "beta" });
  await limit(workspaceId, "tag", { name: "team", value: "blue" });
  expect(await labels()).toEqual(["project"]);
  await limit(workspaceId, "end_user", { name: "user", value: "ada" });
  expect((await labels())?.toSorted()).toEqual(["project", "user"]);
  await db.query("update workspace set tags = '{feature}' where id = $1", [workspaceId]);
  const before = asked.queries;
  expect(await labels()).toEqual(["user"]);
  expect(asked.queries).toBe(before + 1);
});

test("a chain that is set, changed or deleted applies within the cache's lifetime", async () => {
  const { key, workspaceId } = await createKey(db.database);
  const chains = async (): Promise<unknown> => {
    nowMs += KEY_CACHE_MS;
    const { fallbackChains } = await authenticator.authenticate(bearer(key));
    return fallbackChains && Object.fromEntries(fallbackChains);
  };
  expect(await chains()).toBeUndefined();
  await db.query("insert into fallback_chain (workspace_id, model, fallbacks) values ($1, 'a', '{b}')", [workspaceId]);
  expect(await chains()).toEqual({ a: ["b"] });
  await db.query("update fallback_chain set fallbacks = '{c,b}' where workspace_id = $1", [workspaceId]);
  expect(await chains()).toEqual({ a: ["c", "b"] });
  await db.query("delete from fallback_chain where workspace_id = $1", [workspaceId]);
  expect(await chains()).toBeUndefined();
});

test("the lifetime starts before the query: a slow answer is not cached longer", async () => {
  const { key, keyId } = await createKey(db.database);
  const slow = Promise.withResolvers<void>();
  gate = slow.promise;
  const first = ask(bearer(key));
  nowMs += KEY_CACHE_MS;
  slow.resolve();
  expect(await first).toBe(keyId);
  await db.query("update api_key set revoked_at = now() where id = $1", [keyId]);
  expect(await ask(bearer(key))).toBe("invalid_api_key");
});

test("a call does not join a query that is older than a cache lifetime", async () => {
  const { key, keyId } = await createKey(db.database);
  const slow = Promise.withResolvers<void>();
  gate = slow.promise;
  const first = ask(bearer(key));
  // The first answer is on its way, as of before the revocation.
  while (asked.answered < 1) await Bun.sleep(1);
  await db.query("update api_key set revoked_at = now() where id = $1", [keyId]);
  nowMs += KEY_CACHE_MS;
  gate = undefined;
  expect(await ask(bearer(key))).toBe("invalid_api_key");
  slow.resolve();
  expect(await first).toBe(keyId);
  // Nor does the late answer take the place of the younger one.
  expect(await ask(bearer(key))).toBe("invalid_api_key");
  expect(asked.queries).toBe(2);
});

test("a key past its lifetime is not served while the database does not respond", async () => {
  const { key, keyId } = await createKey(db.database);
  expect(await ask(bearer(key))).toBe(keyId);
  const silent = Promise.withResolvers<void>();
  gate = silent.promise;
  nowMs += KEY_CACHE_MS;
  const answer = ask(bearer(key));
  expect(await Promise.race([answer, Bun.sleep(20).then(() => "waits")])).toBe("waits");
  silent.resolve();
  expect(await answer).toBe(keyId);
});

test("a key in use is refreshed before its expiry, by one query", async () => {
  const { key, keyId } = await createKey(db.database);
  await ask(bearer(key));
  nowMs += KEY_CACHE_MS * 0.75;
  await Promise.all(Array.from({ length: 50 }, () => ask(bearer(key))));
  while (asked.answered < 2) await Bun.sleep(1);
  expect(asked.queries).toBe(2);
  nowMs += KEY_CACHE_MS * 0.75;
  await db.query("update api_key set revoked_at = now() where id = $1", [keyId]);
  // Served from the refreshed entry, which is younger than its life.
  expect(await ask(bearer(key))).toBe(keyId);
  nowMs += KEY_CACHE_MS * 0.25;
  expect(await ask(bearer(key))).toBe("invalid_api_key");
});

test("concurrent calls with one key send one query", async () => {
  const { key, keyId } = await createKey(db.database);
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(bearer(key))));
  expect(new Set(answers)).toEqual(new Set([keyId]));
  expect(asked.queries).toBe(1);
});

test("20,000 guesses cost fewer than ten queries, of whatever form", async () => {
  const body = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(40))).toString("hex");
  for (let block = 0; block < 20; block++) {
    nowMs += 10;
    const guesses = Array.from({ length: 1_000 }, (_, index) =>
      index % 2 === 0 ? `slk_${body().slice(0, 38)}` : `sk-${body()}`,
    );
    const answers = await Promise.all(guesses.map((guess) => ask(bearer(guess))));
    expect(new Set(answers)).toEqual(new Set(["invalid_api_key"]));
  }
  expect(asked.queries).toBeGreaterThan(0);
  expect(asked.queries).toBeLessThan(10);
});

test("an unknown key with a valid checksum is queried once per cache lifetime", async () => {
  const key = mintKey();
  for (let call = 0; call < 100; call++) expect(await ask(bearer(key))).toBe("invalid_api_key");
  expect(asked.queries).toBe(1);
  nowMs += KEY_CACHE_MS;
  await ask(bearer(key));
  expect(asked.queries).toBe(2);
});

test("the cache is bounded, including rejected keys", async () => {
  const lookUps: string[] = [];
  const nobody: Database = {
    ...db.database,
    async query() {
      lookUps.push("find_key");
      await Promise.resolve();
      return [];
    },
  };
  const bounded = createAuthenticator({ database: nobody, catalogue, log, now: () => nowMs });
  const oldest = mintKey();
  const refused = (key: string): Promise<unknown> => bounded.authenticate(bearer(key)).catch((error: unknown) => error);
  await refused(oldest);
  for (let asked = 0; asked < KEY_CACHE_MAX; asked += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, () => refused(mintKey())));
  }
  const before = lookUps.length;
  expect(before).toBe(KEY_CACHE_MAX + 1);
  // The oldest had to make room, so it is asked for again.
  await refused(oldest);
  expect(lookUps.length).toBe(before + 1);
});

test("an imported key works, and can be revoked like any other", async () => {
  const { key, keyId } = await createKey(db.database, `sk_brought_${newId().replaceAll("-", "")}`);
  expect(await ask(bearer(key))).toBe(keyId);
  await db.query("update api_key set revoked_at = now() where id = $1", [keyId]);
  nowMs += KEY_CACHE_MS;
  expect(await ask(bearer(key))).toBe("invalid_api_key");
});

test("unknown, malformed and revoked keys get the same error", async () => {
  const { key, keyId } = await createKey(db.database);
  await db.query("update api_key set revoked_at = now() where id = $1", [keyId]);
  const messages = new Set<string>();
  for (const one of [key, mintKey(), `${mintKey().slice(0, -1)}-`, "short", "sk-00000000000000000000000000"]) {
    const error = await authenticator.authenticate(bearer(one)).catch((refusal: unknown) => refusal);
    if (!(error instanceof ApiError)) throw error;
    messages.add(`${error.status} ${error.code} ${error.message}`);
  }
  expect([...messages]).toEqual(["401 invalid_api_key The API key is unknown, revoked or expired; use an active key."]);
});

test("the header is parsed strictly", async () => {
  const { key, keyId } = await createKey(db.database);
  expect(await ask(`bearer ${key}`)).toBe(keyId);
  expect(await ask(null)).toBe("missing_api_key");
  expect(await ask("")).toBe("missing_api_key");
  const wrong = [
    key,
    `Bearer  ${key}`,
    `Bearer ${key} `,
    `Basic ${key}`,
    `Bearer ${key}, Bearer ${key}`,
    `Bearer ${"x".repeat(8_192)}`,
    `Bearer ${key}\0`,
    `Bearer ${key.slice(0, 20)}é${key.slice(21)}`,
    `Bearer ${key.toUpperCase()}`,
  ];
  for (const header of wrong) expect([header, await ask(header)]).toEqual([header, "invalid_api_key"]);
});

test("a database failure is a 503, never a 401, and the next call queries again", async () => {
  const { key, keyId } = await createKey(db.database);
  const away = openDatabase({ url: "postgres://nobody@127.0.0.1:1/none", poolMax: 1, log });
  const failing = createAuthenticator({ database: away, catalogue, log });
  const refusal = (text: string): Promise<unknown> =>
    failing.authenticate(bearer(text)).catch((error: unknown) => (error as ApiError).code);
  expect(await refusal(key)).toBe("service_unavailable");
  expect(await refusal("sk-00000000000000000000000000")).toBe("service_unavailable");
  await away.close();

  let isAway = true;
  const flaky: Database = {
    ...db.database,
    query(text, values, name) {
      return isAway ? Promise.reject(new Error("connection refused")) : db.database.query(text, values, name);
    },
  };
  const recovering = createAuthenticator({ database: flaky, catalogue, log });
  expect(await recovering.authenticate(bearer(key)).catch((error: unknown) => (error as ApiError).code)).toBe(
    "service_unavailable",
  );
  isAway = false;
  expect(await recovering.authenticate(bearer(key))).toMatchObject({ keyId });
});
