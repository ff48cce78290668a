import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { lookup, Resolver } from "node:dns/promises";
import type { IncomingMessage, RequestListener } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

import { fetchPublic, OutboundError, type OutboundRequest, type Resolve } from "#shared/net/fetch.ts";

import { allow, listen, listenAsSink, listenRaw, type Listening, PNG } from "./servers.ts";

const open: { close(): void }[] = [];
function kept<T extends { close(): void }>(server: T): T {
  open.push(server);
  return server;
}
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

const wanted = (request: Partial<OutboundRequest> = {}): OutboundRequest => ({
  signal: new AbortController().signal,
  bytesMax: 100_000,
  timeoutMs: 20_000,
  ...request,
});

/** A server that one entry of the list opens. */
async function serve(handler: RequestListener): Promise<Listening> {
  const server = kept(await listen(handler));
  allow(`127.0.0.1:${server.port}`);
  return server;
}

async function fault(work: Promise<unknown>): Promise<OutboundError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof OutboundError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Names that lead where the test says. */
const names =
  (table: Readonly<Record<string, readonly string[]>>): Resolve =>
  (host) =>
    Promise.resolve((table[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));

describe("an answer", () => {
  test("is returned with its bytes, type, headers and address", async () => {
    const server = await serve((_request, response) => {
      response.setHeader("content-type", "Image/PNG; q=1").setHeader("x-thing", "1").end(PNG);
    });
    const answer = await fetchPublic(server.url("/a.png?b=1#c"), wanted());
    expect(answer).toMatchObject({ status: 200, contentType: "image/png", url: server.url("/a.png?b=1#c") });
    expect(Buffer.from(answer.bytes).equals(PNG)).toBe(true);
    expect(answer.headers.get("x-thing")).toBe("1");
    expect(answer.headers.has("connection")).toBe(false);
    expect(server.asked).toEqual(["GET /a.png?b=1"]);
  });

  test("is requested without extra headers, for the host of the URL, on its own connection", async () => {
    let seen: IncomingMessage["headers"] = {};
    const server = kept(
      await listen((request, response) => {
        seen = request.headers;
        response.end("x");
      }),
    );
    allow("127.0.0.0/8");
    await fetchPublic(
      server.url("/", "cdn.example.com"),
      wanted({ accept: "image/png" }),
      names({ "cdn.example.com": ["127.0.0.1"] }),
    );
    expect(seen).toEqual({
      host: `cdn.example.com:${server.port}`,
      connection: "close",
      accept: "image/png",
      "accept-encoding": "identity",
      "user-agent": "Sluice",
    });
  });

  test("may follow a request with a body; connection headers are not passed on", async () => {
    let seen: Record<string, unknown> = {};
    const server = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        seen = { ...request.headers, body };
        response.writeHead(202).end();
      });
    });
    const headers = {
      "X-Signature": "s",
      Host: "evil",
      "Content-Length": "1",
      "Transfer-Encoding": "chunked",
      TE: "x",
    };
    const answer = await fetchPublic(server.url("/hook"), wanted({ method: "POST", headers, body: '{"ü":1}' }));
    expect(answer.status).toBe(202);
    expect(seen).toMatchObject({ body: '{"ü":1}', "x-signature": "s", "content-length": "8" });
    expect(seen["host"]).toBe(`127.0.0.1:${server.port}`);
    expect(seen).not.toHaveProperty("te");
    expect(seen).not.toHaveProperty("transfer-encoding");
  });

  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("that is %s without a request for it is decompressed", async (encoding, compress) => {
    const server = await serve((_request, response) => {
      response.setHeader("content-encoding", encoding).end(compress(Buffer.from("hello ".repeat(100))));
    });
    const answer = await fetchPublic(server.url("/"), wanted());
    expect(Buffer.from(answer.bytes).toString()).toBe("hello ".repeat(100));
    expect(answer.headers.has("content-encoding")).toBe(false);
  });

  test.each(["zip", "gzip, lzma", "constructor"])("in the encoding %j is rejected", async (encoding) => {
    const server = await serve((_request, response) => response.setHeader("content-encoding", encoding).end("x"));
    expect((await fault(fetchPublic(server.url("/"), wanted()))).fault).toBe("status");
  });

  test.each([304, 400, 401, 404, 500])("of status %p is an error with only the status", async (status) => {
    const server = await serve((_request, response) => response.writeHead(status, { "x-a": "s3cret" }).end("s3cret"));
    const error = await fault(fetchPublic(server.url("/secret-path"), wanted()));
    expect(error).toMatchObject({ fault: "status", status, message: `outbound status: answered ${status}` });
  });
});

