import { afterEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { Webhook } from "standardwebhooks";

import { newSigningSecret } from "#shared/secrets/signature.ts";
import { allow, listenAsSink } from "#tests/shared/net/servers.ts";
import { SENDERS } from "#workers/webhook/channels/index.ts";
import { webhookSender } from "#workers/webhook/channels/webhook.ts";

import { channelOf, contextOf, outgoing, receive, type Receiver, type Request } from "../receivers.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

async function receiver(answer: Parameters<typeof receive>[0] = (response) => response.end("ok")): Promise<Receiver> {
  const server = await receive(answer);
  open.push(server);
  return server;
}

const send = SENDERS.webhook;
const signingSecret = newSigningSecret();

/** Returns the request that a receiver gets from a channel with this config and these secrets. */
async function received(
  config: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Promise<Request> {
  const server = await receiver();
  const result = await send(channelOf("webhook", { url: server.url(), ...secrets }, config), outgoing(), contextOf());
  expect(result).toEqual({ ok: true, status: 200, responseStart: "ok" });
  expect(server.requests).toHaveLength(1);
  return server.requests[0] as Request;
}

describe("a delivery", () => {
  test("is a POST of the exact body, on its own connection, with our headers only", async () => {
    const server = await receiver();
    const channel = channelOf("webhook", { url: server.url("/hook?a=1"), signingSecret });
    await send(channel, outgoing(), contextOf());
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/hook?a=1", body: outgoing().body });
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: "close",
      "user-agent": "Sluice",
      accept: "*/*",
      "accept-encoding": "identity",
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(outgoing().body)),
      "webhook-id": outgoing().deliveryId,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/) as string,
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/) as string,
      "x-webhook-signature": createHmac("sha256", signingSecret).update(outgoing().body).digest("hex"),
    });
  });

  test("has its five keys in the order of the contract", async () => {
    const { body } = await received({}, { signingSecret });
    expect(Object.keys(JSON.parse(body) as object)).toEqual([
      "event",
      "deliveryId",
      "workspaceId",
      "occurredAt",
      "metadata",
    ]);
  });

  test("is verified by the library of Standard Webhooks, with the previous secret too during its overlap", async () => {
    const previousSigningSecret = newSigningSecret();
    const { headers, body } = await received({}, { signingSecret, previousSigningSecret });
    for (const secret of [signingSecret, previousSigningSecret]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
    }
    expect(headers["x-webhook-signature"]).toBe(createHmac("sha256", signingSecret).update(body).digest("hex"));
  });

  test("keeps its id on every attempt", async () => {
    const server = await receiver();
    const channel = channelOf("webhook", { url: server.url(), signingSecret });
    for (const attempt of [1, 2]) await send(channel, outgoing({ attempt }), contextOf());
    expect(server.requests.map(({ headers }) => headers["webhook-id"])).toEqual(
      Array.from({ length: 2 }, () => outgoing().deliveryId),
    );
  });

  test("of a channel without a secret has id and time, and no signature, not even the channel's own", async () => {
    const config = { authType: "custom_header", authHeaderName: "X-Webhook-Signature" };
    for (const secrets of [{}, { signingSecret: "" }]) {
      const { headers } = await received(config, { ...secrets, authHeaderValue: "forged" });
      expect(headers).toMatchObject({ "webhook-id": outgoing().deliveryId });
      expect(headers["webhook-timestamp"]).toMatch(/^\d{10}$/);
      expect(headers).not.toHaveProperty("webhook-signature");
      expect(headers).not.toHaveProperty("x-webhook-signature");
    }
  });
});

