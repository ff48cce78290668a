import { expect, test } from "bun:test";

import type { ChatDelta } from "#workers/providers/provider.ts";
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

const LONG = ask("Repeat after me: one two three four five six seven eight nine ten");

/** Reads a stream until it fails. */
async function readUntilFailure(model: string, body = LONG): Promise<{ deltas: ChatDelta[]; failure: unknown }> {
  const deltas: ChatDelta[] = [];
  try {
    for await (const delta of sandbox.stream(callOf(body, { model }))) deltas.push(delta);
  } catch (failure) {
    return { deltas, failure };
  }
  throw new Error("expected a failure");
}

const FAILING = [
  ["sandbox-refuse", { kind: "refused" }],
  ["sandbox-error", { kind: "failed", status: 500 }],
  ["sandbox-rate-limited", { kind: "busy", status: 429, retryAfterMs: 1_000 }],
] as const;

test.each(FAILING)("%s fails before its first delta, streamed or not", async (model, expected) => {
  expect(await failureOf(sandbox.complete(callOf(LONG, { model })))).toMatchObject(expected);
  const { deltas, failure } = await readUntilFailure(model);
  expect(deltas).toEqual([]);
  expect(failure).toMatchObject(expected);
});

test("an unknown model is a misconfiguration", async () => {
  for (const model of ["sandbox-nothing", "constructor"]) {
    expect(await failureOf(sandbox.complete(callOf(LONG, { model })))).toMatchObject({ kind: "misconfigured" });
  }
});

test("sandbox-truncate sends some tokens and no finish reason, then fails", async () => {
  const { deltas, failure } = await readUntilFailure("sandbox-truncate");
  expect(failure).toMatchObject({ kind: "failed" });
  expect(putTogether(deltas)).toMatchObject([{ content: "one two three four five", finish: null }]);
  expect(await failureOf(sandbox.complete(callOf(LONG, { model: "sandbox-truncate" })))).toMatchObject({
    kind: "failed",
  });
});

test("sandbox-truncate never finishes, however short the answer", async () => {
  for (const body of [ask("Say hello"), ask("Say hello", { stop: "hello" })]) {
    const { deltas } = await readUntilFailure("sandbox-truncate", body);
    expect(putTogether(deltas).every((choice) => choice.finish === null)).toBe(true);
  }
});

test("sandbox-slow waits 3 s, then keeps 20 tokens a second", async () => {
  const clock = createClock();
  const times: number[] = [];
  for await (const delta of createSandbox(clock).stream(callOf(LONG, { model: "sandbox-slow" }))) {
    if ((delta.choices[0]?.["delta"] as { content?: string } | undefined)?.content) times.push(clock.now());
  }
  expect(times).toEqual(Array.from({ length: 10 }, (_, i) => 3_000 + 50 * i));
  const plain = createClock();
  await createSandbox(plain).complete(callOf(LONG, { model: "sandbox-slow" }));
  expect(plain.now()).toBe(3_500);
});

test("sandbox-slow does not wait for time a slow reader has already spent", async () => {
  let time = 0;
  const waits: number[] = [];
  const provider = createSandbox({
    now: () => time,
    delay: async (ms) => {
      waits.push(ms);
      time += ms;
    },
  });
  for await (const _ of provider.stream(callOf(LONG, { model: "sandbox-slow" }))) time += 1_000;
  expect(waits).toEqual([3_000]);
});

test("sandbox-silent is silent for 40 s between tokens, then finishes", async () => {
  const clock = createClock();
  const provider = createSandbox(clock);
  const seen: number[] = [];
  const deltas: ChatDelta[] = [];
  for await (const delta of provider.stream(callOf(LONG, { model: "sandbox-silent" }))) {
    deltas.push(delta);
    seen.push(clock.now());
  }
  expect(clock.waits).toEqual([40_000]);
  expect(seen.filter((at) => at === 0).length).toBeGreaterThan(2);
  expect(seen.filter((at) => at === 40_000).length).toBeGreaterThan(2);
  expect(putTogether(deltas)).toEqual([await answerTo(LONG)]);
});

test("sandbox-chat never waits", async () => {
  const clock = createClock();
  await deltasOf(LONG, {}, createSandbox(clock));
  expect(clock.waits).toEqual([]);
});

test.each(["sandbox-hang", "sandbox-stall"])("%s ends when the caller gives up, streamed or not", async (model) => {
  for (const isStreamed of [true, false]) {
    const controller = new AbortController();
    const call = callOf(LONG, { model, signal: controller.signal });
    const ended = isStreamed ? Array.fromAsync(sandbox.stream(call)) : sandbox.complete(call);
    const failure = failureOf(ended);
    // Another call, begun later, has its whole answer while this one has none.
    await deltasOf(LONG);
    expect(Bun.peek.status(failure)).toBe("pending");
    controller.abort();
    expect(await failure).toMatchObject({ kind: "aborted" });
  }
});

