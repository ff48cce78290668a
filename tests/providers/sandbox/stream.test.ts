import { expect, test } from "bun:test";
import fc from "fast-check";

import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { answersTo, ask, type Body, deltasOf, putTogether, usageOf } from "./calls.ts";

const tokenizer = await loadTokenizer();

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const THREE_CITIES = ask("Weather in Paris, Rome and Oslo?", { tools: [WEATHER] });

const REQUESTS: readonly (readonly [what: string, body: Body, model?: string])[] = [
  ["a word", ask("Say hello")],
  ["an open answer", ask("Describe the harbour of Lisbon")],
  ["an empty answer", ask("Say hello", { stop: "hello" })],
  ["emoji and scripts", ask("Repeat after me: 👩‍👩‍👧‍👦🏽 漢字 नमस्ते 🇩🇪")],
  ["an answer cut at its limit", ask("Describe the harbour of Lisbon", { max_tokens: 7 })],
  ["an answer cut inside an emoji", ask("Repeat after me: 🧑🏽‍🚀🧑🏽‍🚀", { max_tokens: 2 })],
  ["three choices", ask("Describe the harbour of Lisbon", { n: 3 })],
  ["parallel calls", THREE_CITIES],
  ["interleaved calls", THREE_CITIES, "sandbox-interleaved"],
  ["a call without arguments", ask("Use the ping tool", { tools: [{ type: "function", function: { name: "ping" } }] })],
  ["a custom call", ask("Use the run_code tool now", { tools: [{ type: "custom", custom: { name: "run_code" } }] })],
  ["a document", ask("Lima", { response_format: { type: "json_object" } })],
  ["reasoning", ask("Describe the harbour of Lisbon", { n: 2 }), "sandbox-reasoning"],
  [
    "reasoning that takes all the tokens",
    ask("Describe the harbour of Lisbon", { max_tokens: 9 }),
    "sandbox-reasoning",
  ],
  ["a long answer", ask("Be brief about Lisbon"), "sandbox-long"],
];

test.each(REQUESTS)("streams %s to the same end as the plain answer", async (_, body, model = "sandbox-chat") => {
  const deltas = await deltasOf(body, { model });
  expect(putTogether(deltas)).toEqual(await answersTo(body, { model }));
  expect(deltas.at(-1)).toEqual({ choices: [], usage: await usageOf(body, { model }) });
  expect(deltas.filter((delta) => delta.usage !== undefined)).toHaveLength(1);
});

test("streams any dictated text to the same end as the plain answer", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.option(fc.integer({ min: 1, max: 20 })),
      async (text, max_tokens) => {
        const body = ask(`Repeat after me: ${text}`, { max_tokens });
        expect(putTogether(await deltasOf(body))).toEqual(await answersTo(body));
      },
    ),
    { numRuns: 200 },
  );
});

test("starts with the role, continues in tokens and ends with the finish reason before the usage", async () => {
  const deltas = await deltasOf(ask("Say one two three"));
  expect(deltas.slice(0, -1)).toEqual([
    { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: "one" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: " two" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: " three" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ]);
});

test("sends whole characters only", async () => {
  const deltas = await deltasOf(ask("Repeat after me: 👩‍👩‍👧‍👦🏽 漢字 𝔘𝔫𝔦"));
  for (const choice of deltas.flatMap((delta) => delta.choices)) {
    expect((choice["delta"] as { content?: string }).content?.isWellFormed() ?? true).toBe(true);
  }
});

interface CallPiece {
  index: number;
  id?: string;
  type?: string;
  function: { name?: string; arguments: string };
}

async function callPieces(model: string): Promise<CallPiece[]> {
  const deltas = await deltasOf(THREE_CITIES, { model });
  return deltas.flatMap((delta) =>
    delta.choices.flatMap((choice) => (choice["delta"] as { tool_calls?: CallPiece[] }).tool_calls ?? []),
  );
}

test.each(["sandbox-chat", "sandbox-interleaved"])(
  "returns the calls of %s with contiguous indexes, ids first, arguments in pieces",
  async (model) => {
    const pieces = await callPieces(model);
    for (const index of [0, 1, 2]) {
      const [head, ...rest] = pieces.filter((piece) => piece.index === index);
      expect(head).toMatchObject({
        id: expect.stringMatching(/^call_/),
        type: "function",
        function: { name: "get_weather", arguments: "" },
      });
      expect(rest.length).toBeGreaterThan(1);
      for (const piece of rest) expect(Object.keys(piece)).toEqual(["index", "function"]);
      const joined = rest.map((piece) => piece.function.arguments).join("");
      expect(JSON.parse(joined)).toEqual({ city: ["Paris", "Rome", "Oslo"][index] });
    }
  },
);

test("sends one call after the other, except from the model that interleaves them", async () => {
  const indexes = (pieces: readonly CallPiece[]): number[] => pieces.map((piece) => piece.index);
  const inOrder = indexes(await callPieces("sandbox-chat"));
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
  expect(indexes(await callPieces("sandbox-interleaved")).slice(0, 6)).toEqual([0, 1, 2, 0, 1, 2]);
});

test("sends the log probabilities of each piece with it", async () => {
  const deltas = await deltasOf(ask("Say one two", { logprobs: true }));
  const tokens = deltas.flatMap((delta) =>
    delta.choices.flatMap(
      (choice) => ((choice["logprobs"] ?? { content: [] }) as { content: { token: string }[] }).content,
    ),
  );
  expect(tokens.map(({ token }) => token)).toEqual(["one", " two"]);
});

test("charges a stream for the tokens it sent", async () => {
  const deltas = await deltasOf(ask("Describe the harbour of Lisbon"));
  const [choice] = putTogether(deltas);
  expect(deltas.at(-1)?.usage).toMatchObject({ output: tokenizer.count(choice?.content ?? "") });
});
