/** Access to /operator: scopes by route, hidden paths, and tokens that are none. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { routesOf } from "#ingress/app.ts";
import { SCOPES } from "#shared/database/operator-tokens.ts";
import { newId } from "#shared/base/ids.ts";
import { mintKey, mintOperatorToken } from "#shared/secrets/api-keys.ts";
import { OPERATOR_CALLS_PER_MINUTE_MAX } from "#ingress/core/authenticate-operator.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { envelopeOf, fakeContext } from "../../fake-context.ts";
import { openBed, type OperatorBed, tokenOf } from "./bed.ts";

const fake = fakeContext();
const ROUTES = routesOf(fake.context).filter(({ path }) => path.startsWith("/operator"));
fake.close();

/** Scopes as the contract has them; a route that is missing here fails the test below. */
const SCOPE_OF: Readonly<Record<string, (typeof SCOPES)[number]>> = {
  "GET /operator/workspaces": "read",
  "POST /operator/workspaces": "write",
  "GET /operator/workspaces/{id}": "read",
  "PATCH /operator/workspaces/{id}": "write",
  "GET /operator/workspaces/{id}/members": "read",
  "GET /operator/workspaces/{id}/credits": "read",
  "POST /operator/workspaces/{id}/credits": "money",
  "GET /operator/workspaces/{id}/ledger": "read",
  "GET /operator/workspaces/{id}/api-keys": "read",
  "GET /operator/workspaces/{id}/fallback-chains": "read",
  "GET /operator/workspaces/{id}/fallback-chains/{model}": "read",
  "PUT /operator/workspaces/{id}/fallback-chains/{model}": "write",
  "DELETE /operator/workspaces/{id}/fallback-chains/{model}": "write",
  "GET /operator/workspaces/{id}/usage/requests": "read",
  "GET /operator/workspaces/{id}/usage/requests/{request_id}": "read",
  "PATCH /operator/api-keys/{id}": "write",
  "GET /operator/presets": "read",
  "GET /operator/pools": "read",
  "GET /operator/pools/{pool}": "read",
  "GET /operator/holds": "read",
  "POST /operator/holds/{id}/close": "money",
  "GET /operator/settle-faults": "read",
  "POST /operator/settle-faults/{id}/resolve": "write",
  "GET /operator/jobs/{id}": "read",
  "GET /operator/dead-letters": "read",
  "GET /operator/dead-letters/{id}": "read",
  "DELETE /operator/dead-letters/{id}": "write",
  "POST /operator/dead-letters/redrive": "write",
  "GET /operator/catalogue": "read",
  "POST /operator/catalogue/check": "write",
  "GET /operator/sources": "read",
  "GET /operator/sources/{source}": "read",
  "POST /operator/sources/{source}/reset": "write",
  "POST /operator/sources/{source}/test": "write",
  "POST /operator/ledger/audit": "write",
  "GET /operator/audit-log": "read",
  "GET /operator/status": "read",
  "GET /operator/tokens": "money",
  "POST /operator/tokens": "money",
  "DELETE /operator/tokens/{id}": "money",
};

/** Returns the path of an object that does not exist. */
const pathOf = (path: string): string => path.replace("{pool}", "nowhere").replace("{id}", newId());

