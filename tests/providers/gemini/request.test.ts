import { describe, expect, test } from "bun:test";

import type { Trait } from "#shared/calls/model.ts";
import { chatCall } from "#tests/providers/engine/calls.ts";
import { chatRequest } from "#workers/providers/gemini/request.ts";
import { ProviderError } from "#workers/providers/provider.ts";

type Body = Record<string, unknown>;

function bodyOf(request: object, traits: readonly Trait[] = []): Body {
  return JSON.parse(chatRequest(chatCall(request, { traits }), false).body) as Body;
}

const configOf = (request: object, traits: readonly Trait[] = []): unknown =>
  bodyOf(request, traits)["generationConfig"];
const contentsOf = (messages: readonly object[], traits: readonly Trait[] = []): unknown =>
  bodyOf({ messages }, traits)["contents"];

function faultOf(request: object, traits: readonly Trait[] = []): ProviderError {
  try {
    bodyOf(request, traits);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("the request was taken");
}

const THINKING = { thinkingConfig: { includeThoughts: true } };
const PNG = "iVBORw0KGgo=";

describe("the request", () => {
  test("uses the model's own path, streamed as server-sent events", () => {
    const call = chatCall({}, { sourceModel: "gemini-3.5-flash" });
    expect(chatRequest(call, false).path).toBe("/models/gemini-3.5-flash:generateContent");
    expect(chatRequest(call, true).path).toBe("/models/gemini-3.5-flash:streamGenerateContent?alt=sse");
    expect(chatRequest(chatCall({}, { sourceModel: "../x?y" }), false).path).toBe("/models/..%2Fx%3Fy:generateContent");
  });

  test("is the same body streamed and plain, without defaults", () => {
    const call = chatCall({ stream: true, stream_options: { include_usage: true } });
    expect(chatRequest(call, true).body).toBe(chatRequest(call, false).body);
    expect(bodyOf({})).toEqual({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: THINKING,
    });
  });

  test("omits parameters that Gemini lacks and that change no answer", () => {
    const extras = {
      user: "u",
      safety_identifier: "s",
      metadata: { a: "b" },
      store: true,
      prompt_cache_key: "k",
      parallel_tool_calls: false,
      service_tier: "auto",
      verbosity: "medium",
      modalities: ["text"],
      logit_bias: {},
      prediction: null,
      api_key: "x",
      base_url: "http://evil/",
    };
    expect(bodyOf(extras)).toEqual(bodyOf({}));
  });

  test("is passed to the source's edits when it is complete, and the edits take precedence", () => {
    const adapt = (body: Body): void => {
      expect(body).toHaveProperty("contents");
      body["safetySettings"] = [];
      delete body["generationConfig"];
    };
    const body = JSON.parse(chatRequest(chatCall({ temperature: 1 }, { adapt }), false).body) as Body;
    expect(Object.keys(body)).toEqual(["contents", "safetySettings"]);
  });

  test("does not change the client's request", () => {
    const request = {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "a", content: "x" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    };
    const before = structuredClone(request);
    bodyOf(request);
    expect(request).toEqual(before);
  });
});

describe("generation settings", () => {
  test.each<[string, object, object]>([
    ["max_tokens", { max_tokens: 5 }, { maxOutputTokens: 5 }],
    ["max_completion_tokens before it", { max_tokens: 5, max_completion_tokens: 6 }, { maxOutputTokens: 6 }],
    ["temperature and top_p", { temperature: 0, top_p: 0.5 }, { temperature: 0, topP: 0.5 }],
    ["top_k", { top_k: 1 }, { topK: 1 }],
    ["one stop text", { stop: "END" }, { stopSequences: ["END"] }],
    ["several", { stop: ["a", "b"] }, { stopSequences: ["a", "b"] }],
    ["none", { stop: [] }, {}],
    ["seed", { seed: 0 }, { seed: 0 }],
    ["penalties", { frequency_penalty: 1, presence_penalty: -1 }, { frequencyPenalty: 1, presencePenalty: -1 }],
    ["n", { n: 2 }, { candidateCount: 2 }],
    ["n of one", { n: 1 }, {}],
    ["logprobs", { logprobs: true }, { responseLogprobs: true }],
    ["top_logprobs", { logprobs: true, top_logprobs: 3 }, { responseLogprobs: true, logprobs: 3 }],
    ["no logprobs", { logprobs: false, top_logprobs: 3 }, {}],
    ["nulls", { temperature: null, top_p: null, top_k: null, stop: null, seed: null, n: null, max_tokens: null }, {}],
    ["text", { response_format: { type: "text" } }, {}],
    ["json_object", { response_format: { type: "json_object" } }, { responseMimeType: "application/json" }],
    [
      "json_schema",
      {
        response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" }, strict: true } },
      },
      { responseMimeType: "application/json", responseJsonSchema: { type: "object" } },
    ],
    [
      "json_schema without a schema",
      { response_format: { type: "json_schema", json_schema: { name: "n" } } },
      { responseMimeType: "application/json" },
    ],
  ])("%s", (_name, request, expected) => {
    expect(configOf(request)).toEqual({ ...expected, ...THINKING });
  });

  test("a schema is converted for models that require OpenAPI's format", () => {
    const schema = { type: "object", properties: { a: { type: ["string", "null"] } }, additionalProperties: false };
    const response_format = { type: "json_schema", json_schema: { name: "n", schema } };
    expect(configOf({ response_format }, ["json_by_converted_schema", "no_reasoning"])).toEqual({
      responseMimeType: "application/json",
      responseSchema: {
        type: "OBJECT",
        properties: { a: { type: "STRING", nullable: true } },
        propertyOrdering: ["a"],
      },
    });
  });

  const BUDGET = ["reasoning_by_budget"] as const;
  const ALWAYS = ["reasoning_always"] as const;
  test.each<[string | null, readonly Trait[], object | undefined]>([
    [null, [], { includeThoughts: true }],
    ["none", [], { thinkingLevel: "minimal" }],
    ["minimal", [], { thinkingLevel: "minimal", includeThoughts: true }],
    ["low", [], { thinkingLevel: "low", includeThoughts: true }],
    ["medium", [], { thinkingLevel: "medium", includeThoughts: true }],
    ["high", [], { thinkingLevel: "high", includeThoughts: true }],
    ["minimal", ALWAYS, { thinkingLevel: "low", includeThoughts: true }],
    [null, ALWAYS, { includeThoughts: true }],
    // Some of these do not think unless told to, and thoughts of none are an error.
    [null, BUDGET, undefined],
    [null, [...BUDGET, ...ALWAYS], { includeThoughts: true }],
    ["none", BUDGET, { thinkingBudget: 0 }],
    ["minimal", BUDGET, { thinkingBudget: 1_024, includeThoughts: true }],
    ["low", BUDGET, { thinkingBudget: 1_024, includeThoughts: true }],
    ["medium", BUDGET, { thinkingBudget: 8_192, includeThoughts: true }],
    ["high", BUDGET, { thinkingBudget: 24_576, includeThoughts: true }],
    [null, ["no_reasoning"], undefined],
    ["none", ["no_reasoning"], undefined],
  ])("an effort of %s, traits %j", (reasoning_effort, traits, expected) => {
    const config = configOf({ reasoning_effort }, traits) as Body;
    expect(config["thinkingConfig"]).toEqual(expected);
  });
});

describe("an unsupported parameter is rejected by name", () => {
  test.each<[string, object]>([
    ["logit_bias", { logit_bias: { "50256": -100 } }],
    ["prediction", { prediction: { type: "content", content: "x" } }],
    ["modalities", { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }],
    ["audio", { audio: { voice: "alloy", format: "wav" } }],
    ["web_search_options", { web_search_options: {} }],
    ["verbosity", { verbosity: "low" }],
    ["service_tier", { service_tier: "priority" }],
    ["functions", { functions: [{ name: "f" }] }],
    ["function_call", { function_call: "auto" }],
    ["stop", { stop: ["1", "2", "3", "4", "5", "6"] }],
    ["seed", { seed: 2 ** 31 }],
    ["seed", { seed: -(2 ** 31) - 1 }],
    ["n", { n: 9 }],
    ["top_k", { top_k: 0 }],
    ["top_k", { top_k: 1.5 }],
    ["top_k", { top_k: 2 ** 31 }],
    ["top_k", { top_k: "4" }],
    ["reasoning_effort", { reasoning_effort: "xhigh" }],
    ["reasoning_effort", { reasoning_effort: "toString" }],
    ["tools[0].type", { tools: [{ type: "custom", custom: { name: "x" } }] }],
    ["tool_choice", { tool_choice: { type: "custom", custom: { name: "x" } } }],
    [
      "messages[0].content[0].image_url.url",
      { messages: [user({ type: "image_url", image_url: { url: "https://a/b.png" } })] },
    ],
    ["messages[0].content[0].file.file_data", { messages: [user({ type: "file", file: { file_data: "AAAA" } })] }],
    ...["video/mp4", "audio/wav", "application/pdf", "", "text/plain"].map((type): [string, object] => [
      "messages[0].content[0].image_url.url",
      { messages: [user({ type: "image_url", image_url: { url: `data:${type};base64,AAAA` } })] },
    ]),
    ...["", "API key not valid", "AAA=A", "AAAAA", "A===", "AAA==", "AA+_", "AA\nAA"].flatMap(
      (data): [string, object][] => [
        [
          "messages[0].content[0].image_url.url",
          { messages: [user({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } })] },
        ],
        [
          "messages[0].content[0].file.file_data",
          { messages: [user({ type: "file", file: { file_data: `data:application/pdf;base64,${data}` } })] },
        ],
        [
          "messages[0].content[0].input_audio.data",
          { messages: [user({ type: "input_audio", input_audio: { data, format: "wav" } })] },
        ],
      ],
    ),
    ["messages[0].content[0].file.file_id", { messages: [user({ type: "file", file: { file_id: "f" } })] }],
    [
      "messages[0].tool_calls[0].type",
      {
        messages: [{ role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "x", input: "" } }] }],
      },
    ],
  ])("%s: %j", (param, request) => {
    const fault = faultOf(request);
    expect(fault).toMatchObject({ kind: "rejected", code: "unsupported_value", param });
    expect(fault.say).toMatch(/^[A-Z].+\.$/);
  });

  test.each<[string, object]>([
    ["messages[0].tool_call_id", { messages: [{ role: "tool", tool_call_id: "nowhere", content: "x" }] }],
    [
      "messages[0].tool_calls[0].function.arguments",
      {
        messages: [
          { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "[1" } }] },
        ],
      },
    ],
  ])("a contradiction is invalid: %s", (param, request) => {
    expect(faultOf(request)).toMatchObject({ kind: "rejected", code: "invalid_request", param });
  });

  test.each<[string, Trait]>([
    ["none", "reasoning_always"],
    ["low", "no_reasoning"],
  ])("an effort of %s for a model with the trait %s", (reasoning_effort, trait) => {
    expect(faultOf({ reasoning_effort }, [trait])).toMatchObject({
      code: "unsupported_value",
      param: "reasoning_effort",
    });
  });

  test.each([{ type: "json_object" }, { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } }])(
    "JSON answers beside tools, if the model lacks the combination: %j",
    (response_format) => {
      const tools = [{ type: "function", function: { name: "now" } }];
      expect(faultOf({ response_format, tools }, ["no_json_with_tools"])).toMatchObject({
        kind: "rejected",
        code: "unsupported_value",
        param: "response_format",
      });
      expect(configOf({ response_format, tools })).toHaveProperty("responseMimeType");
      for (const request of [{ response_format }, { response_format, tools: [] }]) {
        expect(configOf(request, ["no_json_with_tools"])).toHaveProperty("responseMimeType");
      }
      expect(bodyOf({ response_format: { type: "text" }, tools }, ["no_json_with_tools"])).toHaveProperty("tools");
    },
  );

  test("the bounds themselves are accepted", () => {
    const request = { stop: ["1", "2", "3", "4", "5"], seed: 2 ** 31 - 1, n: 8 };
    expect(configOf(request)).toMatchObject({ stopSequences: request.stop, seed: request.seed, candidateCount: 8 });
  });
});

