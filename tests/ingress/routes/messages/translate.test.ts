import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { chatRequestOf, readPartOf } from "#ingress/routes/messages/translate.ts";
import { convertTools } from "#workers/providers/anthropic/tools.ts";
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";

type Members = Record<string, unknown>;

const BODY = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
const PNG = "iVBORw0KGgo=";

/** The chat request of a body, which is itself one that chat would take. */
function translated(members: Members): ChatCompletionRequest {
  const { request } = chatRequestOf(parse("MessagesRequest", { ...BODY, ...members }));
  expect(validate("ChatCompletionRequest", JSON.parse(JSON.stringify(request)))).toBeNull();
  return request;
}

const userOf = (...content: object[]) => ({ messages: [{ role: "user", content }] });
const chatOf = (...content: object[]) => translated(userOf(...content)).messages;
const assistantOf = (...content: object[]) =>
  translated({ messages: [{ role: "assistant", content }, ...BODY.messages] }).messages[0];

function refusal(members: Members): [string, string | null] {
  try {
    chatRequestOf(parse("MessagesRequest", { ...BODY, ...members }));
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.param];
    throw error;
  }
  throw new Error("the body was taken");
}

const pdf = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
const hint = { type: "ephemeral", ttl: "1h" };

describe("content of a user turn", () => {
  test.each<[string, object, object[]]>([
    ["a text with a hint", { type: "text", text: "a", cache_control: hint }, [{ type: "text", text: "a", cache_control: hint }]], // prettier-ignore
    [
      "a picture",
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
    ],
    [
      "a picture by its address, with a hint",
      { type: "image", source: { type: "url", url: "https://a.example/b.png" }, cache_control: hint },
      [{ type: "image_url", image_url: { url: "https://a.example/b.png" }, cache_control: hint }],
    ],
    [
      "a stored picture, with a hint",
      { type: "image", source: { type: "file", file_id: "file-1" }, cache_control: hint },
      [{ type: "file", file: { file_id: "file-1" }, cache_control: hint }],
    ],
    [
      "a stored document with a note",
      { type: "document", source: { type: "file", file_id: "file-1" }, title: "Report", context: "of May" },
      [
        { type: "text", text: "of May" },
        { type: "file", file: { file_id: "file-1" } },
      ],
    ],
    [
      "a PDF with a title and a note",
      { type: "document", source: pdf, title: "Report", context: "of May" },
      [
        { type: "text", text: "of May" },
        { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "Report" } },
      ],
    ],
    [
      "a PDF by its address",
      { type: "document", source: { type: "url", url: "https://a.example/b.pdf" }, cache_control: hint },
      [
        {
          type: "file",
          file: { file_url: "https://a.example/b.pdf", filename: "document.pdf" },
          cache_control: hint,
        },
      ],
    ],
    [
      "a document of text",
      {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "body" },
        title: "T",
        context: "C",
        cache_control: hint,
      },
      [{ type: "text", text: "T\n\nC\n\nbody", cache_control: hint }],
    ],
    [
      "a document of blocks",
      {
        type: "document",
        title: "T",
        cache_control: hint,
        source: {
          type: "content",
          content: [
            { type: "text", text: "a" },
            { type: "image", source: { type: "url", url: "https://a.example/b.png" } },
          ],
        },
      },
      [
        { type: "text", text: "T" },
        { type: "text", text: "a" },
        { type: "image_url", image_url: { url: "https://a.example/b.png" }, cache_control: hint },
      ],
    ],
    [
      "a search result",
      { type: "search_result", title: "T", source: "https://a.example", content: [{ type: "text", text: "found" }] },
      [{ type: "text", text: "T\n\nhttps://a.example\n\nfound" }],
    ],
  ])("%s becomes parts", (_name, block, parts) => {
    expect(chatOf({ type: "text", text: "first" }, block)).toEqual([
      { role: "user", content: [{ type: "text", text: "first" }, ...parts] as never },
    ]);
  });

  test("one text alone becomes a string, which every server accepts", () => {
    expect(chatOf({ type: "text", text: "a" })).toEqual([{ role: "user", content: "a" }]);
  });

  test("results of tools become separate messages, before everything else of the turn", () => {
    const messages = chatOf(
      { type: "text", text: "so?" },
      { type: "tool_result", tool_use_id: "a", content: "18 degrees" },
      { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "x" }, { type: "text", text: "y" }] }, // prettier-ignore
      { type: "tool_result", tool_use_id: "c" },
      { type: "tool_result", tool_use_id: "d", content: [], cache_control: hint },
    );
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "18 degrees" },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "x" }, { type: "text", text: "y" }] }, // prettier-ignore
      { role: "tool", tool_call_id: "c", content: "" },
      { role: "tool", tool_call_id: "d", content: [{ type: "text", text: "", cache_control: hint } as never] },
      { role: "user", content: "so?" },
    ]);
  });

  test.each<[string, unknown, unknown]>([
    ["without words", undefined, "The tool call failed."],
    [
      "with words",
      "no such city",
      [
        { type: "text", text: "The tool call failed:" },
        { type: "text", text: "no such city" },
      ],
    ],
  ])("a tool's failure %s becomes text", (_name, content, told) => {
    const [message] = chatOf({ type: "tool_result", tool_use_id: "a", is_error: true, content });
    expect(message?.content).toEqual(told as never);
  });

  test("a tool found by a search is not text of the result", () => {
    const reference = { type: "tool_reference", tool_name: "f" };
    const said = { type: "text", text: "found" };
    expect(chatOf({ type: "tool_result", tool_use_id: "a", content: [reference, said] })).toEqual([
      { role: "tool", tool_call_id: "a", content: "found", tool_references: ["f"] },
    ]);
    expect(chatOf({ type: "tool_result", tool_use_id: "a", content: [reference] })[0]?.content).toBe("");
  });

  test("an image in a tool's result follows the results, with the name of its call", () => {
    const picture = { type: "image", source: { type: "url", url: "https://a.example/b.png" } };
    const messages = chatOf(
      { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "drawn" }, picture] },
      { type: "text", text: "and?" },
    );
    expect(messages.map(({ role }) => role)).toEqual(["tool", "user"]);
    expect(messages[1]?.content).toEqual([
      { type: "text", text: "Returned by the tool call a:" },
      { type: "image_url", image_url: { url: "https://a.example/b.png" } },
      { type: "text", text: "and?" },
    ]);
  });
});

