import { afterEach, describe, expect, test } from "bun:test";
import type { RequestListener } from "node:http";

import { fetchPublic, OutboundError, type OutboundRequest } from "#shared/net/fetch.ts";

import { allow, listen, type Listening } from "./servers.ts";

const open: Listening[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

async function serve(handler: RequestListener): Promise<Listening> {
  const server = await listen(handler);
  open.push(server);
  allow(`127.0.0.1:${server.port}`);
  return server;
}

const wanted = (request: Partial<OutboundRequest> = {}): OutboundRequest => ({
  signal: new AbortController().signal,
  bytesMax: 1_000,
  timeoutMs: 20_000,
  anyStatus: true,
  ...request,
});

async function fault(work: Promise<unknown>): Promise<OutboundError> {
  const error = await work.catch((error: unknown) => error);
  if (error instanceof OutboundError) return error;
  throw new Error("no OutboundError was thrown");
}

describe("an answer of any status", () => {
  test.each([200, 302, 304, 400, 410, 429, 500, 503])("is returned with headers and body: %p", async (status) => {
    const server = await serve((_request, response) => {
      response.writeHead(status, { "retry-after": "7", location: "/next" }).end(status === 304 ? "" : "why");
    });
    const answer = await fetchPublic(server.url("/"), wanted({ method: "POST", body: "{}" }));
    expect(answer.status).toBe(status);
    expect(Buffer.from(answer.bytes).toString()).toBe(status === 304 ? "" : "why");
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(server.asked).toEqual(["POST /"]);
  });

  test("is limited in size, time and silence too, and the error contains its status", async () => {
    const server = await serve((request, response) => {
      response.writeHead(410);
      if (request.url === "/large") response.end("x".repeat(1_001));
      else response.write("x");
    });
    expect(await fault(fetchPublic(server.url("/large"), wanted()))).toMatchObject({ fault: "too_large", status: 410 });
    const slow = fetchPublic(server.url("/slow"), wanted({ timeoutMs: 100 }));
    expect(await fault(slow)).toMatchObject({ fault: "timeout", status: 410 });
    const silent = fetchPublic(server.url("/silent"), wanted({ stallMs: 100 }));
    expect(await fault(silent)).toMatchObject({ fault: "timeout", status: 410 });
  });

  test("that is interrupted reports its status, one that never started has none", async () => {
    const server = await serve((request, response) => {
      const breakOff = (): void => void response.socket?.destroy();
      if (request.url === "/never") breakOff();
      else response.writeHead(500, { "content-length": "10" }).write("abc", breakOff);
    });
    expect(await fault(fetchPublic(server.url("/"), wanted()))).toMatchObject({ fault: "unreachable", status: 500 });
    const never = await fault(fetchPublic(server.url("/never"), wanted()));
    expect(never).toMatchObject({ fault: "unreachable", status: undefined });
  });

  test("does not stop a plain GET from following redirects", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/") response.writeHead(302, { location: "/next" }).end();
      else response.socket?.destroy();
    });
    expect(await fault(fetchPublic(server.url("/"), wanted()))).toMatchObject({
      fault: "unreachable",
      status: undefined,
    });
    expect(server.asked).toEqual(["GET /", "GET /next"]);
  });
});
