import { expect, test } from "bun:test";

import { answerTo, ask, type Body, textOf } from "./calls.ts";

async function documentFor(prompt: string, schema: Body): Promise<unknown> {
  const text = await textOf(
    ask(prompt, { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } }),
  );
  return JSON.parse(text ?? "");
}

function objectOf(properties: Body): Body {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

const TEXT = { type: "string" };

test("fills a schema with values of the prompt", async () => {
  const event = objectOf({ name: TEXT, date: TEXT, participants: { type: "array", items: TEXT } });
  expect(await documentFor("Alice and Bob are going to a science fair on Friday.", event)).toMatchObject({
    date: "Friday",
    participants: ["Alice", "Bob"],
  });
  const person = objectOf({ name: TEXT, age: { type: "integer" }, city: TEXT });
  expect(await documentFor("Extract: John is 30 years old and lives in Berlin.", person)).toEqual({
    name: "John",
    age: 30,
    city: "Berlin",
  });
  const pairs = objectOf({
    sku: TEXT,
    quantity: { type: "integer" },
    gift: { type: "boolean" },
    size: { enum: ["S", "M", "L"] },
  });
  expect(await documentFor("sku: AB-12, quantity: 3, size L, not gift", pairs)).toEqual({
    sku: "AB-12",
    quantity: 3,
    gift: false,
    size: "L",
  });
});

test("returns dictated JSON unchanged when it is valid by the schema", async () => {
  const schema = objectOf({ a: { type: "integer" } });
  const format = { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } };
  expect(await textOf(ask('Say exactly: {"a":  7}', format))).toBe('{"a":  7}');
  expect(JSON.parse((await textOf(ask('Say exactly: {"a":"x"}', format))) ?? "")).toEqual({ a: expect.any(Number) });
});

test("answers in JSON mode with an object, with the keys the prompt names", async () => {
  const format = { response_format: { type: "json_object" } };
  expect(JSON.parse((await textOf(ask("Tell me of Lima in JSON", format))) ?? "")).toEqual({
    answer: expect.stringContaining("Lima"),
    topics: ["Lima"],
  });
  const keyed = JSON.parse(
    (await textOf(ask('Give JSON with keys "name" and "age": Ada is 36 years old.', format))) ?? "",
  );
  expect(keyed).toEqual({ name: "Ada", age: 36 });
  expect(await textOf(ask('Say exactly: {"ok": true}', format))).toBe('{"ok": true}');
});

test("uses values of tool results for a document too", async () => {
  const messages = [
    { role: "user", content: "How warm is it in Oslo?" },
    { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "t", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "a", content: '{"celsius": 21}' },
  ];
  const schema = objectOf({ city: TEXT, celsius: { type: "number" } });
  const response_format = { type: "json_schema", json_schema: { name: "answer", schema } };
  expect(JSON.parse((await textOf({ messages, response_format })) ?? "")).toEqual({ city: "Oslo", celsius: 21 });
});

test("truncates a document at the token limit", async () => {
  const schema = objectOf({ text: { type: "string", minLength: 500 } });
  const response_format = { type: "json_schema", json_schema: { name: "answer", schema } };
  expect((await answerTo(ask("Lima", { response_format, max_tokens: 5 }))).finish).toBe("length");
});
