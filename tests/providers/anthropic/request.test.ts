import { describe, expect, test } from "bun:test";

import type { Trait } from "#shared/calls/model.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { messagesRequest } from "#workers/providers/anthropic/request.ts";

import { usePairs } from "./pair.ts";
import { chatCall, type ChatOptions } from "../engine/calls.ts";

const start = usePairs();

type Body = Record<string, unknown>;

const bodyOf = (request: object = {}, options: ChatOptions = {}): Body =>
  JSON.parse(messagesRequest(chatCall(request, options), false).body) as Body;

const turnsOf = (messages: readonly object[]): unknown => bodyOf({ messages })["messages"];

/** The body as a server that checks everything has received it. */
async function sent(request: object, options: ChatOptions = {}): Promise<Body> {
  const { provider, server } = start();
  await provider.complete(chatCall(request, options));
  expect(server.refusals).toEqual([]);
  return server.requests[0]?.body as Body;
}

function refusal(request: object, traits: readonly Trait[] = []): ProviderError {
  try {
    bodyOf(request, { traits });
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("the request was taken");
}

const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const text = (said: string) => ({ type: "text", text: said });
const user = (content: unknown) => ({ role: "user", content });
const use = (id: string, name: string, args: string) => ({ id, type: "function", function: { name, arguments: args } });
const fn = (name: string, more: object = {}) => ({ type: "function", function: { name, ...more } });

describe("the call", () => {
  test("uses the messages endpoint with our key and the version, and no field of the caller changes that", async () => {
    const { provider, server } = start();
    const steering = { api_key: "sk-x", base_url: "http://evil/", provider: {}, "anthropic-beta": "x", unknown: 1 };
    await provider.complete(chatCall(steering));
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      path: "/v1/messages",
      headers: { "x-api-key": "sk-ant-ours", "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: { model: "m", max_tokens: 4_096, messages: [user([text("hi")])] },
    });
    expect(Object.keys(server.requests[0]?.body as Body)).toEqual(["model", "max_tokens", "messages"]);
  });

  test("requests a stream only on demand", () => {
    expect(JSON.parse(messagesRequest(chatCall(), true).body)).toHaveProperty("stream", true);
    expect(bodyOf({ stream: true })).not.toHaveProperty("stream");
  });

  test("is passed to the source's edits when it is complete, and the edits take precedence", () => {
    const body = bodyOf(
      {},
      {
        adapt: (whole) => {
          expect(whole).toHaveProperty("messages");
          Object.assign(whole, { model: "pinned", inference_geo: "eu" });
        },
      },
    );
    expect(body).toMatchObject({ model: "pinned", inference_geo: "eu" });
  });

  test("leaves the request untouched", () => {
    const call = chatCall({ messages: [{ role: "system", content: "Be kind." }, user([text("hi ")])], stop: ["x"] });
    const before = structuredClone(call.request);
    messagesRequest(call, true);
    expect(call.request).toEqual(before);
  });

  test.each([
    ["its own", { max_completion_tokens: 10, max_tokens: 20 }, 10],
    ["the older name", { max_tokens: 20 }, 20],
    ["what was held for", { max_tokens: null }, 4_096],
  ])("limits the answer: %s", (_name, request, limit) => {
    expect(bodyOf(request)["max_tokens"]).toBe(limit);
  });
});

