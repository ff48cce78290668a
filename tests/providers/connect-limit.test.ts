import { expect, test } from "bun:test";
import { once } from "node:events";
import { createServer } from "node:net";

import { connectByProxy, watchConnect } from "#workers/providers/connect-limit.ts";

const aborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, "abort");
};

test("a call whose address accepts no connection is ended as unreachable", async () => {
  const watch = watchConnect("http://far.example/", new AbortController().signal, 1, () => Promise.resolve(true));
  await aborted(watch.signal);
  expect(watch.isUnreachable()).toBe(true);
});

test("a call whose address accepts waits for its answer without a connect limit", async () => {
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

test("an address that rejects connections is left to fetch, which reports it", async () => {
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

test("an answer that has started is ended by its caller only", async () => {
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

test("an address that answered recently is not checked: its silence is processing", async () => {
  const url = "http://known.example/";
  watchConnect(url, new AbortController().signal, 1, () => Promise.resolve(true)).stop(true);
  const watch = watchConnect(url, new AbortController().signal, 1, () => Promise.resolve(true));
  await Bun.sleep(20);
  expect(watch.signal.aborted).toBe(false);
  watch.stop(false);
});

test("the address is not checked behind a proxy", async () => {
  connectByProxy(true);
  const watch = watchConnect("http://other.example/", new AbortController().signal, 1, () => Promise.resolve(true));
  await Bun.sleep(20);
  expect(watch.signal.aborted).toBe(false);
  watch.stop(false);
  connectByProxy(false);
});
