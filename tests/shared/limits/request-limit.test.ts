/** Room for requests: a share of it for each workspace, and errors that callers understand. */
import { describe, expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import type { FairLimit } from "#shared/limits/fair-limit.ts";
import { openRequestLimit, type RequestLimits } from "#shared/limits/request-limit.ts";

const open = (more: Partial<RequestLimits> = {}): FairLimit =>
  openRequestLimit({ max: 100, perWorkspaceMax: 60, waitingMax: 3, waitMs: 60_000, noun: "turns", ...more });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  return error instanceof ApiError ? error.code : `no error but ${String(error)}`;
}

describe("memory for requests", () => {
  test("above a workspace's share is assigned to a workspace without other requests", async () => {
    const limit = open();
    const large = await limit.take({ owner: "a", amount: 70 });
    const more = limit.enter({ owner: "a", amount: 1 });
    expect(more.entered).toBeDefined();
    large.release();
    await more.entered;
  });

  test("that stays exhausted is refused, and not assigned to an abandoned wait", async () => {
    const limit = open({ max: 1, waitMs: 1 });
    const first = await limit.take({ owner: "a" });
    expect(await codeOf(limit.take({ owner: "b" }))).toBe("overloaded");
    first.release();
    (await limit.take({ owner: "c" })).release();
  });

  test("is refused immediately if many requests wait", async () => {
    const limit = open({ max: 1, waitingMax: 2 });
    const first = await limit.take({ owner: "a" });
    const waiting = [limit.take({ owner: "b" }), limit.take({ owner: "c" })];
    expect(await codeOf(limit.take({ owner: "d" }))).toBe("overloaded");
    first.release();
    for (const one of waiting) (await one).release();
  });

  test("is limited in waits per workspace, so that others can wait", async () => {
    const limit = open({ max: 1, waitingMax: 4 });
    const first = await limit.take({ owner: "a" });
    const waiting = [limit.take({ owner: "a" }), limit.take({ owner: "a" })];
    expect(await codeOf(limit.take({ owner: "a" }))).toBe("overloaded");
    const other = limit.take({ owner: "b" });
    first.release();
    for (const one of [...waiting, other]) (await one).release();
  });

  test("is not awaited for a disconnected caller", async () => {
    const limit = open({ max: 1 });
    await limit.take({ owner: "a" });
    const caller = new AbortController();
    const leaving = codeOf(limit.take({ owner: "b" }, caller.signal));
    caller.abort();
    expect(await leaving).toBe("request_timeout");
    expect(await codeOf(limit.take({ owner: "b" }, caller.signal))).toBe("request_timeout");
  });
});
