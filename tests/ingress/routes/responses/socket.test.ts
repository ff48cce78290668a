import { connect as connectTcp } from "node:net";

import { afterEach, describe, expect, test } from "bun:test";

import { partsOf } from "#ingress/app.ts";
import { listen } from "#ingress/listen.ts";
import {
  CONNECTIONS_WORKSPACE_MAX,
  openResponseSockets,
  REFUSED_IN_A_ROW_MAX,
  TURNS_WAITING_MAX,
} from "#ingress/routes/responses/socket.ts";
import { newId } from "#shared/base/ids.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type FakeContext, fakeContext, type FakeOptions, KEY } from "#tests/ingress/fake-context.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function fake(options?: FakeOptions): FakeContext {
  const made = fakeContext(options);
  closing.push(() => made.close());
  return made;
}

interface Heard {
  readonly socket: WebSocket;
  readonly messages: unknown[];
  /** The close code; 1002 or 1006 where it was never open. */
  readonly closed: Promise<number>;
  readonly opened: Promise<void>;
}

function connect(port: number, key = KEY): Heard {
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers } as unknown as string[]);
  const messages: unknown[] = [];
  socket.addEventListener("message", ({ data }) => messages.push(JSON.parse(String(data))));
  const opened = new Promise<void>((resolve) => socket.addEventListener("open", () => resolve()));
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  closing.push(() => socket.close());
  return { socket, messages, closed, opened };
}

