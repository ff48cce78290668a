/** Bodies that break off, as a client on a socket sees them. */
import { connect } from "node:net";

import { expect, test } from "bun:test";

import { streamOf } from "#ingress/files/stream.ts";

/** All that comes until the connection closes. */
function heard(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  socket.on("data", (bytes) => (text += bytes.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("close", () => resolve(text));
  return promise;
}

test("a body that breaks off at once has its head and what was there of it, and no end", async () => {
  const faults: unknown[] = [];
  const broken = new Error("broken off");
  const server = Bun.serve({
    port: 0,
    fetch() {
      // oxlint-disable-next-line require-yield
      const rest = (async function* (): AsyncGenerator<Uint8Array, void, void> {
        await Promise.resolve();
        throw broken;
      })();
      return new Response(streamOf(Buffer.from("its first piece"), rest, (error) => faults.push(error)));
    },
  });
  try {
    const text = await heard(server.port ?? 0);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nf\r\nits first piece\r\n$/);
    expect(faults).toEqual([broken]);
  } finally {
    await server.stop(true);
  }
});
