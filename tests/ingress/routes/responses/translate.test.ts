import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { UNREADABLE_SUMMARY } from "#ingress/routes/responses/foreign-items.ts";
import { inputPlace, readingItems } from "#ingress/routes/responses/items.ts";
import { type Translated, translatingRequest } from "#ingress/routes/responses/translate.ts";
import { runWhole } from "#shared/base/time-slices.ts";
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { sealSummary, sealThought } from "#shared/responses/sealed.ts";

type Members = Record<string, unknown>;

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const PDF = "data:application/pdf;base64,JVBERi0=";

/** The same of a body whose items stand for themselves. */
function translate(members: Members): Translated {
  const body = parse("ResponsesRequest", { model: "m", input: "hi", ...members });
  const items = runWhole(readingItems(body.input)).map((item, at) => ({ item, from: inputPlace(at) }));
  return runWhole(translatingRequest(body, items));
}

/** The chat request of a body, which is itself one that chat would take. */
function translated(members: Members): ChatCompletionRequest {
  const { request } = translate(members);
  expect(validate("ChatCompletionRequest", JSON.parse(JSON.stringify(request)))).toBeNull();
  return request;
}

const chatOf = (...input: object[]) => translated({ input }).messages as unknown[];

function refusal(members: Members): [string, string | null] {
  try {
    translate(members);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.param];
    throw error;
  }
  throw new Error("the body was taken");
}

const user = { role: "user", content: "hi" };
const call = (id: string, name = "f") => ({ type: "function_call", call_id: id, name, arguments: "{}" });
const chatCall = (id: string, name = "f") => ({ id, type: "function", function: { name, arguments: "{}" } });
const output = (id: string, value: unknown = "18") => ({ type: "function_call_output", call_id: id, output: value });
const signed = { type: "thinking", thinking: "Hm", signature: "s" };

const run = (id: string, round: number, more: object = {}) => ({
  type: "sluice_call",
  call_id: id,
  name: "f",
  arguments: "{}",
  output: `made by ${id}`,
  round,
  ...more,
});
const said = (id: string) => ({ role: "tool", tool_call_id: id, content: `made by ${id}` });

describe("runs of the service's tools", () => {
  test.each<[string, object[], unknown[]]>([
    [
      "of one round are calls of one turn, with their results behind all of them",
      [user, run("a", 1), run("b", 1)],
      [user, { role: "assistant", tool_calls: [chatCall("a"), chatCall("b")] }, said("a"), said("b")],
    ],
    [
      "of two rounds are two turns",
      [run("a", 1), run("b", 2)],
      [
        { role: "assistant", tool_calls: [chatCall("a")] },
        said("a"),
        { role: "assistant", tool_calls: [chatCall("b")] },
        said("b"),
      ],
    ],
    [
      "stand with calls of the caller in one turn, and their results before those of the caller",
      [call("c"), run("a", 1), output("c")],
      [
        { role: "assistant", tool_calls: [chatCall("c"), chatCall("a")] },
        said("a"),
        { role: "tool", tool_call_id: "c", content: "18" },
      ],
    ],
    [
      "keep what their source wants back",
      [run("a", 1, { extra_content: { google: { thought_signature: "s" } } })],
      [
        {
          role: "assistant",
          tool_calls: [{ ...chatCall("a"), extra_content: { google: { thought_signature: "s" } } }],
        },
        said("a"),
      ],
    ],
  ])("%s", (_what, input, expected) => {
    const messages = chatOf(...input) as { readonly content?: unknown }[];
    expect(messages.map(({ content, ...rest }) => (content === null ? rest : { content, ...rest }))).toEqual(
      expected as never,
    );
  });

  test("without their output are ignored", () => {
    expect(refusal({ input: [run("a", 1, { output: undefined })] })).toEqual([
      "missing_required_parameter",
      "input[0].output",
    ]);
  });
});

