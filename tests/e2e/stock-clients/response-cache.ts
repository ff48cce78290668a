/** Exact repeats of a call, as a client sees them. */
import { beforeAll, describe, expect, test } from "bun:test";

import { formatCredits } from "#shared/base/money.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";

import { sharedStack } from "./shared-stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
});

interface Told {
  readonly status: number;
  readonly cache: string | null;
  readonly credits: string | null;
  readonly requestId: string;
  readonly body: string;
  readonly headers: Headers;
}

async function call(body: object, headers: Readonly<Record<string, string>> = {}, key = stack.key): Promise<Told> {
  const response = await fetch(`${stack.baseUrls[0]}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "sandbox-chat", ...body }),
  });
  return {
    status: response.status,
    cache: response.headers.get("x-cache"),
    credits: response.headers.get("x-credits-used"),
    requestId: response.headers.get("x-request-id") ?? "",
    headers: response.headers,
    body: await response.text(),
  };
}

const ON = { "x-cache": "on; ttl=60" };
const say = (text: string) => ({ messages: [{ role: "user", content: `Say exactly: ${text}` }] });

const rows = async (): Promise<number> => (await stack.query("select 1 from response_cache")).length;

/** A first call whose answer is kept by now, and its repeat. */
async function twice(request: object): Promise<[Told, Told]> {
  const before = await rows();
  const first = await call(request, ON);
  await eventually("the answer is kept", async () => (await rows()) > before);
  return [first, await call(request, ON)];
}

/** The answer as a repeat returns it: a free call. */
function asFree(body: string, credits: string | null): string {
  expect(body).toContain(`"credits":${credits}}`);
  return body.replace(`"credits":${credits}}`, '"credits":0}');
}

async function usageOf(requestId: string): Promise<{ settled: bigint }[]> {
  await stack.settled();
  return stack.query("select settled from usage_record where job_id = $1", [requestId]);
}

describe("a repeat", () => {
  test("of a plain call has the same bytes but for its credits, is free and has no usage record", async () => {
    const [first, second] = await twice(say("kept"));
    expect(first).toMatchObject({ status: 200, cache: "miss" });
    expect(Number(first.credits)).toBeGreaterThan(0);
    expect(second).toMatchObject({ status: 200, cache: "hit", credits: "0", body: asFree(first.body, first.credits) });
    expect(second.headers.get("x-model-used")).toBe("sandbox-chat");
    expect(Number(second.headers.get("age"))).toBeGreaterThanOrEqual(0);
    expect(second.requestId).not.toBe(first.requestId);
    expect(await usageOf(second.requestId)).toEqual([]);
  });

  test("of a stream is a stream, up to its end mark", async () => {
    const request = { ...say("kept as a stream"), stream: true, stream_options: { include_usage: true } };
    const [first, second] = await twice(request);
    expect(second.cache).toBe("hit");
    expect(second.headers.get("content-type")).toContain("text/event-stream");
    const [row] = await usageOf(first.requestId);
    expect(second.body).toBe(asFree(first.body, formatCredits(row?.settled ?? 0n)));
    expect(second.body.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("that requests a fresh answer gets one, and is charged", async () => {
    await twice(say("fresh"));
    const again = await call(say("fresh"), { "x-cache": "refresh" });
    expect(again.cache).toBe("miss");
    expect(await usageOf(again.requestId)).toHaveLength(1);
  });

  test("is counted in the window like any call", async () => {
    await twice(say("counted"));
    const [before] = await stack.query<{ calls: bigint }>("select sum(calls)::bigint as calls from rate_window");
    await call(say("counted"), ON);
    const [after] = await stack.query<{ calls: bigint }>("select sum(calls)::bigint as calls from rate_window");
    expect(Number(after?.calls) - Number(before?.calls)).toBe(1);
  });
});

test("a repeat of an embeddings call is answered from the cache too", async () => {
  const ask = () =>
    fetch(`${stack.baseUrls[0]}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json", ...ON },
      body: JSON.stringify({ model: "sandbox-embed", input: "a text" }),
    });
  const before = await rows();
  const first = await ask();
  expect(first.headers.get("x-cache")).toBe("miss");
  await eventually("the answer is kept", async () => (await rows()) > before);
  const second = await ask();
  expect([second.headers.get("x-cache"), second.headers.get("x-credits-used")]).toEqual(["hit", "0"]);
  expect(await second.text()).toBe(asFree(await first.text(), first.headers.get("x-credits-used")));
});

test("a call without the header stores nothing, and returns no cache header", async () => {
  const first = await call(say("unasked"));
  expect(first.cache).toBeNull();
  const before = await rows();
  expect((await call(say("unasked"), ON)).cache).toBe("miss");
  // Of this one: who counts rows next must not take it for theirs.
  await eventually("the answer is kept", async () => (await rows()) > before);
});

/** A key of a workspace of its own, with credits. */
async function keyOfAnother(): Promise<string> {
  const run = async (...args: string[]): Promise<string> => {
    const said = await stack.command("admin", ...args);
    expect(said).toMatchObject({ code: 0 });
    return said.stdout;
  };
  await run("workspace", "create", "other");
  await run("member", "add", "other", "ada", "--role", "developer");
  await run("credits", "top-up", "other", "100", "--note", "test");
  const made = await run("key", "create", "other", "--member", "ada", "--preset", "unlimited", "--json");
  return (JSON.parse(made) as { key: string }).key;
}

test("another workspace never gets the answer, even for the same request", async () => {
  expect((await twice(say("ours")))[1].cache).toBe("hit");
  const theirs = await call(say("ours"), ON, await keyOfAnother());
  expect(theirs).toMatchObject({ status: 200, cache: "miss" });
});

test("a failed call is not cached", async () => {
  const failing = { model: "sandbox-error", ...say("x") };
  expect((await call(failing, ON)).status).toBe(502);
  expect((await call(failing, ON)).status).toBe(502);
});

test("an invalid header value is rejected by name", async () => {
  const told = await call(say("x"), { "x-cache": "maybe" });
  expect(told.status).toBe(400);
  expect(JSON.parse(told.body)).toMatchObject({ error: { code: "unsupported_value", param: "x-cache" } });
});
