import { describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";

import { GOOD_BODIES } from "./chat-bodies.ts";

const MISSING = "missing_required_parameter";
const VALUE = "unsupported_value";
const INVALID = "invalid_request";

function messages(...list: unknown[]): object {
  return { model: "m", messages: list };
}

function user(...content: unknown[]): object {
  return messages({ role: "user", content });
}

function withField(name: string, value: unknown): object {
  return { model: "m", messages: [{ role: "user", content: "hi" }], [name]: value };
}

/** Refused body, param, code. */
const BAD_BODIES: readonly (readonly [unknown, string | null, string])[] = [
  [null, null, INVALID],
  [[], null, INVALID],
  ["hello", null, INVALID],
  [{}, "model", MISSING],
  [{ model: "m" }, "messages", MISSING],
  [{ messages: [{ role: "user", content: "hi" }] }, "model", MISSING],
  [withField("model", ""), "model", INVALID],
  [withField("model", "m".repeat(201)), "model", INVALID],
  [withField("model", null), "model", INVALID],
  [withField("messages", []), "messages", INVALID],
  [withField("messages", "hi"), "messages", INVALID],
  [withField("messages", null), "messages", INVALID],
  [messages("hi"), "messages[0]", INVALID],
  [messages(null), "messages[0]", INVALID],
  [messages({ content: "hi" }), "messages[0].role", MISSING],
  [messages({ role: 1, content: "hi" }), "messages[0].role", INVALID],
  [messages({ role: "robot", content: "hi" }), "messages[0].role", VALUE],
  [messages({ role: "user", content: "hi" }, { role: "User", content: "hi" }), "messages[1].role", VALUE],
  [messages({ role: "user" }), "messages[0].content", MISSING],
  [messages({ role: "user", content: null }), "messages[0].content", INVALID],
  [messages({ role: "user", content: 5 }), "messages[0].content", INVALID],
  [messages({ role: "user", content: { type: "text", text: "hi" } }), "messages[0].content", INVALID],
  [user(), "messages[0].content", INVALID],
  [messages({ role: "user", content: "hi", name: 5 }), "messages[0].name", INVALID],
  [messages({ role: "system" }), "messages[0].content", MISSING],
  [messages({ role: "developer", content: null }), "messages[0].content", INVALID],
  [messages({ role: "assistant" }), "messages[0].content", MISSING],
  [messages({ role: "assistant", content: null }), "messages[0].content", INVALID],
  [messages({ role: "assistant", content: null, tool_calls: [] }), "messages[0].content", INVALID],
  [
    messages({ role: "assistant", content: null, refusal: null, function_call: null, audio: null }),
    "messages[0].content",
    INVALID,
  ],
  [
    messages({ role: "assistant", content: [{ type: "image_url", image_url: { url: "https://a" } }] }),
    "messages[0].content[0].type",
    VALUE,
  ],
  [messages({ role: "assistant", content: "hi", tool_calls: {} }), "messages[0].tool_calls", INVALID],
  [
    messages({ role: "assistant", tool_calls: [{ id: "a", type: "web", function: {} }] }),
    "messages[0].tool_calls[0].type",
    VALUE,
  ],
  [
    messages({ role: "assistant", tool_calls: [{ type: "function", function: { name: "f", arguments: "{}" } }] }),
    "messages[0].tool_calls[0].id",
    MISSING,
  ],
  [
    messages({ role: "assistant", tool_calls: [{ id: "a", type: "function" }] }),
    "messages[0].tool_calls[0].function",
    MISSING,
  ],
  [
    messages({ role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f" } }] }),
    "messages[0].tool_calls[0].function.arguments",
    MISSING,
  ],
  [
    messages({
      role: "assistant",
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: {} } }],
    }),
    "messages[0].tool_calls[0].function.arguments",
    INVALID,
  ],
  [
    messages({ role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "f" } }] }),
    "messages[0].tool_calls[0].custom.input",
    MISSING,
  ],
  [messages({ role: "tool", content: "x" }), "messages[0].tool_call_id", MISSING],
  [messages({ role: "tool", tool_call_id: "a" }), "messages[0].content", MISSING],
  [
    messages({ role: "tool", tool_call_id: "a", content: [{ type: "image_url" }] }),
    "messages[0].content[0].type",
    VALUE,
  ],
  [messages({ role: "function", content: "x" }), "messages[0].name", MISSING],
  [user("hi"), "messages[0].content[0]", INVALID],
  [user({ text: "hi" }), "messages[0].content[0].type", MISSING],
  [user({ type: "text", text: "a" }, { type: "video_url", video_url: {} }), "messages[0].content[1].type", VALUE],
  [user({ type: "text" }), "messages[0].content[0].text", MISSING],
  [user({ type: "text", text: 1 }), "messages[0].content[0].text", INVALID],
  [user({ type: "image_url" }), "messages[0].content[0].image_url", MISSING],
  [user({ type: "image_url", image_url: "https://a" }), "messages[0].content[0].image_url", INVALID],
  [user({ type: "image_url", image_url: {} }), "messages[0].content[0].image_url.url", MISSING],
  [
    user({ type: "image_url", image_url: { url: "file:///etc/passwd" } }),
    "messages[0].content[0].image_url.url",
    VALUE,
  ],
  [
    user({ type: "image_url", image_url: { url: "https://a", detail: "max" } }),
    "messages[0].content[0].image_url.detail",
    VALUE,
  ],
  [
    user({ type: "input_audio", input_audio: { data: "UklGRg==" } }),
    "messages[0].content[0].input_audio.format",
    MISSING,
  ],
  [
    user({ type: "input_audio", input_audio: { data: "", format: "wav" } }),
    "messages[0].content[0].input_audio.data",
    INVALID,
  ],
  [
    user({ type: "input_audio", input_audio: { data: "UklGRg==", format: "ogg" } }),
    "messages[0].content[0].input_audio.format",
    VALUE,
  ],
  [user({ type: "file", file: { filename: "a.pdf" } }), "messages[0].content[0].file", MISSING],
  [user({ type: "file", file: { file_id: 7 } }), "messages[0].content[0].file.file_id", INVALID],
  [user({ type: "refusal", refusal: "no" }), "messages[0].content[0].type", VALUE],
  [withField("stream", "true"), "stream", INVALID],
  [withField("stream_options", true), "stream_options", INVALID],
  [withField("stream_options", { include_usage: 1 }), "stream_options.include_usage", INVALID],
  [withField("temperature", -0.1), "temperature", VALUE],
  [withField("temperature", 2.1), "temperature", VALUE],
  [withField("temperature", "1"), "temperature", INVALID],
  [withField("top_p", 1.5), "top_p", VALUE],
  [withField("n", 0), "n", VALUE],
  [withField("n", 129), "n", VALUE],
  [withField("n", 1.5), "n", INVALID],
  [withField("n", 1e308), "n", VALUE],
  [withField("max_tokens", 0), "max_tokens", VALUE],
  [withField("max_tokens", 1e308), "max_tokens", VALUE],
  [withField("max_completion_tokens", -1), "max_completion_tokens", VALUE],
  [withField("max_completion_tokens", "10"), "max_completion_tokens", INVALID],
  [withField("stop", 5), "stop", INVALID],
  [withField("stop", [5]), "stop[0]", INVALID],
  [
    withField(
      "stop",
      Array.from({ length: 17 }, () => "a"),
    ),
    "stop",
    INVALID,
  ],
  [withField("frequency_penalty", 2.5), "frequency_penalty", VALUE],
  [withField("presence_penalty", -2.5), "presence_penalty", VALUE],
  [withField("logit_bias", { "50256": 101 }), "logit_bias.50256", VALUE],
  [withField("logit_bias", []), "logit_bias", INVALID],
  [withField("logprobs", 1), "logprobs", INVALID],
  [withField("top_logprobs", 21), "top_logprobs", VALUE],
  [withField("seed", 1.5), "seed", INVALID],
  [withField("user", null), "user", INVALID],
  [withField("metadata", { a: 1 }), "metadata.a", INVALID],
  [withField("reasoning_effort", 3), "reasoning_effort", INVALID],
  [withField("verbosity", "chatty"), "verbosity", VALUE],
  [withField("modalities", ["text", "video"]), "modalities[1]", VALUE],
  [withField("modalities", "text"), "modalities", INVALID],
  [withField("audio", { voice: "alloy" }), "audio.format", MISSING],
  [withField("audio", { voice: {}, format: "wav" }), "audio.voice.id", MISSING],
  [withField("audio", { voice: "alloy", format: "ogg" }), "audio.format", VALUE],
  [withField("prediction", { type: "text", content: "a" }), "prediction.type", VALUE],
  [withField("prediction", { type: "content" }), "prediction.content", MISSING],
  [withField("service_tier", 1), "service_tier", INVALID],
  [withField("store", "yes"), "store", INVALID],
  [withField("parallel_tool_calls", null), "parallel_tool_calls", INVALID],
  [withField("web_search_options", { search_context_size: "huge" }), "web_search_options.search_context_size", VALUE],
  [
    withField("web_search_options", { user_location: { type: "approximate" } }),
    "web_search_options.user_location.approximate",
    MISSING,
  ],
  [withField("tools", {}), "tools", INVALID],
  [withField("tools", [{ function: { name: "f" } }]), "tools[0].type", MISSING],
  [withField("tools", [{ type: "web_search" }]), "tools[0].type", VALUE],
  [withField("tools", [{ type: "function" }]), "tools[0].function", MISSING],
  [withField("tools", [{ type: "function", function: {} }]), "tools[0].function.name", MISSING],
  [withField("tools", [{ type: "function", function: { name: "get weather" } }]), "tools[0].function.name", VALUE],
  [
    withField("tools", [{ type: "function", function: { name: "f", parameters: [] } }]),
    "tools[0].function.parameters",
    INVALID,
  ],
  [
    withField("tools", [{ type: "custom", custom: { name: "f", format: { type: "regex" } } }]),
    "tools[0].custom.format.type",
    VALUE,
  ],
  [withField("tool_choice", "sometimes"), "tool_choice", VALUE],
  [withField("tool_choice", { type: "tool" }), "tool_choice.type", VALUE],
  [withField("tool_choice", { type: "function" }), "tool_choice.function", MISSING],
  [withField("tool_choice", { type: "function", function: {} }), "tool_choice.function.name", MISSING],
  [
    withField("tool_choice", { type: "allowed_tools", allowed_tools: { mode: "none", tools: [] } }),
    "tool_choice.allowed_tools.mode",
    VALUE,
  ],
  [withField("response_format", "json"), "response_format", INVALID],
  [withField("response_format", {}), "response_format.type", MISSING],
  [withField("response_format", { type: "xml" }), "response_format.type", VALUE],
  [withField("response_format", { type: "json_schema" }), "response_format.json_schema", MISSING],
  [
    withField("response_format", { type: "json_schema", json_schema: { schema: {} } }),
    "response_format.json_schema.name",
    MISSING,
  ],
  [
    withField("response_format", { type: "json_schema", json_schema: { name: "a b" } }),
    "response_format.json_schema.name",
    VALUE,
  ],
  [
    withField("response_format", { type: "json_schema", json_schema: { name: "a".repeat(65) } }),
    "response_format.json_schema.name",
    VALUE,
  ],
  [
    withField("response_format", { type: "json_schema", json_schema: { name: "a", schema: "{}" } }),
    "response_format.json_schema.schema",
    INVALID,
  ],
  [
    withField("response_format", { type: "json_schema", json_schema: { name: "a", strict: "yes" } }),
    "response_format.json_schema.strict",
    INVALID,
  ],
  [withField("functions", [{ description: "d" }]), "functions[0].name", MISSING],
  [withField("function_call", {}), "function_call.name", MISSING],
];