function user(...content: readonly object[]): object {
  return { role: "user", content };
}

describe("the conversation", () => {
  test("has its first system and developer messages separate", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "text", text: "Be kind." }] },
      { role: "user", content: "hi" },
    ];
    expect(bodyOf({ messages })).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
    });
  });

  test("of instructions only is a user message", () => {
    const body = bodyOf({ messages: [{ role: "system", content: "Say hi." }] });
    expect(body["contents"]).toEqual([{ role: "user", parts: [{ text: "Say hi." }] }]);
    expect(body).not.toHaveProperty("systemInstruction");
  });

  test("joins messages of one role, and names the assistant model", () => {
    const messages = [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
      { role: "assistant", content: "c" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "d" },
          { type: "refusal", refusal: "no" },
        ],
      },
      { role: "user", content: "e" },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: "user", parts: [{ text: "a" }, { text: "b" }] },
      { role: "model", parts: [{ text: "c" }, { text: "d" }, { text: "no" }] },
      { role: "user", parts: [{ text: "e" }] },
    ]);
  });

  test("contains images, audio and files as bytes with their own types", () => {
    const content = [
      { type: "text", text: "Look:" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
      { type: "image_url", image_url: { url: "data:image/svg+xml,%3Csvg%2F%3E" } },
      { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;name=a.pdf;base64,JVBERi0=" } },
      { type: "file", file: { file_url: "data:Text/CSV;charset=utf-8;base64,YSxi" } },
      { type: "file", file: { file_data: "data:;base64,YQ==" } },
    ];
    expect(contentsOf([{ role: "user", content }])).toEqual([
      {
        role: "user",
        parts: [
          { text: "Look:" },
          { inlineData: { mimeType: "image/png", data: PNG } },
          { inlineData: { mimeType: "image/svg+xml", data: "PHN2Zy8+" } },
          { inlineData: { mimeType: "audio/wav", data: "UklGRg==" } },
          { inlineData: { mimeType: "application/pdf", data: "JVBERi0=" } },
          { inlineData: { mimeType: "text/csv", data: "YSxi" } },
          { inlineData: { mimeType: "text/plain", data: "YQ==" } },
        ],
      },
    ]);
  });

  test.each([
    ["image/jpg", "image/jpeg"],
    ["application/json", "text/plain"],
    ["application/ld+json", "text/plain"],
    ["application/xml", "text/plain"],
    ["application/x-yaml", "text/plain"],
    ["text/html", "text/html"],
    ["application/zip", "application/zip"],
    ["image/svg+xml", "image/svg+xml"],
  ])("calls %s %s", (given, mimeType) => {
    const content = [{ type: "file", file: { file_data: `data:${given};base64,YSxi` } }];
    const inlineData = { mimeType, data: "YSxi" };
    expect(contentsOf([{ role: "user", content }])).toEqual([{ role: "user", parts: [{ inlineData }] }]);
  });

  test("accepts base64 like Google: either alphabet, padded or not", () => {
    for (const data of ["AA", "AAA", "AA==", "AAA=", "+/+/", "-_-_"]) {
      const content = [{ type: "input_audio", input_audio: { data, format: "mp3" } }];
      expect(contentsOf([{ role: "user", content }])).toMatchObject([{ parts: [{ inlineData: { data } }] }]);
    }
  });

  const call = (id: string, extra: object = {}) => ({
    id,
    type: "function",
    function: { name: `f_${id}`, arguments: '{"a":1}' },
    ...extra,
  });
  const signed = { extra_content: { google: { thought_signature: "SIG" } } };
  const step = (...tool_calls: readonly object[]) => ({ role: "assistant", content: null, tool_calls });
  const result = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content });

  test("answers calls by their names, results of a turn together and separate from the user's text", () => {
    const messages = [
      { role: "user", content: "go" },
      step(call("a", signed), call("b")),
      result("a", '{"sky":"blue"}'),
      result("b", [
        { type: "text", text: "[1," },
        { type: "text", text: "2]" },
      ]),
      { role: "user", content: "and?" },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "a", name: "f_a", args: { a: 1 } }, thoughtSignature: "SIG" },
          { functionCall: { id: "b", name: "f_b", args: { a: 1 } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "f_a", response: { sky: "blue" } } },
          { functionResponse: { id: "b", name: "f_b", response: { result: "[1,2]" } } },
        ],
      },
      { role: "user", parts: [{ text: "and?" }] },
    ]);
  });

  const signaturesOf = (messages: readonly object[], traits: readonly Trait[] = []): unknown[] =>
    (contentsOf(messages, traits) as { parts: { functionCall?: object; thoughtSignature?: string }[] }[])
      .flatMap(({ parts }) => parts)
      .filter((part) => part.functionCall)
      .map((part) => part.thoughtSignature);

  test("puts the documented placeholder on the first unsigned call of each step of the current turn", () => {
    const steps = [
      step(call("a"), call("b")),
      result("a", ""),
      result("b", ""),
      step(call("c", signed)),
      result("c", ""),
    ];
    const running = [{ role: "user", content: "go" }, ...steps, step(call("d")), result("d", "")];
    const dummy = "skip_thought_signature_validator";
    expect(signaturesOf(running)).toEqual([dummy, undefined, "SIG", dummy]);
    expect(signaturesOf([...running, { role: "user", content: "thanks" }])).toEqual([
      undefined,
      undefined,
      "SIG",
      undefined,
    ]);
    for (const trait of ["reasoning_by_budget", "no_reasoning"] as const) {
      expect(signaturesOf(running, [trait])).toEqual([undefined, undefined, "SIG", undefined]);
    }
  });

  test.each([{}, { google: null }, { google: { thought_signature: 7 } }, null, "x"])(
    "ignores invalid extra content: %j",
    (extra_content) => {
      const messages = [step(call("a", { extra_content })), result("a", ""), { role: "user", content: "go" }];
      expect(signaturesOf(messages)).toEqual([undefined]);
    },
  );

  test("accepts calls in the legacy form", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: null, function_call: { name: "f", arguments: "" } },
      { role: "function", name: "f", content: null },
    ];
    expect(contentsOf(messages, ["no_reasoning"])).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response: { result: "" } } }] },
    ]);
  });
});