describe("input", () => {
  test("that is a text is the user's message, after the instructions", () => {
    expect(translated({ instructions: "Be brief." }).messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
    ]);
  });

  test.each<[string, object[], unknown[]]>([
    ["a message without a type", [user], [user]],
    ["a message with one", [{ type: "message", ...user, id: "msg_1", status: "completed" }], [user]],
    [
      "instructions in parts",
      [{ role: "developer", content: [{ type: "input_text", text: "a" }, { type: "input_text", text: "b" }] }, { role: "system", content: "c" }], // prettier-ignore
      [
        {
          role: "developer",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
        { role: "system", content: "c" },
      ],
    ],
    [
      "a picture, by its bytes and stored",
      [{ role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_image", image_url: PNG, detail: "low" }, { type: "input_image", file_id: "file-1" }] }], // prettier-ignore
      [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: PNG, detail: "low" } },
            { type: "file", file: { file_id: "file-1" } },
          ],
        },
      ],
    ],
    [
      "a picture in its original size",
      [{ role: "user", content: [{ type: "input_image", image_url: PNG, detail: "original" }] }],
      [{ role: "user", content: [{ type: "image_url", image_url: { url: PNG, detail: "original" } }] }],
    ],
    [
      "documents: stored, sent along, by their address",
      [{ role: "user", content: [{ type: "input_file", file_id: "file-1" }, { type: "input_file", file_data: PDF, filename: "a.pdf" }, { type: "input_file", file_url: "https://a.example/b.pdf" }] }], // prettier-ignore
      [
        {
          role: "user",
          content: [
            { type: "file", file: { file_id: "file-1" } },
            { type: "file", file: { file_data: PDF, filename: "a.pdf" } },
            { type: "file", file: { file_url: "https://a.example/b.pdf" } },
          ],
        },
      ],
    ],
    [
      "a turn of the model as one message",
      [
        user,
        { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm" }], encrypted_content: sealThought(signed) }, // prettier-ignore
        { type: "message", role: "assistant", phase: "commentary", content: [{ type: "output_text", text: "I look.", annotations: [] }] }, // prettier-ignore
        call("a"),
        { ...call("b"), extra_content: { google: { thought_signature: "x" } } },
        output("a"),
        output("b"),
      ],
      [
        user,
        {
          role: "assistant",
          content: "I look.",
          reasoning_content: "Hm",
          thinking_blocks: [signed],
          tool_calls: [chatCall("a"), { ...chatCall("b"), extra_content: { google: { thought_signature: "x" } } }],
        },
        { role: "tool", tool_call_id: "a", content: "18" },
        { role: "tool", tool_call_id: "b", content: "18" },
      ],
    ],
    [
      "a turn whose order is not the usual one, with that",
      [call("a"), { role: "assistant", content: "And:" }, call("b")],
      [
        {
          role: "assistant",
          content: "And:",
          tool_calls: [chatCall("a"), chatCall("b")],
          block_order: ["tool_use", "text", "tool_use"],
        },
      ],
    ],
    [
      "two messages of the model apart",
      [
        { role: "assistant", content: "a" },
        { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      ],
      [
        { role: "assistant", content: "a" },
        { role: "assistant", content: "No." },
      ],
    ],
    [
      "reasoning of another service as its words",
      [{ type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "gAAAA" }, { role: "assistant", content: "a" }], // prettier-ignore
      [{ role: "assistant", content: "a", reasoning_content: "Hm" }],
    ],
    [
      "a custom tool's call and result",
      [
        { type: "custom_tool_call", call_id: "a", name: "patch", input: 'a "b"' },
        { type: "custom_tool_call_output", call_id: "a", output: "done" },
      ],
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "a", type: "function", function: { name: "patch", arguments: JSON.stringify({ input: 'a "b"' }) } },
          ],
        },
        { role: "tool", tool_call_id: "a", content: "done" },
      ],
    ],
    [
      "a compaction as its summary",
      [{ type: "compaction", id: "cmp_1", encrypted_content: sealSummary("They met.") }, user],
      [{ role: "user", content: "The conversation so far, in summary:\n\nThey met." }, user],
    ],
    [
      "a compaction of another service as a note",
      [{ type: "compaction", encrypted_content: "gAAAA" }, user],
      [{ role: "user", content: UNREADABLE_SUMMARY }, user],
    ],
    [
      "results in parts: their texts, then what else they hold",
      [
        call("a"),
        call("b"),
        output("a", [
          { type: "input_text", text: "x" },
          { type: "input_image", image_url: PNG },
        ]),
        output("b"),
        user,
      ],
      [
        { role: "assistant", content: null, tool_calls: [chatCall("a"), chatCall("b")] },
        {
          role: "tool",
          tool_call_id: "a",
          content: [
            { type: "text", text: "x" },
            { type: "text", text: "What else it returned follows the results." },
          ],
        },
        { role: "tool", tool_call_id: "b", content: "18" },
        {
          role: "user",
          content: [
            { type: "text", text: "Returned by the tool call a:" },
            { type: "image_url", image_url: { url: PNG } },
          ],
        },
        user,
      ],
    ],
  ])("contains %s", (_name, input, expected) => {
    expect(chatOf(...input)).toEqual(expected);
  });
});

