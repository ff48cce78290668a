import { describe, expect, test } from "bun:test";

import { namedParts, readSchemaFiles, type Schema } from "#deploy/generate/schema-files.ts";
import type { SchemaName } from "#schemas/generated/types.ts";
import { acceptsNull, nullShapeOf, REFUSES_NULL, withoutNulls } from "#shared/json/absent-nulls.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";

const USER = { role: "user", content: "hi" };
const HELLO = { model: "m", messages: [USER] };
const TOOL = { type: "function", function: { name: "f" } };

describe("null for an optional member means that it is absent", () => {
  test.each<[string, SchemaName, object, object]>([
    ["of a body", "ChatCompletionRequest", { ...HELLO, tools: null, user: null }, HELLO],
    [
      "of an item of a list",
      "ChatCompletionRequest",
      { ...HELLO, messages: [{ ...USER, name: null }, USER] },
      { ...HELLO, messages: [USER, USER] },
    ],
    [
      "of a branch of a union",
      "ChatCompletionRequest",
      { ...HELLO, tools: [{ type: "function", function: { name: "f", description: null } }] },
      { ...HELLO, tools: [TOOL] },
    ],
    [
      "of one way of several",
      "ChatCompletionRequest",
      { ...HELLO, messages: [{ ...USER, content: [{ type: "file", file: { file_id: "a", file_url: null } }] }] },
      { ...HELLO, messages: [{ ...USER, content: [{ type: "file", file: { file_id: "a" } }] }] },
    ],
    [
      "of a value behind a name of the caller's",
      "WorkflowDefinition",
      { inputs: { topic: { type: "string", description: null } }, steps: [{ id: "a", type: "b", retry: null }] },
      { inputs: { topic: { type: "string" } }, steps: [{ id: "a", type: "b" }] },
    ],
  ])("%s", (_place, name, given, expected) => {
    expect(parse(name, given) as unknown).toEqual(expected);
  });

  test("and the caller's object is unchanged", () => {
    const given = { ...HELLO, tools: null };
    expect(parse("ChatCompletionRequest", given)).not.toBe(given as never);
    expect(given).toEqual({ ...HELLO, tools: null });
  });
});

test("a value without such a null is not copied", () => {
  for (const given of [HELLO, { ...HELLO, temperature: null }]) {
    expect(parse("ChatCompletionRequest", given as object) as unknown).toBe(given);
  }
});

test("null stays if the schema accepts it, if the member is required, and in free-form objects", () => {
  const free = { type: "function", function: { name: "f", parameters: { default: null, properties: { a: null } } } };
  const given = { ...HELLO, temperature: null, tools: [free], unknown: null, user: null };
  const { user: _user, ...expected } = given;
  expect(parse("ChatCompletionRequest", given) as unknown).toEqual(expected);
  expect(parse("ApiKeyUpdateRequest", { name: null, tools: null }) as unknown).toEqual({ tools: null });
  const step = { id: "a", type: "b", params: { x: null }, input: { y: null }, metadata: { z: null } };
  expect(parse("WorkflowDefinition", { steps: [{ ...step, model: null }] }) as unknown).toEqual({ steps: [step] });
});

test.each<[SchemaName, object, string]>([
  ["ChatCompletionRequest", { ...HELLO, messages: null, tools: null }, "messages"],
  [
    "ChatCompletionRequest",
    { model: "m", messages: [{ name: null, role: "user", content: null }] },
    "messages[0].content",
  ],
  ["OperatorHoldCloseRequest", { credits: null, note: null }, "credits"],
])("%s rejects null for a member that needs a value", (name, body, param) => {
  let fault: unknown;
  try {
    parse(name, body);
  } catch (error) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(ApiError);
  expect(fault).toMatchObject({ status: 400, param });
});

test("a member called __proto__ is copied as a member", () => {
  const given = JSON.parse(
    '{"model":"m","messages":[{"role":"user","content":"hi"}],"__proto__":{"a":1},"user":null}',
  ) as object;
  const read = parse("ChatCompletionRequest", given) as object;
  expect(Object.keys(read)).toEqual(["model", "messages", "__proto__"]);
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
});

test("branches of a union without discriminator are merged", () => {
  const branch = (operation: string, properties: Schema, required: readonly string[]): Schema => ({
    type: "object",
    required,
    properties: { operation: { const: operation }, ...properties },
  });
  const schema = {
    anyOf: [
      branch("cut", { at: { type: "number" }, kept: { type: ["number", "null"] } }, ["operation", "at"]),
      branch("copy", { at: { type: "number" }, kept: { type: "number" } }, ["operation"]),
    ],
  };
  const shape = nullShapeOf(schema, () => ({}));
  expect(withoutNulls({ operation: null, at: null, kept: null }, shape, {})).toEqual({ operation: null, kept: null });
});

/** Members that are cleared when the object around them comes without them. */
const CLEARED_BY_ABSENCE = ["authUsername", "authHeaderName", "chatId", "recipient"].map(
  (name) => `ChannelUpdateRequest.config.${name}`,
);

test("an update accepts null only for members that can be cleared, since absence keeps them", async () => {
  const files = await readSchemaFiles();
  const parts = namedParts(files, (name) => name);
  const part = (name: string): Schema => parts.get(name) ?? {};
  const canBeEmpty = ({ type, enum: values, format, minLength, minItems, pattern }: Schema): boolean =>
    [type].flat().some((one) => one === "string" || one === "array") &&
    [values, format, minLength, minItems, pattern].every((bound) => bound === undefined);
  const unclear = (schema: Schema, place: string): readonly string[] =>
    Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, Schema>>).flatMap(([name, member]) => [
      ...(canBeEmpty(member) && !acceptsNull(member, part) && !(REFUSES_NULL in member) ? [`${place}.${name}`] : []),
      ...unclear(member, `${place}.${name}`),
    ]);
  const changes = files.filter(({ path }) => /^requests\/.*-(update|change)\.schema\.json$/.test(path));
  expect(changes.length).toBeGreaterThan(6);
  const found = changes.flatMap(({ title }) => unclear(part(title), title));
  expect(found.toSorted()).toEqual(CLEARED_BY_ABSENCE.toSorted());
});