describe("credentials", () => {
  const secrets = { authToken: "t0ken", authPassword: "p:ass ü", authApiKey: "k3y", authHeaderValue: "v4lue" };

  test.each([
    [{}, undefined, undefined],
    [{ authType: "none" }, undefined, undefined],
    [{ authType: "unheard-of" }, undefined, undefined],
    [{ authType: "bearer" }, "authorization", "Bearer t0ken"],
    [
      { authType: "basic", authUsername: "jö" },
      "authorization",
      `Basic ${Buffer.from("jö:p:ass ü").toString("base64")}`,
    ],
    [{ authType: "api_key" }, "x-api-key", "k3y"],
    [{ authType: "api_key", authHeaderName: "X-Token" }, "x-token", "k3y"],
    [{ authType: "custom_header", authHeaderName: "X-Custom" }, "x-custom", "v4lue"],
    [{ authType: "custom_header", authHeaderName: "Cookie" }, "cookie", "v4lue"],
  ] as const)("%j", async (config, name, value) => {
    const { headers } = await received(config, { signingSecret, ...secrets });
    const ours = new Set(["authorization", "x-api-key", "x-token", "x-custom", "cookie"]);
    const sent = Object.entries(headers).filter(([each]) => ours.has(each));
    expect(sent).toEqual(name === undefined ? [] : [[name, value]]);
    expect(headers).toHaveProperty("x-webhook-signature");
  });

  test.each([
    { authType: "bearer" },
    { authType: "basic", authUsername: "jo" },
    { authType: "api_key" },
    { authType: "custom_header", authHeaderName: "X-Custom" },
    { authType: "custom_header" },
  ])("that are missing or cleared are no header: %j", async (config) => {
    const cleared = { authToken: "", authPassword: "", authApiKey: "", authHeaderValue: "" };
    for (const secrets of [{}, cleared]) {
      const { headers } = await received(config, { signingSecret, ...secrets });
      for (const name of ["authorization", "x-api-key", "x-custom"]) expect(headers).not.toHaveProperty(name);
    }
  });

  test.each([
    "Host",
    "content-length",
    "Transfer-Encoding",
    "Connection",
    "keep-alive",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "Proxy-Authorization",
    "proxy-connection",
    "Content-Type",
    "X-Webhook-Signature",
    "Webhook-Id",
    "webhook-timestamp",
    "Webhook-Signature",
    "Accept-Encoding",
  ])("named %s do not change the framing and the signature", async (authHeaderName) => {
    const plain = await received({}, { signingSecret });
    for (const config of [
      { authType: "custom_header", authHeaderName },
      { authType: "api_key", authHeaderName },
    ]) {
      const { headers, body, rawHeaders } = await received(config, {
        signingSecret,
        authHeaderValue: "0",
        authApiKey: "0",
      });
      expect(body).toBe(outgoing().body);
      expect(Object.keys(headers)).toEqual(Object.keys(plain.headers));
      expect(rawHeaders.filter((each) => each === "0")).toEqual([]);
    }
  });

  test.each([
    ["X-A", "v\r\nX-Evil: 1"],
    ["X-A", "v\nX-Evil: 1"],
    ["X-A", "v\0"],
    ["X-A", "ключ"],
    ["X-A: 1\r\nX-Evil", "v"],
    ["X A", "v"],
    ["X-A:", "v"],
    ["Ü", "v"],
  ])("invalid in a header are reported before anything is sent: %j: %j", async (authHeaderName, authHeaderValue) => {
    const server = await receiver();
    const channel = channelOf(
      "webhook",
      { url: server.url(), signingSecret, authHeaderValue },
      { authType: "custom_header", authHeaderName },
    );
    expect(await send(channel, outgoing(), contextOf())).toEqual({
      ok: false,
      verdict: "final",
      error: "misconfigured",
      status: null,
      responseStart: "",
    });
    expect(server.requests).toEqual([]);
  });
});

