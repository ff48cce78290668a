/** /workspaces/{workspaceId}/fallback-chains: who may, what is refused, and what comes of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import type { IngressContext } from "#ingress/context.ts";
import { createAuthenticator, type Authenticator, type Role } from "#shared/access/authenticate.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { validate } from "#shared/json/contracts.ts";
import { listFallbackChains } from "#shared/database/fallback-chains.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

import { envelopeOf, type FakeContext, fakeContext } from "../fake-context.ts";

const ROLES: readonly Role[] = ["owner", "admin", "developer", "billing"];
const PRESETS = "presets: [{ name: standard, requests_per_minute: 120, daily_tokens: null }]";

/** The chat models a to l and an embedding model. */
function catalogue(): Catalogue {
  const base = build([`${BASE}${PRESETS}`]);
  const one = base.models.get("one");
  if (!one) throw new Error("the test's own model is missing");
  const models: Model[] = [
    ...Array.from("abcdefghijkl", (slug) => ({ ...one, slug })),
    { ...one, slug: "vectors", modality: "embedding", supports_chat: false, supports_embeddings: true },
  ];
  return { ...base, models: new Map(models.map((model) => [model.slug, model])) };
}

let db: TestDatabase;
let fake: FakeContext;
let app: ReturnType<typeof createApp>;
let authenticator: Authenticator;
/** Statements that name chains: a refusal must cost none. */
let asked: string[] = [];
let clockMs = 1_000_000;

beforeAll(async () => {
  db = await createTestDatabase();
  fake = fakeContext({ catalogue: catalogue() });
  const log = createLogger({ level: "silent", role: "test" });
  authenticator = createAuthenticator({
    database: db.database,
    catalogue: fake.context.catalogue,
    log,
    now: () => clockMs,
  });
  const database: IngressContext["database"] = {
    ...db.database,
    query: (text, values, name) => {
      asked.push(text);
      return db.database.query(text, values, name);
    },
    transaction: (work) => {
      asked.push("transaction");
      return db.database.transaction(work);
    },
  };
  app = createApp({ ...fake.context, authenticator, database });
});
afterAll(async () => {
  fake.close();
  await db.drop();
});

interface Team {
  readonly id: string;
  readonly members: Readonly<Record<Role, string>>;
  readonly keys: Readonly<Record<Role, string>>;
}

/** A workspace with a member and a key of each role, and the chain a → b. */
async function team(): Promise<Team> {
  const id = await createWorkspace(db.database, 0n);
  const made = ROLES.map((role) => ({ role, member: newId(), key: mintKey() }));
  for (const { role, member, key } of made) {
    await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, $3, $3)", [member, id, role]);
    await db.query(
      `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
       values ($1, $2, $3, 'test', $4, $5, 'standard')`,
      [newId(), id, member, Buffer.from(hashKey(key)), keyHint(key)],
    );
  }
  await db.query("insert into fallback_chain (workspace_id, model, fallbacks) values ($1, 'a', '{b}')", [id]);
  const byRole = <T>(of: (one: (typeof made)[number]) => T) =>
    Object.fromEntries(made.map((one) => [one.role, of(one)])) as Record<Role, T>;
  return { id, members: byRole(({ member }) => member), keys: byRole(({ key }) => key) };
}

async function send(method: string, path: string, key: string | undefined, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  if (body === undefined) return app.handle(new Request(`http://localhost${path}`, { method, headers }));
  headers["content-type"] = "application/json";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return app.handle(new Request(`http://localhost${path}`, { method, headers, body: text }));
}

/** Returns a chain as the audit log tells it. */
const chain = (fallbacks: readonly string[], continues = false) => ({ fallbacks, continue_streams: continues });

const listOf = (id: string): string => `/workspaces/${id}/fallback-chains`;
const chainOf = (id: string, model: string): string => `${listOf(id)}/${model}`;
/** Returns the name that `createWorkspace` gives, as part of a path. */
const nameOf = (id: string): string => encodeURIComponent(`workspace ${id}`);

