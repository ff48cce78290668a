import { afterEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { allow, listenRaw } from "#tests/shared/net/servers.ts";
import type { AttemptResult } from "#workers/webhook/channel.ts";
import { SENDERS } from "#workers/webhook/channels/index.ts";
import { webhookSender } from "#workers/webhook/channels/webhook.ts";

import { channelOf, contextOf, names, outgoing, receive, type Receiver } from "./receivers.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

async function receiver(answer: (response: ServerResponse) => void): Promise<Receiver> {
  const server = await receive(answer);
  open.push(server);
  return server;
}

async function attempt(answer: (response: ServerResponse) => void): Promise<AttemptResult> {
  const server = await receiver(answer);
  return SENDERS.webhook(channelOf("webhook", { url: server.url() }), outgoing(), contextOf());
}

describe("a slow receiver", () => {
  test("is aborted at the end of the attempt: no answer, a body byte by byte, half of a body, and a name that never resolves", async () => {
    const closed: Promise<void>[] = [];
    const watched = (answer: (response: ServerResponse) => void) => (response: ServerResponse) => {
      closed.push(new Promise((resolve) => void response.on("close", resolve)));
      answer(response);
    };
    const drip = (response: ServerResponse): void => {
      const timer = setInterval(() => response.write("x"), 20);
      response.on("close", () => clearInterval(timer));
    };
    const never = webhookSender(() => new Promise(() => undefined));
    const unresolved = channelOf("webhook", { url: "https://slow.example.com/" });
    const [hung, dripping, half, gone, unnamed] = await Promise.all([
      attempt(watched(() => undefined)),
      attempt(watched(drip)),
      attempt(watched((response) => void response.writeHead(202).write("half"))),
      attempt(watched((response) => drip(response.writeHead(410)))),
      never(unresolved, outgoing(), contextOf()),
    ]);
    expect(hung).toEqual({ ok: false, verdict: "again", error: "timeout", status: null, responseStart: "" });
    expect(dripping).toMatchObject({ ok: false, verdict: "again", error: "timeout", status: 200 });
    expect(dripping.responseStart).toMatch(/^x+$/);
    expect(half).toEqual({ ok: false, verdict: "again", error: "timeout", status: 202, responseStart: "half" });
    expect(gone).toMatchObject({ ok: false, verdict: "gone", status: 410 });
    expect(unnamed).toMatchObject({ verdict: "again", error: "timeout" });
    await Promise.all(closed);
  });

  test("does not delay the end of an attempt, whose reason is thrown", async () => {
    const controller = new AbortController();
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const server = await receiver((response) => {
      response.on("close", onClose);
      controller.abort(new Error("shutting down"));
    });
    const channel = channelOf("webhook", { url: server.url() });
    const context = contextOf(undefined, controller.signal);
    expect(await SENDERS.webhook(channel, outgoing(), context).catch(String)).toBe("Error: shutting down");
    await closed;
    expect(await SENDERS.webhook(channel, outgoing(), context).catch(String)).toBe("Error: shutting down");
    expect(server.requests).toHaveLength(1);
  });
});

describe("a receiver with a large answer", () => {
  test("has its answer read to 64 KiB", async () => {
    expect(await attempt((response) => response.end("x".repeat(65_536)))).toMatchObject({ ok: true });
    const result = await attempt((response) => {
      response.write("x".repeat(65_536));
      response.end("x");
    });
    expect(result).toMatchObject({ ok: false, verdict: "again", error: "too_large", status: 200 });
  });

  test("without end is aborted, and its connection closed", async () => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const result = await attempt((response) => {
      const feed = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on("drain", feed).on("close", onClose);
      feed();
    });
    expect(result).toMatchObject({ ok: false, verdict: "again", error: "too_large" });
    await closed;
  });

  test.each([
    ["gzip", gzipSync],
    // The default quality takes a second of CPU.
    ["br", (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ] as const)("in a bomb of %s is aborted while it expands", async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(50_000_000, "x"));
    expect(bomb.length).toBeLessThan(65_536);
    const result = await attempt((response) => response.setHeader("content-encoding", encoding).end(bomb));
    expect(result).toMatchObject({ ok: false, verdict: "again", error: "too_large", status: 200 });
    const small = compress(Buffer.from("hello"));
    expect(await attempt((response) => response.setHeader("content-encoding", encoding).end(small))).toEqual({
      ok: true,
      status: 200,
      responseStart: "hello",
    });
  });

  test("that sends a megabyte of headers fails", async () => {
    const headers = Array.from({ length: 1_000 }, (_, index) => `X-${index}: ${"v".repeat(1_000)}\r\n`).join("");
    const server = await listenRaw(`HTTP/1.1 200 OK\r\n${headers}Content-Length: 2\r\n\r\nok`);
    open.push(server);
    allow("127.0.0.1");
    const result = await SENDERS.webhook(channelOf("webhook", { url: server.url("/") }), outgoing(), contextOf());
    expect(result).toMatchObject({ ok: false, verdict: "again", error: "unreachable" });
  });
});

