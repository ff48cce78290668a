import { afterEach, describe, expect, test } from "bun:test";

import { never } from "#tests/providers/engine/calls.ts";
import { openDroppingAddress } from "#tests/support/dropping-address.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { postStart } from "#workers/providers/start.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const MARK = { of: "a lake" };
/** Marks, in the order in which they were noted. */
const noted: unknown[] = [];
afterEach(() => void noted.splice(0));

async function startAt(baseUrl: string, signal = never): Promise<unknown> {
  const request = { path: "/jobs", body: JSON.stringify({ prompt: "a lake" }) };
  const noteStart = async (mark: unknown): Promise<void> => void noted.push(mark);
  const started = postStart({ baseUrl, headers: {} }, request, { signal, noteStart }, MARK, ({ status }) => status);
  return started.catch((error: unknown) => error);
}

describe("a start of paid work", () => {
  test("at an address that drops packets sent nothing, so another source may start it", async () => {
    const there = await openDroppingAddress();
    closing.push(() => there.close());
    expect(await startAt(there.url)).toMatchObject({ kind: "failed", isUnsent: true });
    expect(noted).toEqual([]);
  });

  test("that is aborted during the connect sent nothing either", async () => {
    const there = await openDroppingAddress();
    closing.push(() => there.close());
    const caller = new AbortController();
    const started = startAt(there.url, caller.signal);
    caller.abort(new Error("left"));
    expect(await started).toMatchObject({ kind: "aborted", isUnsent: true });
  });

  test("is sent if the address accepts, and unknown if its connection breaks then", async () => {
    const heard: string[] = [];
    const server = Bun.serve({
      port: 0,
      fetch: async (request) => {
        heard.push(`${JSON.stringify(noted)} ${await request.text()}`);
        return new Response(null, { status: 202 });
      },
    });
    closing.push(() => server.stop(true));
    expect(await startAt(server.url.href.replace(/\/$/, ""))).toBe(202);
    // What finds it again is noted before it is sent.
    expect(heard).toEqual(['[{"of":"a lake"}] {"prompt":"a lake"}']);

    const breaking = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => socket.terminate() },
    });
    closing.push(() => breaking.stop(true));
    const error = await startAt(`http://127.0.0.1:${breaking.port}`);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ kind: "unknown", isUnsent: false });
  });
});