async function chains(id: string): Promise<Record<string, readonly string[]>> {
  return Object.fromEntries((await listFallbackChains(db.database, id)).map((row) => [row.model, row.fallbacks]));
}

interface RouteRow {
  readonly method: string;
  readonly path: (id: string) => string;
  readonly body?: unknown;
  readonly may: readonly Role[];
}

const ROUTES: readonly RouteRow[] = [
  { method: "GET", path: listOf, may: ["owner", "admin", "developer"] },
  { method: "HEAD", path: listOf, may: ["owner", "admin", "developer"] },
  { method: "GET", path: (id) => chainOf(id, "a"), may: ["owner", "admin", "developer"] },
  { method: "HEAD", path: (id) => chainOf(id, "a"), may: ["owner", "admin", "developer"] },
  { method: "PUT", path: (id) => chainOf(id, "a"), body: { fallbacks: ["c"] }, may: ["owner", "admin"] },
  { method: "DELETE", path: (id) => chainOf(id, "a"), may: ["owner", "admin"] },
];

describe("access", () => {
  const matrix = ROUTES.flatMap((route) =>
    ROLES.map((role) => [`${route.method} ${route.path("{id}")}`, role, route] as const),
  );

  test.each(matrix)("of %s to %s: as listed in the table, in the own workspace only", async (_name, role, route) => {
    const [mine, other] = [await team(), await team()];
    const may = route.may.includes(role);
    const own = await send(route.method, route.path(mine.id), mine.keys[role], route.body);
    expect(own.status).toBe(may ? 200 : 403);
    expect(fake.counted).toEqual([]);
    if (!may && route.method !== "HEAD") {
      const { code, type, param } = await envelopeOf(own);
      expect({ code, type, param }).toEqual({ code: "permission_denied", type: "permission_error", param: null });
      expect(await chains(mine.id)).toEqual({ a: ["b"] });
    }
    asked = [];
    const elsewhere = [
      other.id,
      nameOf(other.id),
      newId(),
      "x",
      mine.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    ];
    const answers = await Promise.all(
      elsewhere.map(async (id) => {
        const response = await send(route.method, route.path(id), mine.keys[role], route.body);
        const headers = Object.fromEntries(response.headers);
        delete headers["x-request-id"];
        return JSON.stringify([response.status, headers, await response.text()]);
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toStartWith("[404,");
    expect(answers[0]).toContain(route.method === "HEAD" ? "" : "not_found");
    // Nothing was looked up, so time tells nothing either.
    expect(asked).toEqual([]);
    expect(await chains(other.id)).toEqual({ a: ["b"] });
  });

  test.each(ROUTES.map((route) => [`${route.method} ${route.path("{id}")}`, route] as const))(
    "to %s: nothing without a valid key, for every workspace",
    async (_name, route) => {
      const { id, keys } = await team();
      await db.query("update api_key set revoked_at = now() where workspace_id = $1", [id]);
      for (const key of [undefined, mintKey(), "nonsense", keys.owner]) {
        for (const workspaceId of [id, newId()]) {
          expect((await send(route.method, route.path(workspaceId), key, route.body)).status).toBe(401);
        }
      }
      expect(await chains(id)).toEqual({ a: ["b"] });
    },
  );

  test("ends for a member whose role is changed, within a cache lifetime", async () => {
    const { id, keys, members } = await team();
    expect((await send("PUT", chainOf(id, "a"), keys.admin, { fallbacks: ["c"] })).status).toBe(200);
    await db.query("update member set role = 'developer' where id = $1", [members.admin]);
    clockMs += KEY_CACHE_MS;
    expect((await send("PUT", chainOf(id, "a"), keys.admin, { fallbacks: ["d"] })).status).toBe(403);
    expect(await chains(id)).toEqual({ a: ["c"] });
  });

  test("the id of the own workspace may be written in capitals", async () => {
    const { id, keys } = await team();
    expect((await send("GET", listOf(id.toUpperCase()), keys.owner)).status).toBe(200);
  });

  test("the own workspace can be named, also after it is renamed", async () => {
    const { id, keys } = await team();
    expect((await send("GET", listOf(nameOf(id)), keys.developer)).status).toBe(200);
    expect((await send("PUT", chainOf(nameOf(id), "a"), keys.owner, { fallbacks: ["c"] })).status).toBe(200);
    expect(await chains(id)).toEqual({ a: ["c"] });
    const odd = "ünï/ %team?";
    await db.query("update workspace set name = $2 where id = $1", [id, odd]);
    clockMs += KEY_CACHE_MS;
    expect((await send("GET", listOf(encodeURIComponent(odd)), keys.owner)).status).toBe(200);
    expect((await send("GET", listOf(nameOf(id)), keys.owner)).status).toBe(404);
  });

  test("other methods receive the allowed ones", async () => {
    const { id, keys } = await team();
    const allow = async (path: string) => (await send("PATCH", path, keys.owner)).headers.get("allow");
    expect(await allow(listOf(id))).toBe("GET, HEAD, OPTIONS");
    expect(await allow(chainOf(id, "a"))).toBe("GET, PUT, DELETE, HEAD, OPTIONS");
  });
});

describe("chains", () => {
  test("continue streams if they are configured to, each change with an audit entry", async () => {
    const { id, keys } = await team();
    for (const body of [{ fallbacks: ["d"], continue_streams: true }, { fallbacks: ["d"] }]) {
      const answer: unknown = await (await send("PUT", chainOf(id, "c"), keys.owner, body)).json();
      expect(answer).toMatchObject({ continue_streams: body.continue_streams ?? false });
      expect(await (await send("GET", chainOf(id, "c"), keys.developer)).json()).toEqual(answer);
    }
    expect(await db.query("select before, after from audit_log where workspace_id = $1 order by id", [id])).toEqual([
      { before: null, after: chain(["d"], true) },
      { before: chain(["d"], true), after: chain(["d"]) },
    ]);
    expect(
      (await send("PUT", chainOf(id, "c"), keys.owner, { fallbacks: ["d"], continue_streams: "yes" })).status,
    ).toBe(400);
  });

  test("are set, read, listed by model, replaced and deleted, each answer valid by its schema", async () => {
    const { id, keys, members } = await team();
    const put = await send("PUT", chainOf(id, "c"), keys.owner, { fallbacks: ["d", "b"] });
    const stored: unknown = await put.json();
    expect(validate("FallbackChain", stored)).toBeNull();
    expect(stored).toEqual({
      model: "c",
      fallbacks: ["d", "b"],
      continue_streams: false,
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await (await send("GET", chainOf(id, "c"), keys.developer)).json()).toEqual(stored);

    const list = (await (await send("GET", listOf(id), keys.developer)).json()) as { data: unknown[] };
    expect(validate("FallbackChainList", list)).toBeNull();
    expect(list).toMatchObject({ object: "list", data: [{ model: "a", fallbacks: ["b"] }, { model: "c" }] });
    expect(Object.keys(list)).toEqual(["object", "data"]);

    expect((await send("PUT", chainOf(id, "c"), keys.admin, { fallbacks: ["e"] })).status).toBe(200);
    const deleted = await send("DELETE", chainOf(id, "c"), keys.owner);
    const answer: unknown = await deleted.json();
    expect(validate("FallbackChainDeleted", answer)).toBeNull();
    expect(answer).toEqual({ model: "c", deleted: true });
    expect(await chains(id)).toEqual({ a: ["b"] });
    expect(
      await db.query(
        "select actor->>'id' as actor, action, subject, before, after from audit_log where workspace_id = $1 order by id",
        [id],
      ),
    ).toEqual([
      { actor: members.owner, action: "fallback_chain.set", subject: "c", before: null, after: chain(["d", "b"]) },
      {
        actor: members.admin,
        action: "fallback_chain.set",
        subject: "c",
        before: chain(["d", "b"]),
        after: chain(["e"]),
      },
      { actor: members.owner, action: "fallback_chain.delete", subject: "c", before: chain(["e"]), after: null },
    ]);
  });

  test("have weights, in the same form as they were set, each change with an audit entry", async () => {
    const { id, keys } = await team();
    const fallbacks = [{ model: "d", weight: 20 }, "e"];
    const put = await send("PUT", chainOf(id, "c"), keys.owner, { fallbacks, weight: 80, sticky: "user" });
    const answer = (await put.json()) as Record<string, unknown>;
    const { updated_at: _at, ...stored } = answer;
    const listed = [
      { model: "d", weight: 20 },
      { model: "e", weight: 0 },
    ];
    expect(stored).toEqual({ model: "c", fallbacks: listed, weight: 80, sticky: "user", continue_streams: false });
    expect(validate("FallbackChain", answer)).toBeNull();
    expect(await (await send("GET", chainOf(id, "c"), keys.developer)).json()).toEqual(answer);
    // The response is a valid request.
    const again = await send("PUT", chainOf(id, "c"), keys.owner, { fallbacks: listed, weight: 80, sticky: "user" });
    expect(await again.json()).toEqual(answer);
    const drawn = { fallbacks: listed, weight: 80, sticky: null };
    expect(await (await send("PUT", chainOf(id, "c"), keys.owner, drawn)).json()).toMatchObject({ sticky: null });
    const plain = await (await send("PUT", chainOf(id, "c"), keys.owner, { fallbacks: ["d", "e"] })).json();
    expect(Object.keys(plain as object)).toEqual(["model", "fallbacks", "continue_streams", "updated_at"]);
    await send("DELETE", chainOf(id, "c"), keys.owner);
    const weights = { c: 80, d: 20, e: 0 };
    const both = chain(["d", "e"]);
    expect(await db.query("select before, after from audit_log where workspace_id = $1 order by id", [id])).toEqual([
      { before: null, after: { ...both, weights, sticky: "user" } },
      { before: { ...both, weights, sticky: "user" }, after: { ...both, weights } },
      { before: { ...both, weights }, after: both },
      { before: both, after: null },
    ]);
  });

  test("with weights apply to the next call within a cache lifetime", async () => {
    const { id, keys } = await team();
    const weights = async () => (await authenticator.authenticate(`Bearer ${keys.developer}`)).chainWeights?.get("a");
    expect(await weights()).toBeUndefined();
    const fallbacks = [{ model: "b", weight: 1 }];
    await send("PUT", chainOf(id, "a"), keys.owner, { fallbacks, weight: 3, sticky: "conversation" });
    clockMs += KEY_CACHE_MS;
    expect(await weights()).toEqual({ weights: { a: 3, b: 1 }, sticky: "conversation" });
    await send("PUT", chainOf(id, "a"), keys.owner, { fallbacks: ["b"] });
    clockMs += KEY_CACHE_MS;
    expect(await weights()).toBeUndefined();
  });

  test("are not charged", async () => {
    const { id, keys } = await team();
    for (const { method, path, body } of ROUTES) {
      expect((await send(method, path(id), keys.owner, body)).headers.get("x-credits-used")).toBeNull();
    }
    expect(fake.counted.every(({ hold }) => hold === null)).toBe(true);
  });

  test("apply to the next call within a cache lifetime", async () => {
    const { id, keys } = await team();
    const caller = async () => (await authenticator.authenticate(`Bearer ${keys.developer}`)).fallbackChains;
    expect((await caller())?.get("a")).toEqual(["b"]);
    await send("PUT", chainOf(id, "a"), keys.owner, { fallbacks: ["c", "b"] });
    clockMs += KEY_CACHE_MS;
    expect((await caller())?.get("a")).toEqual(["c", "b"]);
    await send("DELETE", chainOf(id, "a"), keys.owner);
    clockMs += KEY_CACHE_MS;
    expect(await caller()).toBeUndefined();
  });

  test("that do not exist are not found, under every name", async () => {
    const { id, keys } = await team();
    for (const model of ["b", "nothing", "A", "a%00", "%00", "a%2Fb", "%F0%9F%99%82", "x".repeat(5_000), "__proto__"]) {
      for (const method of ["GET", "DELETE"]) {
        const response = await send(method, chainOf(id, model), keys.owner);
        expect([method, model, response.status]).toEqual([method, model, 404]);
        expect((await envelopeOf(response)).code).toBe("not_found");
      }
    }
    expect(fake.logged).toEqual([]);
  });

  test("whose models were removed from the catalogue can be read and deleted", async () => {
    const { id, keys } = await team();
    await db.query("insert into fallback_chain (workspace_id, model, fallbacks) values ($1, 'retired', '{old}')", [id]);
    expect((await send("GET", chainOf(id, "retired"), keys.owner)).status).toBe(200);
    expect((await send("DELETE", chainOf(id, "retired"), keys.owner)).status).toBe(200);
  });
});

describe("a chain is rejected", () => {
  const eleven = Array.from("bcdefghijkla");
  const B1 = { model: "b", weight: 1 };

  test.each<[string, string, unknown, string, string | null]>([
    ["without a body", "a", "", "invalid_json", null],
    ["with a body that is no object", "a", "[]", "invalid_request", null],
    ["without its fallbacks", "a", {}, "missing_required_parameter", "fallbacks"],
    ["with one text for all", "a", { fallbacks: "b" }, "invalid_request", "fallbacks"],
    ["with a number", "a", { fallbacks: ["b", 1] }, "invalid_request", "fallbacks[1]"],
    ["with weights of the fallbacks alone", "a", { fallbacks: [B1] }, "missing_required_parameter", "weight"],
    ["with a weight of the model alone", "a", { fallbacks: ["b"], weight: 1 }, "unsupported_value", "fallbacks"],
    [
      "with no model to draw but itself",
      "a",
      { fallbacks: [{ model: "b", weight: 0 }], weight: 1 },
      "unsupported_value",
      "fallbacks",
    ],
    [
      "with a negative weight",
      "a",
      { fallbacks: [{ model: "b", weight: -1 }], weight: 1 },
      "unsupported_value",
      "fallbacks[0].weight",
    ],
    ["with a part of a weight", "a", { fallbacks: [B1], weight: 0.5 }, "invalid_request", "weight"],
    ["with a weight beyond 1000", "a", { fallbacks: [B1], weight: 1001 }, "unsupported_value", "weight"],
    [
      "with a fallback without weight",
      "a",
      { fallbacks: [{ model: "b" }], weight: 1 },
      "missing_required_parameter",
      "fallbacks[0].weight",
    ],
    [
      "with an unknown member of a fallback",
      "a",
      { fallbacks: [{ ...B1, wait: 1 }], weight: 1 },
      "invalid_request",
      "fallbacks[0].wait",
    ],
    ["with a weighted fallback twice", "a", { fallbacks: [B1, "b"], weight: 1 }, "unsupported_value", "fallbacks[1]"],
    ["with sticky but no weights", "a", { fallbacks: ["b"], sticky: "user" }, "unsupported_value", "sticky"],
    [
      "with sticky for something else",
      "a",
      { fallbacks: [B1], weight: 1, sticky: "key" },
      "unsupported_value",
      "sticky",
    ],
    ["with nothing in it", "a", { fallbacks: [] }, "invalid_request", "fallbacks"],
    ["with eleven", "a", { fallbacks: eleven.slice(0, 11) }, "invalid_request", "fallbacks"],
    ["for an unknown model", "nothing", { fallbacks: ["b"] }, "model_not_found", "model"],
    ["for what cannot be a model", "%00", { fallbacks: ["b"] }, "model_not_found", "model"],
    ["with an unknown fallback", "a", { fallbacks: ["b", "nothing"] }, "model_not_found", "fallbacks[1]"],
    ["with NUL in a name", "a", { fallbacks: ["b\0"] }, "model_not_found", "fallbacks[0]"],
    ["with itself", "a", { fallbacks: ["a"] }, "unsupported_value", "fallbacks[0]"],
    ["with a model twice", "a", { fallbacks: ["b", "c", "b"] }, "unsupported_value", "fallbacks[2]"],
    ["for embeddings", "vectors", { fallbacks: ["b"] }, "model_not_supported", "model"],
    ["with embeddings", "a", { fallbacks: ["vectors"] }, "model_not_supported", "fallbacks[0]"],
    ["that leads back", "b", { fallbacks: ["c", "a"] }, "unsupported_value", "fallbacks[1]"],
  ])("%s", async (_what, model, body, code, param) => {
    const { id, keys } = await team();
    const response = await send("PUT", chainOf(id, model), keys.owner, body);
    expect(response.status).toBe(400);
    expect(await envelopeOf(response)).toMatchObject({ code, param, type: "invalid_request_error" });
    expect(await chains(id)).toEqual({ a: ["b"] });
    expect(await db.query("select 1 from audit_log where workspace_id = $1", [id])).toEqual([]);
  });

  test("with the solution in the sentence", async () => {
    const { id, keys } = await team();
    await send("PUT", chainOf(id, "b"), keys.owner, { fallbacks: ["c"] });
    const { message } = await envelopeOf(await send("PUT", chainOf(id, "c"), keys.owner, { fallbacks: ["a"] }));
    expect(message).toBe("A chain must not lead back to its own model, got c → a → b → c.");
  });

  test("in another format than JSON", async () => {
    const { id, keys } = await team();
    const headers = { authorization: `Bearer ${keys.owner}`, "content-type": "text/plain" };
    const request = new Request(`http://localhost${chainOf(id, "a")}`, { method: "PUT", headers, body: "{}" });
    expect((await app.handle(request)).status).toBe(415);
  });

  test("never for read-only members: they have no effect", async () => {
    const [mine, other] = [await team(), await team()];
    const body = {
      fallbacks: ["c"],
      model: "d",
      workspace_id: other.id,
      workspaceId: other.id,
      updated_at: "1999-01-01T00:00:00Z",
      actor: "somebody",
      __proto__x: 1,
    };
    const answer = (await (await send("PUT", chainOf(mine.id, "a"), mine.keys.owner, body)).json()) as object;
    expect(Object.keys(answer)).toEqual(["model", "fallbacks", "continue_streams", "updated_at"]);
    expect(answer).toMatchObject({ model: "a", fallbacks: ["c"] });
    expect(JSON.stringify(answer)).not.toContain("1999");
    expect([await chains(mine.id), await chains(other.id)]).toEqual([{ a: ["c"] }, { a: ["b"] }]);
  });
});

test("concurrent chains in opposite directions: one of each pair is stored, without other errors", async () => {
  const { id, keys } = await team();
  await send("DELETE", chainOf(id, "a"), keys.owner);
  const pairs = [
    ["a", "b"],
    ["b", "a"],
    ["c", "d"],
    ["d", "c"],
    ["e", "f"],
    ["f", "e"],
  ] as const;
  const answers = await Promise.all(
    pairs.map(async ([model, fallback]) => {
      const response = await send("PUT", chainOf(id, model), keys.owner, { fallbacks: [fallback] });
      return response.status;
    }),
  );
  expect(answers.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 400, 400, 400]);
  expect(Object.keys(await chains(id))).toHaveLength(3);
});
