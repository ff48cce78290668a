/** Rules of fallback chains, and writers of chains that come at once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import {
  checkFallbacks,
  checkNoCycle,
  type FallbackChain,
  storeFallbackChain,
  FALLBACK_CHAINS_MAX,
} from "#shared/calls/fallback-chains.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { OPERATOR } from "#shared/database/audit-log.ts";
import { deleteFallbackChain, listFallbackChains } from "#shared/database/fallback-chains.ts";
import { ApiError } from "#shared/base/errors.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { createWorkspace, randomOf } from "#tests/shared/accounts.ts";
import { testSeed } from "#tests/support/seed.ts";

const CHAT = Array.from({ length: 12 }, (_, index) => `chat-${index}`);
const CATALOGUE = catalogueOf(CHAT);

/** Chat models of these names, an embedding model and one of pictures. */
function catalogueOf(slugs: readonly string[]): Catalogue {
  const base = build([BASE]);
  const one = base.models.get("one");
  if (!one) throw new Error("the test's own model is missing");
  const vectors = (slug: string, min: number, max: number): Model => ({
    ...one,
    slug,
    modality: "embedding",
    supports_chat: false,
    supports_embeddings: true,
    embedding: { dimensions: max, dimensions_min: min, dimensions_max: max, inputs_max: 8 },
  });
  const models: Model[] = [
    ...slugs.map((slug) => ({ ...one, slug })),
    vectors("vectors", 256, 1_024),
    vectors("more-vectors", 1_024, 1_024),
    vectors("long-vectors", 3_072, 3_072),
    { ...one, slug: "painter", modality: "image", supports_chat: false },
    { ...one, slug: "enlarger", modality: "upscale", supports_chat: false },
  ];
  return {
    ...base,
    models: new Map(models.map((model) => [model.slug, model])),
    missingKeys: new Map(),
    idleSources: new Map(),
    unroutable: new Map([["asleep", "ACME_API_KEY is not set"]]),
  };
}

