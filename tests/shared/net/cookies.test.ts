/** Cookies of redirects, and bodies in every content coding of browsers. */
import { afterEach, describe, expect, test } from "bun:test";
import type { IncomingMessage, RequestListener } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { fetchPublic, OutboundError, type OutboundRequest, type Resolve } from "#shared/net/fetch.ts";

import { allow, listen, type Listening } from "./servers.ts";

const open: Listening[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

const wanted = (request: Partial<OutboundRequest> = {}): OutboundRequest => ({
  signal: new AbortController().signal,
  bytesMax: 100_000,
  timeoutMs: 20_000,
  redirectsMax: 20,
  ...request,
});

async function serve(handler: RequestListener): Promise<Listening> {
  const server = await listen(handler);
  open.push(server);
  allow("127.0.0.0/8");
  return server;
}

/** Every name leads to the server of the test. */
const here: Resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

/** A server whose hosts redirect along the way, setting cookies; returns the cookies that came with each request. */
async function walk(
  way: readonly { readonly host: string; readonly path: string; readonly set?: readonly string[] }[],
  request: Partial<OutboundRequest> = {},
): Promise<readonly (string | undefined)[]> {
  const seen: (string | undefined)[] = [];
  let port = 0;
  const addressOf = (at: number): string => `http://${way[at]?.host}:${port}${way[at]?.path}`;
  const server = await serve(({ headers }: IncomingMessage, response) => {
    const at = seen.push(headers.cookie) - 1;
    response.setHeader("set-cookie", way[at]?.set ?? []);
    if (at + 1 < way.length) response.writeHead(302, { location: addressOf(at + 1) });
    response.end("x");
  });
  ({ port } = server);
  await fetchPublic(addressOf(0), wanted(request), here);
  return seen;
}

describe("a cookie that a redirect sets", () => {
  const A = { host: "a.example.com", path: "/" };
  test.each<[string, Parameters<typeof walk>[0], readonly (string | undefined)[]]>([
    [
      "comes with the next request, and is replaced",
      [{ ...A, set: ["s=1", "t=2"] }, { ...A, set: ["s=3"] }, A],
      [undefined, "s=1; t=2", "s=3; t=2"],
    ],
    [
      "stays with its host",
      [{ ...A, set: ["s=1"] }, { host: "b.example.com", path: "/" }, A],
      [undefined, undefined, "s=1"],
    ],
    [
      "reaches the hosts of its domain",
      [
        { ...A, set: ["s=1; Domain=example.com"] },
        { host: "b.example.com", path: "/" },
      ],
      [undefined, "s=1"],
    ],
    [
      "reaches no other site, and none by its claim",
      [{ ...A, set: ["s=1; Domain=other.org"] }, { host: "other.org", path: "/" }, A],
      [undefined, undefined, undefined],
    ],
    [
      "reaches no site of a public suffix",
      [
        { ...A, set: ["s=1; Domain=com"] },
        { host: "b.com", path: "/" },
      ],
      [undefined, undefined],
    ],
    [
      "stays below its path",
      [
        { ...A, set: ["s=1; Path=/in"] },
        { ...A, path: "/out" },
        { ...A, path: "/in/x" },
      ],
      [undefined, undefined, "s=1"],
    ],
    ["is not sent in the open where it is secure", [{ ...A, set: ["s=1; Secure"] }, A], [undefined, undefined]],
    [
      "is gone when it has ended",
      [{ ...A, set: ["s=1"] }, { ...A, set: ["s=; Max-Age=0"] }, A],
      [undefined, "s=1", undefined],
    ],
  ])("%s", async (_what, way, cookies) => {
    expect(await walk(way)).toEqual(cookies);
  });

  test("comes after the caller's own, which are sent to the first origin only", async () => {
    const way = [{ ...A, set: ["s=1; Domain=example.com"] }, A, { host: "b.example.com", path: "/" }];
    expect(await walk(way, { headers: { Cookie: "own=1" } })).toEqual(["own=1", "own=1; s=1", "s=1"]);
  });

  test("does not outlive its request", async () => {
    const way = [{ ...A, set: ["s=1"] }, A];
    expect([await walk(way), await walk(way)]).toEqual([[undefined, "s=1"], [undefined, "s=1"]]); // prettier-ignore
  });
});

test("an address in a redirect is read as UTF-8", async () => {
  const server = await serve(({ url }, response) => {
    if (url === "/") response.writeHead(302, { location: Buffer.from("/é").toString("latin1") });
    response.end("x");
  });
  await fetchPublic(server.url("/"), wanted());
  expect(server.asked).toEqual(["GET /", "GET /%C3%A9"]);
});

describe("a body", () => {
  const TEXT = Buffer.from("hello ".repeat(1_000));
  test.each<[string, Uint8Array]>([
    ["deflate", deflateSync(TEXT)],
    ["deflate", deflateRawSync(TEXT)],
    ["zstd", zstdCompressSync(TEXT)],
    ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
    ["deflate, gzip", gzipSync(deflateRawSync(TEXT))],
    ["identity, GZIP", gzipSync(TEXT)],
  ])("in %j is decompressed, also in pieces", async (coding, bytes) => {
    const server = await serve(({ url }, response) => {
      response.setHeader("content-encoding", coding);
      if (url === "/whole") response.end(bytes);
      else {
        response.write(bytes.subarray(0, 1));
        setTimeout(() => response.end(bytes.subarray(1)), 20);
      }
    });
    for (const path of ["/whole", "/pieces"]) {
      expect(Buffer.from((await fetchPublic(server.url(path), wanted())).bytes).equals(TEXT)).toBe(true);
    }
  });

  test.each(["deflate", "zstd", "gzip, gzip"])("that is empty or damaged in %j ends the call", async (coding) => {
    const server = await serve(({ url }, response) => {
      response.setHeader("content-encoding", coding).end(url === "/" ? "" : "\x78\x9c damaged");
    });
    const ends = await Promise.allSettled([
      fetchPublic(server.url("/"), wanted()),
      fetchPublic(server.url("/damaged"), wanted()),
    ]);
    expect(ends[1]).toMatchObject({ status: "rejected", reason: { fault: "unreachable" } });
    expect(ends[0].status === "rejected" ? ends[0].reason : ends[0].value.bytes).toEqual(
      ends[0].status === "rejected" ? expect.any(OutboundError) : new Uint8Array(),
    );
  });

  test("that expands too far in raw deflate is aborted", async () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000));
    const server = await serve((_request, response) => response.setHeader("content-encoding", "deflate").end(bomb));
    const error: unknown = await fetchPublic(server.url("/"), wanted()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ fault: "too_large" });
  });

  test("that expands too far between two encodings is aborted, although its result is small", async () => {
    const nothing = gzipSync("");
    const bomb = gzipSync(Buffer.concat(Array.from({ length: 20_000 }, () => nothing)));
    expect([bomb.length < 100_000, 20_000 * nothing.length > 100_000]).toEqual([true, true]);
    const server = await serve((_request, response) => response.setHeader("content-encoding", "gzip, gzip").end(bomb));
    const error: unknown = await fetchPublic(server.url("/"), wanted()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ fault: "too_large" });
  });

  test.each([
    ["8 MiB", 13, "x"],
    ["16 MiB", 14, undefined],
  ])("in zstd with a window of %s is read if browsers support it", async (_what, exponent, text) => {
    // A frame of one raw block; RFC 8878 has its header.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, 9, 0, 0, 0x78]);
    const server = await serve((_request, response) => response.setHeader("content-encoding", "zstd").end(frame));
    const read = fetchPublic(server.url("/"), wanted()).then(
      ({ bytes }) => Buffer.from(bytes).toString(),
      () => undefined,
    );
    expect(await read).toBe(text);
  });
});