describe("connections", () => {
  test("end when the port closes: immediately, or after their current turn", async () => {
    const { promise: word, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const relay = async (): Promise<Response> => {
      onAsked();
      await word;
      return new Response("event: a\ndata: {}\n\n", { headers: { "content-type": "text/event-stream" } });
    };
    const { context } = fake({ relay });
    const server = listen(context, { hostname: "127.0.0.1", port: 0 });
    const [idle, busy] = [connect(server.port), connect(server.port)];
    await Promise.all([idle.opened, busy.opened]);
    busy.socket.send(JSON.stringify({ type: "response.create", model: "one", input: "x", store: false }));
    await asked;
    const stopped = server.stop();
    expect(await idle.closed).toBe(1001);
    expect(busy.messages).toEqual([]);
    resolve();
    expect(await busy.closed).toBe(1001);
    expect(busy.messages).toEqual([{}]);
    await stopped;
  });

  test("of a workspace are limited", async () => {
    const { context } = fake();
    const server = listen(context, { hostname: "127.0.0.1", port: 0 });
    closing.push(() => server.stop(true));
    const many = Array.from({ length: CONNECTIONS_WORKSPACE_MAX }, () => connect(server.port));
    await Promise.all(many.map(({ opened }) => opened));
    const more = connect(server.port);
    expect([1002, 1006]).toContain(await more.closed);
    many[0]?.socket.close();
    await many[0]?.closed;
    const next = connect(server.port);
    await next.opened;
  });

  test("end when a client keeps sending beyond its queue, and every rejection is counted", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const relay = (): Promise<Response> => {
      onAsked();
      return new Promise(() => undefined);
    };
    const { context } = fake({ relay });
    const server = listen(context, { hostname: "127.0.0.1", port: 0 });
    closing.push(() => server.stop(true));
    const heard = connect(server.port);
    await heard.opened;
    const say = (): void => heard.socket.send(JSON.stringify({ type: "response.create", model: "one", input: "x", store: false })); // prettier-ignore
    say();
    await asked;
    for (let at = 0; at < TURNS_WAITING_MAX + REFUSED_IN_A_ROW_MAX; at += 1) say();
    expect(await heard.closed).toBe(1008);
    expect(heard.messages).toHaveLength(REFUSED_IN_A_ROW_MAX);
    expect(heard.messages.at(-1)).toMatchObject({ type: "error", error: { code: "overloaded" } });
    expect(await context.metrics.registry.metrics()).toContain(
      `sluice_socket_messages_refused_total{role="test"} ${REFUSED_IN_A_ROW_MAX}`,
    );
  });

  test("end at a message above the size limit", async () => {
    const { context } = fake();
    const server = listen({ ...context, config: { ...context.config, bodyBytesMax: 2_000 } }, { hostname: "127.0.0.1", port: 0 }); // prettier-ignore
    closing.push(() => server.stop(true));
    const [largest, larger] = [connect(server.port), connect(server.port)];
    await Promise.all([largest.opened, larger.opened]);
    const heard = new Promise((resolve) => largest.socket.addEventListener("message", resolve));
    largest.socket.send("x".repeat(2_000));
    await heard;
    expect(largest.messages).toMatchObject([{ type: "error", error: { code: "invalid_json" } }]);
    larger.socket.send("x".repeat(2_001));
    expect([1006, 1009]).toContain(await larger.closed);
  });

  test("accept a message of bytes like one of text, and reject invalid UTF-8 like a body", async () => {
    const { context } = fake();
    const server = listen(context, { hostname: "127.0.0.1", port: 0 });
    closing.push(() => server.stop(true));
    const heard = connect(server.port);
    await heard.opened;
    const say = (message: string | Uint8Array): Promise<void> =>
      new Promise((resolve) => {
        heard.socket.addEventListener("message", () => resolve(), { once: true });
        heard.socket.send(message);
      });
    await say(Buffer.from('{"type":"other"}'));
    await say(Buffer.from('{"type":"response.create","model":"one","input":"\xff"}', "latin1"));
    expect(heard.messages).toMatchObject([{ error: { param: "type" } }, { error: { code: "invalid_json" } }]);
  });

  test("read no message before its key and its window", async () => {
    let isRevoked = false;
    const authenticate = (): void => {
      if (isRevoked)
        throw new ApiError("invalid_api_key", "The API key is unknown, revoked or expired; use an active key.");
    };
    const { context, counted } = fake({ authenticate });
    const server = listen(context, { hostname: "127.0.0.1", port: 0 });
    closing.push(() => server.stop(true));
    const heard = connect(server.port);
    await heard.opened;
    const codes: unknown[] = [];
    const say = (message: string): Promise<void> =>
      new Promise((resolve) => {
        heard.socket.addEventListener("message", () => resolve(), { once: true });
        heard.socket.send(message);
      });
    for (const message of ["no JSON", "[]", '{"type":"other"}', '{"type":"response.create","stream":false}']) await say(message); // prettier-ignore
    expect(counted).toHaveLength(4);
    isRevoked = true;
    await say("no JSON");
    for (const message of heard.messages) codes.push((message as { error: { code: string } }).error.code);
    expect(codes).toEqual(["invalid_json", "unsupported_value", "unsupported_value", "unsupported_value", "invalid_api_key"]); // prettier-ignore
    expect(counted).toHaveLength(4);
  });

  test("count a message without generation in the window, without a model call or a hold", async () => {
    const { context, counted, relayed } = fake();
    const server = listen(context, { hostname: "127.0.0.1", port: 0 });
    closing.push(() => server.stop(true));
    const heard = connect(server.port);
    await heard.opened;
    const ended = new Promise<void>((resolve) => {
      heard.socket.addEventListener("message", ({ data }) => {
        if ((JSON.parse(String(data)) as { type: string }).type === "response.completed") resolve();
      });
    });
    heard.socket.send(JSON.stringify({ type: "response.create", model: "one", input: [], generate: false }));
    await ended;
    expect(relayed).toEqual([]);
    expect(counted.map(({ hold }) => hold)).toEqual([null]);
    const last = heard.messages.at(-1) as { readonly response: unknown };
    expect(last.response).toMatchObject({
      status: "completed",
      output: [],
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    });
  });

  test("of one workspace use at most half of the message memory, and others are accepted", async () => {
    const { context, caller } = fake({ bodyBytesMax: 8 * 1_048_576 });
    const { promise: word, resolve } = Promise.withResolvers<void>();
    let isHeld = false;
    const authenticate = async (key: string | null) => {
      if (isHeld) await word;
      return key === `Bearer ${KEY}` ? caller : { ...caller, workspaceId: newId() };
    };
    const server = listen({ ...context, authenticator: { ...context.authenticator, authenticate } }, { hostname: "127.0.0.1", port: 0 }); // prettier-ignore
    closing.push(() => server.stop(true));
    const [flood, same, other] = [connect(server.port), connect(server.port), connect(server.port, "another")];
    await Promise.all([flood, same, other].map(({ opened }) => opened));
    isHeld = true;
    const large = "x".repeat(8 * 1_048_576);
    for (let count = 0; count < 8; count++) flood.socket.send(large);
    const answered = ({ socket }: Heard) => new Promise((done) => socket.addEventListener("message", done, { once: true })); // prettier-ignore
    let refused = answered(same);
    // Asked until all of the flood has come.
    for (let isFull = false; !isFull; isFull = same.messages.length > 0) {
      same.socket.send("x");
      await Promise.race([refused, Bun.sleep(20)]);
    }
    expect(same.messages[0]).toMatchObject({ type: "error", error: { code: "overloaded" } });
    const heard = answered(other);
    other.socket.send("x");
    resolve();
    await heard;
    expect(other.messages).toMatchObject([{ type: "error", error: { code: "invalid_json" } }]);
    refused = answered(flood);
    await refused;
  }, 30_000);

  test("whose client reads nothing for the limit are disconnected", async () => {
    const data = "x".repeat(262_144);
    const relay = (): Response =>
      new Response(
        new ReadableStream({
          type: "bytes",
          pull: (controller) => controller.enqueue(new TextEncoder().encode(`event: a\ndata: ${data}\n\n`)),
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    const { context } = fake({ relay });
    const { serve } = partsOf(context);
    const sockets = openResponseSockets(context, serve, { lifeMs: 60_000, unreadMs: 50 });
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, opened) => sockets.upgrade(request, opened, () => "127.0.0.1"),
      websocket: {
        ...sockets.handler,
        close: (socket, code, reason) => {
          resolve();
          return sockets.handler.close?.(socket, code, reason);
        },
      },
    });
    closing.push(() => server.stop(true));
    const socket = connectTcp(server.port ?? 0, "127.0.0.1");
    closing.push(() => socket.destroy());
    const head = ["GET /v1/responses HTTP/1.1", "host: a", "connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", `authorization: Bearer ${KEY}`, "", ""]; // prettier-ignore
    socket.write(head.join("\r\n"));
    await new Promise((done) => socket.once("data", done));
    socket.pause();
    const said = Buffer.from(JSON.stringify({ type: "response.create", model: "one", input: "x", store: false }));
    // Masked with zeros, so as it is.
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | said.length, 0, 0, 0, 0]), said]));
    await cut;
  });

  test("have a maximum lifetime, and report it at their end", async () => {
    const { context } = fake();
    const { serve } = partsOf(context);
    const sockets = openResponseSockets(context, serve, { lifeMs: 50, unreadMs: 1_000 });
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, opened) => sockets.upgrade(request, opened, () => "127.0.0.1"),
      websocket: sockets.handler,
    });
    closing.push(() => server.stop(true));
    const heard = connect(server.port ?? 0);
    expect(await heard.closed).toBe(1001);
    expect(heard.messages).toMatchObject([
      { type: "error", status: 400, error: { code: "websocket_connection_limit_reached" } },
    ]);
  });
});
