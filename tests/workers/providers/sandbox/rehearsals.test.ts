/** Models that rehearse one failure each, as the pool sees them; faults.test.ts has the older ones. */
import { expect, test } from "bun:test";

import { createSandbox } from "#workers/providers/sandbox/index.ts";
import type { ChatDelta } from "#workers/providers/provider.ts";

import { answerTo, ask, callOf, createClock, deltasOf, failureOf, putTogether, sandbox, usageOf } from "./calls.ts";

const LONG = ask("Repeat after me: one two three four five six seven eight nine ten");
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const CALLS = ask("Weather in Paris and Rome?", { tools: [WEATHER] });

async function readUntilFailure(model: string, body = LONG): Promise<{ deltas: ChatDelta[]; failure: unknown }> {
  const deltas: ChatDelta[] = [];
  const failure = await failureOf(
    (async () => {
      for await (const delta of sandbox.stream(callOf(body, { model }))) deltas.push(delta);
    })(),
  );
  return { deltas, failure };
}

test.each([
  ["sandbox-misconfigured", { kind: "misconfigured", status: 401 }],
  ["sandbox-busy-long", { kind: "busy", status: 429, retryAfterMs: 30_000 }],
] as const)("%s fails before its first delta, streamed or not", async (model, expected) => {
  expect(await failureOf(sandbox.complete(callOf(LONG, { model })))).toMatchObject(expected);
  const { deltas, failure } = await readUntilFailure(model);
  expect(deltas).toEqual([]);
  expect(failure).toMatchObject(expected);
});

test("sandbox-busy-once turns each call away once, however many come at the same time", async () => {
  const calls = [1, 2, 3].map((seed) => callOf({ ...LONG, seed }, { model: "sandbox-busy-once" }));
  for (const call of calls) {
    expect(await failureOf(sandbox.complete(call))).toMatchObject({ kind: "busy", retryAfterMs: 1_000 });
  }
  for (const call of calls) expect((await sandbox.complete(call)).choices).toHaveLength(1);
});

test("sandbox-small-context rejects what is longer than 128 tokens, and nothing else", async () => {
  const model = "sandbox-small-context";
  expect(await failureOf(sandbox.complete(callOf(ask("word ".repeat(130)), { model })))).toMatchObject({
    kind: "rejected",
    code: "context_length_exceeded",
    param: "messages",
  });
  expect((await usageOf(ask("word ".repeat(100)), { model })).input).toBeLessThanOrEqual(128);
});

test("sandbox-no-temperature rejects a temperature by its name, and takes 1 or none", async () => {
  const model = "sandbox-no-temperature";
  for (const temperature of [0, 0.7, 2]) {
    expect(await failureOf(sandbox.complete(callOf({ ...LONG, temperature }, { model })))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "temperature",
    });
  }
  for (const body of [LONG, { ...LONG, temperature: 1 }, { ...LONG, temperature: null }]) {
    expect(await answerTo(body, { model })).toEqual(await answerTo(body));
  }
});

test("sandbox-error-first sends the role and no token before its error event", async () => {
  const { deltas, failure } = await readUntilFailure("sandbox-error-first");
  expect(deltas).toEqual([{ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }]);
  expect(failure).toMatchObject({ kind: "failed", status: 500 });
});

test("sandbox-error-midway sends some tokens before its error event, and no finish reason", async () => {
  const { deltas, failure } = await readUntilFailure("sandbox-error-midway");
  expect(putTogether(deltas)).toMatchObject([{ content: "one two three four five", finish: null }]);
  expect(failure).toMatchObject({ kind: "failed", status: 500 });
});

test.each(["sandbox-error-first", "sandbox-error-midway", "sandbox-endless"])(
  "%s has no plain answer",
  async (model) => {
    expect(await failureOf(sandbox.complete(callOf(LONG, { model })))).toMatchObject({ kind: "failed" });
  },
);

test("sandbox-filtered stops after some tokens, reports those, and calls no tools", async () => {
  const model = "sandbox-filtered";
  const answer = await answerTo(LONG, { model });
  expect(answer).toMatchObject({ content: "one two three four five", finish: "content_filter" });
  expect(putTogether(await deltasOf(LONG, { model }))).toEqual([answer]);
  expect((await usageOf(LONG, { model })).output).toBe(5);
  expect(await answerTo(CALLS, { model })).toMatchObject({ calls: [], finish: "content_filter" });
});

