/** Sessions of people in browsers, over a real database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import manifest from "../../../../package.json" with { type: "json" };
import { createApp } from "#ingress/app.ts";
import { createTries, TRIES_PER_MINUTE_MAX } from "#ingress/routes/console/sign-in-tries.ts";
import type { IngressContext } from "#ingress/context.ts";
import { createAuthenticator } from "#shared/access/authenticate.ts";
import { createSignInCode, SIGN_IN_CODES_PER_KEY_MAX } from "#shared/access/sign-in-codes.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import { OPERATOR } from "#shared/database/audit-log.ts";
import { SESSIONS_PER_KEY_MAX } from "#shared/database/console-sessions.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";

import { envelopeOf, type FakeContext, fakeContext } from "../../fake-context.ts";
import { addPerson, answerOf, type Person } from "../managed-bed.ts";

let db: TestDatabase;
let fake: FakeContext;
let nowMs = 1_000_000;
let address = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  fake = fakeContext();
});
afterAll(async () => {
  fake.close();
  await db.drop();
});

/** An ingress with these settings. */
function open(settings: Partial<IngressContext["config"]> = {}): (request: Request) => Promise<Response> {
  const { context } = fake;
  const authenticator = createAuthenticator({
    database: db.database,
    catalogue: context.catalogue,
    log: createLogger({ level: "silent", role: "test" }),
    now: () => nowMs,
  });
  // Each test comes from an address of its own, or they would share their tries.
  const ipNet = { ...context.ipNet, clientAddress: () => `192.0.2.${address}` };
  const config = { ...context.config, ...settings };
  const app = createApp({ ...context, ipNet, config, authenticator, database: db.database });
  return (request) => app.handle(request);
}

const OURS = { "x-sluice-console": "1", "sec-fetch-site": "same-origin" };

