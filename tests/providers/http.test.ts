import { afterEach, describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { ApiError } from "#shared/base/errors.ts";
import {
  connectionError,
  type Endpoint,
  post,
  postStream,
  type JsonRequest,
  PROVIDER_BYTES_MAX,
} from "#workers/providers/http.ts";
import type { ProviderError } from "#workers/providers/provider.ts";
import type { Behaviour } from "#tests/providers/engine/behaviour.ts";
import { type OpenAiServer, startOpenAiServer } from "#tests/providers/openai-compatible/server.ts";
import { selfSigned } from "#tests/shared/net/certificate.ts";

const servers: OpenAiServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function start(...behaviours: readonly Behaviour[]): Promise<{ server: OpenAiServer; endpoint: Endpoint }> {
  const server = startOpenAiServer();
  servers.push(server);
  server.next(...behaviours);
  return { server, endpoint: { baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } } };
}

function chat(model: string, extra: Record<string, unknown> = {}): JsonRequest {
  return {
    path: "/chat/completions",
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], ...extra }),
  };
}

const never = (): AbortSignal => new AbortController().signal;

/** The error a call ends with; fails when it does not. */
async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  const answer = await call.then(
    () => undefined,
    (error: unknown) => error as ProviderError,
  );
  if (!answer) throw new Error("the call succeeded");
  return answer;
}

/** Plain text over the wire, byte for byte. */
const reply = (body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Behaviour => ({
  status,
  headers,
  body,
});

describe("the sent request", () => {
  test("is one POST with our credentials, which an adapter's headers cannot replace", async () => {
    const { server, endpoint } = await start({});
    const request = { ...chat("m"), headers: { "x-adapter": "1", authorization: "Bearer sk-theirs" } };
    const answer = await post(endpoint, request, never());
    expect(answer.status).toBe(200);
    const [sent] = server.requests;
    expect(sent).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(sent?.headers).toMatchObject({
      authorization: "Bearer sk-ours",
      "x-adapter": "1",
      "content-type": "application/json",
      "accept-encoding": "identity",
    });
    expect(sent?.headers).not.toHaveProperty("cookie");
  });
});

describe("a plain answer", () => {
  test("of any status is returned with its headers and its text", async () => {
    const { endpoint } = await start(reply("no 🙂", { "retry-after": "7" }, 429));
    const answer = await post(endpoint, chat("m"), never());
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(answer.text).toBe("no 🙂");
  });

  test("may be compressed without our request", async () => {
    const { endpoint } = await start(reply(gzipSync('{"ok":"é"}'), { "content-encoding": "gzip" }));
    expect((await post(endpoint, chat("m"), never())).text).toBe('{"ok":"é"}');
  });

  test("that expands a thousandfold is aborted before", async () => {
    const { endpoint } = await start(reply(gzipSync(Buffer.alloc(50 * 1_048_576)), { "content-encoding": "gzip" }));
    // Below the limit of what any answer may come to.
    expect(await errorOf(post(endpoint, chat("any"), never()))).toMatchObject({ kind: "failed" });
  });

  test("with another compression is decompressed too, and with an unknown one fails", async () => {
    for (const [encoding, compress] of [
      ["deflate", deflateSync],
      ["br", brotliCompressSync],
      ["zstd", zstdCompressSync],
    ] as const) {
      // prettier-ignore
      const { endpoint } = await start(reply(compress('{"ok":"é"}'), { "content-encoding": encoding }));
      expect((await post(endpoint, chat("any"), never())).text).toBe('{"ok":"é"}');
    }
    const { endpoint } = await start(reply("what", { "content-encoding": "riddle" }));
    expect(await errorOf(post(endpoint, chat("any"), never()))).toMatchObject({ kind: "failed" });
  });

  test("that is not compressed as declared fails", async () => {
    const { endpoint } = await start(reply("plain text", { "content-encoding": "gzip" }));
    expect(await errorOf(post(endpoint, chat("m"), never()))).toMatchObject({ kind: "failed" });
  });

  test("never follows a redirect", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const elsewhere = await start();
      const { endpoint } = await start(reply("", { location: `${elsewhere.server.url}/chat/completions` }, status));
      expect((await post(endpoint, chat("m"), never())).status).toBe(status);
      expect(elsewhere.server.requests).toHaveLength(0);
    }
  });
});

