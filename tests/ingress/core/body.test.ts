import { afterEach, describe, expect, jest, test } from "bun:test";

import { KINDS } from "#shared/calls/kinds/kinds.ts";
import { BODY_READ, largeBodyBytes, readJsonBody } from "#ingress/core/body.ts";
import type { ApiError, Code } from "#shared/base/errors.ts";

afterEach(() => {
  jest.useRealTimers();
});

interface Upload {
  readonly request: Request;
  readonly send: (bytes: number) => void;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
  readonly isCancelled: () => boolean;
}

/** A body that the test lets arrive piece by piece. */
function upload(headers: Record<string, string> = {}): Upload {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel() {
      isCancelled = true;
    },
  });
  const request = new Request("http://localhost/", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    duplex: "half",
  });
  return {
    request,
    send: (bytes) => controller.enqueue(new Uint8Array(bytes)),
    end: () => controller.close(),
    fail: (error) => controller.error(error),
    isCancelled: () => isCancelled,
  };
}

const MAX = 32 * 1_048_576;

/** The code a read fails with, once it does. */
function outcome(read: Promise<Uint8Array>): { code: () => Code | number | undefined; settled: Promise<void> } {
  let code: Code | number | undefined;
  const settled = read.then(
    (bytes) => void (code = bytes.length),
    (error: unknown) => void (code = (error as ApiError).code),
  );
  return { code: () => code, settled };
}

/** Lets promises and the stream's own steps run while the clock stands. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe("the upload time of a body", () => {
  test("is ten seconds for an unknown size", async () => {
    jest.useFakeTimers();
    const { request, isCancelled } = upload();
    const { code, settled } = outcome(readJsonBody(request, MAX));
    jest.advanceTimersByTime(BODY_READ.baseMs - 1);
    await turns();
    expect(code()).toBeUndefined();
    jest.advanceTimersByTime(2);
    await settled;
    expect(code()).toBe("request_timeout");
    expect(isCancelled()).toBe(true);
  });

  test("grows with the received bytes, so that a steady upload is not cut off", async () => {
    jest.useFakeTimers();
    const { request, send, end } = upload();
    const { code, settled } = outcome(readJsonBody(request, MAX));
    for (let second = 0; second < 60; second++) {
      send(BODY_READ.bytesPerSecond);
      await turns();
      jest.advanceTimersByTime(1_000);
      await turns();
    }
    expect(code()).toBeUndefined();
    end();
    await settled;
    expect(code()).toBe(60 * BODY_READ.bytesPerSecond);
  });

  test("does not grow for a drip", async () => {
    jest.useFakeTimers();
    const { request, send } = upload();
    const { code, settled } = outcome(readJsonBody(request, MAX));
    for (let second = 0; second < 12 && code() === undefined; second++) {
      send(1);
      await turns();
      jest.advanceTimersByTime(1_000);
      await turns();
    }
    await settled;
    expect(code()).toBe("request_timeout");
  });

  test("is longer for a declared size, up to a limit", async () => {
    jest.useFakeTimers();
    const declared = 4 * BODY_READ.bytesPerSecond;
    const { request } = upload({ "content-length": String(declared) });
    const { code, settled } = outcome(readJsonBody(request, MAX));
    jest.advanceTimersByTime(BODY_READ.baseMs + 3_999);
    await turns();
    expect(code()).toBeUndefined();
    jest.advanceTimersByTime(2);
    await settled;
    expect(code()).toBe("request_timeout");
  });

  test("ends with the body: no timer remains", async () => {
    const { request, send, end } = upload();
    const { code, settled } = outcome(readJsonBody(request, MAX));
    send(10);
    end();
    await settled;
    expect(code()).toBe(10);
  });
});

describe("an interrupted body", () => {
  test.each(["", "100", "2000000"])("of stated length %j is not an internal error", async (length) => {
    const { request, send, fail } = upload(length === "" ? {} : { "content-length": length });
    const { code, settled } = outcome(readJsonBody(request, MAX));
    send(10);
    fail(new DOMException("The connection was closed.", "AbortError"));
    await settled;
    expect(code()).toBe("request_timeout");
  });
});

describe("the size of a body", () => {
  test.each<[string, number, Record<string, string>, Code | number]>([
    ["at the limit, stated", 1_000, { "content-length": "1000" }, 1_000],
    ["at the limit, not stated", 1_000, {}, 1_000],
    ["one byte over, not stated", 1_001, {}, "request_too_large"],
    ["over what it states, within the limit", 900, { "content-length": "10" }, 900],
  ])("%s", async (_name, bytes, headers, expected) => {
    const { request, send, end } = upload(headers);
    const { code, settled } = outcome(readJsonBody(request, 1_000));
    send(bytes);
    end();
    await settled;
    expect(code()).toBe(expected);
  });

  test("over the limit by its declared length is rejected before a byte of it is read", async () => {
    const { request } = upload({ "content-length": "1001" });
    const { code, settled } = outcome(readJsonBody(request, 1_000));
    await settled;
    expect(code()).toBe("request_too_large");
    expect(request.bodyUsed).toBe(false);
  });

  test("over the limit stops the upload", async () => {
    const { request, send, isCancelled } = upload();
    const { code, settled } = outcome(readJsonBody(request, 1_000));
    send(2_000);
    await settled;
    expect(code()).toBe("request_too_large");
    expect(isCancelled()).toBe(true);
  });
});

test.each([
  ["no body", undefined, { "content-length": "9999999" }, 0],
  ["a small one", "{}", { "content-type": "application/json", "content-length": "1048576" }, 0],
  ["a large one", "{}", { "content-type": "application/json; charset=utf-8", "content-length": "1048577" }, 1_048_577],
  ["one beyond the limit", "{}", { "content-type": "application/json", "content-length": "99999999" }, 5_000_000],
  ["one of unknown length", "{}", { "content-type": "application/json", "transfer-encoding": "chunked" }, 5_000_000],
  ["none, of a client that always names a type", undefined, { "content-type": "application/json" }, 0],
  [
    "a form, which is never whole in memory",
    "x",
    { "content-type": "multipart/form-data", "content-length": "9999999" },
    0,
  ],
])("%s counts as its maximum", (_name, body, headers, bytes) => {
  const request = new Request("http://localhost/", {
    ...(body === undefined ? {} : { method: "POST", body }),
    headers,
  });
  expect(largeBodyBytes(request, 5_000_000)).toBe(bytes);
});

test.each([
  ["an edit, whose form is kept in memory, counts", "image_edits", 5_000_000],
  ["a transcription, whose form goes to disk, does not count", "transcription", 0],
] as const)("%s as large", (_name, kind, bytes) => {
  const headers = { "content-type": "multipart/form-data; boundary=b", "content-length": "9999999" };
  const request = new Request("http://localhost/", { method: "POST", body: "x", headers });
  expect(largeBodyBytes(request, 5_000_000, KINDS[kind].route.request.form)).toBe(bytes);
});
