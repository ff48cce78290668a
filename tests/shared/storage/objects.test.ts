/** Objects in the store: small ones go by one request without the SDK's layers, and by the SDK where that comes to nothing. */
import { createHash, createHmac } from "node:crypto";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { openStorage, SMALL_OBJECT_BYTES_MAX, type Storage } from "#shared/storage/client.ts";
import { deleteObject, isMissing, putObject, readObject, StorageError } from "#shared/storage/objects.ts";
import { createTestBucket, type TestBucket } from "#tests/support/storage.ts";
import { type Fate, startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";

let bucket: TestBucket;
let proxy: TcpProxy;
let storage: Storage;
const observed: string[] = [];

beforeAll(async () => {
  bucket = await createTestBucket();
  proxy = startTcpProxy(new URL(bucket.endpoint).host);
  storage = open();
});
afterEach(() => {
  proxy.decide(undefined);
  observed.length = 0;
});
afterAll(() => {
  storage.close();
  proxy.close();
});

function open(settings: Partial<TestBucket["settings"]> = {}): Storage {
  const storageSeconds = { observe: (_seconds: number, operation: string) => void observed.push(operation) };
  return openStorage({ ...bucket.settings, endpoint: `http://${proxy.host}`, ...settings }, {
    storageSeconds,
  } as never);
}

async function read(key: string, from: number, to: number, of = storage): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readObject(of, key, from, to)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Requests for a key that came since, by who sent them: the SDK names its command in the address. */
function watch(key: string): () => string[] {
  const before = proxy.requests.length;
  return () =>
    proxy.requests
      .slice(before)
      .filter(({ line }) => line.includes(`/${key}`))
      .map(({ line }) => `${line.split(" ", 1).join("")} ${line.includes("?x-id=") ? "sdk" : "alone"}`);
}

/** The first request for a key meets this. */
function meet(key: string, fate: Fate): void {
  const fates = [fate];
  proxy.decide((line) => (line.includes(`/${key}`) ? (fates.shift() ?? "pass") : "pass"));
}

const answer = (status: string, body: string): Fate => ({
  answer: `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
});

test("a small object is stored, read and deleted by a request each, and its checksum is verified", async () => {
  const requests = watch("small");
  expect(await putObject(storage, "small", Buffer.from("0123456789"))).toBe(true);
  expect(await read("small", 0, 10)).toBe("0123456789");
  expect(await read("small", 3, 6)).toBe("345");
  await deleteObject(storage, "small");
  expect(requests()).toEqual(["PUT alone", "GET alone", "GET alone", "DELETE alone"]);
  expect(observed).toEqual(["PutObject", "GetObject", "GetObject", "DeleteObject"]);
});

test("a larger object, and one whose name needs escaping, use the SDK", async () => {
  const content = "x".repeat(SMALL_OBJECT_BYTES_MAX + 1);
  const requests = watch("large");
  await putObject(storage, "large", Buffer.from(content));
  expect(await read("large", 0, content.length)).toBe(content);
  expect(requests()).toEqual(["PUT sdk", "GET sdk"]);
  const others = watch("a%20b");
  await putObject(storage, "a b", Buffer.from("c"));
  expect(await read("a b", 0, 1)).toBe("c");
  expect(others()).toEqual(["PUT sdk", "GET sdk"]);
});

test("an object that does not exist is missing, and deleting it succeeds", async () => {
  const requests = watch("none");
  const error: unknown = await read("none", 0, 1).catch((thrown: unknown) => thrown);
  expect(isMissing(error)).toBe(true);
  await deleteObject(storage, "none");
  expect(requests()).toEqual(["GET alone", "GET sdk", "DELETE alone"]);
  expect(observed).toEqual(["GetObject", "DeleteObject"]);
});

test("the received request equals the signed one: address, headers and body", async () => {
  const seen: { readonly given: string; readonly computed: string; readonly isWhole: boolean }[] = [];
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.bytes();
      const { given, computed } = signatures(request);
      const md5 = createHash("md5").update(body).digest();
      const isWhole =
        request.headers.get("x-amz-content-sha256") === createHash("sha256").update(body).digest("hex") &&
        (request.headers.get("content-md5") ?? md5.toString("base64")) === md5.toString("base64");
      seen.push({ given, computed, isWhole });
      const headers = { etag: `"${md5.toString("hex")}"` };
      return request.method === "GET" ? new Response("abc", { status: 206 }) : new Response(null, { headers });
    },
  });
  const alone = open({ endpoint: `http://127.0.0.1:${server.port}/below/` });
  try {
    expect(await putObject(alone, "files/file-1", Buffer.from("abc"))).toBe(true);
    expect(await read("files/file-1", 2, 5, alone)).toBe("abc");
  } finally {
    alone.close();
  }
  expect(seen).toHaveLength(2);
  for (const { given, computed, isWhole } of seen) expect([given, isWhole]).toEqual([computed, true]);
});

/** Returns the signature that a request brings, and the one that AWS Signature Version 4 gives for what arrived. */
function signatures(request: Request): { readonly given: string; readonly computed: string } {
  const { secretAccessKey = "", region } = bucket.settings;
  const [, scope = "", names = "", given = ""] =
    /Credential=[^/]+\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)/.exec(
      request.headers.get("authorization") ?? "",
    ) ?? [];
  const { pathname, search } = new URL(request.url);
  const headers = names.split(";").map((name) => `${name}:${request.headers.get(name) ?? ""}\n`);
  const payload = request.headers.get("x-amz-content-sha256") ?? "";
  const canonical = [request.method, pathname, search.slice(1), headers.join(""), names, payload].join("\n");
  const date = request.headers.get("x-amz-date") ?? "";
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const hmac = (key: string | Buffer, part: string): Buffer => createHmac("sha256", key).update(part).digest();
  const key = [date.slice(0, 8), region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  expect(names.split(";")).toEqual(expect.arrayContaining(["host", "x-amz-content-sha256", "x-amz-date"]));
  return { given, computed: hmac(key, text).toString("hex") };
}

describe("the SDK is used if the request", () => {
  const fates: Readonly<Record<string, Fate>> = {
    "is reset": "refuse",
    "finds the store busy": answer("503 Slow Down", "<Error><Code>SlowDown</Code></Error>"),
  };
  test.each([...Object.entries(fates), ["is answered with half of the object", { cut: 5 }] as const])(
    "%s",
    async (how, fate) => {
      const key = `taken-${how.replaceAll(" ", "-")}`;
      await putObject(storage, key, Buffer.from("0123456789"));
      const requests = watch(key);
      meet(key, fate);
      expect(await read(key, 0, 10)).toBe("0123456789");
      expect(requests()).toEqual(["GET alone", "GET sdk"]);
    },
  );

  test.each(Object.entries(fates))("stores %s", async (how, fate) => {
    const key = `stored-${how.replaceAll(" ", "-")}`;
    const requests = watch(key);
    meet(key, fate);
    expect(await putObject(storage, key, Buffer.from("abc"))).toBe(true);
    expect(requests()).toEqual(["PUT alone", "PUT sdk"]);
    expect(await read(key, 0, 3)).toBe("abc");
  });

  test.each([
    ["more than is small", "206 Partial Content", SMALL_OBJECT_BYTES_MAX + 1],
    ["more than was asked for", "206 Partial Content", 11],
    ["the whole object", "200 OK", 10],
  ])("is answered with %s", async (what, status, length) => {
    const key = `answered-${what.replaceAll(" ", "-")}`;
    await putObject(storage, key, Buffer.from("0123456789"));
    const requests = watch(key);
    meet(key, answer(status, "y".repeat(length)));
    expect(await read(key, 0, 10)).toBe("0123456789");
    expect(requests()).toEqual(["GET alone", "GET sdk"]);
  });
});

test("a silent store is not called again by the SDK", async () => {
  await putObject(storage, "silent", Buffer.from("x"));
  const requests = watch("silent");
  meet("silent", "silence");
  const error: unknown = await read("silent", 0, 1, { ...storage, stallMs: 500 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StorageError);
  expect(error).toMatchObject({ fault: "silent" });
  expect(requests()).toEqual(["GET alone"]);
  expect(observed).toEqual(["PutObject", "GetObject"]);
});

test("an aborted request is not sent again", async () => {
  const requests = watch("given-up");
  meet("given-up", "mute");
  const given = new AbortController();
  const storing = putObject(storage, "given-up", Buffer.from("x"), given.signal);
  while (requests().length === 0) await Bun.sleep(1);
  const reason = new Error("given up");
  given.abort(reason);
  expect(await storing.catch((error: unknown) => error)).toBe(reason);
  expect(requests()).toEqual(["PUT alone"]);
  expect(observed).toEqual(["PutObject"]);
});