test("sandbox-stall sends its first tokens before it stops", async () => {
  const controller = new AbortController();
  const stream = sandbox.stream(callOf(LONG, { model: "sandbox-stall", signal: controller.signal }));
  const deltas: ChatDelta[] = [];
  for (let i = 0; i < 6; i += 1) {
    const step = await stream.next();
    if (step.value !== undefined) deltas.push(step.value);
  }
  const pending = failureOf(stream.next());
  controller.abort();
  expect(await pending).toMatchObject({ kind: "aborted" });
  expect(putTogether(deltas)).toMatchObject([{ content: "one two three four five", finish: null }]);
});

test("any model ends at once for a caller who has gone", async () => {
  for (const model of Object.keys(SANDBOX_MODELS)) {
    const call = callOf(LONG, { model, signal: AbortSignal.abort() });
    expect(await failureOf(sandbox.complete(call))).toMatchObject({ kind: "aborted" });
    expect(await failureOf(Array.fromAsync(sandbox.stream(call)))).toMatchObject({ kind: "aborted" });
  }
});

test("a caller who leaves in the middle of a stream ends it before the next delta", async () => {
  const controller = new AbortController();
  const stream = sandbox.stream(callOf(LONG, { signal: controller.signal }));
  await stream.next();
  await stream.next();
  controller.abort();
  expect(await failureOf(stream.next())).toMatchObject({ kind: "aborted" });
});

test.each(["resolves", "rejects"])(
  "a caller who leaves during a wait ends it, when the delay %s on abort",
  async (how) => {
    const controller = new AbortController();
    const waiting = Promise.withResolvers<void>();
    const provider = createSandbox({
      now: () => 0,
      delay: (_, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => (how === "resolves" ? resolve() : reject(signal.reason as Error)));
          waiting.resolve();
        }),
    });
    const failure = failureOf(provider.complete(callOf(LONG, { model: "sandbox-slow", signal: controller.signal })));
    await waiting.promise;
    controller.abort();
    expect(await failure).toMatchObject({ kind: "aborted" });
  },
);

test("sandbox-flaky goes by the seed when there is one: odd seeds fail every time, even ones never", async () => {
  for (const seed of [1, 3, -5]) {
    for (let i = 0; i < 3; i += 1) {
      const failure = await failureOf(sandbox.complete(callOf({ ...LONG, seed }, { model: "sandbox-flaky" })));
      expect(["busy", "failed"]).toContain(failure.kind);
    }
  }
  for (const seed of [0, 2, -4]) expect(await textOf({ ...LONG, seed }, { model: "sandbox-flaky" })).not.toBeNull();
});

test("sandbox-flaky without a seed fails about half of its calls, in both ways, the same in every process", async () => {
  const outcomes = async (): Promise<string[]> => {
    const provider = createSandbox(createClock());
    const kinds: string[] = [];
    for (let i = 0; i < 200; i += 1) {
      const call = provider.complete(callOf(LONG, { model: "sandbox-flaky" }));
      kinds.push(
        await call.then(
          () => "answered",
          (error: { kind: string }) => error.kind,
        ),
      );
    }
    return kinds;
  };
  const kinds = await outcomes();
  const answered = kinds.filter((kind) => kind === "answered").length;
  expect(answered).toBeGreaterThan(70);
  expect(answered).toBeLessThan(130);
  expect(new Set(kinds)).toEqual(new Set(["answered", "busy", "failed"]));
  expect(await outcomes()).toEqual(kinds);
});

test("sandbox-no-usage reports none, streamed or not", async () => {
  expect((await sandbox.complete(callOf(LONG, { model: "sandbox-no-usage" }))).usage).toBeNull();
  const deltas = await deltasOf(LONG, { model: "sandbox-no-usage" });
  expect(deltas.some((delta) => delta.usage !== undefined || delta.choices.length === 0)).toBe(false);
});

test("sandbox-bad-usage reports what cannot be", async () => {
  expect((await sandbox.complete(callOf(LONG, { model: "sandbox-bad-usage" }))).usage).toBe("impossible");
  const deltas = await deltasOf(LONG, { model: "sandbox-bad-usage" });
  expect(deltas.at(-1)).toEqual({ choices: [], usage: "impossible" });
  expect(putTogether(deltas)).toEqual([await answerTo(LONG)]);
});

test("sandbox-long writes about 2,000 tokens, whatever was asked, and keeps to a limit", async () => {
  const { output } = await usageOf(ask("Say hello"), { model: "sandbox-long" });
  expect(output).toBeGreaterThan(1_900);
  expect(output).toBeLessThan(2_100);
  expect((await usageOf(ask("Say hello", { max_tokens: 100 }), { model: "sandbox-long" })).output).toBe(100);
});

test("sandbox-reasoning thinks before it answers, and counts it as output", async () => {
  const answer = await answerTo(ask("Say hello"), { model: "sandbox-reasoning" });
  expect(answer).toMatchObject({ content: "hello", reasoning: expect.stringContaining("The user asks") });
  const { output, reasoning } = await usageOf(ask("Say hello"), { model: "sandbox-reasoning" });
  expect(reasoning).toBeGreaterThan(0);
  expect(output).toBe(reasoning + 1);
});

test("every model has one sentence that describes it", () => {
  for (const { description } of Object.values(SANDBOX_MODELS)) expect(description).toMatch(/^[A-Z].*\.$/);
});