describe("a route", () => {
  let bed: OperatorBed;
  beforeAll(async () => {
    bed = await openBed();
  });
  afterAll(() => bed.close());

  test("of operators is listed in the table with its scope, and no other route is", () => {
    expect(
      Object.fromEntries(ROUTES.map(({ method, path, scope }) => [`${method} ${path}`, scope ?? "money"])),
    ).toEqual(SCOPE_OF);
    for (const route of routesOf(bed.context))
      expect(route.auth === "operator").toBe(route.path.startsWith("/operator"));
  });

  const callers = ["none", "workspace key", ...SCOPES] as const;
  test.each(ROUTES.flatMap((route) => callers.map((caller) => [route.method, route.path, caller] as const)))(
    "%s %s by %s: as listed in the table",
    async (method, path, caller) => {
      bed.pass(60_000);
      const token = caller === "none" ? null : caller === "workspace key" ? bed.workspaceKey : bed.tokens[caller];
      const response = await bed.send(method, pathOf(path), { token });
      const needed = SCOPE_OF[`${method} ${path}`] ?? "money";
      if (caller === "none" || caller === "workspace key") {
        const { code } = await envelopeOf(response);
        const expected = caller === "none" ? "missing_api_key" : "invalid_api_key";
        expect([response.status, code]).toEqual([401, expected]);
      } else if (SCOPES.indexOf(caller) < SCOPES.indexOf(needed)) {
        expect([response.status, (await envelopeOf(response)).code]).toEqual([403, "permission_denied"]);
      } else expect([401, 403, 405, 500, 503]).not.toContain(response.status);
      // No workspace's window is touched.
      expect(bed.fake.counted).toEqual([]);
    },
  );

  test("lists its methods only with access", async () => {
    const refused = await bed.send("PUT", "/operator/workspaces");
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST, HEAD, OPTIONS"]);
    expect((await bed.send("OPTIONS", "/operator/workspaces", { token: bed.tokens.read })).status).toBe(204);
    expect((await bed.send("HEAD", "/operator/workspaces", { token: bed.tokens.read })).status).toBe(200);
    for (const method of ["PUT", "OPTIONS", "HEAD"]) {
      expect((await bed.send(method, "/operator/workspaces", { token: null })).status).toBe(401);
    }
  });

  test("of a workspace rejects operators' tokens", async () => {
    for (const path of ["/v1/models", "/v1/key", "/v1/files"]) {
      const response = await bed.send("GET", path);
      expect([path, response.status, (await envelopeOf(response)).code]).toEqual([path, 401, "invalid_api_key"]);
    }
  });

  test("is limited to 600 calls a minute for each token", async () => {
    bed.pass(60_000);
    const statuses = new Set<number>();
    for (let call = 0; call < OPERATOR_CALLS_PER_MINUTE_MAX; call += 1) {
      statuses.add((await bed.send("GET", "/operator/presets", { token: bed.tokens.read })).status);
    }
    expect([...statuses]).toEqual([200]);
    const refused = await bed.send("GET", "/operator/presets", { token: bed.tokens.read });
    expect([refused.status, (await envelopeOf(refused)).code]).toEqual([403, "rate_limit_exceeded"]);
    expect((await bed.send("GET", "/operator/presets", { token: bed.tokens.write })).status).toBe(200);
    bed.pass(60_000);
    expect((await bed.send("GET", "/operator/presets", { token: bed.tokens.read })).status).toBe(200);
  });
});

describe("a token", () => {
  let bed: OperatorBed;
  beforeAll(async () => {
    bed = await openBed();
  });
  afterAll(() => bed.close());

  test("that is unknown, malformed, expired or revoked receives the same error", async () => {
    const [expired, revoked] = [await tokenOf(bed.db, "money"), await tokenOf(bed.db, "money")];
    for (const token of [expired, revoked])
      expect((await bed.send("GET", "/operator/presets", { token })).status).toBe(200);
    const byHash = "where sha256 = sha256(convert_to($1, 'UTF8'))";
    await bed.db.query(`update operator_token set expires_at = now() ${byHash}`, [expired]);
    await bed.db.query(`update operator_token set revoked_at = now() ${byHash}`, [revoked]);
    bed.pass(KEY_CACHE_MS);
    const good = bed.tokens.money;
    const wrong = [
      mintOperatorToken(),
      `${good.slice(0, -1)}${good.endsWith("a") ? "b" : "a"}`,
      "slo_x",
      "x".repeat(250),
      mintKey(),
      bed.workspaceKey,
      expired,
      revoked,
    ];
    const bodies = await Promise.all(
      wrong.map(async (token) => {
        const response = await bed.send("GET", "/operator/presets", { token });
        return JSON.stringify([response.status, await response.json()]);
      }),
    );
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toStartWith("[401,");
    expect(bodies[0]).toContain("invalid_api_key");
  });

  test("is read from its header only, in its one form", async () => {
    const good = bed.tokens.read;
    const request = (headers: Record<string, string>): Promise<Response> => {
      const operators = bed.context.operators;
      const authorization = new Headers(headers).get("authorization");
      return operators.authenticate(authorization, "").then(
        () => new Response(),
        (error: { status: number }) => new Response(null, { status: error.status }),
      );
    };
    const statusOf = async (headers: Record<string, string>): Promise<number> => (await request(headers)).status;
    expect(await statusOf({ authorization: `bearer ${good}` })).toBe(200);
    expect(await statusOf({ authorization: `Basic ${good}` })).toBe(401);
    expect(await statusOf({ authorization: `Bearer  ${good}` })).toBe(401);
    expect(await statusOf({ authorization: good })).toBe(401);
    expect(await statusOf({ authorization: "" })).toBe(401);
    expect(await statusOf({ "x-api-key": good })).toBe(401);
    expect((await bed.send("GET", `/operator/presets?token=${good}`, { token: null })).status).toBe(401);
  });

  test("costs one query per cache lifetime, for any number of guesses", async () => {
    bed.pass(KEY_CACHE_MS);
    bed.asked.length = 0;
    for (let guess = 0; guess < 200; guess += 1) {
      await bed.send("GET", "/operator/presets", { token: mintOperatorToken() });
    }
    expect(bed.asked).toHaveLength(1);
  });

  test("becomes invalid within a cache lifetime", async () => {
    const token = await tokenOf(bed.db, "write");
    bed.pass(KEY_CACHE_MS);
    expect((await bed.send("GET", "/operator/presets", { token })).status).toBe(200);
    await bed.db.query("update operator_token set revoked_at = now() where sha256 = sha256(convert_to($1, 'UTF8'))", [
      token,
    ]);
    bed.pass(KEY_CACHE_MS);
    expect((await bed.send("GET", "/operator/presets", { token })).status).toBe(401);
    expect(KEY_CACHE_MS).toBeLessThan(1_000);
  });
});