describe("content of an assistant turn", () => {
  const thought = (signature: string) => ({ type: "thinking", thinking: "a", signature });
  const said = { type: "text", text: "I look." };
  const use = { type: "tool_use", id: "x", name: "f", input: {} };

  test("texts, calls and thinking become one message; signed and redacted parts are returned completely", () => {
    const message = assistantOf(
      { type: "thinking", thinking: "a", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "thinking", thinking: "b", signature: "" },
      { type: "text", text: "I will look." },
      { type: "tool_use", id: "x", name: "f", input: JSON.parse('{"b":1,"a":{"__proto__":2}}') as object },
      { type: "tool_use", id: "y", name: "g", input: {} },
    );
    expect(message).toEqual({
      role: "assistant",
      content: "I will look.",
      reasoning_content: "a\n\nb",
      thinking_blocks: [
        { type: "thinking", thinking: "a", signature: "s" },
        { type: "redacted_thinking", data: "d" },
      ],
      tool_calls: [
        { id: "x", type: "function", function: { name: "f", arguments: '{"b":1,"a":{"__proto__":2}}' } },
        { id: "y", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    });
  });

  test.each<[string, object[], string[] | undefined]>([
    ["as a chat message is read", [thought("s"), said, use], undefined],
    ["with calls or text twice", [thought("s"), thought("t"), said, said, use, use], undefined],
    ["with thinking between", [thought("s"), said, thought("t"), use], ["thinking", "text", "thinking", "tool_use"]],
    ["with text behind a call", [said, use, said, use], ["text", "tool_use", "text", "tool_use"]],
    [
      "with hidden thinking behind",
      [said, { type: "redacted_thinking", data: "d" }, use],
      ["text", "thinking", "tool_use"],
    ],
    ["with blocks that no source takes back", [said, { type: "text", text: " \n" }, thought(""), use], undefined],
    [
      "with such blocks in another order",
      [use, { type: "text", text: " " }, thought(""), said, thought("s")],
      ["tool_use", "text", "thinking"],
    ],
  ])("the order of its blocks is kept if it matters: %s", (_name, blocks, order) => {
    expect(assistantOf(...blocks)).toHaveProperty("role", "assistant");
    expect((assistantOf(...blocks) as Members | undefined)?.["block_order"]).toEqual(order);
  });

  test("calls alone leave its content null, thinking alone leaves it empty", () => {
    expect(assistantOf({ type: "tool_use", id: "x", name: "f", input: {} })?.content).toBeNull();
    expect(assistantOf({ type: "thinking", thinking: "a" })?.content).toBe("");
  });

  test("empty content, as after a refusal, becomes no message", () => {
    expect(assistantOf()).toEqual({ role: "user", content: "hi" });
    expect(refusal({ messages: [{ role: "assistant", content: [] }] })).toEqual(["invalid_request", "messages"]);
  });
});

describe("instructions", () => {
  test.each<[string, unknown, unknown[]]>([
    ["a text", "Be brief.", [{ role: "system", content: "Be brief." }]],
    ["one block", [{ type: "text", text: "a" }], [{ role: "system", content: "a" }]],
    [
      "blocks with hints",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b", cache_control: { type: "ephemeral" } },
      ],
      [
        {
          role: "system",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b", cache_control: { type: "ephemeral" } },
          ],
        },
      ],
    ],
    ["nothing", "", []],
    ["no blocks", [], []],
    ["null", null, []],
  ])("of %s come first", (_name, system, messages) => {
    expect(translated({ system }).messages).toEqual([...messages, { role: "user", content: "hi" }] as never);
  });

  test("in the middle of a conversation keep their position", () => {
    const messages = [...BODY.messages, { role: "system", content: "Now in French." }, { role: "user", content: "go" }];
    expect(translated({ messages }).messages as unknown).toEqual(messages);
  });
});

