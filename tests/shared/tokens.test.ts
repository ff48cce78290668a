import { expect, test } from "bun:test";
import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

import { countPrompt } from "#shared/tokens/count.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

const tokenizer = await loadTokenizer();
const asPlainText = { disallowedSpecial: new Set<string>() };

const TEXTS = [
  "",
  "hello",
  "Hello, world! It's 12345 o'clock, and they'll've gone.",
  "漢字かな交じり文、そして 👩‍👩‍👧‍👦🏽 🇩🇪",
  "   \n\n  tabs\t\t and blanks   ",
  "naïve façade \u0301\u0301 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
  "antidisestablishmentarianism qzxjkvbw",
  '{"a":[1,2.5e10,null]}',
];

test.each(TEXTS)("counts like the published tokenizer: %j", (text) => {
  expect(tokenizer.count(text)).toBe(encode(text, asPlainText).length);
});

test("counts like the published tokenizer for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      expect(tokenizer.count(text)).toBe(encode(text, asPlainText).length);
    }),
    { numRuns: 300 },
  );
});

test("counts the text of a special token as ordinary text", () => {
  expect(tokenizer.count("<|endoftext|>")).toBeGreaterThan(1);
});

test("splits any text into pieces that join to it and contain all its tokens", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const pieces = tokenizer.pieces(text);
      expect(pieces.map((piece) => piece.text).join("")).toBe(text);
      expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBe(tokenizer.count(text));
      for (const piece of pieces) expect(piece.text.isWellFormed()).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("stops splitting after the requested tokens, between characters", () => {
  const text = "one 👩‍👩‍👧‍👦 two 漢字 three";
  for (let wanted = 0; wanted <= tokenizer.count(text) + 1; wanted += 1) {
    const pieces = tokenizer.pieces(text, wanted);
    expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBeLessThanOrEqual(wanted);
    const start = pieces.map((piece) => piece.text).join("");
    expect(text.startsWith(start)).toBe(true);
    expect(tokenizer.count(start)).toBeLessThanOrEqual(wanted);
    expect(pieces.every((piece) => piece.text !== "")).toBe(true);
  }
});

test("counts a long word without blanks exactly to one token for each split", () => {
  const word = Array.from({ length: 3_000 }, (_, i) => String.fromCharCode(97 + ((i * 7 + (i >> 3)) % 26))).join("");
  expect(Math.abs(tokenizer.count(word) - encode(word, asPlainText).length)).toBeLessThanOrEqual(12);
});

test("extrapolates the part above its exact limit", () => {
  const word = Array.from({ length: 400_000 }, (_, i) => String.fromCharCode(97 + ((i * 7 + (i >> 3)) % 26))).join("");
  const half = tokenizer.count(word.slice(0, 200_000));
  expect(tokenizer.count(word) / (2 * half)).toBeCloseTo(1, 1);
});

const noMedia = (): number => {
  throw new Error("no media here");
};

test("counts a single message as OpenAI publishes: three for it, its role, its text, three for the answer", () => {
  const messages = [{ role: "user", content: "Say hello" }];
  expect(countPrompt(tokenizer, { messages }, noMedia)).toBe(3 + 3 + 1 + 2);
});

test("counts names, earlier calls, blocks, tools and schemas", () => {
  const base = countPrompt(tokenizer, { messages: [{ role: "user", content: "hi" }] }, noMedia);
  const count = (message: object, more: object = {}): number =>
    countPrompt(tokenizer, { messages: [{ role: "user", ...message }], ...more }, (part) =>
      part["type"] === "image_url" ? 85 : 0,
    ) - base;
  expect(count({ content: "hi", name: "Ada" })).toBe(tokenizer.count("Ada") + 1);
  expect(count({ content: [{ type: "text", text: "hi" }, { type: "image_url" }] })).toBe(85);
  const call = { id: "1", type: "function", function: { name: "ping", arguments: '{"a":1}' } };
  expect(count({ content: "hi", tool_calls: [call] })).toBe(tokenizer.count("ping") + tokenizer.count('{"a":1}'));
  const tools = [{ type: "function", function: { name: "ping" } }];
  expect(count({ content: "hi" }, { tools })).toBe(tokenizer.count(JSON.stringify(tools)));
  const schema = { type: "object" };
  expect(count({ content: "hi" }, { response_format: { json_schema: { schema } } })).toBe(
    tokenizer.count('{"type":"object"}'),
  );
});

test("counts nothing for members of another type", () => {
  expect(countPrompt(tokenizer, { messages: "none", tools: 3, response_format: null }, noMedia)).toBe(3);
  expect(countPrompt(tokenizer, { messages: [null, 5, { role: 1, content: { a: 1 } }] }, noMedia)).toBe(3 + 3 * 3);
});
