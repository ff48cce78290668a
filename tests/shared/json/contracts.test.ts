import { describe, expect, test } from "bun:test";

import { readSchemaFiles } from "#deploy/generate/schema-files.ts";
import { describeFault } from "#shared/json/contract-fault.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";

const HELLO = { model: "m", messages: [{ role: "user", content: "hi" }] };

function message(body: unknown): string | undefined {
  return validate("ChatCompletionRequest", body)?.message;
}

test("a limit counts characters, for every length of the text", () => {
  const image = (prompt: string) => validate("ImageGenerationRequest", { model: "m", prompt });
  const ghost = "\u{1F47B}";
  expect(image(ghost.repeat(32_000))).toBeNull();
  for (const length of [32_001, 262_144, 262_145, 1_000_000]) {
    expect(image(ghost.repeat(length))?.message).toStartWith("prompt must have at most 32000 characters");
    expect(image("x".repeat(length))?.message).toStartWith("prompt must have at most 32000 characters");
  }
  const edit = { model: "m", prompt: "x", image_base64: "A".repeat(2_000_000) };
  expect(validate("ImageEditRequest", edit)).toBeNull();
});

describe("an error", () => {
  test.each<[string, unknown, string]>([
    ["a member that is missing", { model: "m" }, "Missing required parameter: messages."],
    ["a wrong body", [], "The body must be an object, got an array of 0 items."],
    ["a wrong type", { ...HELLO, stream: "yes" }, "stream must be a boolean or null, got a string of 3 characters."],
    ["several types", { ...HELLO, stop: 5 }, "stop must be a string, an array or null, got 5."],
    ["a broken bound", { ...HELLO, temperature: 3 }, "temperature must be at most 2, got 3."],
    [
      "an unknown value",
      { ...HELLO, verbosity: "loud" },
      'verbosity must be one of low, medium, high, null, got "loud".',
    ],
    [
      "an object in place of a value",
      { ...HELLO, verbosity: {} },
      "verbosity must be one of low, medium, high, null, got an object.",
    ],
    [
      "a pattern in words",
      { ...HELLO, response_format: { type: "json_schema", json_schema: { name: "a b" } } },
      "response_format.json_schema.name must have 1 to 64 characters of a-z, A-Z, 0-9, _ and -, got a string of 3 characters.",
    ],
    [
      "one of two that must be there",
      { ...HELLO, messages: [{ role: "user", content: [{ type: "file", file: {} }] }] },
      "Missing required parameter: messages[0].content[0].file.file_id, messages[0].content[0].file.file_data or messages[0].content[0].file.file_url.",
    ],
    ["too few items", { ...HELLO, messages: [] }, "messages must have at least 1 item, got an array of 0 items."],
    ["an empty text", { ...HELLO, model: "" }, "model must have at least 1 character, got an empty string."],
  ])("contains the expected and the actual value: %s", (_name, body, expected) => {
    expect(message(body)).toBe(expected);
  });

  test("never repeats a client's text", () => {
    const secret = "hunter2 is my prompt";
    const bodies = [
      { ...HELLO, messages: secret },
      { ...HELLO, messages: [secret] },
      { ...HELLO, temperature: secret },
      { ...HELLO, user: [secret] },
      { ...HELLO, model: secret.repeat(20) },
      { ...HELLO, verbosity: secret.repeat(20) },
      { ...HELLO, messages: [{ role: "user", content: [secret] }] },
      { ...HELLO, messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: secret } }] }] },
      { ...HELLO, tools: [{ type: "function", function: { name: secret } }] },
    ];
    for (const body of bodies) expect(message(body)).not.toContain("hunter2");
  });

  test("truncates a member's long name", () => {
    const fault = validate("ChatCompletionRequest", { ...HELLO, metadata: { ["k".repeat(5_000)]: 1 } });
    expect(fault?.param).toBe(`metadata.${"k".repeat(40)}…`);
    expect(fault?.message.length).toBeLessThan(120);
  });

  test("finds its path through names with slashes and tildes", () => {
    expect(validate("ChatCompletionRequest", { ...HELLO, metadata: { "a/b~c": 1 } })?.param).toBe("metadata.a/b~c");
  });

  test("in a closed schema names the unknown member", () => {
    expect(validate("CatalogueFile", { modles: [] })).toEqual({
      param: "modles",
      message: "modles is not a known parameter.",
      code: "unknown_parameter",
      isOfType: false,
    });
  });

  test("proposes the name of a member with a similar spelling", () => {
    const { model: _model, ...rest } = HELLO;
    expect(message({ ...rest, modle: "m" })).toBe(
      "Missing required parameter: model. Did you mean model instead of modle?",
    );
    expect(message({ ...rest, stream: true })).toBe("Missing required parameter: model.");
    const step = { id: "a", type: "model", model: "m" };
    const fault = (definition: object) => validate("WorkflowDefinition", definition)?.message;
    expect(fault({ steps: [step], input: {} })).toBe("input is not a known parameter. Did you mean inputs?");
    expect(fault({ steps: [{ ...step, depend_on: [] }] })).toBe(
      "steps[0].depend_on is not a known parameter. Did you mean depends_on?",
    );
    expect(fault({ steps: [{ ...step, nothing_like_it: [] }] })).toBe(
      "steps[0].nothing_like_it is not a known parameter.",
    );
  });

  test("about a member's name states that", () => {
    const error = {
      instancePath: "/a",
      schemaPath: "#",
      keyword: "pattern",
      params: { pattern: "^x$" },
      propertyName: "y",
    };
    expect(describeFault([error], { a: { y: 1 } })).toEqual({
      param: "a.y",
      message: "The name a.y must match ^x$.",
      code: "invalid_request",
      isOfType: false,
    });
  });

  test("of a keyword without its own text is still a sentence", () => {
    const error = { instancePath: "/a", schemaPath: "#", keyword: "contains", params: {} };
    expect(describeFault([error], { a: [1, 2] }).message).toBe(
      "a must have one of the documented forms, got an array of 2 items.",
    );
    expect(describeFault([], {}).message).toBe("The body does not meet its schema.");
  });
});

describe("parse", () => {
  test("returns the same value, including unknown members", () => {
    const body = { ...HELLO, top_k: 5 };
    expect(parse("ChatCompletionRequest", body) as unknown).toBe(body);
  });

  test("throws the error as a 400", () => {
    const thrown = thrownBy(() => parse("ChatCompletionRequest", { ...HELLO, n: 0 }));
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({
      status: 400,
      code: "unsupported_value",
      param: "n",
      message: "n must be at least 1, got 0.",
    });
  });
});

test("every pattern in a request schema has a description", async () => {
  const files = (await readSchemaFiles()).filter((file) => /^(requests|chat)\//.test(file.path));
  const patterns = files.flatMap((file) => [...JSON.stringify(file.schema).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)]);
  expect(patterns.length).toBeGreaterThan(0);
  for (const [, pattern = '""'] of patterns) {
    const error = {
      instancePath: "",
      schemaPath: "#",
      keyword: "pattern",
      params: { pattern: JSON.parse(pattern) as unknown },
    };
    expect(describeFault([error], "x").message).not.toContain("match");
  }
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