describe("settings", () => {
  test.each<[string, Members, Members]>([
    ["nothing more than needed", {}, {}],
    ["stream", { stream: true }, { stream: true }],
    ["no stream", { stream: false }, {}],
    ["stop texts", { stop_sequences: ["a", "b"] }, { stop: ["a", "b"] }],
    ["no stop texts", { stop_sequences: [] }, {}],
    ["sampling", { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ["top_k, which has no counterpart", { top_k: 5 }, {}],
    [
      "nulls",
      { stream: null, stop_sequences: null, temperature: null, tools: null, thinking: null, metadata: null },
      {},
    ],
    ["what nobody knows", { context_management: { edits: [] }, future: 1 }, {}],
    ["any service tier", { service_tier: "auto" }, { service_tier: "auto" }],
    ["the standard tier", { service_tier: "standard_only" }, { service_tier: "default" }],
    ["no service tier", { service_tier: null }, {}],
    ["an end user", { metadata: { user_id: "u-1" } }, { user: "u-1" }],
    ["no end user", { metadata: { user_id: null } }, {}],
    [
      "thinking off",
      { thinking: { type: "disabled" }, output_config: { effort: "high" } },
      { reasoning_effort: "none" },
    ],
    ["thinking as the model likes", { thinking: { type: "adaptive" } }, { reasoning_effort: "high" }],
    [
      "thinking as the model likes, with effort",
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
      { reasoning_effort: "low" },
    ],
    ["a small budget", { thinking: { type: "enabled", budget_tokens: 4_095 } }, { reasoning_effort: "low" }],
    ["a middling budget", { thinking: { type: "enabled", budget_tokens: 4_096 } }, { reasoning_effort: "medium" }],
    ["nearly a large budget", { thinking: { type: "enabled", budget_tokens: 16_383 } }, { reasoning_effort: "medium" }],
    ["a large budget", { thinking: { type: "enabled", budget_tokens: 16_384 } }, { reasoning_effort: "high" }],
    [
      "effort, which asks for no thinking",
      { output_config: { effort: "xhigh" } },
      { reasoning_effort: "xhigh", effort_only: true },
    ],
    [
      "effort, which outweighs a budget",
      { thinking: { type: "enabled", budget_tokens: 1_024 }, output_config: { effort: "max" } },
      { reasoning_effort: "max" },
    ],
    [
      "a schema for the answer",
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", schema: { type: "object" }, strict: true },
        },
      },
    ],
  ])("%s", (_name, given, expected) => {
    expect(translated(given)).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
      max_completion_tokens: 100,
      ...expected,
    });
  });

  test("an end user's name too long for OpenAI becomes its hash", () => {
    const { user } = translated({ metadata: { user_id: "u".repeat(65) } });
    expect(user).toMatch(/^[0-9a-f]{64}$/);
    expect(translated({ metadata: { user_id: "v".repeat(65) } }).user).not.toBe(user ?? "");
  });

  test("a cache hint on the whole request becomes one on its last block", () => {
    const last = (members: Members) => translated({ cache_control: hint, ...members }).messages.at(-1)?.content;
    const marked = { type: "text", text: "hi", cache_control: hint };
    expect(last({})).toEqual([marked] as never);
    expect(last(userOf({ type: "text", text: "a" }, { type: "text", text: "hi" }))).toEqual([{ type: "text", text: "a" }, marked] as never); // prettier-ignore
    const own = { type: "text", text: "hi", cache_control: { type: "ephemeral" } };
    expect(last(userOf(own))).toEqual([own] as never);
    expect(last({ messages: [{ role: "user", content: "" }] })).toBe("");
  });
});

