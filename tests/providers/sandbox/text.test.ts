import { expect, test } from "bun:test";
import fc from "fast-check";

import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { answersTo, answerTo, ask, callOf, failureOf, sandbox, textOf, usageOf } from "./calls.ts";

const tokenizer = await loadTokenizer();

test("answers about the prompt without a dictated text", async () => {
  const text = await textOf(ask("What is the tallest mountain in Switzerland?"));
  expect(text).toContain("mountain");
  expect(text).toContain("Switzerland");
});

test("quotes words of the prompt, so that any of them fits its sentences", async () => {
  for (let seed = 0; seed < 8; seed += 1) {
    const text = await textOf(ask("Write three sentences about a lighthouse in a storm, for a child.", { seed }));
    expect(text).toMatch(/ "lighthouse", "storm" and "child"\. [A-Z]/);
  }
  const essay = (await textOf(ask("Write a 300 word essay on Lima and Cusco."))) ?? "";
  expect(essay.match(/Lima|Cusco/g)?.length).toBeGreaterThan(10);
  expect(essay.replaceAll(/"(?:essay|Lima|Cusco)"/g, "")).not.toMatch(/Lima|Cusco|essay/);
  expect(essay).not.toMatch(/("\w+")[^."]*\1[^"]*\./);
});

test("answers as briefly or at such length as the prompt requests", async () => {
  expect(await textOf(ask("Answer in one word: what is the capital of Peru?"))).toMatch(/^\S+$/);
  expect(await textOf(ask("Is Lima in Peru, yes or no?"))).toMatch(/^(?:Yes|No)$/);
  expect((await textOf(ask("Write a 300 word essay on Lima.")))?.split(/\s+/).length).toBeGreaterThanOrEqual(300);
});

test("answers an empty message and a conversation without messages", async () => {
  expect(await textOf(ask(""))).not.toBe("");
  expect(await textOf({ messages: [] })).not.toBe("");
});

test("states the number of the answered turn", async () => {
  const messages = [
    { role: "user", content: "Tell me about Lima" },
    { role: "assistant", content: "It is a city." },
    { role: "user", content: "And about Cusco?" },
  ];
  expect(await textOf({ messages })).toContain("turn 2");
});

test("returns the same answer to the same request, and another to another seed", async () => {
  const prompt = "Describe the harbour of Lisbon";
  expect(await textOf(ask(prompt))).toBe(await textOf(ask(prompt)));
  const bySeed = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => textOf(ask(prompt, { seed }))));
  expect(new Set(bySeed).size).toBeGreaterThan(1);
  expect(await textOf(ask(prompt, { seed: 3 }))).toBe(bySeed[2] ?? null);
});

test("writes n choices, each with its index", async () => {
  const choices = await answersTo(ask("Describe the harbour of Lisbon", { n: 4 }));
  expect(choices.map((choice) => choice.index)).toEqual([0, 1, 2, 3]);
  expect(new Set(choices.map((choice) => choice.content)).size).toBeGreaterThan(1);
});

test("stops after exactly the tokens allowed", async () => {
  const text = "one two three four five six seven eight nine ten";
  const whole = tokenizer.count(text);
  for (let limit = 1; limit <= whole + 1; limit += 1) {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const body = ask(`Repeat after me: ${text}`, { [name]: limit });
      const answer = await answerTo(body);
      const content = answer.content ?? "";
      expect(tokenizer.count(content)).toBe(Math.min(limit, whole));
      expect((await usageOf(body)).output).toBe(Math.min(limit, whole));
      expect(answer.finish).toBe(limit < whole ? "length" : "stop");
      expect(text.startsWith(content)).toBe(true);
    }
  }
});

test("never cuts a character in two, whatever the limit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 12 }),
      async (text, limit) => {
        const content = await textOf(ask(`Repeat after me: x${text}x`, { max_tokens: limit }));
        expect(content?.isWellFormed()).toBe(true);
        expect(`x${text}x`).toStartWith(content ?? "");
      },
    ),
    { numRuns: 200 },
  );
});

test("prefers max_completion_tokens to max_tokens, and uses the limit of the hold without either", async () => {
  expect(await textOf(ask("Say one two three four", { max_completion_tokens: 2, max_tokens: 3 }))).toBe("one two");
  expect(await textOf(ask("Say one two three four"), { outputTokensMax: 3 })).toBe("one two three");
});

test("ends before the earliest stop sequence and counts only the sent text", async () => {
  const body = ask("Say one two three four", { stop: [" four", " two"] });
  expect(await answerTo(body)).toMatchObject({ content: "one", finish: "stop" });
  expect((await usageOf(body)).output).toBe(1);
  expect(await textOf(ask("Say one two three four", { stop: [" two", " four"] }))).toBe("one");
  expect(await textOf(ask("Say one two", { stop: "one" }))).toBe("");
  expect(await textOf(ask("Say one two", { stop: ["", "absent"] }))).toBe("one two");
});

test("counts a short exchange like OpenAI's tokenizer", async () => {
  expect(await usageOf(ask("Say hello"))).toMatchObject({
    input: 9,
    cachedInput: 0,
    output: 1,
    reasoning: 0,
    estimated: false,
  });
});

test("counts the output of every choice", async () => {
  expect((await usageOf(ask("Say one two three", { n: 3 }))).output).toBe(9);
});

test("reports each token as certain when log probabilities are requested", async () => {
  const { choices } = await sandbox.complete(callOf(ask("Say one two", { logprobs: true, top_logprobs: 2 })));
  const token = (text: string): object => ({ token: text, logprob: 0, bytes: [...Buffer.from(text)] });
  expect(choices[0]?.["logprobs"]).toEqual({
    content: [
      { ...token("one"), top_logprobs: [token("one")] },
      { ...token(" two"), top_logprobs: [token(" two")] },
    ],
    refusal: null,
  });
});

test("rejects a prompt beyond the context", async () => {
  const failure = await failureOf(sandbox.complete(callOf(ask("word ".repeat(130_000)))));
  expect(failure).toMatchObject({ kind: "rejected", code: "context_length_exceeded", param: "messages" });
});

test("rejects an audio answer, which it does not support", async () => {
  const failure = await failureOf(sandbox.complete(callOf(ask("Say hello", { modalities: ["text", "audio"] }))));
  expect(failure).toMatchObject({ kind: "rejected", code: "unsupported_value", param: "modalities" });
});

test("applies the source's gaps and defaults from the catalogue, and does not change the request", async () => {
  const call = callOf(ask("Say one two three", { stop: "two" }));
  const adapt = (body: Record<string, unknown>): void => {
    delete body["stop"];
    body["max_tokens"] = 2;
  };
  expect((await sandbox.complete({ ...call, adapt })).choices).toMatchObject([{ message: { content: "one two" } }]);
  expect(call.request).toHaveProperty("stop", "two");
});

test("ignores members of the wrong type", async () => {
  const body = {
    messages: [null, { role: 7, content: "Say hello" }],
    n: "3",
    stop: 5,
    tools: "x",
    tool_choice: 1,
    seed: "s",
  };
  expect(await textOf(body)).toBe("hello");
});
