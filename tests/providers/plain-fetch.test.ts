/** The client for providers without TLS against servers of bytes: what fetch would do, never a request twice, never more in memory than is read. */
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, Socket } from "node:net";

import { PlainSocket } from "#shared/plain-socket.ts";
import { connectByProxy } from "#workers/providers/connect-limit.ts";
import { post } from "#workers/providers/http.ts";
import { canFetchPlain, fetchPlain, PLAIN_IDLE_MS } from "#workers/providers/plain-fetch.ts";
import type { ProviderError } from "#workers/providers/provider.ts";
import type { RawRequest } from "#tests/providers/raw-request.ts";
import { type RawHandler, type RawServer, startRawServer, type Wire } from "#tests/providers/raw-server.ts";

const faults: unknown[] = [];
const closing: { close(): void }[] = [];
beforeAll(() => connectByProxy(false));
afterEach(() => {
  for (const server of closing.splice(0)) server.close();
  expect(faults.splice(0)).toEqual([]);
});

function start(handle: RawHandler): RawServer {
  const server = startRawServer(handle, (fault) => faults.push(fault));
  closing.push(server);
  return server;
}

const HEADERS = { "content-type": "application/json", authorization: "Bearer sk-ours" };

function ask(port: number, body = "{}", signal: AbortSignal = new AbortController().signal): Promise<Response> {
  return fetchPlain(`http://127.0.0.1:${port}/v1/chat`, { headers: HEADERS, body, signal });
}

/** Writes these pieces one after the other, each for itself. */
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

