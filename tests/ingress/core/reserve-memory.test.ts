/** Room in memory of calls whose bodies are small, and that go on from much. */
import { afterEach, expect, test } from "bun:test";

import type { KeyRoute } from "#ingress/core/route.ts";
import { createServe } from "#ingress/core/serve.ts";
import { type FakeContext, fakeContext, KEY } from "#tests/ingress/fake-context.ts";

const closing: (() => unknown)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

const MB = 1_048_576;

function open(): {
  readonly context: FakeContext;
  readonly send: (handle: KeyRoute["handle"], isSmall?: boolean) => Promise<Response>;
} {
  const context = fakeContext();
  closing.push(() => context.close());
  const serve = createServe(context.context);
  const route = { method: "POST", path: "/x", operationId: "x", summary: "", tags: [], auth: "key", responses: {}, errors: [], canLoadStoredContent: true } as const; // prettier-ignore
  return {
    context,
    send: (handle, isSmall = true) => {
      const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "content-length": isSmall ? "2" : String(2 * MB) }; // prettier-ignore
      return serve({ ...route, handle }, new Request("http://x/x", { method: "POST", headers, body: "{}" }), {}, () => "127.0.0.1"); // prettier-ignore
    },
  };
}

test("a small body that expands waits for its workspace's memory share, and releases it with its answer", async () => {
  const { send } = open();
  const { promise: leave, resolve } = Promise.withResolvers<void>();
  const { promise: inside, resolve: onInside } = Promise.withResolvers<void>();
  const first = send(async ({ meter }) => {
    await meter.reserveMemory(40 * MB);
    onInside();
    await leave;
    return new Response();
  });
  await inside;
  let hasRoom = false;
  const second = send(async ({ meter }) => {
    await meter.reserveMemory(40 * MB);
    hasRoom = true;
    return new Response();
  });
  // What is little needs none.
  expect((await send(async ({ meter }) => meter.reserveMemory(MB).then(() => new Response()))).status).toBe(200); // prettier-ignore
  expect(hasRoom).toBe(false);
  resolve();
  await Promise.all([first, second]);
  expect(hasRoom).toBe(true);
});

test("a large body has its memory share already", async () => {
  const { send } = open();
  const answer = await send(async ({ meter }) => {
    await meter.reserveMemory(64 * MB);
    await meter.reserveMemory(64 * MB);
    return new Response();
  }, false);
  expect(answer.status).toBe(200);
});