interface Asked {
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

function request(method: string, path: string, { origin = "http://localhost", headers = OURS, body }: Asked): Request {
  return new Request(origin + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

let handle: (request: Request) => Promise<Response>;
let workspaceId: string;
let person: Person;
beforeEach(async () => {
  address += 1;
  handle = open();
  workspaceId = await createWorkspace(db.database, 0n);
  person = await addPerson(db, workspaceId, "developer");
});

const signIn = (key: string, asked: Asked = {}): Promise<Response> =>
  handle(request("POST", "/console/session", { ...asked, body: { api_key: key } }));

/** Signs in and returns the cookie as a browser sends it. */
async function cookieOf(key: string, asked: Asked = {}): Promise<string> {
  const answer = await signIn(key, asked);
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

const ask = (path: string, cookie: string, { headers = OURS, ...asked }: Asked = {}): Promise<Response> =>
  handle(request("GET", path, { ...asked, headers: { ...headers, cookie } }));

/** The status and code of a refusal. */
async function refusal(answered: Response | Promise<Response>): Promise<string> {
  const answer = await answered;
  return `${answer.status} ${(await envelopeOf(answer)).code}`;
}

describe("POST /console/session", () => {
  test("sets a cookie that scripts cannot read and other sites do not send, and stores its hash only", async () => {
    const answer = await signIn(person.key);
    expect(answer.status).toBe(204);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const [, token = ""] =
      /^sluice=([\w-]{43}); Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/.exec(
        answer.headers.get("set-cookie") ?? "",
      ) ?? [];
    expect(token).not.toBe("");
    const rows = await db.query("select encode(sha256, 'hex') as hash, key_id from console_session where key_id = $1", [
      person.keyId,
    ]);
    const hash = new Bun.CryptoHasher("sha256").update(token).digest("hex");
    expect(rows).toEqual([{ hash, key_id: person.keyId }]);
    const logged = await db.query(
      "select action, subject, actor->>'id' as who, after from audit_log where subject = $1",
      [person.keyId],
    );
    expect(logged).toEqual([
      { action: "session.open", subject: person.keyId, who: person.id, after: { signed_in_by: "key" } },
    ]);
  });

  test("binds the cookie to this host and to https if clients use https", async () => {
    handle = open({ publicUrl: "https://ai.example.com" });
    const answer = await signIn(person.key, { origin: "http://10.0.0.1:8080" });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-sluice=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/,
    );
  });

  test.each(["http://ai.example.com", "http://10.0.0.1:8080", "http://localhost.example.com"])(
    "rejects plain http on %s",
    async (origin) => {
      expect(await refusal(signIn(person.key, { origin }))).toBe("403 permission_denied");
    },
  );

  test.each([
    ["without the header", { "sec-fetch-site": "same-origin" }],
    ["of another site", { ...OURS, "sec-fetch-site": "cross-site" }],
    ["of a sibling site", { ...OURS, "sec-fetch-site": "same-site" }],
    ["of the address bar", { ...OURS, "sec-fetch-site": "none" }],
  ])("rejects requests %s", async (_what, headers) => {
    expect(await refusal(signIn(person.key, { headers }))).toBe("403 permission_denied");
  });

  test("rejects an invalid key, and a revoked one", async () => {
    expect(await refusal(signIn("nobody's"))).toBe("401 invalid_api_key");
    await db.query("update api_key set revoked_at = now() where id = $1", [person.keyId]);
    expect(await refusal(signIn(person.key))).toBe("401 invalid_api_key");
  });

  test("rejects an address's eleventh attempt in a minute, for any key, and no other address", async () => {
    for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) {
      expect(await refusal(signIn("wrong-key-of-twenty-characters"))).toBe("401 invalid_api_key");
    }
    expect(await refusal(signIn(person.key))).toBe("429 ip_rate_limit_exceeded");
    address += 1;
    expect((await signIn(person.key)).status).toBe(204);
  });

  test("ends the oldest session of a key at the maximum", async () => {
    await db.query(
      `insert into console_session (sha256, key_id, created_at)
       select sha256(n::text::bytea), $1, now() - n * interval '1 minute' from generate_series(1, $2::int) n`,
      [person.keyId, SESSIONS_PER_KEY_MAX],
    );
    const cookie = await cookieOf(person.key);
    const [row] = await db.query<{ count: number; oldest: number }>(
      `select count(*)::int as count, round(max(extract(epoch from now() - created_at)) / 60)::int as oldest
       from console_session where key_id = $1`,
      [person.keyId],
    );
    expect(row).toEqual({ count: SESSIONS_PER_KEY_MAX, oldest: SESSIONS_PER_KEY_MAX - 1 });
    expect((await ask("/v1/key", cookie)).status).toBe(200);
  });
});

describe("POST /console/session with a code", () => {
  const post = (body: object): Promise<Response> => handle(request("POST", "/console/session", { body }));

  async function codeOf(keyId = person.keyId): Promise<string> {
    const code = await createSignInCode(db.database, keyId, OPERATOR);
    if (code === undefined) throw new Error("the key is not active");
    return code;
  }

  test("opens one session of the key; only the hash of the code is stored", async () => {
    const code = await codeOf();
    const hash = new Bun.CryptoHasher("sha256").update(code).digest("hex");
    const stored = () => db.query("select encode(sha256, 'hex') as hash from sign_in_code where key_id = $1", [person.keyId]); // prettier-ignore
    expect(await stored()).toEqual([{ hash }]);
    const answer = await post({ code });
    expect(answer.status).toBe(204);
    expect(await stored()).toEqual([]);
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await (await ask("/console/session", cookie)).json()).toMatchObject({ key: { id: person.keyId } });
    expect(await refusal(post({ code }))).toBe("401 invalid_api_key");
    const logged = await db.query(
      "select action, actor->>'id' as who, after, workspace_id from audit_log where subject = $1 order by id",
      [person.keyId],
    );
    expect(logged).toEqual([
      { action: "sign_in_code.create", who: "command", after: null, workspace_id: workspaceId },
      { action: "session.open", who: person.id, after: { signed_in_by: "code" }, workspace_id: workspaceId },
    ]);
  });

  test("opens only one session for simultaneous requests", async () => {
    const code = await codeOf();
    const answers = await Promise.all(Array.from({ length: 5 }, () => post({ code })));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      204, 401, 401, 401, 401,
    ]);
  });

  test.each([
    ["a code that nobody created", "delete from sign_in_code where key_id = $1"],
    [
      "a code of a quarter of an hour ago",
      "update sign_in_code set created_at = now() - interval '15 minutes' where key_id = $1",
    ],
    ["a code of a revoked key", "update api_key set revoked_at = now() where id = $1"],
    ["a code of an expired key", "update api_key set expires_at = now() where id = $1"],
    [
      "a code of a disabled member",
      "update member set is_active = false where id = (select member_id from api_key where id = $1)",
    ],
    [
      "a code of a disabled workspace",
      "update workspace set is_active = false where id = (select workspace_id from api_key where id = $1)",
    ],
  ])("rejects %s", async (_what, sql) => {
    const code = await codeOf();
    await db.query(sql, [person.keyId]);
    expect(await refusal(post({ code }))).toBe("401 invalid_api_key");
    expect(await db.query("select from console_session where key_id = $1", [person.keyId])).toEqual([]);
  });

