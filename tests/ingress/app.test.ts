import { afterEach, describe, expect, test } from "bun:test";

import { createApp, routesOf } from "#ingress/app.ts";
import { SESSION_REQUESTS_PER_MINUTE_MAX } from "#ingress/core/serve.ts";
import { listen } from "#ingress/listen.ts";
import { createIpNet } from "#shared/access/ip-net.ts";
import { validate } from "#shared/json/contracts.ts";
import { ApiError, type Code, ERROR_CODES } from "#shared/base/errors.ts";
import { isUuid, newId } from "#shared/base/ids.ts";
import {
  BODY_BYTES_MAX,
  CHAT,
  envelopeOf,
  type FakeContext,
  fakeContext,
  type FakeOptions,
  KEY,
} from "./fake-context.ts";

const open: FakeContext[] = [];
afterEach(() => {
  for (const fake of open.splice(0)) fake.close();
});

function start(options?: FakeOptions) {
  const fake = fakeContext(options);
  open.push(fake);
  const app = createApp(fake.context);
  const send = (method: string, path: string, init: RequestInit & { duplex?: "half" } = {}): Promise<Response> =>
    app.handle(new Request(`http://localhost${path}`, { method, ...init }));
  const chat = (body: Bun.BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
    send("POST", "/v1/chat/completions", {
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
      body,
      duplex: "half",
    });
  return { ...fake, app, send, chat };
}

const bytes = (...values: readonly number[]): Uint8Array<ArrayBuffer> => Uint8Array.of(...values);

/** A body that arrives in pieces, without a stated length. */
function inPieces(...pieces: readonly Uint8Array[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

/** Every answer's promise: an id; and of an error: the envelope, whole and nothing else. */
async function expectEnvelope(response: Response, code: Code): Promise<void> {
  expect(response.status).toBe(ERROR_CODES[code].status);
  expect(isUuid(response.headers.get("x-request-id") ?? "")).toBe(true);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const text = await response.clone().text();
  expect(validate("ErrorEnvelope", JSON.parse(text))).toBeNull();
  expect(Object.keys(JSON.parse(text) as object)).toEqual(["error"]);
  const error = await envelopeOf(response);
  expect(Object.keys(error).toSorted()).toEqual(["code", "message", "param", "type"]);
  expect(error).toMatchObject({ code, type: ERROR_CODES[code].type });
  expect(error.message).toMatch(/^\S[^\n{]*\.$/);
}

describe("answers outside of routes", () => {
  test.each<[string, string, string, Code]>([
    ["an unknown path", "GET", "/nothing", "not_found"],
    ["the root written", "POST", "/", "method_not_allowed"],
    ["an unknown path with another method", "DELETE", "/nothing", "not_found"],
    ["an unknown path below a known one", "GET", "/v1/tools/one", "not_found"],
    ["a known path in capitals", "GET", "/V1/models", "not_found"],
    ["a path with a broken escape", "GET", "/%E0%A4%A", "not_found"],
    ["a broken escape where a parameter is", "GET", "/schemas/%E0%A4%A", "not_found"],
    ["a path that climbs", "GET", "/docs/assets/..%2f..%2fpackage.json", "not_found"],
    ["an unknown schema", "GET", "/schemas/Nothing.json", "not_found"],
    ["metrics on the public port", "GET", "/metrics", "not_found"],
    ["the chat route read", "GET", "/v1/chat/completions", "method_not_allowed"],
    ["the chat route replaced", "PUT", "/v1/chat/completions", "method_not_allowed"],
    ["the chat route asked for its head", "HEAD", "/v1/chat/completions", "method_not_allowed"],
    ["the list of models written", "POST", "/v1/models", "method_not_allowed"],
    ["the list of models deleted", "DELETE", "/public/models", "method_not_allowed"],
    ["health patched", "PATCH", "/healthz", "method_not_allowed"],
  ])("%s: the envelope", async (_name, method, path, code) => {
    const { send, logged } = start();
    const response = await send(method, path);
    if (method === "HEAD") expect(response.status).toBe(405);
    else await expectEnvelope(response, code);
    expect(logged).toEqual([]);
  });

  test.each([
    ["/v1/chat/completions", "POST, OPTIONS"],
    ["/v1/models", "GET, HEAD, OPTIONS"],
    ["/openapi.json", "GET, HEAD, OPTIONS"],
    ["/schemas/Health.json", "GET, HEAD, OPTIONS"],
  ])("%s lists the allowed methods", async (path, allow) => {
    const { send } = start();
    const refused = await send("DELETE", path);
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe(allow);
    const asked = await send("OPTIONS", path);
    expect(asked.status).toBe(204);
    expect(asked.headers.get("allow")).toBe(allow);
    expect(await asked.text()).toBe("");
    expect(isUuid(asked.headers.get("x-request-id") ?? "")).toBe(true);
  });

  test("a HEAD request of a path has its headers and no body", async () => {
    const { send } = start();
    for (const path of ["/healthz", "/public/models", "/openapi.json"]) {
      const [head, whole] = [await send("HEAD", path), await send("GET", path)];
      expect(head.status).toBe(200);
      expect(head.headers.get("content-type")).toBe(whole.headers.get("content-type"));
      expect(await head.text()).toBe("");
      expect(isUuid(head.headers.get("x-request-id") ?? "")).toBe(true);
    }
  });

  test("a path is known with and without a trailing slash, and with any query", async () => {
    const { send } = start();
    for (const path of ["/healthz/", "/healthz?a=b&__proto__=1", "/healthz?%"]) {
      expect((await send("GET", path)).status).toBe(200);
    }
  });

  test("every answer has its own request id", async () => {
    const { send } = start();
    const ids = await Promise.all(
      ["/healthz", "/healthz", "/nothing", "/v1/models"].map(async (path) => (await send("GET", path)).headers.get("x-request-id")), // prettier-ignore
    );
    expect(new Set(ids).size).toBe(4);
  });
});

describe("a body", () => {
  const DEEP = `{"model":"one","messages":[],"x":${"[".repeat(100)}${"]".repeat(100)}}`;
  const long = { ...CHAT, user: "x".repeat(BODY_BYTES_MAX) };
  const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

  test.each<[string, Bun.BodyInit, Record<string, string>, Code]>([
    ["that is no JSON", "{", {}, "invalid_json"],
    ["that is empty", "", {}, "invalid_json"],
    ["with something behind its JSON", `${JSON.stringify(CHAT)}}`, {}, "invalid_json"],
    ["with a byte that is no UTF-8", bytes(0x7b, 0x22, 0xff, 0x22, 0x7d), {}, "invalid_json"],
    ["with a cut character", bytes(0x22, 0xe2, 0x82), {}, "invalid_json"],
    ["nested too deeply", DEEP, {}, "invalid_json"],
    ["with a number beyond numbers", '{"model":"one","messages":[],"seed":1e999}', {}, "invalid_json"],
    ["that is an array", "[]", {}, "invalid_request"],
    ["that is null", "null", {}, "invalid_request"],
    ["without what is required", "{}", {}, "missing_required_parameter"],
    ["with a value of the wrong type", JSON.stringify({ ...CHAT, n: "two" }), {}, "invalid_request"],
    ["of a model that does not exist", JSON.stringify({ ...CHAT, model: "nothing" }), {}, "model_not_found"],
    ["in plain text", JSON.stringify(CHAT), { "content-type": "text/plain" }, "unsupported_media_type"],
    ["of no type", JSON.stringify(CHAT), { "content-type": "" }, "unsupported_media_type"],
    ["as a form", "model=one", { "content-type": "application/x-www-form-urlencoded" }, "unsupported_media_type"],
    [
      "in another charset",
      JSON.stringify(CHAT),
      { "content-type": "application/json; charset=latin1" },
      "unsupported_media_type",
    ],
    [
      "that is compressed",
      Bun.gzipSync(JSON.stringify(CHAT)),
      { "content-encoding": "gzip" },
      "unsupported_media_type",
    ],
    [
      "larger than allowed, by its stated length",
      JSON.stringify(long),
      { "content-length": String(JSON.stringify(long).length) },
      "request_too_large",
    ],
    [
      "larger than allowed, in pieces",
      inPieces(...Array.from({ length: 9 }, () => new Uint8Array(500).fill(32))),
      {},
      "request_too_large",
    ],
    ["larger than allowed, in one piece without a length", inPieces(text(long)), {}, "request_too_large"],
    [
      "too large and of the wrong type: the size is told first",
      JSON.stringify(long),
      { "content-type": "text/plain", "content-length": String(JSON.stringify(long).length) },
      "request_too_large",
    ],
  ])("%s is rejected with the envelope, and counted once", async (_name, body, headers, code) => {
    const { chat, counted, relayed, caller, logged } = start();
    await expectEnvelope(await chat(body, headers), code);
    expect(counted).toEqual([{ workspaceId: caller.workspaceId, limit: 120, hold: null }]);
    expect(relayed).toEqual([]);
    expect(logged).toEqual([]);
  });

  test.each<[string, Bun.BodyInit, Record<string, string>]>([
    ["of the plain type", JSON.stringify(CHAT), {}],
    ["with a charset", JSON.stringify(CHAT), { "content-type": 'Application/JSON; charset="UTF-8"' }],
    ["that says it is not compressed", JSON.stringify(CHAT), { "content-encoding": "identity" }],
    ["with a byte-order mark", `\uFEFF${JSON.stringify(CHAT)}`, {}],
    ["in pieces, cut inside a character", inPieces(...Array.from(text({ ...CHAT, user: "é🙂" }), (byte) => bytes(byte))), {}], // prettier-ignore
    [
      "of exactly the size allowed",
      JSON.stringify({ ...CHAT, user: "x".repeat(BODY_BYTES_MAX - JSON.stringify({ ...CHAT, user: "" }).length) }),
      {},
    ],
    ["with members nobody knows", JSON.stringify({ ...CHAT, future: { a: [1] }, __proto__x: 1 }), {}],
  ])("%s is accepted, with one count and one hold", async (_name, body, headers) => {
    const { chat, counted, sent } = start();
    const response = await chat(body, headers);
    expect(await response.json()).toEqual({ answered: true });
    expect(isUuid(response.headers.get("x-request-id") ?? "")).toBe(true);
    expect(counted).toHaveLength(1);
    expect(counted[0]?.hold?.jobId).toBe(response.headers.get("x-request-id") ?? "");
    expect(sent).toHaveLength(1);
  });

  test("on a credit line passes its share of the line to its worker and its settlement", async () => {
    const creditLineHold = {
      lineId: newId(),
      keyId: newId(),
      model: "one",
      amountNano: 5n,
      mayExceed: false,
      deadlineMs: 1,
    };
    const { chat, sent, relayed, counted } = start({ creditLineHold });
    await chat(JSON.stringify(CHAT));
    expect(counted[0]?.hold).toMatchObject({ canUseCreditLine: true });
    expect(relayed[0]?.creditLineHold).toEqual(creditLineHold);
    expect(sent[0]?.head.credit_line).toBe(creditLineHold.lineId);
  });

  test("reaches the worker unchanged, byte for byte", async () => {
    const { chat, sent, relayed, caller } = start();
    const odd =
      '{ "model":"one",\n"messages":[{"role":"user","content":"\\u00e9\\/"}], "seed": 1.0, "__proto__": {"a":1} }';
    await chat(odd);
    const [facts] = relayed;
    const [message] = sent;
    expect(facts).toMatchObject({ pool: "chat", workspaceId: caller.workspaceId });
    expect(message?.text).toBe(odd);
    expect(validate("JobMessage", { ...message?.head, request: JSON.parse(odd) as unknown })).toBeNull();
    expect(message?.head).toMatchObject({
      job_id: facts?.jobId,
      workspace_id: caller.workspaceId,
      model: "one",
      may_exceed: true,
    });
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });
});

describe("the window", () => {
  test("counts a call without a hold once, on routes without holds", async () => {
    const { send, counted } = start();
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    await send("POST", "/v1/messages/count_tokens", { headers, body: "{}" });
    expect(counted).toEqual([expect.objectContaining({ limit: 120, hold: null })]);
  });

  test("counts no reads, cancels and settings, which have ten times the limit", async () => {
    const { send, counted } = start();
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const uncounted = [
      ["GET", "/v1/models"],
      ["DELETE", `/v1/files/${newId()}`],
      ["POST", `/v1/images/jobs/${newId()}/cancel`],
      ["PATCH", `/workspaces/${newId()}`],
    ] as const;
    for (const [method, path] of uncounted) await send(method, path, { headers });
    expect(counted).toEqual([]);
    for (let at = 0; at < 1_200; at++) await (await send("GET", "/v1/models", { headers })).text();
    await expectEnvelope(await send("GET", "/v1/models", { headers }), "rate_limit_exceeded");
    await send("POST", "/v1/messages/count_tokens", { headers, body: "{}" });
    expect(counted).toHaveLength(1);
  });

  test("of a browser session is separate: reads, settings, estimates and changes of workflows use up no window of the key", async () => {
    const { send, counted } = start();
    const ofKey = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const headers = { cookie: "sluice=token", "x-sluice-console": "1", "content-type": "application/json" };
    const traffic = [
      ["PATCH", `/workspaces/${newId()}`],
      ["POST", "/v1/models/one/estimate"],
      ["POST", "/v1/workflows"],
      ["PUT", `/v1/workflows/${newId()}`],
      ["POST", `/v1/workflows/runs/${newId()}/cancel`],
    ] as const;
    for (const [method, path] of traffic) await send(method, path, { headers, body: "{}" });
    expect(counted).toEqual([]);
    for (let at = 0; at < SESSION_REQUESTS_PER_MINUTE_MAX; at++)
      await (await send("GET", "/v1/models", { headers })).text();
    await expectEnvelope(await send("GET", "/v1/models", { headers }), "rate_limit_exceeded");
    expect((await send("GET", "/v1/models", { headers: ofKey })).status).toBe(200);
    await send("POST", "/v1/chat/completions", { headers, body: JSON.stringify(CHAT) });
    await send("POST", `/v1/workflows/${newId()}/runs`, { headers, body: "{}" });
    expect(counted).toHaveLength(2);
  });

  test("counts neither calls without a valid key nor unknown paths", async () => {
    const { send, counted } = start();
    await send("GET", "/v1/models");
    await send("GET", "/v1/models", { headers: { authorization: "Bearer wrong" } });
    await send("POST", "/v1/chat/completions", { body: "{" });
    for (const path of ["/public/models", "/healthz", "/readyz", "/openapi.json", "/nothing"]) await send("GET", path);
    await send("DELETE", "/v1/models", { headers: { authorization: `Bearer ${KEY}` } });
    expect(counted).toEqual([]);
  });

  test.each<Code>(["rate_limit_exceeded", "daily_tokens_exceeded", "insufficient_credits", "service_unavailable"])(
    "does not count a call again that %s rejected",
    async (code) => {
      const { chat, counted, relayed } = start({
        admit: () => {
          throw new ApiError(code, "Refused.");
        },
      });
      await expectEnvelope(await chat(JSON.stringify(CHAT)), code);
      expect(counted).toHaveLength(1);
      expect(relayed).toEqual([]);
    },
  );

  test("does not count a call again that failed after its hold", async () => {
    const { chat, counted } = start({
      relay: () => {
        throw new ApiError("upstream_error", "No.");
      },
    });
    await expectEnvelope(await chat(JSON.stringify(CHAT)), "upstream_error");
    expect(counted).toHaveLength(1);
  });

  test("is checked before the body if it is full", async () => {
    const { chat, counted } = start({
      admit: () => {
        throw new ApiError("rate_limit_exceeded", "Too many.");
      },
    });
    const response = await chat("{");
    await expectEnvelope(response, "rate_limit_exceeded");
    expect(response.headers.get("retry-after")).toBeNull();
    expect(counted).toHaveLength(1);
  });

  test("rejects a large body unread if it is full, and counts the call once", async () => {
    const { chat, counted } = start({
      bodyBytesMax: 4_000_000,
      admit: () => {
        throw new ApiError("rate_limit_exceeded", "Too many.");
      },
    });
    let pieces = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pieces += 1;
          if (pieces > 30) controller.close();
          else controller.enqueue(new Uint8Array(100_000).fill(32));
        },
      },
      { highWaterMark: 0 },
    );
    const response = await chat(body, { "content-length": "3000000" });
    await expectEnvelope(response, "rate_limit_exceeded");
    expect(pieces).toBe(0);
    expect(counted).toHaveLength(1);
  });
});

test("the root describes the service and links to its documentation, without a key", async () => {
  const { send } = start();
  const response = await send("GET", "/");
  const body = (await response.json()) as Record<string, string>;
  expect([response.status, validate("Service", body)]).toEqual([200, null]);
  expect(body).toMatchObject({ name: "Sluice", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  for (const link of ["docs", "openapi", "models"]) expect((await send("GET", body[link] ?? "")).status).toBe(200);
});

describe("a key", () => {
  test("is required for the API only", async () => {
    const { send } = start();
    for (const path of ["/public/models", "/healthz", "/readyz", "/openapi.json", "/docs", "/schemas/Health.json"]) {
      expect((await send("GET", path)).status).toBe(200);
    }
    await expectEnvelope(await send("GET", "/v1/models"), "missing_api_key");
    await expectEnvelope(await send("POST", "/v1/chat/completions"), "missing_api_key");
  });

  test("is read from x-api-key on every route that requires one, after an Authorization header", async () => {
    const { send, authorizations } = start();
    const key = { "x-api-key": KEY };
    expect((await send("GET", "/v1/models", { headers: key })).status).toBe(200);
    expect((await send("GET", "/v1/models", { headers: { ...key, authorization: "" } })).status).toBe(200);
    const both = await send("GET", "/v1/models", { headers: { ...key, authorization: "Bearer other" } });
    await expectEnvelope(both, "invalid_api_key");
    expect(authorizations).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`, "Bearer other"]);
  });

  test("is read from its headers alone: not from the query, the body, a cookie or another header", async () => {
    const { send, authorizations } = start();
    const query = `?api_key=${KEY}&key=${KEY}&access_token=${KEY}&authorization=Bearer%20${KEY}`;
    const headers = { "api-key": KEY, cookie: `authorization=Bearer ${KEY}` };
    await expectEnvelope(await send("GET", `/v1/models${query}`, { headers }), "missing_api_key");
    const body = JSON.stringify({ ...CHAT, api_key: KEY, authorization: `Bearer ${KEY}` });
    const withBody = { headers: { ...headers, "content-type": "application/json" }, body };
    await expectEnvelope(await send("POST", `/v1/chat/completions${query}`, withBody), "missing_api_key");
    expect(authorizations).toEqual([null, null]);
  });

  test("that is wrong is not repeated in the answer", async () => {
    const { send } = start();
    const response = await send("GET", "/v1/models", { headers: { authorization: "Bearer sk-my-secret" } });
    expect(await response.clone().text()).not.toContain("sk-my-secret");
    await expectEnvelope(response, "invalid_api_key");
  });

  test("that cannot be looked up is 503, never 401", async () => {
    const { send } = start({
      authenticate: () => {
        throw new ApiError("service_unavailable", "Not now.");
      },
    });
    await expectEnvelope(await send("GET", "/v1/models", { headers: { authorization: `Bearer ${KEY}` } }), "service_unavailable"); // prettier-ignore
  });
});

describe("the limit of addresses", () => {
  test("is checked before the key, and before unknown paths", async () => {
    const { send, authorizations } = start({ ipLimit: 2 });
    expect((await send("GET", "/docs")).status).toBe(200);
    expect((await send("GET", "/nothing")).status).toBe(404);
    for (const path of ["/v1/models", "/nothing", "/docs", "/public/models"]) {
      await expectEnvelope(await send("GET", path), "ip_rate_limit_exceeded");
    }
    expect(authorizations).toEqual([]);
  });

  test("neither counts nor rejects probes and operators", async () => {
    const { app, context } = start({ ipLimit: 1 });
    const ask = (path: string): Promise<Response> => app.handle(new Request(`http://localhost${path}`));
    const exempt = routesOf(context).filter((route) => route.auth === "operator" || route.isProbe === true);
    expect(exempt.map(({ path }) => path)).toEqual(expect.arrayContaining(["/healthz", "/readyz", "/operator/status"]));
    for (const { path } of exempt) await ask(path);
    expect((await ask("/nothing")).status).toBe(404);
    for (const { path } of [...exempt, ...exempt]) expect([path, (await ask(path)).status]).not.toEqual([path, 429]);
    expect((await ask("/nothing")).status).toBe(429);
  });

  test("exempts local requests of npm start, but not those of a proxy on the machine", async () => {
    const { context } = start({ ipLimit: 1 });
    for (const [supervised, expected] of [
      [true, [404, 404, 404, 429]],
      [false, [404, 429, 429, 429]],
    ] as const) {
      const ipNet = createIpNet(1, []);
      const config = { ...context.config, supervised };
      const server = listen({ ...context, config, ipNet }, { hostname: "127.0.0.1", port: 0 });
      const statuses: number[] = [];
      for (const headers of [{}, {}, { "x-forwarded-for": "9.9.9.9" }, { "x-forwarded-for": "9.9.9.9" }]) {
        statuses.push((await fetch(`http://127.0.0.1:${server.port}/nothing`, { headers })).status);
      }
      expect(statuses).toEqual([...expected]);
      await server.stop(true);
    }
  });

  test("names the seconds to wait in every answer with status 429", async () => {
    const codes = Object.entries(ERROR_CODES).filter(([, { status }]) => status === 429);
    // Another code with this status is to be reached here too.
    expect(codes.map(([code]) => code)).toEqual(["ip_rate_limit_exceeded"]);
    const { app, context } = start({ ipLimit: 1 });
    await app.handle(new Request("http://localhost/nothing"));
    const counted = routesOf(context).filter((route) => route.auth !== "operator" && route.isProbe !== true);
    expect(counted.length).toBeGreaterThan(50);
    for (const { method, path } of counted) {
      const answer = await app.handle(new Request(`http://localhost${path.replaceAll(/[{}]/g, "")}`, { method }));
      expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([
        path,
        429,
        expect.stringMatching(/^[1-9]\d*$/),
      ]);
    }
  });
});

describe("an unexpected error", () => {
  test.each<[string, FakeOptions]>([
    [
      "in a route",
      {
        relay: () => {
          throw new TypeError("secret: postgres://u:p@10.0.0.7/db");
        },
      },
    ],
    ["that is no error at all", { relay: () => Promise.reject("secret text") }],
    [
      "in admission",
      {
        admit: () => {
          throw new Error("secret text");
        },
      },
    ],
    [
      "in the authenticator",
      {
        authenticate: () => {
          throw new Error("secret text");
        },
      },
    ],
  ])("%s is a 500 without details, must not be retried, and is logged", async (_name, options) => {
    const { chat, logged } = start(options);
    const response = await chat(JSON.stringify(CHAT));
    const id = response.headers.get("x-request-id");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.clone().text()).not.toMatch(/secret|TypeError|stack|\.ts/);
    await expectEnvelope(response, "internal_error");
    expect(logged).toEqual([expect.objectContaining({ level: "error", request_id: id, msg: "request failed" })]);
  });

  test.each<[Code, Record<string, string>, string | null]>([
    ["invalid_request", {}, "false"],
    ["invalid_api_key", {}, "false"],
    ["insufficient_credits", {}, "false"],
    ["insufficient_credits", { "retry-after": "7" }, null],
    ["permission_denied", {}, "false"],
    ["rate_limit_exceeded", {}, null],
    ["not_found", {}, "false"],
    ["request_timeout", {}, null],
    ["conflict", {}, null],
    ["request_too_large", {}, "false"],
    ["unsupported_media_type", {}, "false"],
    ["unprocessable_input", {}, "false"],
    ["ip_rate_limit_exceeded", {}, null],
    ["overloaded", {}, null],
  ])("the error %s with headers %j states whether a retry can help", async (code, headers, expected) => {
    const { chat } = start({
      relay: () => {
        throw new ApiError(code, "No.", { headers });
      },
    });
    expect((await chat(JSON.stringify(CHAT))).headers.get("x-should-retry")).toBe(expected);
  });

  test("an error for clients keeps its headers and its retry hint", async () => {
    const { chat } = start({
      relay: () => {
        throw new ApiError("overloaded", "Busy.", {
          headers: { "retry-after": "7" },
          shouldRetry: false,
          param: "model",
        });
      },
    });
    const response = await chat(JSON.stringify(CHAT));
    expect(response.headers.get("retry-after")).toBe("7");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await envelopeOf(response)).toMatchObject({ code: "overloaded", param: "model" });
  });
});

describe("readiness", () => {
  test("follows the servers that calls need, without naming them", async () => {
    let isReady = true;
    const { send } = start({ isReady: () => isReady });
    expect(await (await send("GET", "/readyz")).json()).toEqual({ status: "ok" });
    isReady = false;
    const response = await send("GET", "/readyz");
    expect(await response.clone().text()).not.toMatch(/postgres|nats|s3/i);
    await expectEnvelope(response, "service_unavailable");
    expect(await (await send("GET", "/healthz")).json()).toEqual({ status: "ok" });
  });

  test("reports additional servers of a probe by the status only, and accepts existing names only", async () => {
    const { send } = start({ isReady: (required) => !required.includes("storage") });
    expect((await send("GET", "/readyz")).status).toBe(200);
    await expectEnvelope(await send("GET", "/readyz?require=storage"), "service_unavailable");
    await expectEnvelope(await send("GET", "/readyz?require=storage,moon"), "invalid_request");
  });
});

describe("the log of requests", () => {
  test("has one line for each, with the sent method and the route's pattern", async () => {
    const { send, told } = start();
    const ids = [];
    for (const [method, path] of [
      ["GET", "/healthz"],
      ["DELETE", "/v1/models"],
      ["POST", "/made-up/secret-name?key=secret-name"],
      ["HEAD", "/public/models"],
      ["OPTIONS", "/public/models"],
    ] as const) {
      ids.push((await send(method, path)).headers.get("x-request-id"));
    }
    expect(told.map((line) => [line["method"], line["route"], line["status"]])).toEqual([
      ["GET", "/healthz", "200"],
      ["DELETE", "/v1/models", "405"],
      ["POST", "unmatched", "404"],
      ["HEAD", "/public/models", "200"],
      ["OPTIONS", "/public/models", "204"],
    ]);
    expect(told.map((line) => line["request_id"] ?? null)).toEqual(ids);
    expect(JSON.stringify(told)).not.toContain("secret-name");
  });
});

describe("the metrics of requests", () => {
  test("label routes by their pattern, never by a caller's text", async () => {
    const { send, context } = start();
    for (const path of [
      "/schemas/Health.json",
      "/schemas/secret-name",
      "/made-up/secret-name",
      "/v1/models?x=secret-name",
    ]) {
      await send("GET", path);
    }
    const text = await context.metrics.registry.getSingleMetricAsString("sluice_http_requests_total");
    expect(text).not.toContain("secret-name");
    expect(text).toContain('route="/schemas/{file}",method="GET",status="200"');
    expect(text).toContain('route="unmatched",method="GET",status="404"');
    const patterns = new Set([...text.matchAll(/route="([^"]+)"/g)].map(([, route]) => route));
    const known = new Set(["unmatched", ...routesOf(context).map(({ path }) => path)]);
    for (const pattern of patterns) expect(known.has(pattern ?? "")).toBe(true);
  });
});