/** Waits until a connection whose answer was read is kept for the next request. */
async function rested(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until what was sent over other connections has been read: one exchange goes to and fro. */
async function overThere(): Promise<void> {
  const { port } = start(say(whole("there")));
  await (await ask(port)).text();
  await rested();
}

/** Starts a server in a process of its own that closes what rests for 50 ms. */
async function startBriefServer(): Promise<number> {
  const script = `
    const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: {
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

/** The error that something ends with; fails when it does not. */
async function errorOf(doing: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await doing;
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing failed");
}

// Node's sockets take over while dials hang.
describe.each(["our socket", "node:net's"])("over %s", (kind) => {
  let opened: ReturnType<typeof spyOn<typeof PlainSocket, "open">> | undefined;
  beforeAll(() => {
    if (kind !== "our socket") opened = spyOn(PlainSocket, "open").mockImplementation(() => new Socket());
  });
  afterAll(() => opened?.mockRestore());

  describe("a request", () => {
    test("is the one that fetch sends", async () => {
      const seen: RawRequest[] = [];
      const { port } = start(async (request, wire) => {
        seen.push(request);
        await wire.write(whole("ok", "connection: close\r\n"));
      });
      // Half a character is sent as the sign for one that is none.
      const body = '{"say":"größer \u{1f600} \ud800 x \udc00"}';
      const url = `http://127.0.0.1:${port}/v1/models/a.b:c%20d?x=1&y=2`;
      await fetchPlain(url, { headers: HEADERS, body, signal: new AbortController().signal });
      await fetch(url, { method: "POST", headers: HEADERS, body });
      const [ours, theirs] = seen;
      // Which compression they would like is each one's own.
      const seenOf = (request?: RawRequest): unknown => ({
        ...request,
        headers: { ...request?.headers, "accept-encoding": "" },
      });
      expect(seenOf(ours)).toEqual(seenOf(theirs));
    });

    test.each([
      ["https://api.example/v1", {}],
      ["http://user:word@api.example/v1", {}],
      ["http://api.example/v1/../admin", {}],
      ["http://api.example/v1/{model}", {}],
      ["http://api.example/v1#part", {}],
      ["http://api.example/a b", {}],
      ["http://api.example/v1\r\nx: y", {}],
      ["http://api.example", {}],
      ["http://api.example/%2e%2E/admin", {}],
      ["http://api.example/v1?say='x'", {}],
      ["http://API.example/v1", {}],
      ["http://api.example:80/v1", {}],
      ["http://127.1:8080/v1", {}],
      ["http://api.example:99999/v1", {}],
      ["http://api.example/v1", { "x-note": "a\r\nx-more: b" }],
      ["http://api.example/v1", { "x-note": "é" }],
      ["http://api.example/v1", { "x-a: 1\r\nx-b": "2" }],
      ["http://api.example/v1", { "X-Note": "a" }],
      ["http://api.example/v1", { host: "elsewhere" }],
      ["http://api.example/v1", { "content-length": "9" }],
    ])("to %s with %j is left to fetch", (url, headers) => {
      expect(canFetchPlain(url, headers)).toBe(false);
    });

    test.each(["http://api.example/", "http://[::1]:8080/v1", "http://a-b.example:1/v1/x:y?z=%20"])(
      "to %s is sent plainly",
      (url) => {
        expect(canFetchPlain(url, HEADERS)).toBe(true);
      },
    );

    test("of many bytes arrives whole", async () => {
      const { port } = start(async (request, wire) => void (await wire.write(whole(`${request.body.length}`))));
      const answer = await ask(port, "x".repeat(20_000_000));
      expect(await answer.text()).toBe("20000000");
    });
  });

  describe("an answer", () => {
    test.each<[string, readonly string[], string]>([
      ["in one piece", [whole("hello")], "hello"],
      ["whose body comes behind its head", ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "he", "llo"], "hello"],
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
      ["behind words of 1xx", ["HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", whole("hello")], "hello"],
      ["behind words of 1xx in one piece", [`HTTP/1.1 100 Continue\r\n\r\n${whole("hello")}`], "hello"],
      ["without a body", ["HTTP/1.1 204 No Content\r\n\r\n"], ""],
      ["of no bytes", [whole("")], ""],
    ])("%s is read", async (_name, pieces, text) => {
      const { port } = start(say(...pieces));
      const answer = await ask(port);
      expect(answer.headers.get("link")).toBeNull();
      expect(answer.headers.get("x-sum")).toBeNull();
      expect(await answer.text()).toBe(text);
    });

    test("with a body that its status has not ends its connection", async () => {
      const begun = Promise.withResolvers<Wire>();
      const { port } = start(async (_request, wire) => {
        begun.resolve(wire);
        await wire.write("HTTP/1.1 205 Reset\r\ncontent-length: 9\r\n\r\nabc");
        await wire.wait(Infinity);
      });
      expect(await (await ask(port)).text()).toBe("");
      expect((await (await begun.promise).closed).by).toBe("client");
    });

    test("that ends with its connection is read to there", async () => {
      const { port } = start(async (_request, wire) => {
        await wire.write("HTTP/1.1 200 OK\r\n\r\nhel");
        await wire.wait(5);
        await wire.write("lo");
        wire.end();
      });
      expect(await (await ask(port)).text()).toBe("hello");
    });

    test("of many headers has them all", async () => {
      const head = Array.from({ length: 100 }, (_, at) => `x-${at}: ${at}\r\n`).join("");
      const { port } = start(say(whole("hello", `${head}set-cookie: a\r\nset-cookie: b\r\n`)));
      const answer = await ask(port);
      expect(answer.headers.get("x-99")).toBe("99");
      expect(answer.headers.getSetCookie()).toEqual(["a", "b"]);
    });

    test("comes with its status, an error's too, and is never followed", async () => {
      const { port } = start(say("HTTP/1.1 307 See\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nno"));
      const answer = await ask(port);
      expect([answer.status, answer.headers.get("location"), await answer.text()]).toEqual([
        307,
        "http://127.0.0.1:1/",
        "no",
      ]);
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
      const { port } = start(async (_request, wire) => {
        await wire.write(bytes);
        await wire.wait(Infinity);
      });
      const request = { path: "/x", body: "{}" };
      const doing = post({ baseUrl: `http://127.0.0.1:${port}`, headers: {} }, request, new AbortController().signal);
      const error = (await errorOf(doing)) as ProviderError;
      expect([error.kind, error.isUnsent]).toEqual(["failed", false]);
    });

    test("whose head does not end is left at 64 KiB", async () => {
      let sent = 0;
      const { port } = start(async (_request, wire) => {
        await wire.write("HTTP/1.1 200 OK\r\n");
        while (await wire.write(`x-${sent}: ${"y".repeat(1_000)}\r\n`)) {
          sent += 1_000;
          await wire.wait(1);
        }
      });
      expect((await errorOf(ask(port))).code).toBe("HPE_HEADER_OVERFLOW");
      expect(sent).toBeLessThan(1_000_000);
    });

    test.each<[string, readonly string[]]>([
      ["before its head", []],
      ["within its head", ["HTTP/1.1 200"]],
      ["within its body", ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"]],
      ["within a chunk", ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc"]],
    ])("that is cut %s is a failure", async (_name, pieces) => {
      const { port } = start(async (request, wire) => {
        await say(...pieces)(request, wire);
        wire.end();
      });
      expect((await errorOf(ask(port).then((answer) => answer.text()))).code).toBe("ECONNRESET");
    });

    test("that nobody reads stays with its provider, and is whole when it is read", async () => {
      const size = 64_000_000;
      let written = 0;
      const connections = new Set<Wire>();
      const { port } = start(async (_request, wire) => {
        connections.add(wire);
        if (written > 0) {
          await wire.write(whole("next"));
          return;
        }
        await wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
        const piece = Buffer.alloc(1_000_000, "x");
        while (written < size && (await wire.write(piece))) written += piece.length;
      });
      const answer = await ask(port);
      let last = -1;
      while (last !== written) {
        last = written;
        await Bun.sleep(100);
      }
      expect(written).toBeLessThan(size / 2);
      expect((await answer.bytes()).length).toBe(size);
      await rested();
      expect(await (await ask(port)).text()).toBe("next");
      expect(connections.size).toBe(1);
    });
  });

  describe("a connection", () => {
    /** Answers every request, and counts the connections that they come over. */
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

    test("is used again", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      for (let at = 0; at < 5; at++) {
        expect(await (await ask(port)).text()).toBe("ok");
        await rested();
      }
      expect(wires.size).toBe(1);
    });

    test("whose last answer nobody has read yet serves the next request", async () => {
      const long = "x".repeat(80_000);
      const isOut = Promise.withResolvers<undefined>();
      const { port, wires } = counting(async (wire, at) => {
        if (at > 1) return wire.write(whole("next"));
        await wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${long.length}\r\n\r\nx`);
        await overThere();
        await wire.write(long.slice(1, 60_000));
        await overThere();
        await wire.write(long.slice(60_000));
        isOut.resolve(undefined);
        return true;
      });
      const first = await ask(port);
      await isOut.promise;
      await overThere();
      expect(await (await ask(port)).text()).toBe("next");
      expect(await first.text()).toBe(long);
      expect(wires.size).toBe(1);
    });

    test("is one for each request at a time", async () => {
      const { port, wires } = counting(async (wire) => {
        await wire.wait(20);
        await wire.write(whole("ok"));
      });
      await Promise.all(Array.from({ length: 8 }, async () => (await ask(port)).text()));
      expect(wires.size).toBe(8);
    });

    test.each<[string, string]>([
      ["whose answer says so", whole("ok", "connection: close\r\n")],
      ["whose answer has something behind it", `${whole("ok")}more`],
      ["whose answer has another behind it", whole("ok") + whole("forged")],
      ["whose answer has half a head behind it", `${whole("ok")}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n`],
      ["of HTTP/1.0", whole("ok").replace("1.1", "1.0")],
    ])("%s is not used again", async (_name, bytes) => {
      const { port, wires } = counting((wire) => wire.write(bytes));
      for (let at = 0; at < 3; at++) {
        expect(await (await ask(port)).text()).toBe("ok");
        await rested();
      }
      expect(wires.size).toBe(3);
    });

    test("that answers before it has the request is not used again", async () => {
      const sockets = new Set<number | undefined>();
      const server: Server = createServer((socket) => {
        sockets.add(socket.remotePort);
        socket.on("error", () => undefined);
        socket.once("data", () => {
          socket.pause();
          socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
        });
      }).listen(0, "127.0.0.1");
      closing.push(server);
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      for (let at = 0; at < 2; at++) {
        const answer = await ask(port, "x".repeat(20_000_000));
        expect([answer.status, await answer.text()]).toEqual([413, "no"]);
        await rested();
      }
      expect(sockets.size).toBe(2);
    });

    test("that its server closes while it rests costs no call", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      await (await ask(port)).text();
      await rested();
      const [wire] = wires;
      wire?.end();
      await wire?.closed;
      await overThere();
      expect(await (await ask(port)).text()).toBe("ok");
      expect(wires.size).toBe(2);
    });

    test("that its server closes right behind an answer costs no call", async () => {
      const { port, count } = counting(async (wire) => {
        await wire.write(whole("ok"));
        wire.end();
      });
      for (let at = 0; at < 50; at++) {
        expect(await (await ask(port)).text()).toBe("ok");
        // Each way in which the next call may come.
        if (at % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
        if (at % 3 === 2) await Bun.sleep(0);
      }
      expect(count()).toBe(50);
    });

    test("that its server closes while this process is busy costs no call", async () => {
      const port = await startBriefServer();
      for (let at = 0; at < 5; at++) {
        expect(await (await ask(port)).text()).toBe("ok");
        await rested();
        // The server has closed it by the end of this, and the loop has not read that.
        Bun.sleepSync(150);
      }
    });

    test("that speaks while it rests is left", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      await (await ask(port)).text();
      await rested();
      const [wire] = wires;
      await wire?.write(whole("forged"));
      await overThere();
      expect(await (await ask(port)).text()).toBe("ok");
      expect(wires.size).toBe(2);
    });

    test("that has rested for long is not used, also where nothing has looked after it meanwhile", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      await (await ask(port)).text();
      await rested();
      Bun.sleepSync(PLAIN_IDLE_MS + 50);
      await (await ask(port)).text();
      expect(wires.size).toBe(2);
    });

    test("that rests for long is closed", async () => {
      const { port, wires } = counting((wire) => wire.write(whole("ok")));
      await (await ask(port)).text();
      const [wire] = wires;
      expect((await wire?.closed)?.by).toBe("client");
    });

    test("that breaks with a request under way sends nothing twice", async () => {
      const { port, count } = counting(async (wire, at) => {
        if (at === 1) await wire.write(whole("ok"));
        else wire.reset();
      });
      await (await ask(port)).text();
      await rested();
      expect((await errorOf(ask(port))).code).toBe("ECONNRESET");
      expect(count()).toBe(2);
    });

    test("that cannot be made sent nothing", async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      server.close();
      await once(server, "close");
      expect((await errorOf(ask(port))).code).toBe("FailedToOpenSocket");
      const nowhere = fetchPlain("http://nowhere.invalid/", {
        headers: {},
        body: "",
        signal: new AbortController().signal,
      });
      expect((await errorOf(nowhere)).code).toBe("FailedToOpenSocket");
    });
  });

  describe("a caller who leaves", () => {
    test("before the request sends nothing", async () => {
      const reason = new Error("left");
      // No server has this port.
      expect(await errorOf(ask(1, "{}", AbortSignal.abort(reason)))).toBe(reason);
    });

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
      const reason = new Error("left");
      const ended = errorOf(ask(port, "{}", caller.signal).then((answer) => answer.text()));
      const wire = await begun.promise;
      caller.abort(reason);
      expect(await ended).toBe(reason);
      expect((await wire.closed).by).toBe("client");
    });

    test("because the answer is packed in an unknown way closes the connection", async () => {
      const begun = Promise.withResolvers<Wire>();
      const { port } = start(async (_request, wire) => {
        await wire.write("HTTP/1.1 200 OK\r\ncontent-encoding: riddle\r\ncontent-length: 9\r\n\r\nabc");
        begun.resolve(wire);
        await wire.wait(Infinity);
      });
      const endpoint = { baseUrl: `http://127.0.0.1:${port}`, headers: {} };
      const error = await errorOf(post(endpoint, { path: "/x", body: "{}" }, new AbortController().signal));
      expect(error).toMatchObject({ kind: "failed" });
      expect((await (await begun.promise).closed).by).toBe("client");
    });

    test("by no longer reading closes the connection", async () => {
      const begun = Promise.withResolvers<Wire>();
      const { port } = start(async (_request, wire) => {
        await wire.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc");
        begun.resolve(wire);
        await wire.wait(Infinity);
      });
      const answer = await ask(port);
      await answer.body?.cancel();
      expect((await (await begun.promise).closed).by).toBe("client");
    });

    test("while the connection is made ends it", async () => {
      const { port } = start(say(whole("ok")));
      const caller = new AbortController();
      const reason = new Error("left");
      const ended = errorOf(ask(port, "{}", caller.signal));
      caller.abort(reason);
      expect(await ended).toBe(reason);
    });

    test.each(["aborting", "cancelling"])("after the answer by %s changes nothing for the next one", async (how) => {
      const isOut = Promise.withResolvers<undefined>();
      const asked = Promise.withResolvers<undefined>();
      const mayAnswer = Promise.withResolvers<undefined>();
      const connections = new Set<Wire>();
      let count = 0;
      const { port } = start(async (_request, wire) => {
        connections.add(wire);
        count += 1;
        if (count === 1) {
          await wire.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\no");
          await overThere();
          await wire.write("ld!");
          isOut.resolve(undefined);
          return;
        }
        asked.resolve(undefined);
        await mayAnswer.promise;
        await wire.write(whole("new"));
      });
      const caller = new AbortController();
      const first = await ask(port, "{}", caller.signal);
      // The whole answer is here then, and unread.
      await isOut.promise;
      await overThere();
      const second = ask(port);
      await asked.promise;
      if (how === "aborting") caller.abort(new Error("left"));
      else await first.body?.cancel();
      mayAnswer.resolve(undefined);
      expect(await (await second).text()).toBe("new");
      expect(connections.size).toBe(1);
    });
  });
});

test("an answer of a process that does nothing else is waited for, over a connection that has rested too", async () => {
  const { port } = start(async (_request, wire) => {
    await wire.wait(50);
    await wire.write(whole("ok"));
  });
  const script = `
        import { fetchPlain } from "${import.meta.dir}/../../workers/providers/plain-fetch.ts";
        const { signal } = new AbortController();
        const turns = (left, then) => (left > 0 ? setImmediate(() => turns(left - 1, then)) : then());
        const next = async (left) => {
          const answer = await fetchPlain("http://127.0.0.1:${port}/", { headers: {}, body: "", signal });
          process.stdout.write(await answer.text());
          if (left > 1) turns(4, () => void next(left - 1));
        };
        void next(2);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  expect(await new Response(child.stdout).text()).toBe("okok");
  expect(await child.exited).toBe(0);
});