describe("an endless answer", () => {
  test("is cut at the size limit while it arrives, and the connection closed", async () => {
    const { server, endpoint } = await start();
    expect(await errorOf(post(endpoint, chat("mock-huge-1g"), never()))).toMatchObject({ kind: "failed", status: 200 });
    const call = await server.received(1);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    expect(server.openSockets()).toBe(0);
  });

  test("waits for memory while it arrives, and needs none while it is small", async () => {
    const large = Buffer.alloc(5 * 1_048_576 + 1, "x");
    const upstream = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => new Response(request.url.endsWith("/large") ? large : "small"),
    });
    try {
      const endpoint = { baseUrl: upstream.url.origin, headers: {} };
      let room = 0;
      const { promise: freed, resolve: free } = Promise.withResolvers<void>();
      const reserveBytes = async (more: number, most: number): Promise<void> => {
        expect(most).toBe(large.length);
        await freed;
        room += more;
      };
      const reading = post(endpoint, { path: "/large" }, never(), reserveBytes);
      expect((await post(endpoint, { path: "/small" }, never(), reserveBytes)).text).toBe("small");
      expect(room).toBe(0);
      free();
      expect((await reading).text).toHaveLength(large.length);
      expect(room).toBeGreaterThanOrEqual(large.length - 1_048_576);
      const full = (): Promise<void> => Promise.reject(new ApiError("overloaded", "There is no room."));
      const error: unknown = await errorOf(post(endpoint, { path: "/large" }, never(), full));
      expect(error).toMatchObject({ name: "ApiError", code: "overloaded" });
    } finally {
      await upstream.stop(true);
    }
  });

  test("is rejected by its declared length before it is read", async () => {
    const stated = String(PROVIDER_BYTES_MAX + 1);
    const { server, endpoint } = await start({
      kind: "custom",
      async play(_request, wire) {
        await wire.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${stated}\r\n\r\n{`);
        await wire.closed;
      },
    });
    expect((await errorOf(post(endpoint, chat("m"), never()))).detail).toContain(stated);
    await (
      await server.received(1)
    ).finished;
    expect(server.openSockets()).toBe(0);
  });

  test("is cut at the inflated size when it is compressed", async () => {
    const { server, endpoint } = await start();
    expect(await errorOf(post(endpoint, chat("mock-gzip-bomb"), never()))).toMatchObject({ kind: "failed" });
    expect(server.faults).toEqual([]);
  });

  test("is cut too when it is the body of an error", async () => {
    const { endpoint } = await start({
      kind: "custom",
      async play(_request, wire) {
        const block = "x".repeat(1_048_576);
        await wire.write("HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n");
        while (await wire.write(`${block.length.toString(16)}\r\n${block}\r\n`));
      },
    });
    expect(await errorOf(postStream(endpoint, chat("m", { stream: true }), never()))).toMatchObject({ kind: "failed" });
  });
});

describe("a broken connection", () => {
  test.each(["reset", "reset-after-head", "cut-body"])("%s is a failure", async (name) => {
    const { endpoint } = await start();
    const error = await errorOf(post(endpoint, chat(`mock-${name}`, { stream: name !== "cut-body" }), never()));
    expect(error).toMatchObject({ name: "ProviderError", kind: "failed" });
  });

  test("no listening server is a failure", async () => {
    const { server, endpoint } = await start();
    server.close();
    expect(await errorOf(post(endpoint, chat("m"), never()))).toMatchObject({ kind: "failed" });
    expect(await errorOf(postStream(endpoint, chat("m"), never()))).toMatchObject({ kind: "failed" });
  });
});

describe("a server with another server's certificate", () => {
  /** Counts the requests that got through. */
  function listenTls(host: string) {
    const certificate = selfSigned(host);
    let requests = 0;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: certificate,
      fetch() {
        requests += 1;
        return new Response("{}");
      },
    });
    return { server, url: `https://127.0.0.1:${server.port}`, requests: () => requests };
  }

  test("received nothing, so another may be called", async () => {
    const { server, url, requests } = listenTls("elsewhere.example");
    const error = await errorOf(post({ baseUrl: url, headers: {} }, chat("m"), never()));
    expect(error).toMatchObject({ kind: "failed", isUnsent: true });
    expect(requests()).toBe(0);
    await server.stop(true);
  });

  test.each<[string, boolean]>([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", true],
    ["SELF_SIGNED_CERT_IN_CHAIN", true],
    ["CERT_HAS_EXPIRED", true],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", true],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", true],
    ["ERR_TLS_CERT_ALTNAME_INVALID", true],
    // Bun says it of a record that is broken after the request as well.
    ["EPROTO", false],
    ["ECONNRESET", false],
    ["ERR_TLS_SESSION_ATTACK", false],
  ])("is recognised by %s: unsent is %p", (code, isUnsent) => {
    const error = Object.assign(new TypeError("no"), { code });
    expect(connectionError(error, never())).toMatchObject({ kind: "failed", isUnsent });
  });
});

describe("an aborted call", () => {
  /** Plays a beginning of an answer, says when it is out, and waits for the end of the connection. */
  function beginning(bytes: string): { behaviour: Behaviour; isOut: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const behaviour: Behaviour = {
      kind: "custom",
      async play(_request, wire) {
        await wire.write(bytes);
        resolve();
        await wire.closed;
      },
    };
    return { behaviour, isOut: promise };
  }

  const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";

  test.each<[string, string]>([
    ["before the head", ""],
    ["inside the head", "HTTP/1.1 200 OK\r\ncontent-"],
    ["after the head", HEAD],
    ["in the middle of the body", `${HEAD}{"choices":`],
    ["inside the body of an error", `${HEAD.replace("200 OK", "500 No")}{"error":`],
  ])("%s closes the socket and reports it", async (_when, bytes) => {
    for (const isStream of [false, true]) {
      const { behaviour, isOut } = beginning(bytes);
      const { server, endpoint } = await start(behaviour);
      const abort = new AbortController();
      const request = chat("m", { stream: isStream });
      const ended = errorOf(
        isStream
          ? postStream(endpoint, request, abort.signal).then((answer) => new Response(answer.body).text())
          : post(endpoint, request, abort.signal),
      );
      const call = await server.received(1);
      await isOut;
      abort.abort();
      const error = await ended;
      if (!isStream) expect(error).toMatchObject({ kind: "aborted" });
      await call.finished;
      expect(call.closedByClientAt).not.toBeNull();
      expect(server.openSockets()).toBe(0);
    }
  });

  test("before its start sends nothing", async () => {
    const { server, endpoint } = await start();
    expect(await errorOf(post(endpoint, chat("m"), AbortSignal.abort()))).toMatchObject({ kind: "aborted" });
    expect(server.requests).toHaveLength(0);
  });

  test("closes the socket of a stream whose body is being read", async () => {
    const { server, endpoint } = await start();
    const abort = new AbortController();
    const answer = await postStream(endpoint, chat("mock-endless", { stream: true }), abort.signal);
    const drained = (async () => {
      for await (const _bytes of answer.body ?? []) abort.abort();
    })();
    expect(await errorOf(drained)).toBeDefined();
    const call = await server.received(1);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    expect(server.openSockets()).toBe(0);
  });
});

describe("a streamed answer", () => {
  test("is returned unread when its status is good", async () => {
    const { endpoint } = await start();
    const answer = await postStream(endpoint, chat("mock-ok", { stream: true }), never());
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(await new Response(answer.body).text()).toEndWith("data: [DONE]\n\n");
  });

  test("is read as a text when its status is bad", async () => {
    const { endpoint } = await start();
    const answer = await postStream(endpoint, chat("mock-rate-limit", { stream: true }), never());
    expect(answer).toMatchObject({ status: 429, body: null });
    expect(answer.text).toContain("rate_limit_exceeded");
  });

  test("closes the socket when its reader stops early", async () => {
    const { server, endpoint } = await start();
    const answer = await postStream(endpoint, chat("mock-endless", { stream: true }), never());
    for await (const _bytes of answer.body ?? []) break;
    const call = await server.received(1);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    expect(server.openSockets()).toBe(0);
  });
});
