import { describe, expect, test } from "bun:test";

import {
  planCache,
  CACHE_TTL_S,
  CACHE_TTL_MAX_S,
  CACHED_REQUEST_BYTES_MAX,
} from "#ingress/routes/calls/response-cache.ts";
import type { Model } from "#shared/calls/model.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const MODEL = build([BASE]).models.get("one") as Model;
const CACHED = build([BASE.replace("    pricing:", "    cache_ttl_s: 60\n    pricing:")]).models.get("one") as Model;
const REQUEST = { model: "one", messages: [{ role: "user", content: "hi" }], temperature: 0 };

const plan = (
  header: string | null,
  model = MODEL,
  request: object = REQUEST,
  endpoint = "chat",
  text = JSON.stringify(request),
) =>
  planCache(header, model, endpoint, { text, textBytes: text.length, value: request, pause: () => Promise.resolve() });

describe("the response cache", () => {
  test("is off unless the model or the request enables it", async () => {
    expect(await plan(null)).toBeUndefined();
    expect(await plan("off")).toBeUndefined();
    expect(await plan(null, CACHED)).toMatchObject({ ttlS: 60, mayHit: true });
    expect(await plan("off", CACHED)).toBeUndefined();
    expect(await plan("on")).toMatchObject({ ttlS: CACHE_TTL_S, mayHit: true });
  });

  test("uses the caller's time to live, up to a bound, before the model's", async () => {
    expect((await plan("on; ttl=5", CACHED))?.ttlS).toBe(5);
    expect((await plan(" ON;ttl=5 "))?.ttlS).toBe(5);
    expect((await plan("on", CACHED))?.ttlS).toBe(60);
    expect((await plan("on; ttl=999999999"))?.ttlS).toBe(CACHE_TTL_MAX_S);
  });

  test("skips a request that is too large to compare", async () => {
    const request = { ...REQUEST, messages: [{ role: "user", content: "x".repeat(CACHED_REQUEST_BYTES_MAX) }] };
    expect(await plan("on", MODEL, request)).toBeUndefined();
  });

  test("skips a request with integers that are ambiguous as doubles", async () => {
    const [one, other] = ["9007199254740992", "9007199254740993"].map((seed) => `{"model":"one","seed":${seed}}`);
    for (const text of [one, other])
      expect(await plan("on", MODEL, JSON.parse(text ?? "") as object, "chat", text)).toBeUndefined();
  });

  test("stores a fresh answer without reading a stored one on refresh", async () => {
    expect(await plan("refresh")).toMatchObject({ mayHit: false });
    expect((await plan("refresh"))?.key).toBe((await plan("on"))?.key);
  });

  test.each([
    "",
    "yes",
    "on;",
    "on; ttl=0",
    "on; ttl=00",
    "on; ttl=01",
    "on; ttl=-1",
    "on; ttl=1.5",
    "on; ttl=1e9",
    "on, off",
    "on; ttl=1; x",
  ])("rejects the header `%s` with the parameter's name", async (header) => {
    const fault: unknown = await plan(header).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "unsupported_value", param: "x-cache" });
  });
});

describe("two requests are equal", () => {
  const keyOf = async (request: object, model = MODEL, endpoint = "chat"): Promise<string> =>
    (await plan("on", model, request, endpoint))?.key ?? "";

  test("for any order of their members, at any depth", async () => {
    const key = await keyOf(REQUEST);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(await keyOf({ temperature: 0, messages: [{ content: "hi", role: "user" }], model: "one" })).toBe(key);
  });

  test("only when every value is: order of messages, type, model and endpoint included", async () => {
    const key = await keyOf(REQUEST);
    const others = await Promise.all([
      keyOf({ ...REQUEST, temperature: 1 }),
      keyOf({ ...REQUEST, temperature: "0" }),
      keyOf({ ...REQUEST, stream: true }),
      keyOf({ ...REQUEST, messages: [{ role: "user", content: "hi " }] }),
      keyOf({ ...REQUEST, messages: [...REQUEST.messages, { role: "user", content: "b" }] }),
      keyOf({ ...REQUEST, messages: [{ role: "user", content: "b" }, ...REQUEST.messages] }),
      keyOf(REQUEST, { ...MODEL, slug: "two" }),
      keyOf(REQUEST, MODEL, "embeddings"),
    ]);
    expect(new Set([key, ...others]).size).toBe(others.length + 1);
  });

  test("with a member called __proto__ only if that is equal too", async () => {
    const request = JSON.parse('{"model":"one","messages":[],"__proto__":{"a":1}}') as object;
    expect(await keyOf(request)).not.toBe(await keyOf({ model: "one", messages: [] }));
  });
});