describe("messages", () => {
  test("of the system and developer kind are collected in order at the beginning", async () => {
    const body = await sent({
      messages: [
        { role: "system", content: "One." },
        { role: "developer", content: [text("Two."), text("  "), text("Three.")] },
        user("hi"),
      ],
    });
    expect(body["system"]).toEqual([text("One."), text("Two."), text("Three.")]);
    expect(body["messages"]).toEqual([user([text("hi")])]);
  });

  test("of one role become one turn, and empty ones are dropped", () => {
    expect(
      turnsOf([
        user("a"),
        user("b"),
        { role: "assistant", content: "c" },
        { role: "assistant", content: [text("d"), { type: "refusal", refusal: "e" }] },
        user(""),
        { role: "assistant", content: null, refusal: "f" },
        user("g"),
      ]),
    ).toEqual([
      user([text("a"), text("b")]),
      { role: "assistant", content: [text("c"), text("d"), text("e"), text("f")] },
      user([text("g")]),
    ]);
  });

  test("that end in a prefill end without white space", () => {
    expect(turnsOf([user("a"), { role: "assistant", content: " It is \n" }])).toEqual([
      user([text("a")]),
      { role: "assistant", content: [text(" It is")] },
    ]);
  });

  test("without content are rejected", () => {
    expect(refusal({ messages: [{ role: "system", content: "Be kind." }, user(" ")] })).toMatchObject({
      code: "unsupported_value",
      param: "messages",
    });
  });

  test("carry images, PDFs and texts", async () => {
    const file = (data: string, filename?: string) => ({ type: "file", file: { file_data: data, filename } });
    const body = await sent({
      messages: [
        user([
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
          { type: "image_url", image_url: { url: `data:image/jpg;charset=x;base64,${PNG}` } },
          file("data:application/pdf;base64,JVBERi0=", "a.pdf"),
          file(`data:text/csv;base64,${Buffer.from("ä,b").toString("base64")}`),
          file(`data:text/csv;base64,${Buffer.from("\u00e4,\u0080", "latin1").toString("base64")}`),
          file("data:application/json,%7B%7D"),
          { type: "file", file: { file_url: `data:image/webp;base64,${PNG}` } },
          text("Compare."),
        ]),
      ],
    });
    const image = (media_type: string) => ({ type: "image", source: { type: "base64", media_type, data: PNG } });
    const plain = (data: string) => ({ type: "document", source: { type: "text", media_type: "text/plain", data } });
    expect(body["messages"]).toEqual([
      user([
        image("image/png"),
        image("image/jpeg"),
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          title: "a.pdf",
        },
        plain("ä,b"),
        plain("ä,€"),
        plain("{}"),
        image("image/webp"),
        text("Compare."),
      ]),
    ]);
  });

  test.each([
    [
      "sound",
      { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
      "audio_not_supported_by_model",
      "",
    ],
    [
      "an image of another kind",
      { type: "image_url", image_url: { url: "data:image/bmp;base64,AA==" } },
      "",
      ".image_url.url",
    ],
    [
      "an address that nobody fetched",
      { type: "image_url", image_url: { url: "https://a.example/" } },
      "",
      ".image_url.url",
    ],
    [
      "a file of another kind",
      { type: "file", file: { file_data: "data:application/zip;base64,AA==" } },
      "",
      ".file.file_data",
    ],
    ["a stored file", { type: "file", file: { file_id: "file-1" } }, "", ".file.file_url"],
    [
      "a text that is not encoded as it says",
      { type: "file", file: { file_data: "data:text/plain,%" } },
      "",
      ".file.file_data",
    ],
    ["a block nobody knows", { type: "video" }, "", ".type"],
  ])("with %s are rejected by name", (_name, block, code, place) => {
    const error = refusal({ messages: [user("a"), user([text("b"), block])] });
    expect(error).toMatchObject({
      kind: "rejected",
      code: code || "unsupported_value",
      param: `messages[1].content[1]${place}`,
    });
    expect(error.say).toMatch(/\.$/);
  });

  test("of tools become uses and results, results first and their ids in allowed characters", async () => {
    const body = await sent({
      tools: [fn("look"), fn("time")],
      messages: [
        user("a"),
        {
          role: "assistant",
          content: "Looking.",
          tool_calls: [use("call.1:a", "look", '{"x":[1]}'), use("b", "time", ""), use("c", "time", "{}")],
        },
        { role: "tool", tool_call_id: "call.1:a", content: "found" },
        { role: "tool", tool_call_id: "b", content: [text("1"), text("2")] },
        user("and?"),
        { role: "tool", tool_call_id: "c", content: "" },
      ],
    });
    expect(body["messages"]).toEqual([
      user([text("a")]),
      {
        role: "assistant",
        content: [
          text("Looking."),
          { type: "tool_use", id: "call_1_a", name: "look", input: { x: [1] } },
          { type: "tool_use", id: "b", name: "time", input: {} },
          { type: "tool_use", id: "c", name: "time", input: {} },
        ],
      },
      user([
        { type: "tool_result", tool_use_id: "call_1_a", content: [text("found")] },
        { type: "tool_result", tool_use_id: "b", content: [text("1"), text("2")] },
        { type: "tool_result", tool_use_id: "c" },
        text("and?"),
      ]),
    ]);
  });

  test("of tools may contain images", () => {
    const url = `data:image/png;base64,${PNG}`;
    const turns = turnsOf([
      user("a"),
      { role: "assistant", tool_calls: [use("t", "shot", "{}")] },
      { role: "tool", tool_call_id: "t", content: [text("Here:"), { type: "image_url", image_url: { url } }] },
    ]) as { content: { content: unknown }[] }[];
    expect(turns[2]?.content[0]?.content).toEqual([
      text("Here:"),
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
    ]);
  });

  test.each([
    ["arguments that are no JSON", { tool_calls: [use("a", "f", '{"x":')] }, "tool_calls[0].function.arguments"],
    ["arguments that are no object", { tool_calls: [use("a", "f", "[1]")] }, "tool_calls[0].function.arguments"],
    [
      "arguments so deep that writing them again would block us",
      { tool_calls: [use("a", "f", `{"x":${"[".repeat(100)}${"]".repeat(100)}}`)] },
      "tool_calls[0].function.arguments",
    ],
    ["a custom tool's call", { tool_calls: [{ id: "a", type: "custom", custom: {} }] }, "tool_calls[0].type"],
    ["a function's call", { function_call: { name: "f", arguments: "{}" } }, "function_call"],
    ["a spoken answer", { audio: { id: "audio_1" } }, "audio"],
    ["thinking without its signature", { content: "x", thinking_blocks: [{ type: "thinking" }] }, "thinking_blocks[0]"],
  ])("of the assistant with %s are rejected by name", (_name, members, place) => {
    expect(refusal({ messages: [user("a"), { role: "assistant", ...members }, user("b")] })).toMatchObject({
      code: "unsupported_value",
      param: `messages[1].${place}`,
    });
  });

  test("of the function role are rejected by name", () => {
    const messages = [user("a"), { role: "function", name: "f", content: "x" }];
    expect(refusal({ messages }).param).toBe("messages[1].role");
  });

  test("return signed thinking unchanged, before everything else; unsigned reasoning is omitted", async () => {
    const blocks = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "ZGF0YQ==" },
    ];
    const body = await sent({
      messages: [
        user("a"),
        { role: "assistant", content: "b", reasoning_content: "Hm.", thinking_blocks: blocks },
        user("c"),
      ],
    });
    expect(body["messages"]).toMatchObject([{}, { content: [...blocks, text("b")] }, {}]);
  });
});