const tool = { name: "f", input_schema: { type: "object" } };

describe("tools", () => {
  test("become functions, with hints and strictness", () => {
    const full = { ...tool, type: "custom", description: "does", strict: true, cache_control: hint };
    expect(translated({ tools: [tool, full] }).tools).toEqual([
      { type: "function", function: { name: "f", parameters: { type: "object" } } },
      {
        type: "function",
        function: { name: "f", description: "does", parameters: { type: "object" }, strict: true },
        cache_control: hint,
      },
    ]);
  });

  test.each<[Members, Members]>([
    [{ type: "auto" }, { tool_choice: "auto" }],
    [{ type: "any" }, { tool_choice: "required" }],
    [{ type: "none" }, { tool_choice: "none" }],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }],
    [
      { type: "auto", disable_parallel_tool_use: true },
      { tool_choice: "auto", parallel_tool_calls: false },
    ],
    [{ type: "any", disable_parallel_tool_use: false }, { tool_choice: "required" }],
  ])("are chosen by %j", (choice, expected) => {
    const { tool_choice, parallel_tool_calls } = translated({ tools: [tool], tool_choice: choice });
    expect({ tool_choice, ...(parallel_tool_calls === undefined ? {} : { parallel_tool_calls }) }).toEqual(expected as never); // prettier-ignore
  });

  test("that run at the client become functions, described to a Claude model by their type", () => {
    const tools = [
      { type: "bash_20250124", name: "bash", cache_control: hint },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 100 },
      { type: "memory_20250818", name: "memory" },
    ];
    const functions = translated({ tools }).tools ?? [];
    const shown = {
      workspaceId: "w",
      traits: new Set<never>(),
      request: { model: "m", messages: [], tools: functions },
    };
    expect(convertTools(shown).members).toEqual({ tools });
    for (const one of functions) expect(one).toHaveProperty("function.parameters.type", "object");
  });

  test("that are empty need no choice", () => {
    for (const type of ["auto", "none"]) {
      const request = translated({ tools: [], tool_choice: { type, disable_parallel_tool_use: true } });
      expect(Object.keys(request).toSorted()).toEqual(["max_completion_tokens", "messages", "model"]);
    }
  });
});

