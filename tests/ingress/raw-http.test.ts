/** Cases that only bytes on a socket can produce: framing, limits of the server underneath, clients that leave. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";

import { listen } from "#ingress/listen.ts";
import { StreamBody } from "#ingress/wait/stream-body.ts";
import { BODY_READ } from "#ingress/core/body.ts";
import { CHAT, type FakeContext, fakeContext, KEY } from "./fake-context.ts";

let fake: FakeContext;
let server: ReturnType<typeof listen>;
let port: number;
/** Makes the answer to the next call. */
let relay: () => Response;

beforeAll(() => {
  fake = fakeContext({ relay: () => relay() });
  server = listen(fake.context, { hostname: "127.0.0.1", port: 0 });
  port = server.port;
});

afterEach(() => {
  relay = () => Response.json({ answered: true });
  fake.counted.length = 0;
  fake.logged.length = 0;
});

afterAll(async () => {
  await server.stop(true);
  fake.close();
});

relay = () => Response.json({ answered: true });

interface Wire {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly text: () => string;
  /** Resolves once that has come, or the connection has closed. */
  until(marker: string): Promise<string>;
  /** Resolves with everything when the server has closed. */
  readonly closed: Promise<string>;
}

function open(): Wire {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let look = (): void => undefined;
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    look();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
  return {
    socket,
    text: () => text,
    until(marker) {
      const seen = new Promise<string>((resolve) => {
        look = () => {
          if (text.includes(marker)) resolve(text);
        };
        look();
      });
      return Promise.race([seen, closed]);
    },
    closed,
  };
}

/** Sends and returns all that comes until the server closes. */
function toTheEnd(bytes: string): Promise<string> {
  const wire = open();
  wire.socket.write(bytes);
  return wire.closed;
}

const BODY = JSON.stringify(CHAT);
const post = (headers: string, body = BODY): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
const get = (headers: string, path = "/healthz"): string => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const statuses = (text: string): string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? "");