describe("the order of an answer's blocks", () => {
  const thought = (signature: string) => ({ type: "thinking", thinking: "Hm.", signature });
  const called = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
  const calls = (...ids: string[]) => ids.map((id) => use(id, "f", "{}"));
  const after = (characters: unknown, tool_calls: unknown = 0) => ({ after: { characters, tool_calls } });
  /** Returns the content of the turn that the provider gets. */
  const answered = (members: object): unknown =>
    (turnsOf([user("a"), { role: "assistant", ...members }, user("b")]) as { content: unknown }[])[1]?.content;

  test.each<[string, object, object[]]>([
    [
      "text and calls around the thinking",
      {
        content: "I look. Again.",
        thinking_blocks: [
          thought("s1"),
          { ...thought("s2"), index: 1, ...after(8) },
          { ...thought("s3"), ...after(14, 1) },
        ],
        tool_calls: calls("x", "y"),
      },
      [thought("s1"), text("I look. "), thought("s2"), text("Again."), called("x"), thought("s3"), called("y")],
    ],
    [
      "hidden thinking",
      { content: "a b", thinking_blocks: [{ type: "redacted_thinking", data: "d", ...after(2) }] },
      [text("a "), { type: "redacted_thinking", data: "d" }, text("b")],
    ],
    [
      "places that a client dropped follow the thinking before them",
      { content: "ab", thinking_blocks: [thought("s1"), { ...thought("s2"), ...after(1) }, thought("s3")] },
      [thought("s1"), text("a"), thought("s2"), thought("s3"), text("b")],
    ],
    [
      "places beyond a text that was changed",
      {
        content: "ab",
        thinking_blocks: [thought("s1"), { ...thought("s2"), ...after(99, 99) }],
        tool_calls: calls("x"),
      },
      [thought("s1"), text("ab"), called("x"), thought("s2")],
    ],
    [
      "places that are none",
      {
        content: "ab",
        thinking_blocks: [
          { ...thought("s1"), ...after("1", -1) },
          { ...thought("s2"), after: 7 },
        ],
      },
      [thought("s1"), thought("s2"), text("ab")],
    ],
    [
      "a place inside a character, or before white space alone",
      { content: "a🙂 \n", thinking_blocks: [thought("s1"), { ...thought("s2"), ...after(2) }] },
      [thought("s1"), text("a🙂"), thought("s2")],
    ],
    [
      "a cut text keeps its mark at its end",
      {
        content: [text("one"), { ...text("two three"), cache_control: { type: "ephemeral" } }],
        thinking_blocks: [{ ...thought("s"), ...after(7) }],
      },
      [text("one"), text("two "), thought("s"), { ...text("three"), cache_control: { type: "ephemeral" } }],
    ],
    [
      "the order a message names",
      {
        content: [text("one"), text("two")],
        thinking_blocks: [thought("s1"), thought("s2")],
        tool_calls: calls("x", "y"),
        block_order: ["thinking", "text", "tool_use", "text", "thinking", "tool_use"],
      },
      [thought("s1"), text("one"), called("x"), text("two"), thought("s2"), called("y")],
    ],
  ])("is restored: %s", (_name, members, content) => {
    expect(answered(members)).toEqual(content);
  });

  test.each<[string, unknown]>([
    ["too short", ["text"]],
    ["of other blocks", ["text", "text"]],
    ["of kinds nobody knows", ["image", "text"]],
    ["no list", { length: 2 }],
  ])("that does not match is ignored: %s", (_name, block_order) => {
    const members = { content: "b", thinking_blocks: [thought("s")], block_order };
    expect(answered(members)).toEqual([thought("s"), text("b")]);
  });

  test("puts the mark of a message on a block that allows one", () => {
    const mark = { cache_control: { type: "ephemeral" } };
    const members = { content: "b", thinking_blocks: [{ ...thought("s"), ...after(1) }], ...mark };
    expect(answered(members)).toEqual([{ ...text("b"), ...mark }, thought("s")]);
  });
});