describe("errors name the caller's own field", () => {
  const turn = (content: unknown, role = "user") => ({ messages: [{ role, content }] });
  const result = (content: unknown) => turn([{ type: "tool_result", tool_use_id: "a", content }]);
  test.each<[string, Members, string, string | null]>([
    ["no limit", { max_tokens: undefined }, "missing_required_parameter", "max_tokens"],
    ["a limit of nothing", { max_tokens: 0 }, "unsupported_value", "max_tokens"],
    ["a limit in words", { max_tokens: "many" }, "invalid_request", "max_tokens"],
    ["no messages", { messages: undefined }, "missing_required_parameter", "messages"],
    ["an empty conversation", { messages: [] }, "invalid_request", "messages"],
    ["an unknown role", turn("a", "tool"), "unsupported_value", "messages[0].role"],
    ["no content", turn(undefined), "missing_required_parameter", "messages[0].content"],
    ["content of another kind", turn({ type: "text" }), "invalid_request", "messages[0].content"],
    ["a turn of no blocks", turn([]), "invalid_request", "messages[0].content"],
    ["a block that is none", turn([null]), "invalid_request", "messages[0].content[0]"],
    ["a block without a type", turn([{}]), "missing_required_parameter", "messages[0].content[0].type"],
    ["a block of the other side", turn([{ type: "tool_use" }]), "unsupported_value", "messages[0].content[0].type"],
    [
      "a picture in an answer",
      turn([{ type: "image" }], "assistant"),
      "unsupported_value",
      "messages[0].content[0].type",
    ],
    [
      "a block of a server tool",
      turn([{ type: "server_tool_use" }], "assistant"),
      "unsupported_value",
      "messages[0].content[0].type",
    ],
    [
      "a picture from nowhere",
      turn([{ type: "image", source: { type: "cloud", id: "f" } }]),
      "unsupported_value",
      "messages[0].content[0].source.type",
    ],
    [
      "an address of another scheme",
      turn([{ type: "image", source: { type: "url", url: "file:///etc/passwd" } }]),
      "unsupported_value",
      "messages[0].content[0].source.url",
    ],
    [
      "a picture of another type",
      turn([{ type: "image", source: { type: "base64", media_type: "image/svg+xml", data: "a" } }]),
      "unsupported_value",
      "messages[0].content[0].source.media_type",
    ],
    [
      "a result inside a result",
      result([{ type: "tool_result" }]),
      "unsupported_value",
      "messages[0].content[0].content[0].type",
    ],
    [
      "a document inside a document",
      turn([{ type: "document", source: { type: "content", content: [{ type: "document" }] } }]),
      "unsupported_value",
      "messages[0].content[0].source.content[0].type",
    ],
    [
      "input that is no object",
      turn([{ type: "tool_use", id: "a", name: "f", input: "{}" }], "assistant"),
      "invalid_request",
      "messages[0].content[0].input",
    ],
    [
      "instructions with a picture",
      { system: [{ type: "text", text: "a" }, { type: "image" }] },
      "unsupported_value",
      "system[1].type",
    ],
    ["heat beyond this API's", { temperature: 1.5 }, "unsupported_value", "temperature"],
    [
      "a tool without a schema behind one that is left out",
      { tools: [{ type: "web_search_20250305", name: "web_search" }, { name: "f" }] },
      "missing_required_parameter",
      "tools[1].input_schema",
    ],
    [
      "an edit that compacts",
      { context_management: { edits: [{ type: "clear_thinking_20251015" }, { type: "compact_20260112" }] } },
      "unsupported_value",
      "context_management.edits[1].type",
    ],
    [
      "a memory without a name",
      { tools: [{ type: "memory_20250818" }] },
      "missing_required_parameter",
      "tools[0].name",
    ],
    ["a toolset without a name", { tools: [{ type: "browser_toolset_20260801" }] }, "unsupported_value", "tools[0].type"], // prettier-ignore
    ["a tool without a name", { tools: [{ input_schema: {} }] }, "missing_required_parameter", "tools[0].name"],
    ["a tool without a schema", { tools: [{ name: "f" }] }, "missing_required_parameter", "tools[0].input_schema"],
    ["a tool of an odd name", { tools: [{ ...tool, name: "a b" }] }, "unsupported_value", "tools[0].name"],
    ["a choice without tools", { tool_choice: { type: "any" } }, "unsupported_value", "tool_choice"],
    ["a choice of nothing", { tools: [tool], tool_choice: { type: "tool" } }, "missing_required_parameter", "tool_choice.name"], // prettier-ignore
    [
      "a choice of no tool",
      { tools: [tool], tool_choice: { type: "tool", name: "g" } },
      "unsupported_value",
      "tool_choice.name",
    ],
    ["an unknown choice", { tools: [tool], tool_choice: { type: "most" } }, "unsupported_value", "tool_choice.type"],
    ["thinking without a budget", { thinking: { type: "enabled" } }, "missing_required_parameter", "thinking.budget_tokens"], // prettier-ignore
    ["thinking of another kind", { thinking: { type: "loud" } }, "unsupported_value", "thinking.type"],
    ["another shape of answer", { output_config: { format: { type: "xml", schema: {} } } }, "unsupported_value", "output_config.format.type"], // prettier-ignore
    ["a hint of another kind", { cache_control: { type: "forever" } }, "unsupported_value", "cache_control.type"],
    ["dearer speed", { speed: "fast" }, "unsupported_value", "speed"],
    ["a container", { container: "c" }, "invalid_request", "container"],
    ["servers to call", { mcp_servers: [{ type: "url" }] }, "invalid_request", "mcp_servers"],
  ])("%s", (_name, members, code, param) => {
    expect(refusal(members)).toEqual([code, param]);
  });

  test("also if chat or a provider names its own", () => {
    const body = {
      ...BODY,
      system: "s",
      output_config: { effort: "high", format: { type: "json_schema", schema: {} } },
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [{ type: "tool_use", id: "x", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            { type: "text", text: "b" },
            {
              type: "tool_result",
              tool_use_id: "x",
              content: [{ type: "image", source: { type: "url", url: "https://a.example/" } }],
            },
            { type: "image", source: { type: "url", url: "https://b.example/" } },
          ],
        },
      ],
    };
    const { paramOf } = chatRequestOf(parse("MessagesRequest", body));
    const names: Readonly<Record<string, string>> = {
      max_completion_tokens: "max_tokens",
      "stop[0]": "stop_sequences[0]",
      "response_format.json_schema.schema": "output_config.format",
      reasoning_effort: "output_config.effort",
      parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
      user: "metadata.user_id",
      model: "model",
      "tools[1]": "tools[1]",
      "x-cache": "x-cache",
      "messages[0]": "system",
      "messages[1].content": "messages[0]",
      "messages[3]": "messages[2].content[1]",
      "messages[4].content[1].image_url.url": "messages[2].content[1].content[0].source",
      "messages[4].content[3]": "messages[2].content[2]",
      "messages[9]": "messages[9]",
      messages: "messages",
    };
    expect(Object.fromEntries(Object.keys(names).map((name) => [name, paramOf(name)]))).toEqual(names);
  });
});

