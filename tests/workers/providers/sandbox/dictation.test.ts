import { expect, test } from "bun:test";

import { dictatedAnswer } from "#workers/providers/sandbox/intent.ts";

import { ask, textOf } from "./calls.ts";

const DICTATED: readonly (readonly [prompt: string, answer: string])[] = [
  ["Say hello", "hello"],
  ["Say hello.", "hello"],
  ["Say hello!", "hello!"],
  ["Please say hello.", "hello"],
  ["Can you say hello?", "hello"],
  ["Just say hi", "hi"],
  ["Say this is a test.", "this is a test"],
  ["Say exactly: Hello, world. How are you?", "Hello, world. How are you?"],
  ['Say exactly: {"a": 1}', '{"a": 1}'],
  ["Say exactly: ,x", ",x"],
  ["Say exactly the following: héllo 👋", "héllo 👋"],
  ["Say exactly 'foo'", "foo"],
  ["Say: foo", "foo"],
  ["Say hello, and nothing else.", "hello"],
  ["Say 'foo' and nothing more", "foo"],
  ["Say ok. Do not say anything else.", "ok"],
  ["Say the word apple", "apple"],
  ['Say "double bubble bath" three times fast.', "double bubble bath double bubble bath double bubble bath"],
  ["Say hello twice", "hello hello"],
  ["Repeat after me: foo bar baz", "foo bar baz"],
  ["Repeat after me: line one\nline two", "line one\nline two"],
  ["Repeat the following text verbatim: a b c", "a b c"],
  ["Echo foo bar", "foo bar"],
  ['Reply with "X"', "X"],
  ["Reply with 'it's fine'", "it's fine"],
  ["Reply with exactly: pong", "pong"],
  ["Reply with the word OK", "OK"],
  ["Reply only with the word 'banana'.", "banana"],
  ["Reply with a single word: pong", "pong"],
  ["Respond with only X", "X"],
  ["Respond with only the letter A.", "A"],
  ["Answer with just PONG.", "PONG"],
  ['Return exactly "done"', "done"],
  ["Output: ```\nx = 1\n```", "x = 1"],
  ["You are being tested. Say hello.", "hello"],
  ["A long document.\n\nReply with only: OK", "OK"],
  ["Reply with exactly this text and nothing else: hello there", "hello there"],
  ["Reply with exactly this text and nothing else:\n\nline one\n\nline two.", "line one\n\nline two."],
  ['Reply with exactly this text and nothing else: "hello"', "hello"],
  ["Reply with exactly the following text, and nothing else: Hello, world.", "Hello, world."],
  ["Please respond with exactly the phrase 'red panda' and nothing else.", "red panda"],
  ["Respond with only the word banana", "banana"],
  ["Respond with only the word: banana", "banana"],
  ["Respond with exactly one word: yes", "yes"],
  ["Output exactly: foo  bar", "foo  bar"],
  ["Output exactly the following text, with no quotes: foo", "foo"],
  ["Output exactly this and nothing more: a: b", "a: b"],
  ['Return exactly this JSON: {"a": 1}', '{"a": 1}'],
  ["Return the following JSON verbatim:\n```json\n[1]\n```", "[1]"],
  ["Copy this text word for word: x y", "x y"],
  ["Only output the number 42.", "42"],
  ["Your response must be exactly: done", "done"],
  ["Your answer should be only the word yes.", "yes"],
  ["Reply OK", "OK"],
  ["Reply with pong and nothing else", "pong"],
  ["Count to 5", "1, 2, 3, 4, 5"],
  ["Count from 3 to 6", "3, 4, 5, 6"],
];

test.each(DICTATED)("answers %j with %j", async (prompt, answer) => {
  expect(await textOf(ask(prompt))).toBe(answer);
});

const OPEN = [
  "",
  "hello",
  "What is the weather?",
  "Say something about cats",
  "Say what you think",
  "Write a poem",
  "Answer the question: what is 2+2?",
  "Answer in one word: capital of France?",
  "Answer with only the name of the city",
  "Reply with a short poem about cats",
  "Reply with just the number of planets",
  "Reply with yes or no",
  "Repeat the question",
  "Return only valid JSON",
  "Respond only in French",
  "Return this as JSON: name, age",
  "Reply with a list of fruits, nothing else",
  "Write a haiku and nothing else",
  "Question: x\nAnswer:",
  "Tell me what people say about Rome",
  "Count from 5 to 3",
];

test.each(OPEN)("leaves the wording of %j open", (prompt) => {
  expect(dictatedAnswer(prompt)).toBeNull();
});

test("joins the text blocks of a message", async () => {
  expect(
    await textOf(
      ask([
        { type: "text", text: "Repeat after me:" },
        { type: "text", text: "one two" },
      ]),
    ),
  ).toBe("one two");
});

test("gives a long dictated text whole", async () => {
  const text = "All work and no play. ".repeat(500).trim();
  expect(await textOf(ask(`Repeat after me: ${text}`))).toBe(text);
});