test("sandbox-empty-arguments calls with {}, streamed or not, and counts what it sends", async () => {
  const model = "sandbox-empty-arguments";
  const answer = await answerTo(CALLS, { model });
  expect(answer.calls.map(({ input }) => input)).toEqual(["{}", "{}"]);
  expect(putTogether(await deltasOf(CALLS, { model }))).toEqual([answer]);
  expect((await usageOf(CALLS, { model })).output).toBeLessThan((await usageOf(CALLS)).output);
});

test("sandbox-malformed-arguments calls with the beginning of what would be right", async () => {
  const model = "sandbox-malformed-arguments";
  const [right, wrong] = [await answerTo(CALLS), await answerTo(CALLS, { model })];
  expect(wrong.finish).toBe("tool_calls");
  for (const [at, { input }] of wrong.calls.entries()) {
    expect(right.calls[at]?.input.startsWith(input)).toBe(true);
    expect(() => JSON.parse(input) as unknown).toThrow(SyntaxError);
  }
  expect(putTogether(await deltasOf(CALLS, { model }))).toEqual([wrong]);
});

test("what a custom tool is given stays as it is", async () => {
  const body = ask("Use the run_code tool now", { tools: [{ type: "custom", custom: { name: "run_code" } }] });
  for (const model of ["sandbox-empty-arguments", "sandbox-malformed-arguments"]) {
    expect(await answerTo(body, { model })).toEqual(await answerTo(body));
  }
});

test.each([
  ["sandbox-zero-usage", null],
  ["sandbox-negative-usage", "impossible"],
  ["sandbox-fractional-usage", "impossible"],
] as const)("the report of %s is read as %j, streamed or not", async (model, expected) => {
  expect((await sandbox.complete(callOf(LONG, { model }))).usage).toBe(expected);
  const deltas = await deltasOf(LONG, { model });
  expect(deltas.find((delta) => delta.usage !== undefined)?.usage ?? null).toBe(expected);
  expect(putTogether(deltas)).toEqual([await answerTo(LONG)]);
});

test("sandbox-late-usage reports a second after its finish reason", async () => {
  const clock = createClock();
  const seen: [number, boolean][] = [];
  for await (const delta of createSandbox(clock).stream(callOf(LONG, { model: "sandbox-late-usage" }))) {
    seen.push([clock.now(), delta.usage !== undefined]);
  }
  expect(seen.slice(-2)).toEqual([
    [0, false],
    [1_000, true],
  ]);
});

test("sandbox-endless goes on far beyond its limit, without a finish reason, until the caller gives up", async () => {
  const controller = new AbortController();
  const body = { ...LONG, max_tokens: 10 };
  const stream = sandbox.stream(callOf(body, { model: "sandbox-endless", signal: controller.signal }));
  const deltas: ChatDelta[] = [];
  while (deltas.length < 100) {
    const step = await stream.next();
    if (step.done !== true) deltas.push(step.value);
  }
  const [choice] = putTogether(deltas);
  expect(choice?.finish).toBeNull();
  expect(choice?.content?.length).toBeGreaterThan(90_000);
  controller.abort();
  expect(await failureOf(stream.next())).toMatchObject({ kind: "aborted" });
});

test("sandbox-megabyte sends one frame of a megabyte and otherwise its usual answer", async () => {
  const model = "sandbox-megabyte";
  const deltas = await deltasOf(LONG, { model });
  const sizes = deltas.map((delta) => JSON.stringify(delta).length);
  expect(sizes.filter((size) => size > 1_000_000)).toHaveLength(1);
  expect(sizes.findIndex((size) => size > 1_000_000)).toBeLessThan(deltas.length - 2);
  expect(putTogether(deltas)).toEqual([await answerTo(LONG)]);
  expect(JSON.stringify(await sandbox.complete(callOf(LONG, { model }))).length).toBeGreaterThan(1_000_000);
});
