import { afterEach, describe, expect, test } from "bun:test";

import { partsOf } from "#ingress/app.ts";
import { listen } from "#ingress/listen.ts";
import { CONNECTIONS_WORKSPACE_MAX, openResponseSockets } from "#ingress/routes/responses-socket.ts";
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

function connect(port: number): Heard {
  const headers = { authorization: `Bearer ${KEY}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers } as unknown as string[]);
  const messages: unknown[] = [];
  socket.addEventListener("message", ({ data }) => messages.push(JSON.parse(String(data))));
  const opened = new Promise<void>((resolve) => socket.addEventListener("open", () => resolve()));
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  closing.push(() => socket.close());
  return { socket, messages, closed, opened };
}

describe("connections", () => {
  test("end when the port closes: at once, or behind the turn that they are in", async () => {
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

  test("of a workspace are so many, and no more", async () => {
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

  test("end at a message that is larger than one may be", async () => {
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

  test("live so long, and say so at their end", async () => {
    const { context } = fake();
    const { serve } = partsOf(context);
    const sockets = openResponseSockets(context, serve, 50);
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