describe("the paths of operators", () => {
  let bed: OperatorBed | undefined;
  afterEach(async () => {
    await bed?.close();
    bed = undefined;
  });

  test("are unknown without any token, for every request", async () => {
    const hidden = (bed = await openBed({ isBare: true }));
    const told = async (method: string, path: string, token: string | null): Promise<string> => {
      const response = await hidden.send(method, path, { token });
      const headers = Object.fromEntries(response.headers);
      delete headers["x-request-id"];
      return JSON.stringify([response.status, headers, await response.text()]);
    };
    const unknown = await told("GET", "/operators-there-are-none", null);
    expect(unknown).toStartWith("[404,");
    for (const { method, path } of ROUTES) {
      for (const token of [null, mintOperatorToken(), hidden.workspaceKey]) {
        expect([method, path, await told(method, pathOf(path), token)]).toEqual([method, path, unknown]);
      }
    }
    for (const method of ["PUT", "OPTIONS"]) expect(await told(method, "/operator/presets", null)).toBe(unknown);
    const token = await tokenOf(hidden.db, "read", new Date(Date.now() + 3_600_000));
    hidden.pass(KEY_CACHE_MS);
    expect((await hidden.send("GET", "/operator/presets", { token })).status).toBe(200);
    expect((await hidden.send("GET", "/operator/presets", { token: null })).status).toBe(401);
    await hidden.db.query("update operator_token set expires_at = now()");
    hidden.pass(KEY_CACHE_MS);
    expect(await told("GET", "/operator/presets", token)).toBe(unknown);
  });

  test("accept the token of the settings for everything, also during an outage of the database", async () => {
    const operatorToken = "a-token-of-the-settings";
    bed = await openBed({ isBare: true, settings: { operatorToken } });
    expect((await bed.send("GET", "/operator/tokens", { token: operatorToken })).status).toBe(200);
    expect((await bed.send("GET", "/operator/tokens", { token: `${operatorToken}x` })).status).toBe(401);
    expect((await bed.send("GET", "/operator/tokens", { token: null })).status).toBe(401);
    const body = { name: "console", scope: "read" };
    await bed.ask("OperatorToken", "POST", "/operator/tokens", { token: operatorToken, body, status: 201 });
    expect(
      await bed.db.query("select actor->>'id' as id from audit_log where action = 'operator_token.create'"),
    ).toEqual([{ id: "settings" }]);
    bed.loseDatabase();
    const status = await bed.ask("OperatorStatus", "GET", "/operator/status", { token: operatorToken });
    expect(status).toMatchObject({ counts: null, versions: { postgres: null } });
    expect([...new Set(status.processes.map(({ role }) => role))]).toEqual(["ingress"]);
    bed.pass(KEY_CACHE_MS);
    // A token that cannot be verified is not called wrong.
    expect((await bed.send("GET", "/operator/presets", { token: mintOperatorToken() })).status).toBe(503);
  });

  test("answer listed addresses only, and others as unknown paths", async () => {
    bed = await openBed({ settings: { operatorAllow: ["10.0.0.0/8", "fd00::/8"] } });
    const { operators } = bed.context;
    const authorization = `Bearer ${bed.tokens.read}`;
    for (const address of ["10.1.2.3", "fd12::1"]) {
      expect(await operators.authenticate(authorization, address)).toMatchObject({ scope: "read" });
    }
    for (const address of ["11.1.2.3", "::1", "", "nonsense"]) {
      const error = await operators.authenticate(authorization, address).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "not_found" });
    }
    expect((await bed.send("GET", "/operator/presets")).status).toBe(404);
  });
});