describe("an answer that is too large or too slow", () => {
  test("with a declared length over the limit is rejected before the body", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { "content-length": "100001" }).flushHeaders();
    });
    expect((await fault(fetchPublic(server.url("/"), wanted()))).fault).toBe("too_large");
  });

  test("of exactly the limit is accepted, of one byte more rejected", async () => {
    const server = await serve((request, response) => {
      response.write("x".repeat(request.url === "/more" ? 100_000 : 99_999));
      response.end("x");
    });
    expect((await fetchPublic(server.url("/"), wanted())).bytes).toHaveLength(100_000);
    expect((await fault(fetchPublic(server.url("/more"), wanted()))).fault).toBe("too_large");
  });

  test("without end is aborted, and its connection closed", async () => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      const feed = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on("drain", feed).on("close", onClose);
      feed();
    });
    expect((await fault(fetchPublic(server.url("/"), wanted()))).fault).toBe("too_large");
    await closed;
  });

  test("that is a gzip bomb is aborted while it expands", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    const server = await serve((_request, response) => response.setHeader("content-encoding", "gzip").end(bomb));
    expect((await fault(fetchPublic(server.url("/"), wanted()))).fault).toBe("too_large");
  });

  test("that never comes ends at the deadline, and its connection is closed", async () => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const server = await serve((_request, response) => void response.on("close", onClose));
    expect((await fault(fetchPublic(server.url("/"), wanted({ timeoutMs: 100 })))).fault).toBe("timeout");
    await closed;
  });

  test("that drips without end ends at the deadline, though it never stalls", async () => {
    const server = await serve((_request, response) => {
      const timer = setInterval(() => response.write("x"), 10);
      response.on("close", () => clearInterval(timer));
    });
    const error = await fault(fetchPublic(server.url("/"), wanted({ timeoutMs: 300, stallMs: 250 })));
    expect(error.message).toBe("outbound timeout: not done in 300 ms");
  });

  test("that stalls ends long before the deadline", async () => {
    const server = await serve((_request, response) => void response.write("x"));
    const error = await fault(fetchPublic(server.url("/"), wanted({ stallMs: 100 })));
    expect(error.message).toBe("outbound timeout: silent for 100 ms");
  });

  test("behind an unresponsive resolver ends at the deadline", async () => {
    const never: Resolve = () => new Promise(() => undefined);
    const error = await fault(fetchPublic("http://slow.example.com/", wanted({ timeoutMs: 50 }), never));
    expect(error.fault).toBe("timeout");
  });

  test("aborted by the caller's own signal throws its reason", async () => {
    const controller = new AbortController();
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      response.on("close", onClose).write("x");
      controller.abort(new Error("left"));
    });
    const { signal } = controller;
    expect(await fetchPublic(server.url("/"), wanted({ signal })).catch(String)).toBe("Error: left");
    await closed;
    expect(await fetchPublic(server.url("/"), wanted({ signal })).catch(String)).toBe("Error: left");
    expect(server.asked).toHaveLength(1);
  });
});