const schema = { type: "object" };

describe("settings", () => {
  test.each<[string, Members, Members]>([
    ["nulls", { stream: null, tools: null, tool_choice: null, text: null, reasoning: null, metadata: null, include: null, store: null, background: null }, {}], // prettier-ignore
    [
      "what only the answer repeats",
      { metadata: { a: "b" }, truncation: "auto", max_tool_calls: 3, store: true, stream_options: {} },
      {},
    ],
    [
      "numbers",
      { max_output_tokens: 9, temperature: 0, top_p: 0.5, presence_penalty: 1, frequency_penalty: -1 },
      { max_completion_tokens: 9, temperature: 0, top_p: 0.5, presence_penalty: 1, frequency_penalty: -1 },
    ],
    [
      "who asks",
      { user: "u", safety_identifier: "s", prompt_cache_key: "k", service_tier: "flex" },
      { user: "u", safety_identifier: "s", prompt_cache_key: "k", service_tier: "flex" },
    ],
    ["log probabilities", { include: ["message.output_text.logprobs"] }, { logprobs: true }],
    ["log probabilities with alternatives", { top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    ["what has no effect here", { include: ["reasoning.encrypted_content"] }, {}],
    ["effort", { reasoning: { effort: "low", summary: "auto" } }, { reasoning_effort: "low" }],
    ["length", { text: { verbosity: "low" } }, { verbosity: "low" }],
    ["any text", { text: { format: { type: "text" } } }, { response_format: { type: "text" } }],
    ["JSON", { text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }],
    [
      "a schema",
      { text: { format: { type: "json_schema", name: "n", schema, strict: true, description: null } } },
      { response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } } },
    ],
  ])("%s", (_name, given, expected) => {
    expect(translated(given) as object).toEqual({ model: "m", messages: [user], ...expected });
  });

  const tools = [
    { type: "function", name: "f", description: "does", parameters: schema, strict: true },
    { type: "function", name: "g", description: null, parameters: null, strict: null },
    { type: "custom", name: "patch", description: "Patches.", format: { type: "grammar", syntax: "lark", definition: "start: A" } }, // prettier-ignore
  ];

  test("tools are functions, including free-text tools", () => {
    const request = translated({ tools, parallel_tool_calls: false });
    expect(request.parallel_tool_calls).toBe(false);
    expect(request.tools).toEqual([
      { type: "function", function: { name: "f", description: "does", parameters: schema, strict: true } },
      { type: "function", function: { name: "g" } },
      {
        type: "function",
        function: {
          name: "patch",
          description: "Patches.\n\nThe input is a text of this lark grammar:\nstart: A",
          parameters: {
            type: "object",
            properties: { input: { type: "string", description: expect.any(String) as string } },
            required: ["input"],
            additionalProperties: false,
          },
        },
      },
    ]);
  });

  test.each<[unknown, unknown]>([
    ["required", "required"],
    [
      { type: "function", name: "f" },
      { type: "function", function: { name: "f" } },
    ],
    [
      { type: "custom", name: "patch" },
      { type: "function", function: { name: "patch" } },
    ],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }, { type: "custom", name: "patch" }] }, // prettier-ignore
      {
        type: "allowed_tools",
        allowed_tools: {
          mode: "auto",
          tools: [
            { type: "function", function: { name: "f" } },
            { type: "function", function: { name: "patch" } },
          ],
        },
      },
    ],
  ])("tools are chosen by %j", (choice, expected) => {
    expect(translated({ tools, tool_choice: choice }).tool_choice).toEqual(expected as never);
  });
});

