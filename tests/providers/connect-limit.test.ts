import { expect, test } from "bun:test";
import { once } from "node:events";
import { createServer } from "node:net";

import { connectByProxy, watchConnect } from "#workers/providers/connect-limit.ts";

const aborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, "abort");
};

test("a call whose address picks up nowhere is ended, and said to be unreachable", async () => {
  const watch = watchConnect("http://far.example/", new AbortController().signal, 1, () => Promise.resolve(true));
  await aborted(watch.signal);
  expect(watch.isUnreachable()).toBe(true);
});

test("a call whose address picks up waits on, however long its answer takes", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const watch = watchConnect(`http://127.0.0.1:${port}/`, new AbortController().signal, 5);
  // The look at the address arrives as a connection of its own.
  const [socket] = (await once(server, "connection")) as [{ destroy(): void }];
  socket.destroy();
  await Bun.sleep(20);
  expect(watch.signal.aborted).toBe(false);
  expect(watch.isUnreachable()).toBe(false);
  watch.stop(false);
  server.close();
});

test("an address that refuses is left to fetch, which hears of it itself", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  const watch = watchConnect(`http://127.0.0.1:${port}/`, new AbortController().signal, 5);
  await Bun.sleep(30);
  expect(watch.isUnreachable()).toBe(false);
  watch.stop(false);
});

test("an answer that has begun is not ended any more, but by its caller", async () => {
  const caller = new AbortController();
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<boolean>();
  const watch = watchConnect("http://far.example/", caller.signal, 1, () => {
    asked.resolve(undefined);
    return answer.promise;
  });
  await asked.promise;
  watch.stop(false);
  answer.resolve(true);
  await answer.promise;
  expect(watch.isUnreachable()).toBe(false);
  caller.abort(new Error("left"));
  expect(watch.signal.reason).toMatchObject({ message: "left" });
});

test("an address that answered lately is not doubted: its silence is thinking", async () => {
  const url = "http://known.example/";
  watchConnect(url, new AbortController().signal, 1, () => Promise.resolve(true)).stop(true);
  const watch = watchConnect(url, new AbortController().signal, 1, () => Promise.resolve(true));
  await Bun.sleep(20);
  expect(watch.signal.aborted).toBe(false);
  watch.stop(false);
});

test("behind a proxy the address itself is not looked at", async () => {
  connectByProxy(true);
  const watch = watchConnect("http://other.example/", new AbortController().signal, 1, () => Promise.resolve(true));
  await Bun.sleep(20);
  expect(watch.signal.aborted).toBe(false);
  watch.stop(false);
  connectByProxy(false);
});
