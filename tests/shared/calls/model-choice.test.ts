/** Draws of weighted fallback chains: shares of calls, sticky draws, and the models that a request names. */
import { describe, expect, test } from "bun:test";

import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { Sticky } from "#shared/database/fallback-chains.ts";
import { withFirstModel } from "#shared/calls/kinds/first-model.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { chooseModels, type Draw, drawOrder, firstAccepting, type ModelRequest } from "#shared/calls/model-choice.ts";
import type { Model } from "#shared/calls/model.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const base = build([BASE]);
const one = base.models.get("one") as Model;
const catalogue = {
  models: new Map<string, Model>([
    ...["a", "b", "c", "d"].map((slug): [string, Model] => [slug, { ...one, slug }]),
    ["vectors", { ...one, slug: "vectors", modality: "embedding", supports_chat: false, supports_embeddings: true }],
  ]),
};

function callerOf(weights: Record<string, number>, sticky: Sticky | null = null, fallbacks = ["b", "c"]): Caller {
  return {
    workspaceId: "workspace",
    fallbackChains: new Map([["a", fallbacks]]),
    chainWeights: new Map([["a", { weights, sticky }]]),
  } as unknown as Caller;
}

function firstOf(caller: Caller, request: Partial<ModelRequest>, draw: Draw): string {
  return firstAccepting(chooseModels(CHAT, catalogue, caller, { model: "a", ...request }, draw), () => null).model.slug;
}

/** Number of calls per model, for the fixed ids call-0, call-1, … */
function shares(weights: Record<string, number>, count: number): Record<string, number> {
  const caller = callerOf(weights);
  const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
  for (let at = 0; at < count; at++) {
    const slug = firstOf(caller, {}, { id: `call-${at}` });
    counts[slug] = (counts[slug] ?? 0) + 1;
  }
  return counts;
}

describe("a chain with weights", () => {
  test("shares 1,000 calls by the weights, within four standard deviations", () => {
    const counts = shares({ a: 80, b: 20, c: 0 }, 1_000);
    // Standard deviation of 1,000 draws with probability 0.2: sqrt(1000 × 0.2 × 0.8) = 12.6.
    expect(Math.abs((counts["b"] ?? 0) - 200)).toBeLessThan(51);
    expect(counts["c"]).toBe(0);
    expect((counts["a"] ?? 0) + (counts["b"] ?? 0)).toBe(1_000);
    const even = shares({ a: 1, b: 1, c: 2 }, 1_000);
    expect(Math.abs((even["c"] ?? 0) - 500)).toBeLessThan(64);
  });

  test("draws the same model for the same call, whatever else the process has drawn", () => {
    const caller = callerOf({ a: 50, b: 50, c: 0 });
    const ids = Array.from({ length: 50 }, (_, at) => `call-${at}`);
    const drawn = ids.map((id) => firstOf(caller, {}, { id }));
    expect(new Set(drawn)).toEqual(new Set(["a", "b"]));
    expect(ids.toReversed().map((id) => firstOf(caller, {}, { id }))).toEqual(drawn.toReversed());
  });

  test("tries the other models in the order of the chain, also the requested one", () => {
    const choice = chooseModels(CHAT, catalogue, callerOf({ a: 0, b: 0, c: 1 }), { model: "a" }, { id: "x" });
    const { model, route } = firstAccepting(choice, () => null);
    expect([model.slug, route?.fallbacks, route?.labels]).toEqual(["c", ["a", "b"], { chain: "a" }]);
  });

  test("skips models that reject the request, and returns the requested model's error if all do", () => {
    const choice = chooseModels(CHAT, catalogue, callerOf({ a: 1, b: 0, c: 1_000 }), { model: "a" }, { id: "x" });
    const rejecting = (slugs: readonly string[]) =>
      firstAccepting(choice, ({ slug }) => {
        if (slugs.includes(slug)) throw new ApiError("unsupported_value", slug, { param: "n" });
        return slug;
      });
    expect(choice.first.map(({ slug }) => slug)).toEqual(["c", "a", "b"]);
    expect(rejecting(["c"]).model.slug).toBe("a");
    expect(rejecting(["c", "a"]).model.slug).toBe("b");
    expect(() => rejecting(["a", "b", "c"])).toThrow(/^a$/);
  });

  test("skips models that left the catalogue or serve no chat calls", () => {
    const weights = { a: 1, gone: 1_000, vectors: 1_000 };
    const choice = chooseModels(
      CHAT,
      catalogue,
      callerOf(weights, null, ["gone", "vectors"]),
      { model: "a" },
      { id: "x" },
    );
    expect(choice.first.map(({ slug }) => slug)).toEqual(["a"]);
  });

  test("applies to its own model only", () => {
    const choice = chooseModels(CHAT, catalogue, callerOf({ a: 0, b: 1 }), { model: "b" }, { id: "x" });
    const { model, route } = firstAccepting(choice, () => null);
    expect([model.slug, route]).toEqual(["b", undefined]);
  });
});