describe("the path of a request", () => {
  const ask = async (path: string, host = "localhost", more = ""): Promise<string> => {
    const text = await toTheEnd(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    return `${head.slice(9, 12)} ${(JSON.parse(body) as { error?: { code: string } }).error?.code ?? "ok"}`;
  };

  test.each([
    "/x/../healthz",
    "/x/..//healthz",
    "/x/../healthz/",
    "/./healthz",
    "/healthz/.",
    "/healthz/..",
    "/..",
    "/x/%2e%2e/healthz",
    "/x/%2E./healthz",
    "/x/.%2e/healthz/",
    "/x\\..\\healthz",
    "/x/..%2fhealthz",
    "/v1\\models",
    "/schemas/..",
    "/schemas/%2e%2e",
    "/x/../healthz?a=b",
    "http://localhost/x/../healthz",
    "/v1/messages/../messages",
  ])("is not served with dot segments or a backslash: %s", async (path) => {
    expect(await ask(path)).toBe(path.startsWith("/x/..//") ? "404 not_found" : "400 invalid_request");
    expect(fake.counted).toEqual([]);
  });

  test.each(["/workspaces/w/end-users/%E0/limits", "/schemas/%E0%A4%A", "/%zz", "/healthz/%", "/x/%C3%28?a=b"])(
    "is not served with an invalid percent-encoding: %s",
    async (path) => {
      expect(await ask(path)).toBe("400 invalid_request");
      expect(fake.counted).toEqual([]);
    },
  );

  test.each([
    ["/console/requests/%zz", "400", "percent-encoded"],
    ["/console/%5cx", "400", "without the segments"],
    ["/console/a/b/c/d/e", "404", "no page at this address"],
  ])(
    "returns a page with a link to the console to a browser, and JSON to a program: %s",
    async (path, status, reason) => {
      const opened = await toTheEnd(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      );
      expect(opened.slice(9, 12)).toBe(status);
      expect(opened.toLowerCase()).toContain("content-type: text/html");
      expect(opened).toContain(reason);
      expect(opened).toContain('<a href="/console">');
      expect(await ask(path)).toStartWith(`${status} `);
    },
  );

  test.each(["//healthz", "/x//healthz", "/healthz//", `/${"x/".repeat(40)}../../healthz`, "/%68ealthz"])(
    "that is unknown stays unknown under every reading: %s",
    async (path) => {
      expect(await ask(path)).toBe("404 not_found");
    },
  );

  test.each(["/healthz", "/healthz/", "/healthz?path=/x/../y", "/healthz?text=%E0", "http://elsewhere/healthz"])(
    "is served unchanged: %s",
    async (path) => {
      expect(await ask(path)).toBe("200 ok");
    },
  );

  test.each(["x", "api", "a:1", "gw:8080", "a_b.svc-1.local.", "127.0.0.1:80", "[::1]:8080", "SLUICE.example"])(
    "is complete after any host: %s",
    async (host) => {
      expect(await ask("/healthz", host)).toBe("200 ok");
      expect(await ask("/ab/healthz", host)).toBe("404 not_found");
      expect(await ask("/v1/models", host, `Authorization: Bearer ${KEY}\r\n`)).toBe("200 ok");
    },
  );

  test.each([
    "",
    "a b",
    "a/b",
    "me@host",
    "host#x",
    "host?x",
    "host\\x",
    "a:b",
    "a:99999",
    "ü.example",
    "[::1",
    "999.1.1.1",
  ])("is not served for an invalid Host: %p", async (host) => {
    expect(await ask("/healthz", host)).toBe("400 invalid_request");
    expect(await ask("/no/such/path/healthz", host)).toBe("400 invalid_request");
  });

  test.each([
    ["POST", "/healthz", "405"],
    ["OPTIONS", "/healthz", "204"],
    ["HEAD", "/healthz", "200"],
    ["HEAD", "/healthz/", "200"],
    ["PUT", "/v1/workflows/runs/1/", "405"],
    ["POST", "/nothing/here", "404"],
  ])("is known for every method: %s %s", async (method, path, status) => {
    const text = await toTheEnd(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(statuses(text)).toEqual([status]);
  });

  test.each(["", "/"])(
    "with a stream is not read to its end for HEAD, and the stream is closed: events%s",
    async (end) => {
      const id = "019a0000-0000-7000-8000-000000000001";
      const { context } = fake;
      const { database, runs } = context;
      let streams = 0;
      const follow = () => {
        streams += 1;
        return {
          wait: (_ms: number, over: AbortSignal) =>
            new Promise<void>((resolve) => over.addEventListener("abort", () => resolve(), { once: true })),
          takeDeltas: () => [],
          share: (_place: number, read: () => Promise<unknown>) => read(),
          close: () => {
            streams = 0;
          },
        };
      };
      const query = (_sql: string, _values: unknown, name: string) =>
        Promise.resolve(name === "find_frames" ? [] : [{ id, ended_at: null, frames: 0 }]);
      Object.assign(context, { database: { ...database, query }, runs: { follow } });
      const wire = open();
      wire.socket.write(
        `HEAD /v1/workflows/runs/${id}/events${end} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`,
      );
      const text = await Promise.race([wire.closed, Bun.sleep(2_000)]);
      wire.socket.destroy();
      Object.assign(context, { database, runs });
      expect([statuses(text ?? ""), streams]).toEqual([["200"], 0]);
    },
  );

  test("is served without a Host to clients of HTTP/1.0, which have none", async () => {
    const text = await toTheEnd("GET /healthz HTTP/1.0\r\n\r\n");
    expect([statuses(text), text]).toEqual([["200"], expect.stringContaining('{"status":"ok"}')]);
  });
});

describe("ambiguous framing", () => {
  const length = BODY.length;

  test.each<[string, string]>([
    ["two lengths that differ", post(`Content-Length: ${length}\r\nContent-Length: 5\r\n`)],
    ["a list of lengths", post(`Content-Length: ${length}, ${length}\r\n`)],
    ["a length and chunks", post(`Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n`, "0\r\n\r\n")],
    ["chunks and a length", post(`Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`, "0\r\n\r\n")],
    ["a second encoding", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")],
    ["chunks twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
    ["an unknown encoding", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")],
    ["the encoding that is none", post("Transfer-Encoding: identity\r\n")],
    ["a blank before the colon", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")],
    ["a folded header", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")],
    ["a negative length", post("Content-Length: -5\r\n")],
    ["a signed length", post(`Content-Length: +${length}\r\n`)],
    ["a hexadecimal length", post("Content-Length: 0x5\r\n")],
    ["a length beyond numbers", post("Content-Length: 99999999999999999999\r\n")],
    ["no Host", get("")],
    ["NUL in a header", get("Host: x\r\nX: a\0b\r\n")],
    ["a blank in a header's name", get("Host: x\r\nX Y: b\r\n")],
    ["no HTTP at all", "hello\r\n\r\n"],
  ])("%s: 400, closed, and no route receives it", async (_name, bytes) => {
    const text = await toTheEnd(`${bytes}${get("Host: x\r\n")}`);
    expect(statuses(text)).toEqual(["400"]);
    expect(fake.counted).toEqual([]);
  });

  test.each<[string, string]>([
    ["the same length twice", post(`Content-Length: ${length}\r\nContent-Length: ${length}\r\n`)],
    ["two Hosts", get("Host: a\r\nHost: b\r\n", "/public/models")],
  ])("%s: 400 with the envelope, since Bun's server accepts it", async (_name, bytes) => {
    const wire = open();
    wire.socket.write(bytes);
    expect(await wire.until('"param":null}}')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
    wire.socket.destroy();
    expect(fake.counted).toEqual([]);
  });

  test("a rejected body is not read as the next request", async () => {
    const wire = open();
    const smuggled = get("Host: x\r\n", "/public/models");
    wire.socket.write(post("Content-Length: 100000\r\n", smuggled));
    wire.socket.write("x".repeat(100_000 - smuggled.length));
    wire.socket.write(get("Host: x\r\n"));
    const text = await wire.until('{"status":"ok"}');
    wire.socket.destroy();
    expect(statuses(text)).toEqual(["413", "200"]);
  });

  test("pipelined requests are answered in order", async () => {
    const wire = open();
    wire.socket.write(post(`Content-Length: ${length}\r\n`) + get("Host: x\r\n"));
    const text = await wire.until('{"status":"ok"}');
    wire.socket.destroy();
    expect(text).toMatch(/"answered":true[\s\S]*"status":"ok"/);
  });
});

describe("limits of Bun's server", () => {
  test.each<[string, string]>([
    ["one large header", get(`Host: x\r\nX: ${"a".repeat(70_000)}\r\n`)],
    ["a large key", get(`Host: x\r\nAuthorization: Bearer ${"a".repeat(20_000)}\r\n`, "/v1/models")],
    ["very many headers", get(`Host: x\r\n${Array.from({ length: 300 }, (_, at) => `X${at}: b\r\n`).join("")}`)],
    ["a long path", get("Host: x\r\n", `/${"a".repeat(20_000)}`)],
  ])("%s: 431", async (_name, bytes) => {
    expect(statuses(await toTheEnd(bytes))).toEqual(["431"]);
  });

  test("an older or newer HTTP than 1.1 receives its error", async () => {
    expect(await toTheEnd("GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n")).toStartWith("HTTP/1.1 505");
  });
});

describe("a body that does not arrive", () => {
  const limits = BODY_READ as { baseMs: number };
  const before = limits.baseMs;
  afterEach(() => {
    limits.baseMs = before;
  });

  test.each<[string, string, string]>([
    ["of stated length, dripping", "Content-Length: 1000\r\n", "x"],
    ["of a large stated length, dripping", "Content-Length: 4000\r\n", "x"],
    ["in chunks, dripping", "Transfer-Encoding: chunked\r\n", "1\r\nx\r\n"],
    ["of stated length, silent", "Content-Length: 1000\r\n", ""],
    ["in chunks, silent", "Transfer-Encoding: chunked\r\n", ""],
  ])("%s: 408 with the envelope, counted once", async (_name, headers, drop) => {
    limits.baseMs = 100;
    const wire = open();
    wire.socket.write(post(headers, ""));
    const drip = setInterval(() => drop !== "" && wire.socket.write(drop), 10);
    const text = await wire.until('"param":null}}');
    clearInterval(drip);
    wire.socket.destroy();
    expect(text).toStartWith("HTTP/1.1 408");
    expect(text).toContain('"code":"request_timeout"');
    expect(fake.counted).toHaveLength(1);
    expect(fake.logged).toEqual([]);
  });

  test.each<[string, string, string]>([
    ["of stated length", `Content-Length: ${BODY.length + 5}\r\n`, BODY],
    ["in chunks", "Transfer-Encoding: chunked\r\n", `${BODY.length.toString(16)}\r\n${BODY}\r\n`],
    ["in chunks that are none", "Transfer-Encoding: chunked\r\n", `zz\r\n${BODY}\r\n0\r\n\r\n`],
  ])(
    "%s because its client disconnected: no call starts from the partial body, and it is no internal error",
    async (_name, headers, sent) => {
      const relayed = fake.relayed.length;
      const wire = open();
      wire.socket.end(post(headers, sent));
      await wire.closed;
      // A request behind it on another connection: by its answer the cut one has been dealt with.
      while (fake.counted.length === 0) await Bun.sleep(5);
      expect(fake.relayed.length).toBe(relayed);
      expect(fake.logged).toEqual([]);
    },
  );
});

describe("a client that reads a stream", () => {
  const piece = (text: string): Uint8Array => new TextEncoder().encode(text);

  function stream(): { body: StreamBody; left: Promise<string>; response: () => Response } {
    const { promise: left, resolve } = Promise.withResolvers<string>();
    const body = new StreamBody({ onDisconnect: resolve });
    return {
      body,
      left,
      response: () => new Response(body.readable, { headers: { "content-type": "text/event-stream; charset=utf-8" } }),
    };
  }

  test("receives each piece when it is written, and a complete message at the end", async () => {
    const { body, response } = stream();
    relay = response;
    const wire = open();
    wire.socket.write(post(`Content-Length: ${BODY.length}\r\n`));
    body.write(piece("data: a\n\n"));
    const first = await wire.until("data: a\n\n");
    expect(first.toLowerCase()).toContain("content-type: text/event-stream; charset=utf-8");
    body.write(piece("data: b\n\n"));
    await wire.until("data: b\n\n");
    body.end();
    expect(await wire.until("0\r\n\r\n")).toEndWith("0\r\n\r\n");
    wire.socket.destroy();
  });

  test.each<[string, (socket: Socket) => void]>([
    ["closes", (socket) => socket.destroy()],
    ["resets", (socket) => socket.resetAndDestroy()],
  ])("and %s is noticed without another byte being written", async (_how, leave) => {
    const { body, left, response } = stream();
    relay = response;
    const wire = open();
    wire.socket.write(post(`Content-Length: ${BODY.length}\r\n`));
    body.write(piece("data: a\n\n"));
    await wire.until("data: a\n\n");
    leave(wire.socket);
    expect(await left).toBe("client");
    expect(body.isOpen).toBe(false);
  });

  test("that stops reading is disconnected without the end mark of a complete message", async () => {
    const { body, left, response } = stream();
    relay = response;
    const wire = open();
    wire.socket.write(post(`Content-Length: ${BODY.length}\r\n`));
    body.write(piece("data: a\n\n"));
    await wire.until("data: a\n\n");
    wire.socket.pause();
    const block = new Uint8Array(65_536).fill(120);
    // The socket's own buffers take some megabytes before the stream is no longer pulled.
    for (let sent = 0; sent < 400 && body.isOpen; sent++) {
      body.write(block);
      body.tick(performance.now());
      await Bun.sleep(1);
    }
    expect(await left).toBe("stuck");
    wire.socket.resume();
    const text = await wire.closed;
    expect(text).not.toEndWith("0\r\n\r\n");
  });
});
