/** Answers and connections of a provider byte by byte, with and without TLS: what Bun's `fetch` has to keep for `http.ts`. */
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

import { type Endpoint, fetchBytes, post, postStream, type ProviderRequest } from "#workers/providers/http.ts";
import type { ProviderError } from "#workers/providers/provider.ts";
import { type RawHandler, type RawServer, startRawServer, type Wire } from "#tests/providers/raw-server.ts";
import { selfSigned } from "#tests/shared/net/certificate.ts";

const certificate = selfSigned("localhost");

const faults: unknown[] = [];
const closing: { close(): void }[] = [];
afterEach(() => {
  for (const server of closing.splice(0)) server.close();
  expect(faults.splice(0)).toEqual([]);
});

const never = (): AbortSignal => new AbortController().signal;

/** Returns the handler that writes these pieces one after the other, each in a packet of its own. */
const say =
  (...pieces: readonly string[]): RawHandler =>
  async (_request, wire) => {
    for (const piece of pieces) {
      await wire.write(piece);
      await wire.wait(5);
    }
  };

const whole = (body: string, head = ""): string =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`;

/** Returns the error of a call; fails when the call succeeds. */
async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  try {
    await call;
  } catch (error) {
    return error as ProviderError;
  }
  throw new Error("the call succeeded");
}

describe.each(["http", "https"])("over %s", (scheme) => {
  const tls = scheme === "https" ? certificate : undefined;

  // A process reads the authorities that it trusts when it starts, so the test's own is named with each request.
  const realFetch = globalThis.fetch;
  let trusting: ReturnType<typeof spyOn<typeof globalThis, "fetch">> | undefined;
  beforeAll(() => {
    if (!tls) return;
    const trust = ((url: string, init: BunFetchRequestInit) =>
      realFetch(url, { ...init, tls: { ca: certificate.cert } })) as typeof fetch;
    trusting = spyOn(globalThis, "fetch").mockImplementation(trust);
  });
  afterAll(() => trusting?.mockRestore());

  function start(handle: RawHandler): RawServer {
    const server = startRawServer(handle, (fault) => faults.push(fault), { tls });
    closing.push(server);
    return server;
  }

  const at = (port: number): Endpoint => ({ baseUrl: `${scheme}://localhost:${port}`, headers: {} });
  const request = (body = "{}"): ProviderRequest => ({ path: "/v1/chat", body });

  /** Sends one call and returns the text of its answer. */
  async function ask(port: number, body?: string, signal = never()): Promise<string> {
    return (await post(at(port), request(body), signal)).text;
  }

  /** Resolves when everything sent before over other connections has been read: one exchange takes place. */
  async function roundTrip(): Promise<void> {
    await ask(start(say(whole("there"))).port);
  }

  test("a request of 20 MB arrives completely", async () => {
    const { port } = start(async ({ body }, wire) => void (await wire.write(whole(`${body.length}`))));
    expect(await ask(port, "x".repeat(20_000_000))).toBe("20000000");
  });

  describe("an answer", () => {
    test.each<[string, readonly string[], string]>([
      ["in one piece", [whole("hello")], "hello"],
      ["whose body follows its head", ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "he", "llo"], "hello"],
      ["byte by byte", whole("hi").split(""), "hi"],
      [
        "in chunks, with a trailer",
        [
          "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
          "2\r\nhe\r\n3;x=y\r\nl",
          "lo\r\n0\r\nx-sum: 1\r\n\r\n",
        ],
        "hello",
      ],
      ["after a head of 103", ["HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", whole("hello")], "hello"],
      ["in one piece with a head of 100", [`HTTP/1.1 100 Continue\r\n\r\n${whole("hello")}`], "hello"],
      ["without a body", ["HTTP/1.1 204 No Content\r\n\r\n"], ""],
      ["of no bytes", [whole("")], ""],
    ])("%s is read", async (_name, pieces, text) => {
      const { port } = start(say(...pieces));
      const answer = await post(at(port), request(), never());
      expect(answer.text).toBe(text);
      expect([answer.headers.get("link"), answer.headers.get("x-sum")]).toEqual([null, null]);
    });

    test("with a body that its status excludes closes its connection", async () => {
      const begun = Promise.withResolvers<Wire>();
      const { port } = start(async (_request, wire) => {
        begun.resolve(wire);
        await wire.write("HTTP/1.1 205 Reset\r\ncontent-length: 9\r\n\r\nabc");
        await wire.wait(Infinity);
      });
      expect(await ask(port)).toBe("");
      expect((await (await begun.promise).closed).by).toBe("client");
    });

    test("without a length is read to the end of its connection", async () => {
      const { port } = start(async (_request, wire) => {
        await wire.write("HTTP/1.1 200 OK\r\n\r\nhel");
        await wire.wait(5);
        await wire.write("lo");
        wire.end();
      });
      expect(await ask(port)).toBe("hello");
    });

    test("with many headers has them all", async () => {
      const head = Array.from({ length: 100 }, (_, index) => `x-${index}: ${index}\r\n`).join("");
      const { port } = start(say(whole("hello", `${head}set-cookie: a\r\nset-cookie: b\r\n`)));
      const { headers } = await post(at(port), request(), never());
      expect(headers.get("x-99")).toBe("99");
      expect(headers.getSetCookie()).toEqual(["a", "b"]);
    });

    test.each<[string, string]>([
      ["is not HTTP", "SSH-2.0-OpenSSH_9.7\r\n"],
      ["states two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
      [
        "states a length and chunks",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      ],
      ["has a status beyond 599", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"],
      ["has a status below 100", `HTTP/1.1 050 Odd\r\ncontent-length: 4\r\n\r\nevil${whole("hello")}`],
      ["has no status", "HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n"],
      ["changes the protocol", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ])("that %s is a failure that may have been served", async (_name, bytes) => {
      const { port } = start(say(bytes));
      for (const send of [post, postStream]) {
        const { kind, isUnsent } = await errorOf(send(at(port), request(), never()));
        expect([kind, isUnsent]).toEqual(["failed", false]);
      }
    });

    test("of endless chunks beside a length is not read, and its connection closed", async () => {
      const begun = Promise.withResolvers<Wire>();
      const { port } = start(async (_request, wire) => {
        begun.resolve(wire);
        await wire.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n");
        while (await wire.write(`ffff\r\n${"x".repeat(65_535)}\r\n`));
      });
      expect(await errorOf(ask(port))).toMatchObject({ kind: "failed" });
      expect((await (await begun.promise).closed).by).toBe("client");
    });

    test.each<[string, (at: number) => string]>([
      ["has headers without end", (index) => `x-${index}: ${"y".repeat(1_000)}\r\n`],
      ["has one header without end", (index) => (index === 0 ? "x: y" : "y".repeat(1_000))],
    ])("that %s is a failure after a few megabytes", async (_name, piece) => {
      let sent = 0;
      const { port } = start(async (_request, wire) => {
        await wire.write("HTTP/1.1 200 OK\r\n");
        while (await wire.write(piece(sent))) {
          sent += 1;
          if (sent % 100 === 0) await wire.wait(1);
        }
      });
      expect(await errorOf(ask(port))).toMatchObject({ kind: "failed", isUnsent: false });
      expect(sent).toBeLessThan(16_000);
    });

    test.each<[string, readonly string[]]>([
      ["before its head", []],
      ["within its head", ["HTTP/1.1 200"]],
      ["within its body", ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"]],
      ["within a chunk", ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc"]],
      ["between two chunks", ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"]],
    ])("that is truncated %s is a failure that may have been served", async (_name, pieces) => {
      const { port } = start(async (raw, wire) => {
        await say(...pieces)(raw, wire);
        wire.end();
      });
      expect(await errorOf(ask(port))).toMatchObject({ kind: "failed", isUnsent: false });
    });

    test("waits at its provider while there is no capacity for it, and then is complete", async () => {
      const size = 64_000_000;
      let written = 0;
      const { port } = start(async (_request, wire) => {
        await wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
        const piece = Buffer.alloc(1_000_000, "x");
        while (written < size && (await wire.write(piece))) written += piece.length;
      });
      const freed = Promise.withResolvers<undefined>();
      const asked = Promise.withResolvers<undefined>();
      const reading = fetchBytes(at(port), request(), never(), size, async () => {
        asked.resolve(undefined);
        await freed.promise;
      });
      await asked.promise;
      let last = -1;
      while (last !== written) {
        last = written;
        await Bun.sleep(100);
      }
      expect(written).toBeLessThan(size / 2);
      freed.resolve(undefined);
      expect((await reading).bytes.length).toBe(size);
    });
  });

  describe("a connection", () => {
    /** Answers every request, and counts requests and the connections over which they come. */
    function counting(answer: (wire: Wire, count: number) => Promise<unknown>): {
      port: number;
      wires: Set<Wire>;
      count: () => number;
    } {
      const wires = new Set<Wire>();
      let count = 0;
      const { port } = start(async (_request, wire) => {
        wires.add(wire);
        count += 1;
        await answer(wire, count);
      });
      return { port, wires, count: () => count };
    }

    test("is reused", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      for (let index = 0; index < 5; index++) expect(await ask(port)).toBe("ok");
      expect(wires.size).toBe(1);
    });

    test("serves one request at a time", async () => {
      const { port, wires } = counting(async (wire) => {
        await wire.wait(20);
        await wire.write(whole("ok"));
      });
      await Promise.all(Array.from({ length: 8 }, () => ask(port)));
      expect(wires.size).toBe(8);
    });

    test.each<[string, string]>([
      ["whose answer says so", whole("ok", "connection: close\r\n")],
      ["whose answer has something after it", `${whole("ok")}more`],
      ["whose answer has another after it", whole("ok") + whole("forged")],
      ["whose answer has half a head after it", `${whole("ok")}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n`],
      ["of HTTP/1.0", whole("ok").replace("1.1", "1.0")],
    ])("%s is not reused", async (_name, bytes) => {
      const { port, wires } = counting((wire) => wire.write(bytes));
      for (let index = 0; index < 3; index++) expect(await ask(port)).toBe("ok");
      expect(wires.size).toBe(3);
    });

    test("whose provider sends bytes after its answer is closed", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      await ask(port);
      const [wire] = wires;
      await wire?.write(whole("forged"));
      expect((await wire?.closed)?.by).toBe("client");
      expect(await ask(port)).toBe("ok");
      expect(wires.size).toBe(2);
    });

    test("closed by its provider while idle costs no call", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      await ask(port);
      const [wire] = wires;
      wire?.end();
      await wire?.closed;
      await roundTrip();
      expect(await ask(port)).toBe("ok");
      expect(wires.size).toBe(2);
    });

    test("closed by its provider right after an answer costs no call", async () => {
      const { port, count } = counting(async (wire) => {
        await wire.write(whole("ok"));
        wire.end();
      });
      for (let index = 0; index < 50; index++) {
        expect(await ask(port)).toBe("ok");
        // The next call comes at once, after one turn of the event loop, or after a timer.
        if (index % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
        if (index % 3 === 2) await Bun.sleep(0);
      }
      expect(count()).toBe(50);
    });

    test("closed by its provider while this process is busy costs no call", async () => {
      const port = await startBriefServer();
      for (let index = 0; index < 5; index++) {
        expect(await ask(port)).toBe("ok");
        // The provider closes the connection before this ends, and the event loop does not read that.
        Bun.sleepSync(150);
      }
    });

    /** Starts a server in a process of its own that closes connections which are idle for 50 ms. */
    async function startBriefServer(): Promise<number> {
      const script = `
        const server = Bun.listen({ hostname: "127.0.0.1", port: 0, ...${JSON.stringify(tls ? { tls } : {})}, socket: {
          data(socket) {
            socket.write("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok");
            setTimeout(() => socket.end(), 50);
          },
        } });
        process.stdout.write(String(server.port));`;
      const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
      closing.push({ close: () => child.kill() });
      const { value } = await child.stdout.getReader().read();
      return Number(new TextDecoder().decode(value));
    }

    test("that breaks during a request sends nothing twice", async () => {
      for (const end of ["reset", "end"] as const) {
        const { port, wires, count } = counting(async (wire, index) => {
          if (index === 1) await wire.write(whole("ok"));
          else wire[end]();
        });
        await ask(port);
        expect(await errorOf(ask(port))).toMatchObject({ kind: "failed", isUnsent: false });
        await roundTrip();
        expect([count(), wires.size]).toEqual([2, 1]);
      }
    });

    test("that cannot be opened has sent nothing", async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      server.close();
      await once(server, "close");
      for (const baseUrl of [`${scheme}://127.0.0.1:${port}`, `${scheme}://nowhere.invalid`]) {
        const error = await errorOf(post({ baseUrl, headers: {} }, request(), never()));
        expect([baseUrl, error.kind, error.isUnsent]).toEqual([baseUrl, "failed", true]);
      }
    });
  });

  test("an answer before the whole request was sent is read, and its connection not reused", async () => {
    const sockets = new Set<object>();
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      ...(tls ? { tls } : {}),
      socket: {
        data(socket) {
          if (sockets.has(socket)) return;
          sockets.add(socket);
          socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
          socket.pause();
        },
        error() {},
      },
    });
    closing.push({ close: () => server.stop(true) });
    for (let index = 0; index < 2; index++) {
      const answer = await post(at(server.port), request("x".repeat(20_000_000)), never());
      expect([answer.status, answer.text]).toEqual([413, "no"]);
    }
    expect(sockets.size).toBe(2);
  });

  describe("a caller that disconnects", () => {
    test.each<[string, string]>([
      ["before the answer", ""],
      ["within the answer", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"],
    ])("%s closes the connection", async (_name, bytes) => {
      const begun = Promise.withResolvers<Wire>();
      const { port } = start(async (_request, wire) => {
        if (bytes) await wire.write(bytes);
        begun.resolve(wire);
        await wire.wait(Infinity);
      });
      const caller = new AbortController();
      const ended = errorOf(ask(port, "{}", caller.signal));
      const wire = await begun.promise;
      caller.abort(new Error("left"));
      expect(await ended).toMatchObject({ kind: "aborted" });
      expect((await wire.closed).by).toBe("client");
    });

    test("during the connect ends the call", async () => {
      const { port } = start(say(whole("ok")));
      const caller = new AbortController();
      const ended = errorOf(ask(port, "{}", caller.signal));
      caller.abort(new Error("left"));
      expect(await ended).toMatchObject({ kind: "aborted" });
    });

    test("after the answer does not affect the next call over its connection", async () => {
      const asked = Promise.withResolvers<undefined>();
      const mayAnswer = Promise.withResolvers<undefined>();
      const wires = new Set<Wire>();
      let count = 0;
      const { port } = start(async (_request, wire) => {
        wires.add(wire);
        count += 1;
        const isFirst = count === 1;
        if (!isFirst) {
          asked.resolve(undefined);
          await mayAnswer.promise;
        }
        await wire.write(whole(isFirst ? "old" : "new"));
      });
      const caller = new AbortController();
      expect(await ask(port, "{}", caller.signal)).toBe("old");
      const second = ask(port);
      await asked.promise;
      caller.abort(new Error("left"));
      await roundTrip();
      mayAnswer.resolve(undefined);
      expect(await second).toBe("new");
      expect(wires.size).toBe(1);
    });
  });

  test("an answer in an unknown encoding is a failure that closes the connection", async () => {
    const begun = Promise.withResolvers<Wire>();
    const { port } = start(async (_request, wire) => {
      await wire.write("HTTP/1.1 200 OK\r\ncontent-encoding: riddle\r\ncontent-length: 9\r\n\r\nabc");
      begun.resolve(wire);
      await wire.wait(Infinity);
    });
    expect(await errorOf(ask(port))).toMatchObject({ kind: "failed" });
    expect((await (await begun.promise).closed).by).toBe("client");
  });
});