describe("an unavailable receiver", () => {
  test("is unreachable: no server listens, the name does not exist, the connection breaks, it is not HTTP", async () => {
    const closed = await receiver(() => undefined);
    closed.close();
    const silent = await listenRaw("");
    const other = await listenRaw("SSH-2.0-OpenSSH_9.6\r\n");
    open.push(silent, other);
    const send = webhookSender(names({}));
    for (const url of [closed.url(), "https://gone.example.com/", silent.url("/"), other.url("/")]) {
      const result = await send(channelOf("webhook", { url }), outgoing(), contextOf());
      expect(result).toEqual({ ok: false, verdict: "again", error: "unreachable", status: null, responseStart: "" });
    }
    const broken = await attempt((response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("abc", () => response.destroy());
    });
    expect(broken).toMatchObject({ ok: false, verdict: "again", error: "unreachable", status: 200 });
  });
});

describe("the recorded start of an answer", () => {
  const start = async (body: string | Uint8Array): Promise<string> =>
    (await attempt((response) => response.end(body))).responseStart;

  test("has 1,024 characters at most, without a split surrogate pair", async () => {
    expect(await start("ü".repeat(1_024))).toBe("ü".repeat(1_024));
    expect(await start("ü".repeat(1_025))).toBe("ü".repeat(1_024));
    expect(await start("🙂".repeat(1_025))).toBe("🙂".repeat(1_024));
  });

  test("is valid text without control characters", async () => {
    expect(await start("a\0b\u0007\r\n\tc\u009fd\u007f")).toBe("a b c d");
    expect(await start(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xf0, 0x9f]))).toBe("a\ufffd\ufffd(\ufffd");
    expect((await start(Buffer.from([0xed, 0xa0, 0x80]))).isWellFormed()).toBe(true);
  });

  test("contains no secret of a receiver that echoes its request", async () => {
    const server = await receive((response, request) => {
      response.writeHead(500).end(JSON.stringify({ path: request.path, headers: request.headers }));
    });
    open.push(server);
    const secrets = {
      url: server.url("/hook/s3cret-path?key=s3cret-query"),
      signingSecret: "whsec_s3cret-signing",
      authToken: "s3cret-token",
      authPassword: "s3cret-password",
      authApiKey: "s3cret-key",
      authHeaderValue: "s3cret-value",
    };
    const basic = Buffer.from("jo:s3cret-password").toString("base64");
    for (const config of [
      { authType: "bearer" },
      { authType: "basic", authUsername: "jo" },
      { authType: "api_key" },
      { authType: "custom_header", authHeaderName: "x-custom" },
    ]) {
      const result = await SENDERS.webhook(channelOf("webhook", secrets, config), outgoing(), contextOf());
      expect(result.responseStart).toContain('"path":"[secret]"');
      expect(result.responseStart).not.toContain("s3cret");
      expect(result.responseStart).not.toContain(basic);
    }
  });
});