describe("tools", () => {
  const parameters = { type: "object", properties: { q: { type: ["string", "null"] } }, additionalProperties: false };
  const tools = [
    { type: "function", function: { name: "search", description: "Finds.", parameters, strict: true } },
    { type: "function", function: { name: "now" } },
    { type: "function", function: { name: "none", parameters: {} } },
  ];
  const declared = [
    { name: "search", description: "Finds.", parametersJsonSchema: parameters },
    { name: "now" },
    { name: "none" },
  ];

  test("are declared with their unchanged JSON schemas", () => {
    const body = bodyOf({ tools });
    expect(body["tools"]).toEqual([{ functionDeclarations: declared }]);
    expect(body).not.toHaveProperty("toolConfig");
  });

  test("are declared with converted schemas for models that require them", () => {
    const body = bodyOf({ tools }, ["json_by_converted_schema"]);
    expect(body["tools"]).toMatchObject([
      {
        functionDeclarations: [
          { parameters: { type: "OBJECT", properties: { q: { type: "STRING", nullable: true } } } },
          { name: "now" },
          { name: "none" },
        ],
      },
    ]);
  });

  test("without parameters omit them for models that reject empty objects", () => {
    const empty = { type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } };
    expect(bodyOf({ tools: [empty] }, ["json_by_converted_schema"])["tools"]).toEqual([
      { functionDeclarations: [{ name: "now" }] },
    ]);
  });

  const fn = (name: string) => ({ type: "function", function: { name } });
  test.each<[unknown, object]>([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [fn("now"), { mode: "ANY", allowedFunctionNames: ["now"] }],
    [
      { type: "allowed_tools", allowed_tools: { mode: "required", tools: [fn("now"), fn("none")] } },
      { mode: "ANY", allowedFunctionNames: ["now", "none"] },
    ],
  ])("choice %j", (tool_choice, functionCallingConfig) => {
    expect(bodyOf({ tools, tool_choice })).toMatchObject({
      tools: [{ functionDeclarations: declared }],
      toolConfig: { functionCallingConfig },
    });
  });

  test("that are not allowed are omitted", () => {
    const tool_choice = { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [fn("now")] } };
    expect(bodyOf({ tools, tool_choice })).toMatchObject({
      tools: [{ functionDeclarations: [{ name: "now" }] }],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    });
  });

  test("that are empty are omitted, as is the choice among them", () => {
    for (const request of [{ tools: [] }, { tools: [], tool_choice: "auto" }, { tool_choice: "none" }]) {
      expect(bodyOf(request)).toEqual(bodyOf({}));
    }
  });
});
