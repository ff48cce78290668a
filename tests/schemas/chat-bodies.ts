/** Chat bodies that clients really send, typed by the stock SDK, so that a change of its shapes does not compile. */
import type OpenAI from "openai";

type Params = OpenAI.Chat.ChatCompletionCreateParams;
type Message = OpenAI.Chat.ChatCompletionMessageParam;

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather at a place",
    parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    strict: true,
  },
} as const satisfies OpenAI.Chat.ChatCompletionTool;

function call(id: string, place: string): OpenAI.Chat.ChatCompletionMessageToolCall {
  return { id, type: "function", function: { name: "get_weather", arguments: JSON.stringify({ place }) } };
}

function body(...messages: Message[]): Params {
  return { model: "sandbox-chat", messages };
}

const HELLO = body({ role: "user", content: "Say hello" });

/** Bodies that are accepted, by what they show. */
export const GOOD_BODIES: Readonly<Record<string, Params>> = {
  "one question": HELLO,
  "an empty question": body({ role: "user", content: "" }),
  "instructions in both styles": body(
    { role: "developer", content: "Be brief" },
    { role: "system", content: [{ type: "text", text: "Be kind" }], name: "house" },
    { role: "user", content: "Hello" },
  ),
  "a stream with usage": { ...HELLO, stream: true, stream_options: { include_usage: true } },
  "every sampling setting": {
    ...HELLO,
    temperature: 2,
    top_p: 0,
    n: 128,
    stop: ["a", "b", "c", "d"],
    frequency_penalty: -2,
    presence_penalty: 2,
    logit_bias: { "50256": -100 },
    logprobs: true,
    top_logprobs: 20,
    seed: -7,
    max_completion_tokens: 1,
  },
  "null for what may be null": {
    ...HELLO,
    stream: null,
    temperature: null,
    top_p: null,
    n: null,
    stop: null,
    frequency_penalty: null,
    presence_penalty: null,
    logit_bias: null,
    logprobs: null,
    top_logprobs: null,
    seed: null,
    max_tokens: null,
    max_completion_tokens: null,
    metadata: null,
    store: null,
    service_tier: null,
    reasoning_effort: null,
    verbosity: null,
    modalities: null,
    audio: null,
    prediction: null,
    stream_options: null,
  },
  "one stop text": { ...HELLO, stop: "\n" },
  "pictures by address and by data URL": body({
    role: "user",
    content: [
      { type: "text", text: "What differs?" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "high" } },
    ],
  }),
  "a recording, answered in speech": {
    ...body({ role: "user", content: [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }] }),
    modalities: ["text", "audio"],
    audio: { voice: "alloy", format: "wav" },
  },
  "a custom voice": { ...HELLO, modalities: ["text", "audio"], audio: { voice: { id: "voice_1" }, format: "mp3" } },
  "files by id and by content": body({
    role: "user",
    content: [
      { type: "file", file: { file_id: "file-abc" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" } },
    ],
  }),
  "parallel tool calls and their results": {
    ...body(
      { role: "user", content: "Weather in Kyiv and Lima?" },
      { role: "assistant", content: null, tool_calls: [call("call_1", "Kyiv"), call("call_2", "Lima")] },
      { role: "tool", tool_call_id: "call_1", content: "21 °C" },
      { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "17 °C" }] },
    ),
    tools: [WEATHER],
    tool_choice: "auto",
    parallel_tool_calls: true,
  },
  "tool calls without content": {
    ...body({ role: "user", content: "Go" }, { role: "assistant", tool_calls: [call("call_1", "Oslo")] }),
    tools: [WEATHER],
  },
  "one function demanded": {
    ...HELLO,
    tools: [WEATHER],
    tool_choice: { type: "function", function: { name: "get_weather" } },
  },
  "custom tools, plain and bound by a grammar": {
    ...body(
      { role: "user", content: "Run it" },
      { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "shell", input: "ls" } }] },
      { role: "tool", tool_call_id: "c", content: "a.txt" },
    ),
    tools: [
      { type: "custom", custom: { name: "shell", format: { type: "text" } } },
      {
        type: "custom",
        custom: {
          name: "math",
          description: "Sums",
          format: { type: "grammar", grammar: { definition: "start: NUMBER", syntax: "lark" } },
        },
      },
    ],
    tool_choice: { type: "custom", custom: { name: "shell" } },
  },
  "a choice among some tools": {
    ...HELLO,
    tools: [WEATHER],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "get_weather" } }] },
    },
  },
  "functions in the old style": {
    ...body(
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, function_call: { name: "get_weather", arguments: "{}" } },
      { role: "function", name: "get_weather", content: "21 °C" },
    ),
    functions: [{ name: "get_weather", parameters: { type: "object", properties: {} } }],
    function_call: { name: "get_weather" },
  },
  "plain text asked for": { ...HELLO, response_format: { type: "text" } },
  "JSON asked for": { ...HELLO, response_format: { type: "json_object" } },
  "JSON of a schema": {
    ...HELLO,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "step-by_step",
        description: "A solution",
        strict: true,
        schema: { type: "object", properties: { steps: { type: "array" } }, additionalProperties: false },
      },
    },
  },
  "a refusal in the conversation": body(
    { role: "user", content: "Do it" },
    { role: "assistant", content: null, refusal: "I would rather not." },
    { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    { role: "assistant", audio: { id: "audio_1" } },
    { role: "user", content: "Why?" },
  ),
  "a predicted answer": {
    ...HELLO,
    prediction: { type: "content", content: [{ type: "text", text: "const a = 1;" }] },
  },
  "a search of the web": {
    ...HELLO,
    web_search_options: {
      search_context_size: "low",
      user_location: { type: "approximate", approximate: { country: "PT", city: "Porto" } },
    },
  },
  "labels and identifiers": {
    ...HELLO,
    metadata: { team: "a" },
    user: "u1",
    safety_identifier: "s1",
    prompt_cache_key: "k1",
    service_tier: "flex",
    store: false,
    reasoning_effort: "high",
    verbosity: "low",
  },
};