  test("rejects a code from an address that the key's limits exclude", async () => {
    await db.query(`update api_key set access_lists = '{"ips":["198.51.100.0/24"]}' where id = $1`, [person.keyId]);
    expect(await refusal(post({ code: await codeOf() }))).toBe("403 permission_denied");
    expect(await db.query("select from console_session where key_id = $1", [person.keyId])).toEqual([]);
  });

  test("counts attempts together with those of keys", async () => {
    const code = await codeOf();
    for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) {
      const body = at % 2 === 0 ? { code: "A".repeat(43) } : { api_key: "wrong-key-of-twenty-characters" };
      expect(await refusal(post(body))).toBe("401 invalid_api_key");
    }
    expect(await refusal(post({ code }))).toBe("429 ip_rate_limit_exceeded");
  });

  test.each([
    ["nothing", {}, "400 missing_required_parameter"],
    ["a key and a code", { api_key: "a", code: "b" }, "400 invalid_request"],
  ])("rejects a body with %s", async (_what, body, expected) => {
    expect(await refusal(post(body))).toBe(expected);
  });

  test("a key has at most ten codes, and a new one deletes the oldest and the expired ones", async () => {
    await db.query(
      `insert into sign_in_code (sha256, key_id, created_at)
       select sha256(n::text::bytea), $1, now() - n * interval '1 minute' from generate_series(1, $2::int) n`,
      [person.keyId, 14],
    );
    const count = async (): Promise<unknown> => (await db.query("select from sign_in_code where key_id = $1", [person.keyId])).length; // prettier-ignore
    await codeOf();
    expect(await count()).toBe(SIGN_IN_CODES_PER_KEY_MAX);
    await db.query("update sign_in_code set created_at = created_at - interval '15 minutes' where key_id = $1", [
      person.keyId,
    ]);
    await codeOf();
    expect(await count()).toBe(1);
  });
});

describe("a session", () => {
  test("returns the signed-in member, and acts as the key on paths that require one", async () => {
    const cookie = await cookieOf(person.key);
    const asked = ["GET", "/console/session"] as const;
    const session = await answerOf("ConsoleSession", await ask("/console/session", cookie), 200, asked);
    expect(session).toMatchObject({
      workspace: { id: workspaceId },
      member: { id: person.id },
      role: "developer",
      key: { id: person.keyId, tools: null },
      preset: "standard",
      version: manifest.version,
    });
    expect(Math.abs(Date.parse(session.time) - Date.now())).toBeLessThan(60_000);
    expect(Math.round((Date.parse(session.ends_at) - Date.now()) / 60_000)).toBe(720);
    expect(await (await ask("/v1/key", cookie)).json()).toMatchObject({ id: person.keyId });
  });

  test("returns the mail address of the member, and the list of tools of the key", async () => {
    await db.query("update member set email = 'ada@example.com' where id = $1", [person.id]);
    await db.query("update api_key set tools = '{image.*}' where id = $1", [person.keyId]);
    expect(await (await ask("/console/session", await cookieOf(person.key))).json()).toMatchObject({
      member: { email: "ada@example.com" },
      key: { tools: ["image.*"] },
    });
  });

  test.each([
    ["without the header", {}],
    ["of another site", { ...OURS, "sec-fetch-site": "cross-site" }],
  ])("is ignored in requests %s", async (_what, headers) => {
    const cookie = await cookieOf(person.key);
    expect(await refusal(ask("/v1/key", cookie, { headers }))).toBe("401 missing_api_key");
    expect(await refusal(ask("/console/session", cookie, { headers }))).toBe("403 permission_denied");
  });

  test.each(["authorization", "x-api-key"])("is ignored beside %s", async (name) => {
    const cookie = await cookieOf(person.key);
    const other = await addPerson(db, workspaceId, "billing");
    const credential = (key: string): string => (name === "authorization" ? `Bearer ${key}` : key);
    const right = await ask("/v1/key", cookie, { headers: { ...OURS, [name]: credential(other.key) } });
    expect(await right.json()).toMatchObject({ id: other.keyId });
    const wrong = ask("/v1/key", cookie, { headers: { ...OURS, [name]: credential("nobody's") } });
    expect(await refusal(wrong)).toBe("401 invalid_api_key");
  });

  test("is ignored under its local cookie name if clients use https", async () => {
    const cookie = await cookieOf(person.key);
    handle = open({ publicUrl: "https://ai.example.com" });
    expect(await refusal(ask("/v1/key", cookie))).toBe("401 missing_api_key");
    expect((await ask("/v1/key", `__Host-${cookie}`)).status).toBe(200);
  });

  test.each([
    ["its key is revoked", "update api_key set revoked_at = now() where id = $1", "key"],
    ["its key is over", "update api_key set expires_at = now() - interval '1 second' where id = $1", "key"],
    ["its member is disabled", "update member set is_active = false where id = $1", "member"],
    ["its workspace is disabled", "update workspace set is_active = false where id = $1", "workspace"],
    [
      "it is twelve hours old",
      "update console_session set created_at = now() - interval '12 hours' where key_id = $1",
      "key",
    ],
    [
      "it was not used for an hour",
      "update console_session set used_at = now() - interval '1 hour' where key_id = $1",
      "key",
    ],
  ] as const)("ends within a second once %s", async (_what, sql, of) => {
    const cookie = await cookieOf(person.key);
    expect((await ask("/v1/key", cookie)).status).toBe(200);
    await db.query(sql, [{ key: person.keyId, member: person.id, workspace: workspaceId }[of]]);
    nowMs += KEY_CACHE_MS;
    expect(await refusal(ask("/v1/key", cookie))).toBe("401 invalid_api_key");
    expect(await refusal(ask("/console/session", cookie))).toBe("401 invalid_api_key");
  });

  test("is extended while it is used", async () => {
    const cookie = await cookieOf(person.key);
    for (let hour = 0; hour < 3; hour++) {
      await db.query("update console_session set used_at = now() - interval '59 minutes' where key_id = $1", [
        person.keyId,
      ]);
      nowMs += KEY_CACHE_MS;
      expect((await ask("/v1/key", cookie)).status).toBe(200);
      const [row] = await db.query(
        "select used_at > now() - interval '1 minute' as is_fresh from console_session where key_id = $1",
        [person.keyId],
      );
      expect(row).toEqual({ is_fresh: true });
    }
  });

  test("cannot be forged", async () => {
    for (const cookie of ["sluice=", "sluice=x", `sluice=${"A".repeat(43)}`]) {
      expect(await refusal(ask("/v1/key", cookie))).toMatch(/^401 /);
      expect(await refusal(ask("/console/session", cookie))).toBe("401 invalid_api_key");
    }
  });
});

