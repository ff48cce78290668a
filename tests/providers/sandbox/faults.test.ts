/**
 * Behaviour of the test models that only a fake clock or a look into a stream can show; tests/e2e/test-models.test.ts has
 * each model.
 */
import { describe, expect, test } from "bun:test";

import type { ChatDelta } from "#workers/providers/provider.ts";
import { paced } from "#shared/config/pace.ts";
import { createSandbox } from "#workers/providers/sandbox/index.ts";
import { SANDBOX_MODELS } from "#workers/providers/sandbox/models.ts";

import {
  answerTo,
  ask,
  callOf,
  createClock,
  deltasOf,
  failureOf,
  putTogether,
  sandbox,
  textOf,
  usageOf,
} from "./calls.ts";

const TEN = "one two three four five six seven eight nine ten";
const FIVE = "one two three four five";
const BODY = ask(`Repeat after me: ${TEN}`);
const ROLE = { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] };
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const CALLS = ask("Weather in Paris and Rome?", { tools: [WEATHER] });

/** The deltas of a stream that fails, and its failure. */
async function broken(
  model: string,
  body = BODY,
  signal?: AbortSignal,
): Promise<{ deltas: ChatDelta[]; failure: Error }> {
  const deltas: ChatDelta[] = [];
  const call = callOf(body, { model, ...(signal ? { signal } : {}) });
  const failure = await failureOf(
    (async () => {
      for await (const delta of sandbox.stream(call)) deltas.push(delta);
    })(),
  );
  return { deltas, failure };
}

test.each([
  ["sandbox-refuse", { kind: "refused", status: 400 }],
  ["sandbox-error", { kind: "failed", status: 500 }],
  ["sandbox-rate-limited", { kind: "busy", status: 429, retryAfterMs: 1_000 }],
  ["sandbox-busy-long", { kind: "busy", status: 429, retryAfterMs: 30_000 }],
  ["sandbox-misconfigured", { kind: "misconfigured", status: 401 }],
  ["sandbox-nothing", { kind: "misconfigured" }],
  ["sandbox-embed", { kind: "misconfigured" }],
  ["constructor", { kind: "misconfigured" }],
] as const)("%s fails before its first delta, streamed or not", async (model, expected) => {
  expect(await failureOf(sandbox.complete(callOf(BODY, { model })))).toMatchObject(expected);
  const { deltas, failure } = await broken(model);
  expect([deltas, failure]).toMatchObject([[], expected]);
});

describe("an interrupted answer", () => {
  test.each([
    ["sandbox-truncate", FIVE],
    ["sandbox-error-midway", FIVE],
    ["sandbox-error-first", ""],
  ])("%s sends %j without a finish reason, then fails; it has no plain answer", async (model, sent) => {
    const { deltas, failure } = await broken(model);
    expect(failure).toMatchObject({ kind: "failed" });
    expect(putTogether(deltas)).toMatchObject([{ content: sent, finish: null }]);
    expect(await failureOf(sandbox.complete(callOf(BODY, { model })))).toMatchObject({ kind: "failed" });
  });

  test.each([ask("Say hello"), ask("Say hello", { stop: "hello" })])("never finishes, for any length", async (body) => {
    const { deltas } = await broken("sandbox-truncate", body);
    expect(putTogether(deltas)).toMatchObject([{ finish: null }]);
  });

  test("sandbox-stall sends its first tokens, then nothing until the caller disconnects", async () => {
    const controller = new AbortController();
    const stream = sandbox.stream(callOf(BODY, { model: "sandbox-stall", signal: controller.signal }));
    const deltas: ChatDelta[] = [];
    for (let at = 0; at < 6; at += 1) deltas.push((await stream.next()).value ?? ROLE);
    const pending = failureOf(stream.next());
    controller.abort();
    expect(await pending).toMatchObject({ kind: "aborted" });
    expect(putTogether(deltas)).toMatchObject([{ content: FIVE, finish: null }]);
  });

  test("sandbox-endless exceeds its limit until the caller disconnects; it has no plain answer", async () => {
    const controller = new AbortController();
    const body = { ...BODY, max_tokens: 10 };
    const stream = sandbox.stream(callOf(body, { model: "sandbox-endless", signal: controller.signal }));
    const deltas: ChatDelta[] = [];
    while (deltas.length < 100) deltas.push((await stream.next()).value ?? ROLE);
    const [choice] = putTogether(deltas);
    expect([choice?.finish, (choice?.content?.length ?? 0) > 90_000]).toEqual([null, true]);
    controller.abort();
    expect(await failureOf(stream.next())).toMatchObject({ kind: "aborted" });
    expect(await failureOf(sandbox.complete(callOf(body, { model: "sandbox-endless" })))).toMatchObject({
      kind: "failed",
    });
  });
});