test("counting reads the model's input, and needs no limit", () => {
  const { request } = readPartOf(parse("CountTokensRequest", { model: "m", messages: BODY.messages, system: "s", tools: [tool] })); // prettier-ignore
  expect(Object.keys(request).toSorted()).toEqual(["messages", "tools"]);
  expect(request.messages).toHaveLength(2);
});

test("every body is rejected with an ApiError or becomes a request that chat accepts", () => {
  const text = fc.string({ maxLength: 6 });
  const source = fc.oneof(
    fc.record({ type: fc.constant("base64"), media_type: fc.constant("image/png"), data: text }),
    fc.record({ type: fc.constant("url"), url: fc.constantFrom("https://a.example/x", "ftp://x", "") }),
    fc.record({ type: fc.constant("text"), media_type: fc.constant("text/plain"), data: text }),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const wild = fc.jsonValue({ maxDepth: 1 });
  const said = fc.record({ type: fc.constant("text"), text });
  const shown = fc.record({ type: fc.constantFrom("image", "document"), source, title: fc.option(text) });
  const result = fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: text,
    content: fc.oneof(text, fc.array(fc.oneof(said, shown), { maxLength: 3 }), fc.constant(null)),
    is_error: fc.option(fc.boolean()),
  });
  const answered = fc.oneof(
    said,
    fc.record({ type: fc.constant("thinking"), thinking: text, signature: fc.option(text) }),
    fc.record({ type: fc.constant("redacted_thinking"), data: text }),
    fc.record({ type: fc.constant("tool_use"), id: text, name: text, input: fc.dictionary(text, wild) }),
  );
  const blocks = (...kinds: fc.Arbitrary<unknown>[]) => fc.oneof(text, fc.array(fc.oneof(...kinds), { maxLength: 3 }));
  const turn = fc.oneof(
    fc.record({ role: fc.constant("user"), content: blocks(said, shown, result) }),
    fc.record({ role: fc.constant("assistant"), content: blocks(answered) }),
    fc.record({ role: fc.constantFrom("system", "tool"), content: blocks(said) }),
    fc.record({ role: fc.constantFrom("user", "assistant"), content: blocks(said, result, answered, wild) }),
  );
  const body = fc.record(
    {
      model: fc.constant("m"),
      max_tokens: fc.constant(10),
      messages: fc.array(turn, { maxLength: 4 }),
      system: blocks(said),
      tools: fc.array(fc.oneof({ weight: 5, arbitrary: fc.constant(tool) }, wild), { maxLength: 2 }),
      tool_choice: fc.record({ type: fc.constantFrom("auto", "any", "tool", "none") }),
      cache_control: fc.constantFrom(null, { type: "ephemeral" }),
    },
    { requiredKeys: ["model", "max_tokens", "messages"] },
  );
  let taken = 0;
  fc.assert(
    fc.property(body, (value) => {
      const given = JSON.stringify(value);
      try {
        const { request } = chatRequestOf(parse("MessagesRequest", value));
        taken += 1;
        expect(validate("ChatCompletionRequest", JSON.parse(JSON.stringify(request)))).toBeNull();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
      expect(JSON.stringify(value)).toBe(given);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(200);
});