describe("errors name the caller's own field", () => {
  const content = (...parts: unknown[]) => ({ input: [user, { role: "user", content: parts }] });
  test.each<[string, Members, string, string | null]>([
    ["no input", { input: undefined }, "missing_required_parameter", "input"],
    ["no items", { input: [] }, "invalid_request", "input"],
    ["an item whose type is no text", { input: [user, { type: 5 }] }, "invalid_request", "input[1].type"],
    ["an unknown role", { input: [{ role: "tool", content: "a" }] }, "unsupported_value", "input[0].role"],
    ["no content", { input: [{ role: "user" }] }, "missing_required_parameter", "input[0].content"],
    ["no parts", content(), "invalid_request", "input[1].content"],
    ["a video", content({ type: "input_video", video_url: "a" }), "unsupported_value", "input[1].content[0].type"],
    ["no picture", content({ type: "input_image" }), "missing_required_parameter", "input[1].content[0]"],
    ["two pictures in one", content({ type: "input_image", image_url: PNG, file_id: "a" }), "unsupported_value", "input[1].content[0]"], // prettier-ignore
    ["no file", content({ type: "input_file" }), "missing_required_parameter", "input[1].content[0]"],
    ["a picture of the model's", { input: [{ role: "assistant", content: [{ type: "input_image", image_url: PNG }] }] }, "unsupported_value", "input[0].content[0].type"], // prettier-ignore
    ["a picture in instructions", { input: [{ role: "system", content: [{ type: "input_image", image_url: PNG }] }] }, "unsupported_value", "input[0].content[0].type"], // prettier-ignore
    ["a result of no call", { input: [user, output("a")] }, "invalid_request", "input[1].call_id"],
    ["a tool that runs elsewhere", { tools: [{ type: "file_search" }] }, "unsupported_value", "tools[0].type"],
    ["a choice of such", { tool_choice: { type: "file_search" } }, "unsupported_value", "tool_choice.type"],
    ["a stored prompt", { prompt: { id: "p" } }, "invalid_request", "prompt"],
    ["too many labels", { metadata: Object.fromEntries(Array.from({ length: 17 }, (_one, at) => [`k${at}`, "v"])) }, "invalid_request", "metadata"], // prettier-ignore
  ])("%s", (_name, members, code, param) => {
    expect(refusal(members)).toEqual([code, param]);
  });

  test("if the error is found only in the chat request", () => {
    const items = [user, { role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_image", image_url: PNG }] }]; // prettier-ignore
    const tools = ["f", "g"].map((name) => ({ type: "function", name }));
    const { paramOf } = translate({ input: items, instructions: "Be brief.", tools });
    const names = {
      "messages[0]": "instructions",
      "messages[2].content[1].image_url.url": "input[1].content[1].image_url",
      "messages[2].content[1]": "input[1].content[1]",
      messages: "input",
      max_completion_tokens: "max_output_tokens",
      "response_format.json_schema.schema": "text.format",
      "tools[1].function.parameters": "tools[1].parameters",
      "tool_choice.allowed_tools.tools[0]": "tool_choice.tools[0]",
      reasoning_effort: "reasoning.effort",
      temperature: "temperature",
    };
    for (const [chat, own] of Object.entries(names)) expect(paramOf(chat)).toBe(own);
  });
});

test("every body is rejected with an ApiError or becomes a request that chat accepts", () => {
  const text = fc.string({ maxLength: 5 });
  const part = fc.record({ type: fc.constantFrom("input_text", "output_text", "refusal", "input_image", "input_file"), text, refusal: text, image_url: fc.constantFrom(PNG, null), file_data: fc.constantFrom(PDF, null) }, { requiredKeys: ["type"] }); // prettier-ignore
  const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
  const item = fc.oneof(
    fc.record({ role: fc.constantFrom("user", "assistant", "system", "developer"), content }),
    fc.record({ type: fc.constantFrom("function_call", "custom_tool_call"), call_id: fc.constantFrom("a", "b"), name: text, arguments: text, input: text }), // prettier-ignore
    fc.record({ type: fc.constantFrom("function_call_output", "custom_tool_call_output"), call_id: fc.constantFrom("a", "b"), output: content }), // prettier-ignore
    fc.record({ type: fc.constant("reasoning"), summary: fc.constant([]), encrypted_content: fc.oneof(text, fc.constant(sealThought(signed))) }), // prettier-ignore
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), (input) => {
      try {
        translated({ input });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
    }),
  );
});

test("reading and translating pause between items, so that other requests proceed", () => {
  const input = Array.from({ length: 50 }, (_, at) => ({ role: "user", content: String(at) }));
  const stopsOf = <T>(work: Iterator<void, T>): readonly [stops: number, value: T] => {
    for (let stops = 0; ; stops += 1) {
      const { done, value } = work.next();
      if (done === true) return [stops, value];
    }
  };
  const [readStops, items] = stopsOf(readingItems(input));
  const placed = items.map((item, at) => ({ item, from: inputPlace(at) }));
  const [stops] = stopsOf(translatingRequest(parse("ResponsesRequest", { model: "m", input }), placed));
  expect([readStops, stops]).toEqual([50, 50]);
});