describe("an answer", () => {
  test.each([200, 201, 202, 204, 299])("of %p is success", async (status) => {
    const server = await receiver((response) => response.writeHead(status).end());
    const result = await send(channelOf("webhook", { url: server.url() }), outgoing(), contextOf());
    expect(result).toEqual({ ok: true, status, responseStart: "" });
  });

  test.each([
    [300, "again", "redirect"],
    [304, "again", "redirect"],
    [400, "again", "status"],
    [401, "again", "status"],
    [403, "again", "status"],
    [404, "again", "status"],
    [410, "gone", "refused"],
    [429, "again", "rate_limited"],
    [500, "again", "status"],
    [503, "again", "status"],
    [599, "again", "status"],
  ] as const)("of %p is %s, %s", async (status, verdict, error) => {
    const server = await receiver((response) => response.writeHead(status).end(status === 304 ? "" : "why"));
    const result = await send(channelOf("webhook", { url: server.url() }), outgoing(), contextOf());
    expect(result).toEqual({ ok: false, verdict, error, status, responseStart: status === 304 ? "" : "why" });
  });

  test("of 410 is gone, for any body", async () => {
    for (const spoil of [
      (response: Parameters<Parameters<typeof receive>[0]>[0]) => response.end("x".repeat(1_000_000)),
      (response: Parameters<Parameters<typeof receive>[0]>[0]) => response.write("x", () => response.destroy()),
    ]) {
      const server = await receiver((response) => void spoil(response.writeHead(410)));
      const result = await send(channelOf("webhook", { url: server.url() }), outgoing(), contextOf());
      expect(result).toMatchObject({ ok: false, verdict: "gone", status: 410 });
    }
  });

  test.each([429, 503])("of %p contains the retry time, in seconds or as a date", async (status) => {
    let retryAfter = "";
    const server = await receiver((response) => response.writeHead(status, { "retry-after": retryAfter }).end());
    const attempt = async (value: string) => {
      retryAfter = value;
      const result = await send(channelOf("webhook", { url: server.url() }), outgoing(), contextOf());
      return result.ok ? undefined : result.retryAfterMs;
    };
    expect(await attempt("120")).toBe(120_000);
    expect(await attempt("36000")).toBe(36_000_000);
    expect(await attempt("0")).toBe(0);
    expect(await attempt("9".repeat(400))).toBe(7 * 86_400_000);
    const inOneHour = await attempt(new Date(Date.now() + 3_600_000).toUTCString());
    expect(inOneHour).toBeGreaterThan(3_500_000);
    expect(inOneHour).toBeLessThanOrEqual(3_600_000);
    expect(await attempt(new Date(0).toUTCString())).toBe(0);
    for (const odd of ["", "soon", "-5", "1,5"]) expect(await attempt(odd)).toBeUndefined();
  });

  test("of another status has no retry time", async () => {
    const server = await receiver((response) => response.writeHead(500, { "retry-after": "120" }).end());
    const result = await send(channelOf("webhook", { url: server.url() }), outgoing(), contextOf());
    expect(result).not.toHaveProperty("retryAfterMs");
  });

  test("in an unknown encoding counts by its status", async () => {
    let status = 200;
    const server = await receiver((response) =>
      response.writeHead(status, { "content-encoding": "compress" }).end("x"),
    );
    const channel = channelOf("webhook", { url: server.url() });
    expect(await send(channel, outgoing(), contextOf())).toEqual({ ok: true, status: 200, responseStart: "" });
    status = 410;
    expect(await send(channel, outgoing(), contextOf())).toMatchObject({ verdict: "gone", status: 410 });
  });
});

describe("a redirect", () => {
  test("is reported and never followed: not to a metadata address, not to a sink, not to a harmless page", async () => {
    const sink = await listenAsSink();
    open.push(sink);
    for (const location of ["http://169.254.169.254/latest/meta-data/", sink.url("/"), "/next", "http://[", ""]) {
      for (const status of [301, 302, 303, 307, 308]) {
        const server = await receiver((response) => response.writeHead(status, { location }).end("moved"));
        const channel = channelOf("webhook", { url: server.url(), signingSecret });
        expect(await send(channel, outgoing(), contextOf())).toEqual({
          ok: false,
          verdict: "again",
          error: "redirect",
          status,
          responseStart: "moved",
        });
        expect(server.requests).toHaveLength(1);
      }
    }
    expect(sink.asked).toEqual([]);
  });
});

describe("a private address", () => {
  test.each([
    "http://127.0.0.1:5432/",
    "http://169.254.169.254/",
    "http://localhost:8080/",
    "http://user:pass@example.com/",
    "ftp://example.com/",
    "",
    "nowhere",
  ])("%j is not connected, and may be retried", async (url) => {
    expect(await send(channelOf("webhook", { url }), outgoing(), contextOf())).toEqual({
      ok: false,
      verdict: "again",
      error: "unsafe_url",
      status: null,
      responseStart: "",
    });
  });

  test("of a name with changing addresses is never reached, only the checked one", async () => {
    const sink = await listenAsSink("127.0.0.2");
    const good = await receive((response) => response.end("good"), "127.0.0.1", sink.port);
    open.push(sink, good);
    const answers = ["127.0.0.1", "127.0.0.2"];
    let asked = 0;
    const rebinding = webhookSender(() => Promise.resolve([{ address: answers[asked++] ?? "127.0.0.2", family: 4 }]));
    const channel = channelOf("webhook", { url: good.url("/", "rebind.example.com") });
    expect(await rebinding(channel, outgoing(), contextOf())).toEqual({ ok: true, status: 200, responseStart: "good" });
    expect(asked).toBe(1);
    expect(await rebinding(channel, outgoing(), contextOf())).toMatchObject({ verdict: "again", error: "unsafe_url" });
    expect(good.requests).toHaveLength(1);
    expect(sink.asked).toEqual([]);
  });
});