describe("time", () => {
  test("sandbox-slow waits 3 s, then sends 20 tokens a second", async () => {
    const clock = createClock();
    const times: number[] = [];
    for await (const delta of createSandbox(clock).stream(callOf(BODY, { model: "sandbox-slow" }))) {
      if ((delta.choices[0]?.["delta"] as { content?: string } | undefined)?.content) times.push(clock.now());
    }
    expect(times).toEqual(Array.from({ length: 10 }, (_, at) => paced(3_000) + 50 * at));
    const plain = createClock();
    await createSandbox(plain).complete(callOf(BODY, { model: "sandbox-slow" }));
    expect(plain.now()).toBe(paced(3_000) + 500);
  });

  test("sandbox-slow does not wait for time that a slow reader has already spent", async () => {
    let time = 0;
    const waits: number[] = [];
    const delay = async (ms: number): Promise<void> => {
      waits.push(ms);
      time += ms;
    };
    const provider = createSandbox({ now: () => time, delay });
    for await (const _ of provider.stream(callOf(BODY, { model: "sandbox-slow" }))) time += 1_000;
    expect(waits).toEqual([paced(3_000)]);
  });

  test.each([
    ["sandbox-chat", []],
    ["sandbox-silent", [paced(40_000)]],
    ["sandbox-late-usage", [paced(1_000)]],
  ])("%s waits %p ms while it streams its usual answer", async (model, waits) => {
    const clock = createClock();
    const deltas = await deltasOf(BODY, { model }, createSandbox(clock));
    expect(clock.waits).toEqual(waits);
    expect(putTogether(deltas)).toEqual([await answerTo(BODY)]);
  });

  test.each(["resolves", "rejects"])("a wait ends when the caller disconnects and the delay %s", async (how) => {
    const controller = new AbortController();
    const waiting = Promise.withResolvers<void>();
    const delay = (_: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => (how === "resolves" ? resolve() : reject(signal.reason as Error)));
        waiting.resolve();
      });
    const call = callOf(BODY, { model: "sandbox-slow", signal: controller.signal });
    const failure = failureOf(createSandbox({ now: () => 0, delay }).complete(call));
    await waiting.promise;
    controller.abort();
    expect(await failure).toMatchObject({ kind: "aborted" });
  });
});

describe("a caller that disconnects", () => {
  test("ends any model", async () => {
    for (const [model, { kind }] of Object.entries(SANDBOX_MODELS)) {
      if (kind !== "chat") continue;
      const call = callOf(BODY, { model, signal: AbortSignal.abort() });
      expect(await failureOf(sandbox.complete(call))).toMatchObject({ kind: "aborted" });
      expect(await failureOf(Array.fromAsync(sandbox.stream(call)))).toMatchObject({ kind: "aborted" });
    }
  });

  test("ends sandbox-hang, which never answers, while another call succeeds", async () => {
    const controller = new AbortController();
    const call = callOf(BODY, { model: "sandbox-hang", signal: controller.signal });
    const failure = failureOf(sandbox.complete(call));
    await deltasOf(BODY);
    expect(Bun.peek.status(failure)).toBe("pending");
    controller.abort();
    expect(await failure).toMatchObject({ kind: "aborted" });
  });

  test("ends a stream before its next delta", async () => {
    const controller = new AbortController();
    const stream = sandbox.stream(callOf(BODY, { signal: controller.signal }));
    await stream.next();
    controller.abort();
    expect(await failureOf(stream.next())).toMatchObject({ kind: "aborted" });
  });
});