describe("a chat body", () => {
  test.each(Object.entries(GOOD_BODIES))("is accepted with %s", (_name, body) => {
    expect(validate("ChatCompletionRequest", body)).toBeNull();
  });

  test.each(BAD_BODIES.map((row) => [JSON.stringify(row[0]).slice(0, 120), ...row] as const))(
    "is rejected at its error: %s",
    (_name, body, param, code) => {
      const fault = validate("ChatCompletionRequest", body);
      expect(fault).toMatchObject({ param, code });
    },
  );

  test("names the accepted types of block for an unknown one", () => {
    const fault = validate("ChatCompletionRequest", user({ type: "video_url" }));
    expect(fault?.message).toBe(
      'messages[0].content[0].type must be one of text, image_url, input_audio, file, got "video_url".',
    );
  });

  test("with a member __proto__ does not inherit from it", () => {
    const hidden: unknown = JSON.parse('{"__proto__":{"model":"m","messages":[{"role":"user","content":"hi"}]}}');
    expect(validate("ChatCompletionRequest", hidden)).toMatchObject({ param: "model", code: MISSING });
    const shown: unknown = JSON.parse('{"model":"m","messages":[{"role":"user","content":"hi","__proto__":{"a":1}}]}');
    expect(validate("ChatCompletionRequest", shown)).toBeNull();
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });
});
