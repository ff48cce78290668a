/** The socket under the clients of Postgres and NATS: every byte once and in order, an end that is reported once, errors that name their cause. */
import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

import { PlainSocket } from "#shared/net/plain-socket.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

/** Starts a server; resolves with its port. */
async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  server = createServer(onSocket).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function open(onSocket: (socket: Socket) => void): Promise<PlainSocket> {
  const socket = new PlainSocket().connect(await listen(onSocket), "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

describe("bytes", () => {
  test("of many sizes arrive once and in order at an idle reader, including those written before the connect", async () => {
    const hash = new Bun.CryptoHasher("sha256");
    let size = 0;
    const arrived = Promise.withResolvers<string>();
    const port = await listen((peer) => {
      const end = new Bun.CryptoHasher("sha256");
      peer.pause();
      setTimeout(() => peer.resume(), 100);
      peer.on("data", (bytes) => end.update(bytes));
      peer.on("end", () => arrived.resolve(end.digest("hex")));
    });
    const socket = new PlainSocket();
    const write = (bytes: Uint8Array): boolean => {
      hash.update(bytes);
      size += bytes.length;
      return socket.write(bytes);
    };
    write(new TextEncoder().encode("early"));
    socket.connect(port, "127.0.0.1");
    await once(socket, "connect");
    let isRefused = false;
    for (let index = 0; index < 3_000; index++) {
      isRefused = !write(new Uint8Array((index * 7_919) % 9_000).fill(index)) || isRefused;
    }
    // More than the kernel keeps for a reader that rests, so the rest waited.
    expect(size).toBeGreaterThan(8 * 1_048_576);
    expect(isRefused).toBe(true);
    socket.end();
    expect(await arrived.promise).toBe(hash.digest("hex"));
  });

  test("written between cork and uncork are sent together, and each write is confirmed", async () => {
    const pieces: string[] = [];
    const socket = await open((peer) => peer.on("data", (bytes) => pieces.push(String(bytes))));
    const done: number[] = [];
    socket.cork();
    for (const index of [1, 2, 3]) socket.write(Buffer.from(`<${index}>`), () => done.push(index));
    await Bun.sleep(20);
    expect(pieces).toEqual([]);
    expect(done).toEqual([]);
    socket.uncork();
    expect(done).toEqual([1, 2, 3]);
    while (pieces.length === 0) await Bun.sleep(1);
    expect(pieces).toEqual(["<1><2><3>"]);
    socket.destroy();
  });

  test("of 64 KiB written under a cork are sent, and later ones wait", async () => {
    const arrived: number[] = [];
    const size = (): number => arrived.reduce((sum, bytes) => sum + bytes, 0);
    const socket = await open((peer) => peer.on("data", (bytes) => arrived.push(bytes.length)));
    socket.cork();
    for (let index = 0; index < 17; index++) socket.write(Buffer.alloc(4_096));
    while (size() < 65_536) await Bun.sleep(1);
    await Bun.sleep(20);
    expect(size()).toBe(65_536);
    socket.uncork();
    while (size() < 17 * 4_096) await Bun.sleep(1);
    socket.destroy();
  });

  test.each<[string, (socket: PlainSocket) => void]>([
    ["before anybody listens", () => undefined],
    ["after all listeners were taken away", (socket) => void socket.removeAllListeners()],
  ])("that arrive %s are kept, in order", async (_when, prepare) => {
    const socket = await open((peer) => {
      peer.write("one,");
      setTimeout(() => peer.write("two"), 20);
    });
    prepare(socket);
    await Bun.sleep(60);
    let text = "";
    socket.on("data", (bytes: Buffer) => (text += String(bytes)));
    while (!text.endsWith("two")) await Bun.sleep(1);
    expect(text).toBe("one,two");
    socket.destroy();
  });
});

describe("a connect that hangs", () => {
  /** In a process of its own, with a server whose backlog is full: it never answers. */
  test("and is aborted is followed by sockets with abortable connects, until the system ends it", async () => {
    const script = `
      import { Socket } from "node:net";
      import { PlainSocket } from "#shared/net/plain-socket.ts";
      const is = () => (PlainSocket.open() instanceof Socket ? "net" : "plain");
      const heard = [is()];
      const socket = new PlainSocket().connect(9, "198.51.100.1");
      await Bun.sleep(10);
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.destroy();
      await closed;
      heard.push(is());
      process.stdout.write(heard.join());
      process.exit();`;
    const child = Bun.spawn([process.execPath, "--eval", script], { cwd: PROJECT_ROOT, stderr: "inherit" });
    const said = await new Response(child.stdout).text();
    // Where no packet gets out, the dial fails at once and nothing hangs.
    expect(["plain,net", "plain,plain"]).toContain(said);
    expect(await child.exited).toBe(0);
  });
});

describe("an end", () => {
  test("by us sends the written bytes", async () => {
    const arrived = Promise.withResolvers<number>();
    const socket = await open((peer) => {
      let size = 0;
      peer.on("data", (bytes) => (size += bytes.length));
      peer.on("close", () => arrived.resolve(size));
      peer.on("error", () => undefined);
    });
    socket.write(new Uint8Array(2_000_000), () => void socket.destroy());
    expect(await arrived.promise).toBe(2_000_000);
  });

  test("with an unhandled error ends nothing else", async () => {
    const socket = await open(() => undefined);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.destroy(new Error("a fault"));
    await closed;
  });

  test("by the peer is reported as end and close, once each", async () => {
    const heard: string[] = [];
    const socket = await open((peer) => peer.end());
    for (const name of ["end", "close", "error"]) socket.on(name, () => heard.push(name));
    await once(socket, "close");
    await Bun.sleep(10);
    expect(heard).toEqual(["end", "close"]);
    expect(socket.writable).toBe(false);
  });

  test("by us is reported as close, and later writes fail", async () => {
    const socket = await open(() => undefined);
    const closed = once(socket, "close");
    socket.destroy();
    socket.destroy();
    await closed;
    const failed = Promise.withResolvers<Error | undefined>();
    expect(socket.write(Buffer.from("late"), failed.resolve)).toBe(false);
    expect((await failed.promise)?.message).toBe("the connection is closed");
  });

  test("fails the unsent writes", async () => {
    const socket = await open((peer) => void peer.pause());
    const failed = Promise.withResolvers<Error | undefined>();
    socket.write(new Uint8Array(32 * 1_048_576), failed.resolve);
    socket.destroy();
    expect(await failed.promise).toBeInstanceOf(Error);
  });

  test("of a server that does not exist contains the cause", async () => {
    const port = await listen(() => undefined);
    await new Promise((resolve) => server?.close(resolve));
    const heard: string[] = [];
    const socket = new PlainSocket();
    socket.on("error", (error: Error & { code?: string }) => heard.push(error.code ?? error.message));
    const closed = new Promise<void>((resolve) => {
      socket.on("close", () => {
        heard.push("close");
        resolve();
      });
    });
    socket.connect(port, "127.0.0.1");
    await closed;
    expect(heard).toEqual(["ECONNREFUSED", "close"]);
  });
});