describe("failing calls", () => {
  test("sandbox-flaky uses the seed: odd seeds fail every time, even ones never", async () => {
    for (const seed of [1, 3, -5, 1]) {
      const failure = await failureOf(sandbox.complete(callOf({ ...BODY, seed }, { model: "sandbox-flaky" })));
      expect(["busy", "failed"]).toContain(failure.kind);
    }
    for (const seed of [0, 2, -4]) expect(await textOf({ ...BODY, seed }, { model: "sandbox-flaky" })).toBe(TEN);
  });

  test("sandbox-flaky without a seed fails about half of its calls, in both ways, equally in every process", async () => {
    const outcomes = async (): Promise<string[]> => {
      const provider = createSandbox(createClock());
      const calls = Array.from({ length: 200 }, () => provider.complete(callOf(BODY, { model: "sandbox-flaky" })));
      return (await Promise.allSettled(calls)).map((one) =>
        one.status === "fulfilled" ? "answered" : (one.reason as { kind: string }).kind,
      );
    };
    const kinds = await outcomes();
    expect(Math.abs(kinds.filter((kind) => kind === "answered").length - 100)).toBeLessThan(30);
    expect(new Set(kinds)).toEqual(new Set(["answered", "busy", "failed"]));
    expect(await outcomes()).toEqual(kinds);
  });

  test("sandbox-busy-once rejects each call once, for any number of concurrent calls", async () => {
    const calls = [1, 2, 3].map((seed) => callOf({ ...BODY, seed }, { model: "sandbox-busy-once" }));
    for (const call of calls) {
      expect(await failureOf(sandbox.complete(call))).toMatchObject({ kind: "busy", retryAfterMs: 1_000 });
    }
    for (const call of calls) expect((await sandbox.complete(call)).choices).toHaveLength(1);
  });
});

describe("usage", () => {
  test.each([
    ["sandbox-no-usage", null],
    ["sandbox-zero-usage", null],
    ["sandbox-negative-usage", "impossible"],
    ["sandbox-fractional-usage", "impossible"],
    ["sandbox-bad-usage", "impossible"],
  ] as const)("of %s is read as %j, streamed or not", async (model, expected) => {
    expect((await sandbox.complete(callOf(BODY, { model }))).usage).toBe(expected);
    const deltas = await deltasOf(BODY, { model });
    expect(deltas.find((delta) => delta.usage !== undefined)?.usage ?? null).toBe(expected);
    expect(putTogether(deltas)).toEqual([await answerTo(BODY)]);
  });
});

describe("faulty answers", () => {
  test.each(["sandbox-empty-arguments", "sandbox-malformed-arguments"])("%s changes functions only", async (model) => {
    const [right, wrong] = [await answerTo(CALLS), await answerTo(CALLS, { model })];
    expect(putTogether(await deltasOf(CALLS, { model }))).toEqual([wrong]);
    expect((await usageOf(CALLS, { model })).output).toBeLessThan((await usageOf(CALLS)).output);
    for (const [at, { input }] of wrong.calls.entries()) {
      if (model === "sandbox-empty-arguments") expect(input).toBe("{}");
      else expect([right.calls[at]?.input.startsWith(input), input.endsWith("}")]).toEqual([true, false]);
    }
    const custom = ask("Use the run_code tool now", { tools: [{ type: "custom", custom: { name: "run_code" } }] });
    expect(await answerTo(custom, { model })).toEqual(await answerTo(custom));
  });

  test("sandbox-megabyte sends one frame of a megabyte in the middle of its usual answer", async () => {
    const model = "sandbox-megabyte";
    const deltas = await deltasOf(BODY, { model });
    const large = deltas.map((delta) => JSON.stringify(delta).length > 1_000_000);
    expect([large.filter(Boolean).length, large.indexOf(true) < deltas.length - 2]).toEqual([1, true]);
    expect(putTogether(deltas)).toEqual([await answerTo(BODY)]);
    expect(JSON.stringify(await sandbox.complete(callOf(BODY, { model }))).length).toBeGreaterThan(1_000_000);
  });
});
