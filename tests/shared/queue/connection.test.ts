import { afterEach, describe, expect, spyOn, test } from "bun:test";

import fc from "fast-check";

import { freePort } from "#deploy/embedded/probe.mjs";
import { createLogger } from "#shared/base/logger.ts";
import { compareVersions, connectNats, NATS_VERSION_MIN, type NatsRole, whenLinked } from "#shared/queue/connection.ts";
import { PlainSocket } from "#shared/net/plain-socket.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { startTcpProxy } from "#tests/support/tcp-proxy.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Greets like a server of this version and answers pings: enough to connect. */
function pretendServer(version: string): string {
  const info = {
    server_id: "X",
    version,
    proto: 1,
    host: "127.0.0.1",
    port: 4222,
    headers: true,
    max_payload: 1_048_576,
  };
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void socket.write(`INFO ${JSON.stringify(info)}\r\n`),
      data: (socket, bytes) => {
        if (bytes.toString("latin1").includes("PING\r\n")) socket.write("PONG\r\n");
      },
    },
  });
  closing.push(() => server.stop(true));
  return `nats://127.0.0.1:${server.port}`;
}

const lines: { level?: string; version?: string; msg?: string }[] = [];
const log = createLogger({ level: "info", role: "test", write: (line) => lines.push(JSON.parse(line) as object) });

async function open(url: string, role: NatsRole = "worker") {
  lines.length = 0;
  const connection = await connectNats({ url, name: "test", role, log });
  closing.push(() => connection.close());
  return connection;
}

describe("a nats-server", () => {
  test.each(["2.10.27", "2.9.10", "2.0.0", "1.4.1", "0.0.0", "2.10.99-beta.1"])(
    "of version %j is rejected by name and version",
    async (version) => {
      expect(open(pretendServer(version))).rejects.toThrow(
        new RegExp(`^nats-server .*is too old; ${NATS_VERSION_MIN.replaceAll(".", "\\.")} or newer is needed$`),
      );
    },
  );

  test.each(["2.11.0", "2.11.0-RC.1", "2.11.10", "2.12.0", "2.15.1", "3.0.0"])(
    "of version %s is accepted",
    async (version) => {
      await open(pretendServer(version));
      expect(lines.filter(({ level }) => level === "warn")).toEqual([]);
    },
  );

  test.each(["2.12.3", "2.12.4"])("of version %s logs a warning", async (version) => {
    await open(pretendServer(version));
    expect(lines).toContainEqual(expect.objectContaining({ level: "warn", version }));
  });

  test("that does not respond is named without its password", async () => {
    const port = await freePort();
    const refused = open(`nats://user:secret@127.0.0.1:${port}`);
    expect(refused).rejects.toThrow(`NATS at nats://127.0.0.1:${port} cannot be reached`);
    await refused.catch(() => undefined);
  });
});

describe("the order of versions", () => {
  test.each([
    ["2.9.0", "2.11.0"],
    ["2.10.99", "2.11.0"],
    ["2.11.9", "2.11.10"],
    ["2.99.99", "3.0.0"],
    ["1.0.0", "2.0.0"],
    ["2.11", "2.11.1"],
    ["x.y.z", "0.0.1"],
  ])("%s is older than %s", (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
  });

  test("is numeric, part by part", () => {
    const version = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99));
    fc.assert(
      fc.property(version, version, (a, b) => {
        const difference = a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
        expect(Math.sign(compareVersions(a.join("."), b.join(".")))).toBe(Math.sign(difference));
      }),
    );
  });

  test("ignores the part after a dash", () => {
    expect(compareVersions("2.11.0-RC.1", "2.11.0")).toBe(0);
  });
});

