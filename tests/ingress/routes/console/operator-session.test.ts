/** Sessions of operators in browsers, over a real database. */
import { afterEach, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { OPERATOR_CALLS_PER_MINUTE_MAX } from "#ingress/core/authenticate-operator.ts";
import { TRIES_PER_MINUTE_MAX } from "#ingress/routes/console/sign-in-tries.ts";
import { createIpNet } from "#shared/access/ip-net.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import { SESSIONS_PER_TOKEN_MAX } from "#shared/database/operator-sessions.ts";
import { mintOperatorToken } from "#shared/secrets/api-keys.ts";

import { envelopeOf } from "../../fake-context.ts";
import { type BedOptions, openBed, type OperatorBed, tokenOf } from "../operator/bed.ts";
import { answerOf } from "../managed-bed.ts";

const PATH = "/console/operator-session";
const OURS = { "x-sluice-console": "1", "sec-fetch-site": "same-origin" };
const SETTINGS_TOKEN = "a-token-of-the-settings";

let bed: OperatorBed;
let address = "192.0.2.1";
let handle: (request: Request) => Promise<Response>;
afterEach(() => bed.close());

async function open(options: BedOptions & { readonly ipLimit?: number } = {}): Promise<void> {
  bed = await openBed(options);
  const ipNet = { ...createIpNet(options.ipLimit ?? 0, []), clientAddress: () => address };
  const app = createApp({ ...bed.context, ipNet });
  handle = (request) => app.handle(request);
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

function send(method: string, path: string, { headers = OURS, body }: Sent = {}): Promise<Response> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const init = { method, headers: { ...headers, ...json } };
  return handle(new Request(`http://localhost${path}`, { ...init, ...(body && { body: JSON.stringify(body) }) }));
}

const signIn = (token: string, headers?: Sent["headers"]): Promise<Response> =>
  send("POST", PATH, { body: { token }, ...(headers && { headers }) });

/** Signs in and returns the cookie as a browser sends it. */
async function cookieOf(token: string): Promise<string> {
  const answer = await signIn(token);
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

const ask = (method: string, path: string, cookie: string, headers: Sent["headers"] = OURS, body?: object) =>
  send(method, path, { headers: { ...headers, cookie }, ...(body && { body }) });

async function refusal(answered: Response | Promise<Response>): Promise<string> {
  const answer = await answered;
  return `${answer.status} ${(await envelopeOf(answer)).code}`;
}

const READ = "/operator/presets";

test("a cookie replaces the token under /operator, with its name and scope, and only its hash is stored", async () => {
  await open();
  const answer = await signIn(bed.tokens.read);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([204, "no-store"]);
  const [pair = "", secret = ""] =
    /^sluice-operator=([\w-]{43}); Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/.exec(
      answer.headers.get("set-cookie") ?? "",
    ) ?? [];
  const cookie = pair.split(";")[0] ?? "";
  const hash = new Bun.CryptoHasher("sha256").update(secret).digest("hex");
  expect(await bed.db.query("select encode(sha256, 'hex') as hash from operator_session")).toEqual([{ hash }]);
  const session = await answerOf("OperatorSession", await ask("GET", PATH, cookie), 200, ["GET", PATH]);
  expect(session).toMatchObject({ name: expect.stringMatching(/^read /), scope: "read" });
  expect(Math.round((Date.parse(session.ends_at) - Date.now()) / 60_000)).toBe(720);
  expect((await ask("GET", READ, cookie)).status).toBe(200);
  expect(await refusal(ask("POST", "/operator/tokens", cookie, OURS, { name: "a", scope: "read" }))).toBe(
    "403 permission_denied",
  );
  // The session is not one of a member, and a member's is not one of an operator.
  expect(await refusal(ask("GET", "/v1/key", cookie))).toBe("401 missing_api_key");
  const member = await send("POST", "/console/session", { body: { api_key: bed.workspaceKey } });
  const other = member.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect([member.status, await refusal(ask("GET", READ, other))]).toEqual([204, "401 missing_api_key"]);
});

test("opening and ending a session are in the audit log, under the name of the token", async () => {
  await open({ settings: { operatorToken: SETTINGS_TOKEN } });
  for (const token of [bed.tokens.write, SETTINGS_TOKEN]) {
    const cookie = await cookieOf(token);
    for (let turn = 0; turn < 2; turn++) {
      const ended = await ask("DELETE", PATH, cookie);
      expect([ended.status, ended.headers.get("set-cookie")]).toEqual([
        204,
        "sluice-operator=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
      ]);
      expect(await refusal(ask("GET", READ, cookie))).toBe("401 invalid_api_key");
      expect(await refusal(ask("GET", PATH, cookie))).toBe("401 invalid_api_key");
    }
  }
  const rows = await bed.db.query(
    `select a.action, coalesce(t.name, a.subject) = a.actor->>'id' as is_named, a.actor->>'ip' as ip, t.scope, a.workspace_id
     from audit_log a left join operator_token t on t.id::text = a.subject
     where a.action like 'operator_session.%' order by a.id`,
  );
  const row = { is_named: true, ip: address, workspace_id: null };
  expect(rows).toEqual([
    { ...row, action: "operator_session.open", scope: "write" },
    { ...row, action: "operator_session.end", scope: "write" },
    { ...row, action: "operator_session.open", scope: null },
    { ...row, action: "operator_session.end", scope: null },
  ]);
});

test("a change by a session is recorded under the name of the token", async () => {
  await open();
  const cookie = await cookieOf(bed.tokens.money);
  const made = await ask("POST", "/operator/tokens", cookie, OURS, { name: "night shift", scope: "read" });
  expect(made.status).toBe(201);
  const rows = await bed.db.query(
    "select actor->>'id' as id from audit_log where action = 'operator_token.create' and actor->>'id' <> 'command'",
  );
  expect(rows).toEqual([{ id: expect.stringMatching(/^money /) }]);
});

test.each([
  ["without the header", {}],
  ["of another site", { ...OURS, "sec-fetch-site": "cross-site" }],
])("the cookie is ignored in requests %s", async (_what, headers) => {
  await open();
  const cookie = await cookieOf(bed.tokens.read);
  expect(await refusal(ask("GET", READ, cookie, headers))).toBe("401 missing_api_key");
  expect(await refusal(ask("GET", PATH, cookie, headers))).toBe("403 permission_denied");
  expect(await refusal(signIn(bed.tokens.read, headers))).toBe("403 permission_denied");
  expect(await refusal(ask("DELETE", PATH, cookie, headers))).toBe("403 permission_denied");
  expect((await ask("GET", READ, cookie)).status).toBe(200);
});

test("the cookie is ignored beside a token", async () => {
  await open();
  const cookie = await cookieOf(bed.tokens.money);
  const tokens = "/operator/tokens";
  expect((await ask("GET", tokens, cookie)).status).toBe(200);
  const weaker = { ...OURS, authorization: `Bearer ${bed.tokens.read}` };
  expect(await refusal(ask("GET", tokens, cookie, weaker))).toBe("403 permission_denied");
  const wrong = { ...OURS, authorization: `Bearer ${mintOperatorToken()}` };
  expect(await refusal(ask("GET", tokens, cookie, wrong))).toBe("401 invalid_api_key");
});

describe("a session ends", () => {
  test.each([
    ["when its token is revoked", "update operator_token set revoked_at = now() where scope = 'read'"],
    ["when its token expires", "update operator_token set expires_at = now() where scope = 'read'"],
    ["after twelve hours", "update operator_session set created_at = now() - interval '12 hours'"],
    ["after fifteen minutes without a request", "update operator_session set used_at = now() - interval '15 minutes'"],
  ])("%s", async (_what, sql) => {
    await open();
    const cookie = await cookieOf(bed.tokens.read);
    expect((await ask("GET", READ, cookie)).status).toBe(200);
    await bed.db.query(sql);
    bed.pass(KEY_CACHE_MS);
    expect(await refusal(ask("GET", READ, cookie))).toBe("401 invalid_api_key");
    expect(await refusal(ask("GET", PATH, cookie))).toBe("401 invalid_api_key");
  });

  test("when the token of the settings is replaced", async () => {
    await open({ isBare: true, settings: { operatorToken: SETTINGS_TOKEN } });
    const cookie = await cookieOf(SETTINGS_TOKEN);
    expect(await (await ask("GET", PATH, cookie)).json()).toMatchObject({ name: "settings", scope: "money" });
    await bed.db.query("update operator_session set token_sha256 = sha256('of another token')");
    expect(await refusal(ask("GET", READ, cookie))).toBe("401 invalid_api_key");
  });

  test("with its token, if the token expires earlier", async () => {
    await open();
    const expiresAt = new Date(Date.now() + 60_000);
    const cookie = await cookieOf(await tokenOf(bed.db, "read", expiresAt));
    expect(await (await ask("GET", PATH, cookie)).json()).toMatchObject({ ends_at: expiresAt.toISOString() });
  });

  test("not while it is used", async () => {
    await open();
    const cookie = await cookieOf(bed.tokens.read);
    for (let turn = 0; turn < 3; turn++) {
      await bed.db.query("update operator_session set used_at = now() - interval '14 minutes'");
      expect((await ask("GET", READ, cookie)).status).toBe(200);
      const fresh = await bed.db.query(
        "select used_at > now() - interval '1 minute' as is_fresh from operator_session",
      );
      expect(fresh).toEqual([{ is_fresh: true }]);
    }
  });

  test("when its token opens more than the maximum", async () => {
    await open();
    const first = await cookieOf(bed.tokens.read);
    await bed.db.query("update operator_session set created_at = created_at - interval '1 minute'");
    await bed.db.query(
      `insert into operator_session (sha256, token_sha256)
       select sha256(n::text::bytea), token_sha256 from operator_session, generate_series(1, $1::int) n`,
      [SESSIONS_PER_TOKEN_MAX - 1],
    );
    expect((await ask("GET", READ, first)).status).toBe(200);
    await cookieOf(bed.tokens.read);
    expect(await refusal(ask("GET", READ, first))).toBe("401 invalid_api_key");
    expect(await bed.db.query("select from operator_session")).toHaveLength(SESSIONS_PER_TOKEN_MAX);
  });
});

describe("the path", () => {
  /** Status, headers and body of an answer, without its request id. */
  async function told(method: string, path: string, headers: Sent["headers"] = OURS): Promise<string> {
    const body = method === "POST" ? { body: { token: mintOperatorToken() } } : {};
    const answer = await send(method, path, { headers, ...body });
    const kept = Object.fromEntries(answer.headers);
    delete kept["x-request-id"];
    return JSON.stringify([answer.status, kept, await answer.text()]);
  }
  const METHODS = ["POST", "GET", "DELETE", "OPTIONS", "PUT"];

  test("does not exist without any token", async () => {
    await open({ isBare: true });
    for (const method of METHODS) {
      const unknown = await told(method, "/console/nothing");
      expect(unknown).toStartWith("[404,");
      expect([method, await told(method, PATH)]).toEqual([method, unknown]);
      expect([method, await told(method, PATH, {})]).toEqual([method, unknown]);
    }
    expect((await send("HEAD", PATH)).status).toBe(404);
  });

  test("does not exist for other addresses than the allowed ones, even with a session", async () => {
    await open({ settings: { operatorAllow: ["192.0.2.0/24"] } });
    const cookie = await cookieOf(bed.tokens.money);
    expect((await ask("GET", READ, cookie)).status).toBe(200);
    const inside = address;
    address = "198.51.100.1";
    try {
      for (const method of METHODS) {
        expect([method, await told(method, PATH, { ...OURS, cookie })]).toEqual([
          method,
          await told(method, "/nothing"),
        ]);
      }
      expect(await refusal(ask("GET", READ, cookie))).toBe("404 not_found");
    } finally {
      address = inside;
    }
  });
});

test("attempts are limited together with those of members", async () => {
  await open();
  for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) {
    const isOperator = at % 2 === 0;
    const wrong = isOperator
      ? signIn(mintOperatorToken())
      : send("POST", "/console/session", { body: { api_key: "wrong-key-of-twenty-characters" } });
    expect(await refusal(wrong)).toBe("401 invalid_api_key");
  }
  expect(await refusal(signIn(bed.tokens.read))).toBe("429 ip_rate_limit_exceeded");
});

test("a session cannot be forged, and guesses count in the limit of their address", async () => {
  await open({ ipLimit: 5 });
  for (const value of ["", "x", "A".repeat(43), "B".repeat(43)]) {
    expect(await refusal(ask("GET", READ, `sluice-operator=${value}`))).toMatch(/^401 /);
  }
  const guess = (): Promise<Response> => ask("GET", READ, `sluice-operator=${"C".repeat(43)}`);
  const codes = [];
  for (let at = 0; at < 5; at++) codes.push(await refusal(guess()));
  expect(codes.at(-1)).toBe("429 ip_rate_limit_exceeded");
});

test("a token has its limit of calls per minute over its sessions", async () => {
  await open();
  const cookie = await cookieOf(bed.tokens.read);
  for (let at = 1; at < OPERATOR_CALLS_PER_MINUTE_MAX; at++) await (await ask("GET", READ, cookie)).text();
  expect(await refusal(ask("GET", READ, cookie))).toBe("403 rate_limit_exceeded");
  bed.pass(60_000);
  expect((await ask("GET", READ, cookie)).status).toBe(200);
});

test("an outage of the database is not called a wrong session", async () => {
  await open({ settings: { operatorToken: SETTINGS_TOKEN } });
  const cookie = await cookieOf(SETTINGS_TOKEN);
  bed.loseDatabase();
  expect(await refusal(ask("GET", READ, cookie))).toBe("503 service_unavailable");
});