/** `code param: message` of the refusal; undefined when there is none. */
function refusal(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.param}: ${error.message}`;
    throw error;
  }
}

describe("a chain", () => {
  const check = (model: string, ...fallbacks: string[]) =>
    refusal(() => {
      checkFallbacks(CATALOGUE, { model, fallbacks });
    });

  test("has 1 to 10 other chat models, in any order", () => {
    expect(check("chat-0", "chat-1")).toBeUndefined();
    expect(check("chat-0", ...CHAT.slice(1, 11).toReversed())).toBeUndefined();
  });

  test.each<[string, string, string[], string]>([
    ["without a fallback", "chat-0", [], "invalid_request fallbacks: Expected 1 to 10 fallbacks, got 0."],
    ["of eleven", "chat-0", CHAT.slice(1), "invalid_request fallbacks: Expected 1 to 10 fallbacks, got 11."],
    ["of an unknown model", "nothing", ["chat-1"], "model_not_found model: "],
    ["with an unknown fallback", "chat-0", ["chat-1", "nothing"], "model_not_found fallbacks[1]: "],
    ["with a fallback that cannot be called", "chat-0", ["asleep"], "model_not_found fallbacks[0]: "],
    ["with a name of objects", "chat-0", ["__proto__"], "model_not_found fallbacks[0]: "],
    ["with itself", "chat-0", ["chat-1", "chat-0"], "unsupported_value fallbacks[1]: "],
    ["with a model twice", "chat-0", ["chat-1", "chat-2", "chat-1"], "unsupported_value fallbacks[2]: "],
    [
      "with embeddings",
      "chat-0",
      ["vectors"],
      "model_not_supported fallbacks[0]: Fallbacks of chat-0 must be chat models;",
    ],
    [
      "of embeddings led by a chat model",
      "vectors",
      ["chat-0"],
      "model_not_supported fallbacks[0]: Fallbacks of vectors must be embedding models;",
    ],
    [
      "of embeddings of no common length",
      "vectors",
      ["more-vectors", "long-vectors"],
      "model_not_supported fallbacks[1]: Expected models with vectors of the same length: vectors returns 256 to 1024 numbers",
    ],
    [
      "of pictures led by a chat model",
      "painter",
      ["chat-1"],
      "model_not_supported fallbacks[0]: Fallbacks of painter must be image models;",
    ],
    [
      "of an upscaler led to a painter",
      "enlarger",
      ["painter"],
      "model_not_supported fallbacks[0]: Fallbacks of enlarger must be upscaling models;",
    ],
    [
      "with pictures",
      "chat-0",
      ["chat-1", "painter"],
      "model_not_supported fallbacks[1]: Fallbacks of chat-0 must be chat models;",
    ],
  ])("%s is rejected, with the path of the error", (_what, model, fallbacks, expected) => {
    expect(check(model, ...fallbacks)).toStartWith(expected);
  });

  test("has other embedding models that can return vectors of the same length", () => {
    expect(check("vectors", "more-vectors")).toBeUndefined();
  });

  test("does not reveal the operator's missing configuration", () => {
    expect(check("chat-0", "asleep")).toBe(check("chat-0", "nothing"));
  });
});

describe("a cycle", () => {
  const stored = (text: string): FallbackChain[] =>
    text.split("; ").map((chain) => {
      const [model = "", fallbacks = ""] = chain.split(" > ");
      return { model, fallbacks: fallbacks.split(" ") };
    });

  test.each<[string, string, string | undefined]>([
    ["b > a", "a > b", "fallbacks[0]: a → b → a"],
    ["b > c; c > a", "a > b", "fallbacks[0]: a → b → c → a"],
    ["b > x c; c > y a", "a > z b", "fallbacks[1]: a → b → c → a"],
    // The shortest of several.
    ["b > c d; c > a; d > e; e > a", "a > b", "fallbacks[0]: a → b → c → a"],
    // What the model's present chain says does not count: it is replaced.
    ["a > b; c > a", "a > d", undefined],
    ["a > b; c > a", "a > c", "fallbacks[0]: a → c → a"],
    // Two ways to one model are no circle.
    ["b > d; c > d", "a > b c d", undefined],
    ["x > a; y > a x", "a > b", undefined],
  ])("of %s with %s: %s", (before, change, expected) => {
    const [wanted] = stored(change);
    if (!wanted) throw new Error("no chain");
    const said = refusal(() => {
      checkNoCycle(stored(before), wanted);
    });
    if (expected === undefined) expect(said).toBeUndefined();
    else {
      const [param, way] = expected.split(": ");
      expect(said).toBe(`unsupported_value ${param}: A chain must not lead back to its own model, got ${way}.`);
    }
  });

  test("is detected in time that grows with the chains, not with the paths through them", () => {
    // Each layer leads to all of the next: 10^19 ways.
    const layers = Array.from({ length: 20 }, (_, layer) => Array.from({ length: 10 }, (__, at) => `${layer}.${at}`));
    const chains = layers.flatMap((layer, at) =>
      layer.map((model) => ({ model, fallbacks: layers[at + 1] ?? ["end"] })),
    );
    expect(refusal(() => checkNoCycle(chains, { model: "a", fallbacks: layers[0] ?? [] }))).toBeUndefined();
  });
});

describe("stored chains", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  const store = (workspaceId: string, model: string, ...fallbacks: string[]) =>
    storeFallbackChain(db.database, CATALOGUE, workspaceId, { model, fallbacks, actor: OPERATOR });
  const chainsOf = async (workspaceId: string) =>
    (await listFallbackChains(db.database, workspaceId)).map(({ model, fallbacks }) => ({ model, fallbacks }));
  const audited = (workspaceId: string) =>
    db.query("select action, subject, actor, before, after from audit_log where workspace_id = $1 order by id", [
      workspaceId,
    ]);

  test("of embedding models have no weights, because their vectors cannot be compared", async () => {
    const workspaceId = await createWorkspace(db.database, 0n);
    const chain = { model: "vectors", fallbacks: ["more-vectors"], actor: OPERATOR };
    const weights = { vectors: 1, "more-vectors": 1 };
    const storing = storeFallbackChain(db.database, CATALOGUE, workspaceId, { ...chain, weights });
    expect(await storing.catch((error: unknown) => error)).toMatchObject({
      code: "model_not_supported",
      param: "weight",
    });
    await storeFallbackChain(db.database, CATALOGUE, workspaceId, chain);
    expect(await chainsOf(workspaceId)).toEqual([{ model: "vectors", fallbacks: ["more-vectors"] }]);
  });

  test("replace the previous one, and each change records old and new values", async () => {
    const workspaceId = await createWorkspace(db.database, 0n);
    const first = await store(workspaceId, "chat-0", "chat-1", "chat-2");
    expect(first).toEqual({
      model: "chat-0",
      fallbacks: ["chat-1", "chat-2"],
      weights: null,
      sticky: null,
      continue_streams: false,
      updated_at: expect.any(Date),
    });
    const again = await store(workspaceId, "chat-0", "chat-1", "chat-2");
    expect(again).toEqual(first);
    const second = await store(workspaceId, "chat-0", "chat-2", "chat-1");
    expect(second.updated_at > first.updated_at).toBe(true);
    await deleteFallbackChain(db.database, workspaceId, { model: "chat-0", actor: OPERATOR });
    expect(await chainsOf(workspaceId)).toEqual([]);
    const row = { subject: "chat-0", actor: OPERATOR };
    const chain = (...fallbacks: string[]) => ({ fallbacks, continue_streams: false });
    expect(await audited(workspaceId)).toEqual([
      { ...row, action: "fallback_chain.set", before: null, after: chain("chat-1", "chat-2") },
      { ...row, action: "fallback_chain.set", before: chain("chat-1", "chat-2"), after: chain("chat-2", "chat-1") },
      { ...row, action: "fallback_chain.delete", before: chain("chat-2", "chat-1"), after: null },
    ]);
  });

  test("are unchanged by a rejected one, which leaves no audit entry", async () => {
    const workspaceId = await createWorkspace(db.database, 0n);
    await store(workspaceId, "chat-0", "chat-1");
    const refused = await store(workspaceId, "chat-1", "chat-0").catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "unsupported_value", param: "fallbacks[0]" });
    expect(await chainsOf(workspaceId)).toEqual([{ model: "chat-0", fallbacks: ["chat-1"] }]);
    expect(await audited(workspaceId)).toHaveLength(1);
  });

  test("form no cycle across workspaces", async () => {
    const [mine, other] = [await createWorkspace(db.database, 0n), await createWorkspace(db.database, 0n)];
    await store(other, "chat-0", "chat-1");
    expect(await store(mine, "chat-1", "chat-0")).toMatchObject({ model: "chat-1" });
  });

  test("are limited in number, and existing ones can be changed at the limit", async () => {
    const slugs = Array.from({ length: FALLBACK_CHAINS_MAX + 2 }, (_, index) => `m${index}`);
    const [last = "", previous = ""] = slugs.toReversed();
    const catalogue = catalogueOf(slugs);
    const workspaceId = await createWorkspace(db.database, 0n);
    await db.query(
      "insert into fallback_chain (workspace_id, model, fallbacks) select $1, 'm' || g, array[$2] from generate_series(1, $3) g",
      [workspaceId, last, FALLBACK_CHAINS_MAX],
    );
    const put = (model: string, fallback: string) =>
      storeFallbackChain(db.database, catalogue, workspaceId, { model, fallbacks: [fallback], actor: OPERATOR });
    expect(await put(last, "m0").catch((error: unknown) => error)).toMatchObject({ code: "invalid_request" });
    expect(await put(previous, "m0")).toMatchObject({ fallbacks: ["m0"] });
  });

  test("in opposite directions written concurrently never form a cycle", async () => {
    const workspaceId = await createWorkspace(db.database, 0n);
    const ring = ["chat-0", "chat-1", "chat-2"];
    for (let round = 0; round < 5; round++) {
      await db.query("delete from fallback_chain where workspace_id = $1", [workspaceId]);
      const outcomes = await Promise.allSettled(
        ring.map((model, at) => store(workspaceId, model, ring[(at + 1) % ring.length] ?? "")),
      );
      const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
      expect(refused).toEqual([expect.objectContaining({ code: "unsupported_value" })]);
      expect(await chainsOf(workspaceId)).toHaveLength(2);
    }
  });

  test("of many random writers leave a graph without cycles, and one audit row for each change", async () => {
    const seed = testSeed("fallback-chains");
    const random = randomOf(seed);
    const workspaceId = await createWorkspace(db.database, 0n);
    const others = CHAT.slice(0, 5);
    // Who hears that others are at it asks again, as it is told: on a busy machine 40 writers take longer than one waits.
    const write = async (model: string, fallbacks: readonly string[]): Promise<void> => {
      for (let tries = 1; ; tries++) {
        try {
          await store(workspaceId, model, ...fallbacks);
          return;
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== "overloaded" || tries === 10) throw error;
        }
      }
    };
    const writes = Array.from({ length: 40 }, () => {
      const [model = "", ...rest] = others.toSorted(() => random(3) - 1);
      return write(model, rest.slice(0, 1 + random(2)));
    });
    const outcomes = await Promise.allSettled(writes);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as ApiError] : []));
    expect({ seed, codes: [...new Set(reasons.map(({ code }) => code))] }).toEqual({
      seed,
      codes: ["unsupported_value"],
    });
    const chains = await listFallbackChains(db.database, workspaceId);
    for (const chain of chains) {
      const rest = chains.filter(({ model }) => model !== chain.model);
      expect({ seed, refused: refusal(() => checkNoCycle(rest, chain)) }).toEqual({ seed, refused: undefined });
    }
    // The log alone tells the present state.
    const told = new Map<string, unknown>();
    type Told = { subject: string; before: Chain | null; after: Chain };
    type Chain = { fallbacks: unknown };
    for (const { subject, before, after } of (await audited(workspaceId)) as Told[]) {
      expect({ seed, before: before?.fallbacks }).toEqual({ seed, before: told.get(subject) });
      told.set(subject, after.fallbacks);
    }
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(chains.map(({ model, fallbacks }) => [model, fallbacks])),
    );
  });

  test("that cannot be written within two seconds fail with a conflict", async () => {
    const workspaceId = await createWorkspace(db.database, 0n);
    const ready = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const other = db.database.transaction(async (tx) => {
      await tx.query("select 1 from workspace where id = $1 for no key update", [workspaceId]);
      ready.resolve();
      await done.promise;
    });
    await ready.promise;
    const answer = await store(workspaceId, "chat-0", "chat-1").catch((error: unknown) => error);
    done.resolve();
    await other;
    expect(answer).toMatchObject({ code: "overloaded" });
    expect(await chainsOf(workspaceId)).toEqual([]);
  });
});