describe("a sticky draw", () => {
  const ids = Array.from({ length: 200 }, (_, at) => ({ id: `call-${at}` }));

  test("gives an end user the same model in every call, and shares the users by the weights", () => {
    const caller = callerOf({ a: 80, b: 20, c: 0 }, "user");
    const modelOfUser = (user: string): string => {
      const models = new Set(ids.slice(0, 5).map((draw) => firstOf(caller, { user }, draw)));
      expect(models.size).toBe(1);
      return [...models][0] ?? "";
    };
    const onB = Array.from({ length: 1_000 }, (_, at) => modelOfUser(`user-${at}`)).filter((slug) => slug === "b");
    expect(Math.abs(onB.length - 200)).toBeLessThan(51);
  });

  test("uses the end user of the header x-tags for a request without user", () => {
    const caller = callerOf({ a: 50, b: 50, c: 0 }, "user");
    for (const user of ["ada", "bob", "eve", "kim"]) {
      const byBody = firstOf(caller, { user }, { id: "x" });
      const byHeader = ids.map(({ id }) => firstOf(caller, {}, { id, endUser: user }));
      expect(new Set(byHeader)).toEqual(new Set([byBody]));
      expect(firstOf(caller, { user }, { id: "x", endUser: "other" })).toBe(byBody);
    }
  });

  test("draws each call of a request without user", () => {
    const caller = callerOf({ a: 50, b: 50, c: 0 }, "user");
    expect(new Set(ids.map((draw) => firstOf(caller, {}, draw)))).toEqual(new Set(["a", "b"]));
  });

  test("follows safety_identifier for a request without user", () => {
    const caller = callerOf({ a: 50, b: 50, c: 0 }, "user");
    expect(new Set(ids.map((draw) => firstOf(caller, { safety_identifier: "s" }, draw))).size).toBe(1);
  });

  test("gives a conversation the same model, by prompt_cache_key or by its first response", () => {
    const caller = callerOf({ a: 50, b: 50, c: 0 }, "conversation");
    const named = ids.map(({ id }) => firstOf(caller, { prompt_cache_key: "k" }, { id, conversation: id }));
    expect(new Set(named).size).toBe(1);
    const chained = ids.map(({ id }) => firstOf(caller, {}, { id, conversation: "resp_1" }));
    expect(new Set(chained).size).toBe(1);
    const users = ids.map((draw, at) => firstOf(caller, { user: String(at) }, draw));
    expect(new Set(users)).toEqual(new Set(["a", "b"]));
  });

  test("moves only users from or to the model whose weight changes", () => {
    const order = (weights: Record<string, number>, user: number) =>
      drawOrder(["a", "b", "c"], weights, `user-${user}`)[0];
    let moved = 0;
    for (let user = 0; user < 1_000; user++) {
      const [before, after] = [order({ a: 40, b: 40, c: 20 }, user), order({ a: 40, b: 40, c: 40 }, user)];
      if (before === after) continue;
      moved += 1;
      expect(after).toBe("c");
    }
    // The share of c grows from 1/5 to 1/3, so 133 of 1,000 users are expected to move.
    expect(Math.abs(moved - 133)).toBeLessThan(43);
  });
});

describe("models of a request", () => {
  const chosen = (request: ModelRequest, caller = callerOf({ a: 0, b: 1 })) => {
    const { model, route } = firstAccepting(chooseModels(CHAT, catalogue, caller, request, { id: "x" }), () => null);
    return { model: model.slug, ...route };
  };
  const without = { continuesStreams: false, labels: { chain: "a" } };

  test("replace the workspace's chain and its weights", () => {
    expect(chosen({ model: "a", models: ["d", "c"] })).toEqual({ model: "a", fallbacks: ["d", "c"], ...without });
    expect(chosen({ model: "a", models: ["a", "d"] })).toEqual({ model: "a", fallbacks: ["d"], ...without });
    expect(chosen({ model: "a", models: ["a"] })).toEqual({ model: "a", fallbacks: [], ...without });
  });

  test("begin with the requested model if the body has none", () => {
    expect(withFirstModel({ models: ["a", "b"] })).toEqual({ model: "a", models: ["a", "b"] });
    expect(withFirstModel({ model: null, models: ["a"] })).toEqual({ model: "a", models: ["a"] });
    for (const body of [
      { model: "b", models: ["a"] },
      { models: [] },
      { models: [1] },
      { models: "a" },
      {},
      null,
      "a",
      [],
    ]) {
      expect(withFirstModel(body)).toBe(body);
    }
  });

  test.each<[string, ModelRequest, string, string]>([
    ["an unknown fallback", { model: "a", models: ["b", "x"] }, "model_not_found", "models[1]"],
    ["an unknown first model", { model: "x", models: ["x", "b"] }, "model_not_found", "models[0]"],
    ["an unknown model beside models", { model: "x", models: ["b"] }, "model_not_found", "model"],
    ["a model of another kind", { model: "a", models: ["vectors"] }, "model_not_supported", "models[0]"],
    ["the requested model again", { model: "a", models: ["b", "a"] }, "unsupported_value", "models[1]"],
    ["the requested model twice", { model: "a", models: ["a", "a"] }, "unsupported_value", "models[1]"],
    ["a fallback twice", { model: "a", models: ["a", "b", "b"] }, "unsupported_value", "models[2]"],
  ])("are rejected for %s", (_name, request, code, param) => {
    let thrown: unknown;
    try {
      chosen(request);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, param });
  });
});