describe("a connection", () => {
  let nats: TestNats;

  test("separates the replies of each role, and has its name", async () => {
    nats = await startNats();
    closing.push(() => nats.close());
    for (const [role, prefix] of [
      ["ingress", "_INBOX.gw."],
      ["worker", "_INBOX.wk."],
      ["janitor", "_INBOX.jn."],
    ] as const) {
      const connection = await open(nats.url, role);
      const { promise, resolve } = Promise.withResolvers<string>();
      const answering = connection.subscribe("question", {
        callback: (_error, message) => resolve(message.reply ?? ""),
      });
      connection.request("question", "", { timeout: 1_000 }).catch(() => undefined);
      expect(await promise).toStartWith(prefix);
      answering.unsubscribe();
    }
  });

  test("sends the messages of one event loop turn together, and the last ones before it closes", async () => {
    nats = await startNats();
    closing.push(() => nats.close());
    const [sender, reader] = [await open(nats.url), await open(nats.url)];
    const heard: string[] = [];
    reader.subscribe("words", { callback: (_error, message) => void heard.push(message.string()) });
    await reader.flush();
    const pieces = spyOn(PlainSocket.prototype as unknown as { takePiece(): Uint8Array }, "takePiece");
    try {
      for (const word of ["one", "two", "three"]) {
        sender.publish("words", word);
        // The client hands over what it has by the end of this task's next microtask.
        for (let task = 0; task < 5; task++) await Promise.resolve();
      }
      expect(pieces).toHaveBeenCalledTimes(0);
      while (pieces.mock.calls.length === 0) await Bun.sleep(0);
      expect(String(pieces.mock.results[0]?.value)).toMatch(/^PUB .*one\r\nPUB .*two\r\nPUB .*three\r\n$/s);
    } finally {
      pieces.mockRestore();
    }
    sender.publish("words", "four");
    await sender.close();
    for (let looks = 0; looks < 2_000 && heard.length < 4; looks++) await Bun.sleep(1);
    expect(heard).toEqual(["one", "two", "three", "four"]);
  });

  test("whose link was lost reports its waiting messages after the reconnect, in order", async () => {
    nats = await startNats();
    closing.push(() => nats.close());
    const proxy = startTcpProxy(new URL(nats.url).host);
    closing.push(() => proxy.close());
    const reader = await open(nats.url);
    const sender = await open(`nats://${proxy.host}`);
    const heard: string[] = [];
    reader.subscribe("words", { callback: (_error, message) => void heard.push(message.string()) });
    await reader.flush();
    const say = (word: string): void => whenLinked(sender, () => sender.publish("words", word));
    say("before");
    await sender.flush();
    const { promise: healed, resolve: heal } = Promise.withResolvers<void>();
    proxy.cut(healed);
    while (!lines.some(({ msg }) => msg === "nats connection lost")) await Bun.sleep(5);
    say("while it is lost");
    // The client drops what is published before it tries to connect.
    sender.publish("words", "dropped");
    const dialled = proxy.connections();
    while (proxy.connections() < dialled + 2) await Bun.sleep(5);
    say("and later");
    heal();
    while (!lines.some(({ msg }) => msg === "nats connection restored")) await Bun.sleep(5);
    say("when it is back");
    for (let looks = 0; looks < 2_000 && !heard.includes("when it is back"); looks++) await Bun.sleep(1);
    expect(heard).toEqual(["before", "while it is lost", "and later", "when it is back"]);
  });

  test("that fails heartbeats is closed, also while it sends nothing", async () => {
    nats = await startNats();
    closing.push(() => nats.close());
    const connection = await open(nats.url);
    const states: string[] = [];
    void (async () => {
      for await (const { type } of connection.status()) states.push(type);
    })();
    process.kill(nats.pid(), "SIGSTOP");
    try {
      for (let part = 0; part < 20; part++) connection.publish("much", new Uint8Array(1_000_000));
      await Bun.sleep(20);
      // What the library's heartbeat calls.
      (connection as unknown as { protocol: { disconnect(): void } }).protocol.disconnect();
      while (!states.includes("reconnecting")) await Bun.sleep(5);
    } finally {
      process.kill(nats.pid(), "SIGCONT");
    }
    while (!states.includes("reconnect")) await Bun.sleep(5);
    expect(states.filter((state) => state === "disconnect")).toEqual(["disconnect"]);
  });

  test("reconnects by itself when its server is back", async () => {
    nats = await startNats();
    closing.push(() => nats.close());
    const connection = await open(nats.url);
    await nats.stop("SIGKILL");
    await nats.start();
    const back = async (): Promise<boolean> => {
      try {
        await connection.rtt();
        return true;
      } catch {
        return false;
      }
    };
    while (!(await back())) await Bun.sleep(20);
    expect(connection.isClosed()).toBe(false);
    expect(lines).toContainEqual(expect.objectContaining({ msg: "nats connection restored" }));
  });
});