describe("cache marks", () => {
  const mark = { type: "ephemeral" };
  const hour = { type: "ephemeral", ttl: "1h" };

  test("apply to blocks, messages, tools and the system, with their lifetime", () => {
    const body = bodyOf({
      messages: [
        { role: "system", content: [{ ...text("s"), cache_control: hour }] },
        { ...user("a"), cache_control: mark },
        {
          role: "assistant",
          content: "b",
          tool_calls: [{ ...use("t", "f", "{}"), cache_control: { type: "ephemeral", ttl: "5m" } }],
        },
        { role: "tool", tool_call_id: "t", content: [{ ...text("r"), cache_control: mark }] },
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` }, cache_control: hour }],
        },
      ],
      tools: [{ ...fn("f"), cache_control: hour }, fn("g", { cache_control: mark })],
    });
    expect(body["system"]).toEqual([{ ...text("s"), cache_control: hour }]);
    expect(body["messages"]).toMatchObject([
      { content: [{ text: "a", cache_control: mark }] },
      { content: [{ text: "b" }, { type: "tool_use", cache_control: { type: "ephemeral", ttl: "5m" } }] },
      {
        content: [
          { type: "tool_result", content: [text("r")], cache_control: mark },
          { type: "image", cache_control: hour },
        ],
      },
    ]);
    expect(body["tools"]).toMatchObject([{ cache_control: hour }, { cache_control: mark }]);
  });

  test.each([[{ type: "forever" }], [{ type: "ephemeral", ttl: "2h" }], ["ephemeral"]])(
    "without meaning are rejected: %p",
    (cache_control) => {
      expect(refusal({ messages: [user([{ ...text("a"), cache_control }])] })).toMatchObject({
        code: "unsupported_value",
        param: "messages[0].content[0].cache_control",
      });
    },
  );
});

describe("tools", () => {
  const schema = { type: "object", properties: { city: { type: "string", minLength: 2 } }, required: ["city"] };

  test("have name, description and schema; a strict one is bound to the supported schema", async () => {
    const body = await sent({
      tools: [
        fn("f", { description: "Looks.", parameters: schema }),
        fn("g"),
        fn("h", { parameters: schema, strict: true }),
      ],
    });
    expect(body["tools"]).toEqual([
      { name: "f", description: "Looks.", input_schema: schema },
      { name: "g", input_schema: { type: "object", properties: {} } },
      {
        name: "h",
        strict: true,
        input_schema: {
          type: "object",
          properties: { city: { type: "string", description: "minLength: 2" } },
          required: ["city"],
          additionalProperties: false,
        },
      },
    ]);
    expect(body).not.toHaveProperty("tool_choice");
    expect(bodyOf({ tools: [fn("h", { strict: true })] }, { traits: ["json_by_tool"] })["tools"]).toEqual([
      { name: "h", input_schema: { type: "object", properties: {} } },
    ]);
  });

  const named = { type: "function", function: { name: "g" } };
  const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [named] } });

  test.each<[string, object, unknown, string[]]>([
    ["auto", { tool_choice: "auto" }, undefined, ["f", "g"]],
    ["none", { tool_choice: "none", parallel_tool_calls: false }, { type: "none" }, ["f", "g"]],
    ["required", { tool_choice: "required" }, { type: "any" }, ["f", "g"]],
    ["one by name", { tool_choice: named }, { type: "tool", name: "g" }, ["f", "g"]],
    ["some of them", { tool_choice: allowed("auto") }, undefined, ["g"]],
    ["one of some", { tool_choice: allowed("required") }, { type: "any" }, ["g"]],
    ["one at a time", { parallel_tool_calls: false }, { type: "auto", disable_parallel_tool_use: true }, ["f", "g"]],
    [
      "exactly one",
      { tool_choice: "required", parallel_tool_calls: false },
      { type: "any", disable_parallel_tool_use: true },
      ["f", "g"],
    ],
    ["several at a time", { parallel_tool_calls: true }, undefined, ["f", "g"]],
  ])("are chosen: %s", async (_name, request, choice, names) => {
    const body = await sent({ tools: [fn("f"), fn("g")], ...request });
    expect(body["tool_choice"]).toEqual(choice);
    expect((body["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(names);
  });

  test.each([
    ["a custom one", { tools: [{ type: "custom", custom: { name: "c" } }] }, "tools[0].type"],
    ["a choice of one", { tools: [fn("f")], tool_choice: { type: "custom", custom: { name: "c" } } }, "tool_choice"],
    [
      "arguments that are a list",
      { tools: [fn("f", { parameters: { type: "array" } })] },
      "tools[0].function.parameters",
    ],
    [
      "free members where they are to be bound",
      { tools: [fn("f", { strict: true, parameters: { type: "object", additionalProperties: { type: "string" } } })] },
      "tools[0].function.parameters",
    ],
  ])("are rejected by name: %s", (_name, request, param) => {
    expect(refusal(request)).toMatchObject({ code: "unsupported_value", param });
  });

  test("that are empty are not sent", () => {
    expect(Object.keys(bodyOf({ tools: [], tool_choice: "none" }))).toEqual(["model", "max_tokens", "messages"]);
  });
});

describe("a parameter that the family lacks", () => {
  test.each<[string, object]>([
    ["n", { n: 2 }],
    ["logprobs", { logprobs: true }],
    ["top_logprobs", { top_logprobs: 3 }],
    ["logit_bias", { logit_bias: { "50256": -100 } }],
    ["modalities", { modalities: ["text", "audio"] }],
    ["audio", { audio: { voice: "alloy", format: "wav" } }],
    ["prediction", { prediction: { type: "content", content: "x" } }],
    ["web_search_options", { web_search_options: {} }],
    ["verbosity", { verbosity: "low" }],
    ["functions", { functions: [{ name: "f" }] }],
    ["function_call", { function_call: { name: "f" } }],
    ["stop", { stop: ["\n"] }],
    ["top_k", { top_k: 0.5 }],
    ["temperature", { temperature: 1.2 }],
  ])("is rejected by name: %s", (param, request) => {
    const error = refusal(request);
    expect(error).toMatchObject({ kind: "rejected", code: "unsupported_value", param });
    expect(error.say).toMatch(/^[A-Z].*\.$/s);
  });

  test("is ignored if it requests nothing, or changes no answer", () => {
    const body = bodyOf({
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      modalities: ["text"],
      audio: null,
      prediction: null,
      verbosity: "medium",
      functions: [],
      function_call: "auto",
      seed: 7,
      frequency_penalty: 1,
      presence_penalty: 1,
      store: true,
      metadata: { a: "b" },
      prompt_cache_key: "k",
      stop: null,
      response_format: { type: "text" },
    });
    expect(Object.keys(body)).toEqual(["model", "max_tokens", "messages"]);
  });
});

describe("sampling", () => {
  test.each<[string, object, readonly Trait[], object]>([
    ["all of it", { temperature: 0, top_p: 0.5, top_k: 40 }, [], { temperature: 0, top_p: 0.5, top_k: 40 }],
    ["the pair, where it is refused", { temperature: 0.2, top_p: 0.5 }, ["temperature_or_top_p"], { temperature: 0.2 }],
    ["of the pair what says something", { temperature: 1, top_p: 0.5 }, ["temperature_or_top_p"], { top_p: 0.5 }],
    ["what says nothing, where all is refused", { temperature: 1, top_p: 1 }, ["no_sampling"], {}],
    [
      "what thinking allows",
      { temperature: 1, top_p: 0.97, reasoning_effort: "low" },
      [],
      { temperature: 1, top_p: 0.97 },
    ],
  ])("is sent: %s", async (_name, request, traits, expected) => {
    const { temperature, top_p, top_k } = await sent(request, { traits });
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
  });

  test.each<[string, object, readonly Trait[]]>([
    ["temperature", { temperature: 0.5 }, ["no_sampling"]],
    ["top_p", { top_p: 0.5 }, ["no_sampling"]],
    ["top_k", { top_k: 5 }, ["no_sampling"]],
    ["temperature", { temperature: 0.5, reasoning_effort: "low" }, []],
    ["top_p", { top_p: 0.5, reasoning_effort: "low" }, []],
    ["top_k", { top_k: 5, reasoning_effort: "low" }, []],
  ])("is rejected if the model lacks it: %s", (param, request, traits) => {
    expect(refusal(request, traits)).toMatchObject({ code: "unsupported_value", param });
  });

  test("stops at the caller's texts", () => {
    expect(bodyOf({ stop: "END" })["stop_sequences"]).toEqual(["END"]);
    expect(bodyOf({ stop: ["a", "b"] })["stop_sequences"]).toEqual(["a", "b"]);
    expect(bodyOf({ stop: [] })).not.toHaveProperty("stop_sequences");
  });
});

describe("reasoning", () => {
  const adaptive = { type: "adaptive", display: "summarized" };
  const enabled = (budget_tokens: number) => ({ type: "enabled", budget_tokens });

  test.each<[string, readonly Trait[], unknown, unknown]>([
    ["none", [], { type: "disabled" }, undefined],
    ["none", ["reasoning_by_budget"], { type: "disabled" }, undefined],
    ["none", ["no_reasoning"], undefined, undefined],
    ["minimal", [], adaptive, "low"],
    ["low", [], adaptive, "low"],
    ["medium", [], adaptive, "medium"],
    ["high", ["reasoning_always"], adaptive, "high"],
    ["xhigh", [], adaptive, "xhigh"],
    ["xhigh", ["no_xhigh_effort"], adaptive, "max"],
    ["max", ["no_xhigh_effort"], adaptive, "max"],
    ["minimal", ["reasoning_by_budget"], enabled(1_024), undefined],
    ["low", ["reasoning_by_budget"], enabled(2_000), undefined],
    ["medium", ["reasoning_by_budget"], enabled(5_000), undefined],
    ["high", ["reasoning_by_budget"], enabled(8_000), undefined],
  ])("%s with traits %p", async (effort, traits, thinking, sentEffort) => {
    const body = await sent({ reasoning_effort: effort, max_tokens: 10_000 }, { traits });
    expect(body["thinking"]).toEqual(thinking);
    expect((body["output_config"] as Body | undefined)?.["effort"]).toEqual(sentEffort);
  });

  test("has the model's default without a setting", () => {
    for (const request of [{}, { reasoning_effort: null }]) {
      expect(Object.keys(bodyOf(request))).toEqual(["model", "max_tokens", "messages"]);
    }
  });

  test.each<[string, object, readonly Trait[]]>([
    ["a word nobody knows", { reasoning_effort: "toString" }, []],
    ["some, of a model without", { reasoning_effort: "low" }, ["no_reasoning"]],
    ["none, of a model that always does", { reasoning_effort: "none" }, ["reasoning_always"]],
    [
      "with a budget where a tool must be called",
      { reasoning_effort: "low", tools: [fn("f")], tool_choice: "required" },
      ["reasoning_by_budget"],
    ],
  ])("is rejected: %s", (_name, request, traits) => {
    expect(refusal(request, traits)).toMatchObject({ code: "unsupported_value", param: "reasoning_effort" });
  });

  test("is only an effort without a thinking setting, and nothing for models with budgets only", async () => {
    const request = { reasoning_effort: "xhigh", effort_only: true, temperature: 0.5 };
    const body = await sent(request, { traits: ["no_xhigh_effort"] });
    expect(body["output_config"]).toEqual({ effort: "max" });
    expect(body).not.toHaveProperty("thinking");
    const budgeted = bodyOf(request, { traits: ["reasoning_by_budget"] });
    expect(budgeted).not.toHaveProperty("thinking");
    expect(budgeted).not.toHaveProperty("output_config");
    expect(bodyOf({ reasoning_effort: "low", effort_only: "yes" })).toHaveProperty("thinking.type", "adaptive");
  });

  test("is only an effort if a tool must be called", async () => {
    const body = await sent({ reasoning_effort: "high", tools: [fn("f")], tool_choice: "required" });
    expect(body).not.toHaveProperty("thinking");
    expect(body["output_config"]).toEqual({ effort: "high" });
  });

  test("has no budget if the limit leaves no tokens, or a turn was returned without its thinking", async () => {
    const traits = ["reasoning_by_budget"] as const;
    expect(bodyOf({ reasoning_effort: "high", max_tokens: 1_024 }, { traits })).not.toHaveProperty("thinking");
    expect(bodyOf({ reasoning_effort: "high", max_tokens: 1_025 }, { traits })["thinking"]).toEqual(enabled(1_024));
    const turns = (more: object) => [
      user("a"),
      { role: "assistant", tool_calls: [use("t", "f", "{}")], ...more },
      { role: "tool", tool_call_id: "t", content: "r" },
    ];
    const request = (more: object) => ({ reasoning_effort: "low", tools: [fn("f")], messages: turns(more) });
    expect(await sent(request({}), { traits })).not.toHaveProperty("thinking");
    const blocks = [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }];
    expect(await sent(request({ thinking_blocks: blocks }), { traits })).toHaveProperty("thinking.type", "enabled");
    expect(await sent(request({}))).toHaveProperty("thinking.type", "adaptive");
  });
});

describe("JSON answers", () => {
  const schema = { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] };
  const bySchema = (more: object = {}) => ({
    response_format: { type: "json_schema", json_schema: { name: "s", schema, ...more } },
  });

  test("without a schema are requested by instructions, after the caller's own", () => {
    const body = bodyOf({
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Be kind." }, user("hi")],
    });
    expect(body["system"]).toEqual([text("Be kind."), text(expect.stringContaining("JSON object") as string)]);
  });

  test("with a schema are bound to its supported part", async () => {
    const body = await sent({ ...bySchema(), reasoning_effort: "low" });
    expect(body["output_config"]).toEqual({
      effort: "low",
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { a: { type: "integer", description: "minimum: 1" } },
          required: ["a"],
          additionalProperties: false,
        },
      },
    });
  });

  test("need a schema", () => {
    const param = "response_format.json_schema.schema";
    expect(refusal(bySchema({ schema: undefined }))).toMatchObject({ code: "unsupported_value", param });
    expect(refusal(bySchema({ schema: { type: "object" } }))).toMatchObject({ code: "unsupported_value", param });
    expect(refusal(bySchema({ schema: { type: "array" } }), ["json_by_tool"])).toMatchObject({ param });
  });

  test.each<[string, object, readonly string[], unknown]>([
    ["alone", {}, ["json_answer"], { type: "tool", name: "json_answer", disable_parallel_tool_use: true }],
    ["beside tools", { tools: [fn("f")] }, ["f", "json_answer"], { type: "any" }],
    [
      "beside tools that are forbidden",
      { tools: [fn("f")], tool_choice: "none" },
      ["f", "json_answer"],
      { type: "tool", name: "json_answer", disable_parallel_tool_use: true },
    ],
    ["beside a tool that must be called", { tools: [fn("f")], tool_choice: "required" }, ["f"], { type: "any" }],
    ["beside one of its name", { tools: [fn("json_answer")] }, ["json_answer", "json_answer_"], { type: "any" }],
  ])("by tool on older models: %s", async (_name, more, names, choice) => {
    const body = await sent({ ...bySchema({ description: "A sum." }), ...more }, { traits: ["json_by_tool"] });
    expect((body["tools"] as { name: string }[]).map(({ name }) => name)).toEqual([...names]);
    expect(body["tool_choice"]).toEqual(choice);
    expect(body).not.toHaveProperty("output_config");
    if (names.length === 1 && names[0] === "json_answer") {
      expect(body["tools"]).toMatchObject([
        { input_schema: schema, description: expect.stringContaining("A sum.") as string },
      ]);
    }
  });
});

describe("user and service tier", () => {
  const hash = (name: string, workspaceId = chatCall().workspaceId) =>
    new Bun.CryptoHasher("sha256").update(`${workspaceId}:${name}`).digest("hex");

  test("the end user differs in each workspace", () => {
    const metadataIn = (workspaceId: string): unknown => {
      const { body } = messagesRequest({ ...chatCall({ user: "ann" }), workspaceId }, false);
      return (JSON.parse(body) as Body)["metadata"];
    };
    expect(metadataIn("w1")).toEqual({ user_id: hash("ann", "w1") });
    expect(metadataIn("w2")).not.toEqual(metadataIn("w1"));
  });

  test("the end user is a hash of the better of two names", () => {
    expect(bodyOf({ user: "ann@example.com" })["metadata"]).toEqual({ user_id: hash("ann@example.com") });
    expect(bodyOf({ user: "ann", safety_identifier: "s1" })["metadata"]).toEqual({ user_id: hash("s1") });
    expect(bodyOf({ user: "" })).not.toHaveProperty("metadata");
  });

  test("only auto may use capacity of another price", () => {
    expect(bodyOf({ service_tier: "auto" })["service_tier"]).toBe("auto");
    expect(bodyOf({ service_tier: "priority" })["service_tier"]).toBe("auto");
    expect(bodyOf({ service_tier: "default" })["service_tier"]).toBe("standard_only");
    expect(bodyOf({ service_tier: "flex" })["service_tier"]).toBe("standard_only");
    expect(bodyOf({ service_tier: null })).not.toHaveProperty("service_tier");
  });
});