describe("DELETE /console/session", () => {
  const end = (cookie: string, headers: Readonly<Record<string, string>> = OURS): Promise<Response> =>
    handle(request("DELETE", "/console/session", { headers: { ...headers, cookie } }));

  test("ends the session with an audit entry, deletes the cookie, and may be repeated", async () => {
    const cookie = await cookieOf(person.key);
    for (let turn = 0; turn < 2; turn++) {
      const answer = await end(cookie);
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([
        204,
        "sluice=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
      ]);
      nowMs += KEY_CACHE_MS;
      expect(await refusal(ask("/v1/key", cookie))).toBe("401 invalid_api_key");
    }
    const logged = await db.query("select action from audit_log where subject = $1 order by id", [person.keyId]);
    expect(logged).toEqual([{ action: "session.open" }, { action: "session.end" }]);
  });

  test("is rejected for other sites", async () => {
    const cookie = await cookieOf(person.key);
    expect(await refusal(end(cookie, {}))).toBe("403 permission_denied");
    expect((await ask("/v1/key", cookie)).status).toBe(200);
  });
});

test("a process's memory of addresses is bounded by time", async () => {
  let clock = 0;
  let counted = 0;
  const tries = createTries({ query: () => Promise.resolve([{ counted: ++counted }] as never[]) }, () => clock);
  const refused = (address: string) => tries.take(address).catch((error: Error) => error.message);
  for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) await tries.take("2001:db8::1");
  expect(await refused("2001:db8::2")).toContain("sign-ins in a minute");
  // A flood costs no statement.
  expect(counted).toBe(TRIES_PER_MINUTE_MAX);
  await tries.take("2001:db8:0:1::1");
  clock += 60_000;
  await tries.take("2001:db8::2");
});

test("the attempts of an address are counted over all ingresses, for a minute", async () => {
  const ingresses = [createTries(db.database), createTries(db.database), createTries(db.database)];
  const own = `2001:db8:${(address + 1).toString(16)}::`;
  const takeAll = async (count: number): Promise<number> => {
    const taken = await Promise.allSettled(
      Array.from({ length: count }, async (_none, at) => ingresses[at % 3]?.take(`${own}${(at + 1).toString(16)}`)),
    );
    return taken.filter(({ status }) => status === "fulfilled").length;
  };
  expect(await takeAll(3 * TRIES_PER_MINUTE_MAX)).toBe(TRIES_PER_MINUTE_MAX);
  const another = createTries(db.database);
  expect(await another.take(`${own}1`).catch((error: Error) => error.message)).toContain("sign-ins in a minute");
  await db.query(
    "update sign_in_try set tried_at = (select array_agg(at - interval '1 minute') from unnest(tried_at) at)",
  );
  await another.take(`${own}1`);
});