describe("an answer that is not read to its end", () => {
  test.each([
    ["a fault", 500],
    ["a redirect", 302],
  ])("such as %s leaves no open connection", async (_what, status) => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      if (request.url === "/next") response.end("x");
      else response.on("close", onClose).writeHead(status, { location: "/next" }).write("more to come");
    });
    const work = fetchPublic(server.url("/"), wanted());
    if (status === 500) expect((await fault(work)).status).toBe(500);
    else expect((await work).url).toBe(server.url("/next"));
    await closed;
  });
});

describe("a failure", () => {
  test.each([
    ["fewer bytes than declared", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"],
    ["chunks without their end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"],
    ["a compressed body cut short", `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc`],
    ["no HTTP at all", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["nothing", ""],
  ])("%s is no answer", async (_what, answer) => {
    const server = kept(await listenRaw(answer));
    allow(`127.0.0.1:${server.port}`);
    expect((await fault(fetchPublic(server.url("/"), wanted()))).fault).toBe("unreachable");
    expect(server.asked).toEqual(["connection"]);
  });

  test("by more bytes than declared leaves them unread", async () => {
    const server = kept(await listenRaw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabcdef"));
    allow(`127.0.0.1:${server.port}`);
    expect(Buffer.from((await fetchPublic(server.url("/"), wanted())).bytes).toString()).toBe("abc");
  });

  test("of a port without a server has the system's error code, without the address", async () => {
    const server = await listen(() => undefined);
    server.close();
    allow(`127.0.0.1:${server.port}`);
    const error = await fault(fetchPublic(server.url("/?token=s3cret"), wanted()));
    expect(error).toMatchObject({ fault: "unreachable", message: "outbound unreachable: ECONNREFUSED" });
  });

  test("of a name without addresses, or an unresolved one, is unreachable", async () => {
    expect((await fault(fetchPublic("http://none.example.com/", wanted(), names({})))).fault).toBe("unreachable");
    const failing: Resolve = () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" }));
    const error = await fault(fetchPublic("http://gone.example.com/", wanted(), failing));
    expect(error.message).toBe("outbound unreachable: ENOTFOUND");
  });
});

describe("a private address", () => {
  let sink: Listening;
  beforeAll(async () => {
    sink = await listenAsSink();
  });
  afterEach(() => {
    expect(sink.asked).toEqual([]);
  });
  afterAll(() => sink.close());

  test.each(["127.0.0.1", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "localhost", "a.localhost"])(
    "%s is rejected without a request",
    async (host) => {
      const resolve: Resolve = () => Promise.reject(new Error("nobody may ask"));
      const error = await fault(fetchPublic(`http://${host}:${sink.port}/`, wanted(), resolve));
      expect(error.message).toBe("outbound unsafe: the URL is not allowed");
    },
  );

  test.each([
    [["127.0.0.1"]],
    [["10.0.0.1"]],
    [["169.254.169.254"]],
    [["::1"]],
    [["::ffff:127.0.0.1"]],
    [["fd00:ec2::254"]],
    [["8.8.8.8", "127.0.0.1"]],
    [["127.0.0.1", "8.8.8.8"]],
    [["2606:4700::6810:85e5", "::1"]],
  ])("behind a name that resolves to %j is rejected", async (addresses) => {
    const resolve = names({ "evil.example.com": addresses });
    const error = await fault(fetchPublic(sink.url("/", "evil.example.com"), wanted(), resolve));
    expect(error.message).toBe("outbound unsafe: the name leads inside");
  });

  test("behind a public name that actually resolves to loopback is rejected", async () => {
    // As the system's own resolver tells it.
    const resolve: Resolve = () => lookup("localhost", { all: true });
    const error = await fault(fetchPublic(sink.url("/", "evil.example.com"), wanted(), resolve));
    expect(error.fault).toBe("unsafe");
  });

  test("is rejected, as are service ports on public hosts", async () => {
    const resolve: Resolve = () => Promise.reject(new Error("nobody may ask"));
    for (const port of [22, 25, 4222, 5432, 6379]) {
      const error = await fault(fetchPublic(`http://example.com:${port}/`, wanted(), resolve));
      expect(error.fault).toBe("unsafe");
    }
  });

  test("in a redirect is rejected, in every spelling", async () => {
    for (const target of [
      sink.url("/"),
      `//127.0.0.1:${sink.port}/`,
      `http://2130706433:${sink.port}/`,
      sink.url("/", "inside.example.com"),
      `http://public.example.com\\@127.0.0.1:${sink.port}/`,
      "file:///etc/passwd",
      `http://user:pass@127.0.0.1:${sink.port}/`,
    ]) {
      const server = await serve((_request, response) => response.writeHead(302, { location: target }).end());
      const resolve = names({ "inside.example.com": ["127.0.0.1"], "public.example.com": ["127.0.0.1"] });
      expect((await fault(fetchPublic(server.url("/"), wanted(), resolve))).fault).toBe("unsafe");
      expect(server.asked).toHaveLength(1);
    }
  });
});

describe("a name with changing addresses", () => {
  test("is looked up once, and the checked address is the connected one", async () => {
    const sink = kept(await listenAsSink("127.0.0.2"));
    const good = kept(await listen((_request, response) => response.end("good"), "127.0.0.1", sink.port));
    allow("127.0.0.1");
    const answers = ["127.0.0.1", "127.0.0.2"];
    let asked = 0;
    const rebinding: Resolve = () => Promise.resolve([{ address: answers[asked++] ?? "127.0.0.2", family: 4 }]);
    const answer = await fetchPublic(good.url("/", "rebind.example.com"), wanted(), rebinding);
    expect(Buffer.from(answer.bytes).toString()).toBe("good");
    expect(asked).toBe(1);
    // The next call meets the other answer, and is refused by it.
    expect((await fault(fetchPublic(good.url("/", "rebind.example.com"), wanted(), rebinding))).fault).toBe("unsafe");
    expect(sink.asked).toEqual([]);
  });

  test("bypasses nothing with its own DNS server either, with redirects between", async () => {
    const sink = kept(await listenAsSink("127.0.0.2"));
    const redirect: RequestListener = (_request, response) => response.writeHead(302, { location: "/again" }).end();
    const good = kept(await listen(redirect, "127.0.0.1", sink.port));
    allow("127.0.0.1");
    const dns = kept(await rebindingDns(["127.0.0.1", "127.0.0.2"]));
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${dns.port}`]);
    const resolve: Resolve = async (host) => (await resolver.resolve4(host)).map((address) => ({ address, family: 4 }));
    const error = await fault(fetchPublic(good.url("/", "rebind.example.com"), wanted(), resolve));
    expect(error.message).toBe("outbound unsafe: the name leads inside");
    expect(good.asked).toEqual(["GET /"]);
    expect(dns.questions()).toBe(2);
    expect(sink.asked).toEqual([]);
  });
});

describe("redirects", () => {
  test("of a plain GET are followed three times, relative ones too", async () => {
    const server = await serve((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step < 3) response.writeHead([301, 302, 307][step] ?? 303, { location: String(step + 1) }).end("moved");
      else response.end("here");
    });
    const answer = await fetchPublic(server.url("/0"), wanted());
    expect(Buffer.from(answer.bytes).toString()).toBe("here");
    expect(answer.url).toBe(server.url("/3"));
  });

  test("in a loop end after the third", async () => {
    const server = await serve((request, response) => response.writeHead(308, { location: request.url }).end());
    expect(await fault(fetchPublic(server.url("/"), wanted()))).toMatchObject({
      fault: "redirects",
      message: "outbound redirects: more than 3 redirects",
    });
    expect(server.asked).toHaveLength(4);
  });

  test.each([["POST"], ["PUT"], ["GET with headers"]] as const)("of %s are never followed", async (what) => {
    const server = await serve((_request, response) => response.writeHead(302, { location: "/next" }).end());
    const request: Partial<OutboundRequest> =
      what === "GET with headers" ? { headers: { authorization: "Bearer s3cret" } } : { method: what, body: "{}" };
    expect(await fault(fetchPublic(server.url("/"), wanted(request)))).toMatchObject({ fault: "status", status: 302 });
    expect(server.asked).toHaveLength(1);
  });

  test("of HEAD, and of a call with headers, are followed as often as configured", async () => {
    const server = await serve((request, response) => {
      const step = Number(request.url?.slice(1));
      response.writeHead(step < 2 ? 302 : 200, { location: `/${step + 1}`, "content-length": "7" }).end();
    });
    const head: Partial<OutboundRequest> = { method: "HEAD", headers: { "x-a": "1" }, bytesMax: 1 };
    const answer = await fetchPublic(server.url("/0"), wanted({ ...head, redirectsMax: 2 }));
    expect(answer).toMatchObject({ url: server.url("/2"), bytes: new Uint8Array() });
    expect((await fault(fetchPublic(server.url("/0"), wanted({ ...head, redirectsMax: 1 })))).fault).toBe("redirects");
    expect((await fault(fetchPublic(server.url("/0"), wanted(head)))).status).toBe(302);
  });

  test("send the caller's headers to no other origin, and not back either", async () => {
    const seen: unknown[] = [];
    const other = kept(
      await listen((_request, response) => response.writeHead(302, { location: home.url("/3") }).end()),
    );
    const home: Listening = kept(
      await listen(({ headers, url }, response) => {
        seen.push([url, headers["x-a"]]);
        if (url === "/3") response.end("x");
        else response.writeHead(302, { location: url === "/1" ? "/2" : other.url("/") }).end();
      }),
    );
    allow(`127.0.0.1:${home.port}`, `127.0.0.1:${other.port}`);
    await fetchPublic(home.url("/1"), wanted({ headers: { "X-A": "1" }, redirectsMax: 5 }));
    expect(seen).toEqual([["/1", "1"], ["/2", "1"], ["/3", undefined]]); // prettier-ignore
  });

  test("are confirmed one by one, and an exception ends the call", async () => {
    const server = await serve((request, response) => {
      response.writeHead(302, { location: `${request.url}1` }).end();
    });
    const before = ({ pathname }: URL) => (pathname === "/11" ? Promise.reject(new Error("no")) : Promise.resolve());
    expect(await fetchPublic(server.url("/"), wanted({ before })).catch(String)).toBe("Error: no");
    expect(server.asked).toEqual(["GET /", "GET /1"]);
  });

  test("without a location are an answer of that status", async () => {
    const server = await serve((request, response) => {
      response.writeHead(302, request.url === "/bad" ? { location: "http://[" } : {}).end();
    });
    expect((await fault(fetchPublic(server.url("/"), wanted()))).status).toBe(302);
    expect((await fault(fetchPublic(server.url("/bad"), wanted()))).fault).toBe("status");
  });
});

/** Answers each question with the next address, at no time to live; the last one stays. */
async function rebindingDns(
  addresses: readonly string[],
): Promise<{ readonly port: number; questions(): number; close(): void }> {
  const socket = createSocket("udp4");
  let questions = 0;
  socket.on("message", (question, { port, address }) => {
    const answer = addresses[Math.min(questions, addresses.length - 1)] ?? "";
    questions += 1;
    const end = question.indexOf(0, 12) + 5;
    const head = Buffer.from(question.subarray(0, end));
    // A recursive answer with one record and nothing else.
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 6);
    head.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...answer.split(".").map(Number)]);
    socket.send(Buffer.concat([head, record]), port, address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, "127.0.0.1", resolve);
  });
  return { port: socket.address().port, questions: () => questions, close: () => void socket.close() };
}
