import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { validate } from "#shared/json/contracts.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { createAnthropicRendering } from "#workers/calls/chat/anthropic-render.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { BLOCKS_WAITING_CHARACTERS_MAX } from "#workers/calls/chat/anthropic-blocks.ts";

import { type Block, readStream } from "./anthropic-stream-grammar.ts";

const JOB = "0199a5b2-7e1d-7000-8000-00000000000a";
const ID = JOB.replaceAll("-", "");
const open = (stops: readonly string[] = []) => createAnthropicRendering({ jobId: JOB, model: "our-slug", stops });

const USAGE: TokenUsage = {
  ...NO_USAGE,
  input: 10,
  imageInput: 4,
  cachedInput: 5,
  cacheWrite5m: 2,
  cacheWrite1h: 1,
  output: 8,
  reasoning: 3,
};

type Delta = Record<string, unknown>;
const choices = (delta: Delta, finish: string | null = null, more: Delta = {}) => [
  { index: 0, delta, finish_reason: finish, ...more },
];
const call = (index: number, args: string, head?: { id?: string; name: string }): Delta => ({
  tool_calls: [
    {
      index,
      ...(head?.id === undefined ? {} : { id: head.id }),
      function: { ...(head === undefined ? {} : { name: head.name }), arguments: args },
    },
  ],
});

/** The whole text of a stream of deltas that ends well. */
function play(deltas: readonly Delta[], finish = "stop", more: Delta = {}, stops: readonly string[] = []): string {
  const rendering = open(stops);
  let text = "";
  for (const delta of deltas) text += rendering.chunk({ choices: choices(delta) });
  return text + rendering.chunk({ choices: choices({}, finish, more) }) + rendering.end(USAGE);
}

const blocksOf = (...args: Parameters<typeof play>): readonly Block[] => readStream(play(...args)).content;
const plain = (message: Delta, finish: string, more: Delta = {}, stops: readonly string[] = []) =>
  JSON.parse(
    open(stops).completion({ choices: [{ index: 0, message, finish_reason: finish, ...more }], usage: null }, USAGE),
  ) as Record<string, unknown>;

/** Arguments that would block us for seconds if they were much deeper. */
const DEEP = `{"x":${"[".repeat(100)}${"]".repeat(100)}}`;

/** Usage in a whole message. */
const WHOLE_USAGE = plain({ content: "" }, "stop")["usage"] as Record<string, unknown>;

describe("a plain message", () => {
  test("is Anthropic's object under our id and the model's slug, with the four counts separate", () => {
    const message = plain({ role: "assistant", content: "hi" }, "stop");
    expect(message).toMatchObject({
      id: `msg_${ID}`,
      type: "message",
      role: "assistant",
      model: "our-slug",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 14,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
        output_tokens: 8,
        output_tokens_details: { thinking_tokens: 3 },
      },
    });
    expect(validate("Message", message)).toBeNull();
  });

  test.each<[string, string, Delta, Delta, string]>([
    ["stop", "stop", {}, {}, "end_turn"],
    ["length", "length", {}, {}, "max_tokens"],
    ["a filter", "content_filter", {}, {}, "refusal"],
    ["a refusal in words", "stop", { refusal: "No." }, {}, "refusal"],
    ["calls", "tool_calls", { tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] }, {}, "tool_use"],
    ["a call demanded by name", "stop", { tool_calls: [{ function: { name: "f" } }] }, {}, "tool_use"],
    ["a call cut by the limit", "length", { tool_calls: [{ function: { name: "f" } }] }, {}, "max_tokens"],
    ["a stop text, as vLLM tells it", "stop", {}, { stop_reason: "END" }, "stop_sequence"],
    ["a stop text, as Anthropic tells it", "stop", {}, { stop_sequence: "END" }, "stop_sequence"],
    ["a stop text the client never gave", "stop", {}, { stop_reason: "</s>" }, "end_turn"],
    ["a stop token's number", "stop", {}, { stop_reason: 128_001 }, "end_turn"],
  ])("has its stop reason: %s", (_name, finish, message, more, reason) => {
    const whole = plain({ content: "x", ...message }, finish, more, ["END"]);
    expect(whole["stop_reason"]).toBe(reason);
    expect(whole["stop_sequence"]).toBe(reason === "stop_sequence" ? "END" : null);
    expect(validate("Message", whole)).toBeNull();
    // The stream of the same answer says the same.
    const streamed = readStream(play([{ content: "x" }, message], finish, more, ["END"]));
    expect([streamed.stop_reason, streamed.stop_sequence]).toEqual([reason, whole["stop_sequence"]]);
  });

  test.each<[string, Delta, Delta[]]>([
    ["nothing", { content: null }, []],
    ["an empty text", { content: "" }, []],
    [
      "thinking that nobody signed",
      { content: "b", reasoning_content: "a" },
      [
        { type: "thinking", thinking: "a", signature: "" },
        { type: "text", text: "b" },
      ],
    ],
    [
      "signed thinking, said once",
      { content: "b", reasoning_content: "a", thinking_blocks: [{ type: "thinking", thinking: "a", signature: "s" }] },
      [
        { type: "thinking", thinking: "a", signature: "s" },
        { type: "text", text: "b" },
      ],
    ],
    [
      "hidden thinking beside a readable thought",
      { content: "b", reasoning_content: "a", thinking_blocks: [{ type: "redacted_thinking", data: "d" }] },
      [
        { type: "thinking", thinking: "a", signature: "" },
        { type: "redacted_thinking", data: "d" },
        { type: "text", text: "b" },
      ],
    ],
    [
      "thinking where it stood",
      {
        content: "b c",
        reasoning_content: "xyz",
        thinking_blocks: [
          { type: "thinking", thinking: "x", signature: "s" },
          { type: "thinking", thinking: "y", signature: "t", after: { characters: 2, tool_calls: 0 } },
          { type: "redacted_thinking", data: "d", after: { characters: 3, tool_calls: 1 } },
        ],
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
          { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
        ],
      },
      [
        { type: "thinking", thinking: "x", signature: "s" },
        { type: "text", text: "b " },
        { type: "thinking", thinking: "y", signature: "t" },
        { type: "text", text: "c" },
        { type: "tool_use", id: "a", name: "f", input: {} },
        { type: "redacted_thinking", data: "d" },
        { type: "tool_use", id: "b", name: "f", input: {} },
      ],
    ],
    ["white space alone", { content: "\n" }, [{ type: "text", text: "\n" }]],
    [
      "blocks as Mistral sends them",
      {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "a" }] },
          { type: "text", text: "b" },
        ],
      },
      [
        { type: "thinking", thinking: "a", signature: "" },
        { type: "text", text: "b" },
      ],
    ],
    [
      "calls with arguments of every kind",
      {
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: '{"x":1,"__proto__":{"y":2}}' } },
          { id: "b", type: "function", function: { name: "f", arguments: "" } },
          { id: "c", type: "function", function: { name: "f", arguments: '{"cut' } },
          { id: "d", type: "function", function: { name: "f", arguments: "[1]" } },
          { type: "function", function: { name: "f", arguments: "{}" } },
          { id: "e", type: "function", function: { name: "f", arguments: DEEP } },
        ],
      },
      [
        { type: "tool_use", id: "a", name: "f", input: JSON.parse('{"x":1,"__proto__":{"y":2}}') as Delta },
        { type: "tool_use", id: "b", name: "f", input: {} },
        { type: "tool_use", id: "c", name: "f", input: { INVALID_JSON: '{"cut' } },
        { type: "tool_use", id: "d", name: "f", input: { INVALID_JSON: "[1]" } },
        { type: "tool_use", id: `toolu_${ID}4`, name: "f", input: {} },
        { type: "tool_use", id: "e", name: "f", input: { INVALID_JSON: DEEP } },
      ],
    ],
    ["shapes that mean nothing", { content: 7, tool_calls: "x", thinking_blocks: [null, 3], reasoning: {} }, []],
  ])("contains %s", (_name, message, content) => {
    const whole = plain(message, "stop");
    expect(whole["content"]).toEqual(content);
    expect(validate("Message", whole)).toBeNull();
  });

  test("fails with an unnamed call, since it cannot be executed", () => {
    expect(() => plain({ tool_calls: [{ id: "a", function: { arguments: "{}" } }] }, "tool_calls")).toThrow(ProviderError); // prettier-ignore
  });

  test("never counts a token twice", () => {
    const sum = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map(
      (name) => WHOLE_USAGE[name],
    );
    expect(sum.reduce<number>((total, one) => total + Number(one), 0)).toBe(22);
  });
});

describe("a stream", () => {
  test("starts with the message and a ping, and ends with usage and message_stop, never with [DONE]", () => {
    const text = play([{ role: "assistant", content: "" }, { content: "a" }, { content: "b" }]);
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(text).not.toContain("[DONE]");
    const message = readStream(text);
    expect(message.id).toBe(`msg_${ID}`);
    expect(message.startUsage["output_tokens"]).toBe(0);
    expect(message.usage).toEqual(WHOLE_USAGE);
  });

  test("starts with the usage of the first delta", () => {
    const rendering = open();
    const text = rendering.chunk({ choices: choices({ content: "a" }), usage: USAGE }) + rendering.end(USAGE);
    const { credits: _atEndOnly, ...usage } = WHOLE_USAGE;
    expect(readStream(text).startUsage).toEqual(usage);
  });

  test("starts with the source's known input, if it is all", () => {
    const rendering = open();
    const inputUsage = { ...USAGE, output: 0, reasoning: 0 };
    const text = rendering.chunk({ choices: choices({ role: "assistant" }), inputUsage }) + rendering.end(USAGE);
    const { startUsage, usage } = readStream(text);
    expect(startUsage).toMatchObject({ input_tokens: 14, cache_read_input_tokens: 5, output_tokens: 0 });
    expect(usage).toEqual(WHOLE_USAGE);
  });

  test("without content is still a complete message", () => {
    expect(readStream(open().end(USAGE)).content).toEqual([]);
  });

  test("sends text, thinking and calls as separate blocks, in their order", () => {
    const deltas = [
      { reasoning_content: "a" },
      { reasoning_content: "b" },
      { content: "c" },
      call(0, "", { id: "x", name: "f" }),
      call(0, '{"p":'),
      call(0, "1}"),
      { content: "d" },
    ];
    expect(blocksOf(deltas)).toEqual([
      { type: "thinking", thinking: "ab", signature: "" },
      { type: "text", text: "c" },
      { type: "tool_use", id: "x", name: "f", input: '{"p":1}' },
      { type: "text", text: "d" },
    ]);
  });

  test("sends consecutive calls without delay", () => {
    const rendering = open();
    rendering.chunk({ choices: choices(call(0, '{"a":"}"', { id: "x", name: "f" })) });
    rendering.chunk({ choices: choices(call(0, "}")) });
    const next = rendering.chunk({ choices: choices(call(1, '{"b', { id: "y", name: "g" })) });
    expect(next).toContain("content_block_stop");
    expect(next).toContain('"partial_json":"{\\"b"');
  });

  test("delays interleaved calls until the open one ends, and sends each of them completely", () => {
    const deltas = [
      call(0, "{", { id: "x", name: "f" }),
      call(1, "{", { id: "y", name: "g" }),
      { content: "meanwhile" },
      call(0, '"a":1'),
      call(1, '"b":2'),
      call(0, "}"),
      call(1, "}"),
    ];
    expect(blocksOf(deltas, "tool_calls")).toEqual([
      { type: "tool_use", id: "x", name: "f", input: '{"a":1}' },
      { type: "tool_use", id: "y", name: "g", input: '{"b":2}' },
      { type: "text", text: "meanwhile" },
    ]);
  });

  test.each<[string, Delta[], Block[]]>([
    [
      "repeated whole",
      [{ thinking_blocks: [{ type: "thinking", thinking: "ab", signature: "s" }] }],
      [{ type: "thinking", thinking: "ab", signature: "s" }],
    ],
    [
      "alone, behind the pieces",
      [{ thinking_blocks: [{ type: "thinking", thinking: "", signature: "s" }] }],
      [{ type: "thinking", thinking: "ab", signature: "s" }],
    ],
    [
      "with the last piece",
      [{ reasoning_content: "c", thinking_blocks: [{ type: "thinking", thinking: "c", signature: "s" }] }],
      [{ type: "thinking", thinking: "abc", signature: "s" }],
    ],
    [
      "with what had not come yet",
      [{ thinking_blocks: [{ type: "thinking", thinking: "abc", signature: "s" }] }],
      [{ type: "thinking", thinking: "abc", signature: "s" }],
    ],
    [
      "of another block, hidden ones between",
      [
        {
          thinking_blocks: [
            { type: "thinking", thinking: "ab", signature: "s" },
            { type: "redacted_thinking", data: "d" },
            { type: "thinking", thinking: "z", signature: "t" },
          ],
        },
      ],
      [
        { type: "thinking", thinking: "ab", signature: "s" },
        { type: "redacted_thinking", data: "d" },
        { type: "thinking", thinking: "z", signature: "t" },
      ],
    ],
    [
      "missing, the words said twice",
      [{ reasoning_content: "c", thinking_blocks: [{ type: "thinking", thinking: "c" }] }],
      [{ type: "thinking", thinking: "abc", signature: "" }],
    ],
  ])("signs thinking: the signature %s", (_name, deltas, blocks) => {
    expect(blocksOf([{ reasoning_content: "a" }, { reasoning_content: "b" }, ...deltas])).toEqual(blocks);
  });

  test("signs redacted thinking", () => {
    const signed = { thinking_blocks: [{ type: "thinking", thinking: "", signature: "s" }] };
    expect(blocksOf([signed, { content: "a" }])).toEqual([
      { type: "thinking", thinking: "", signature: "s" },
      { type: "text", text: "a" },
    ]);
  });

  test("adds a missing call id, and ignores white space after its end", () => {
    const blocks = blocksOf([call(0, "{}", { name: "f" }), call(1, "", { name: "g" }), call(0, "\n")], "tool_calls");
    expect(blocks).toEqual([
      { type: "tool_use", id: `toolu_${ID}0`, name: "f", input: "{}" },
      { type: "tool_use", id: `toolu_${ID}1`, name: "g", input: "" },
    ]);
  });

  test("ignores other choices than the first", () => {
    const rendering = open();
    const text =
      rendering.chunk({ choices: [{ index: 1, delta: { content: "no" }, finish_reason: "length" }] }) +
      rendering.chunk({ choices: choices({ content: "yes" }, "stop") }) +
      rendering.end(USAGE);
    expect(readStream(text)).toMatchObject({ content: [{ type: "text", text: "yes" }], stop_reason: "end_turn" });
  });

  test("fails when a call continues after its end, has no name, or too much must wait", () => {
    const late = [call(0, "{}", { id: "x", name: "f" }), call(1, "{", { id: "y", name: "g" }), call(0, "{}")];
    expect(() => play(late)).toThrow(ProviderError);
    expect(() => play([call(0, "{}")])).toThrow(ProviderError);
    const half = "x".repeat(BLOCKS_WAITING_CHARACTERS_MAX / 2);
    const first = call(0, "{", { id: "x", name: "f" });
    const flood = [first, call(1, `{"a":"${half}`, { id: "y", name: "g" }), call(1, half)];
    expect(() => play(flood)).toThrow(ProviderError);
    // The open block waits for nobody.
    expect(() => play([call(0, `{"a":"${half}`, { id: "x", name: "f" }), call(0, half), call(0, half)])).not.toThrow();
  });

  const words = fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constant("data: [DONE]\n\n"), fc.constant(""));
  const piece = fc.oneof(
    words.map((text): Delta => ({ content: text })),
    words.map((text): Delta => ({ reasoning_content: text })),
    words.map((text): Delta => ({ refusal: text })),
    fc
      .tuple(words, fc.constantFrom("s", ""))
      .map(([thinking, signature]): Delta => ({ thinking_blocks: [{ type: "thinking", thinking, signature }] })),
    words.map((data): Delta => ({ thinking_blocks: [{ type: "redacted_thinking", data }] })),
    // What this test leaves out, calls that go on behind their end, is above.
    fc
      .tuple(fc.nat(3), fc.constantFrom('"', "\\", "[", "a", "{", ":"), fc.boolean())
      .map(([index, text, hasName]): Delta => call(index, `{${text}`, hasName ? { name: `f${index}` } : undefined)),
    fc.constant<Delta>({ role: "assistant", content: null, tool_calls: null }),
  );

  test("has the same grammar for any input, and loses nothing of it", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (deltas) => {
        const named = [0, 1, 2, 3].map((index) => call(index, "", { name: `g${index}` }));
        const message = readStream(play([...deltas, ...named], "tool_calls"));
        const all = (kind: string, member: string): string =>
          message.content.map((block) => (block.type === kind ? String(block[member]) : "")).join("");
        const came = (member: string): string =>
          deltas.map((delta) => (typeof delta[member] === "string" ? delta[member] : "")).join("");
        const said = deltas.map((delta) => delta["content"] ?? delta["refusal"]);
        expect(all("text", "text")).toBe(said.filter((text) => typeof text === "string").join(""));
        expect(all("thinking", "thinking").length).toBeGreaterThanOrEqual(came("reasoning_content").length);
        for (const index of [0, 1, 2, 3]) {
          const mine = deltas.flatMap((delta) => (delta["tool_calls"] ?? []) as { index: number; function: Delta }[]);
          const text = mine.filter((one) => one.index === index).map((one) => String(one.function["arguments"]));
          const inputs = message.content.filter((block) => block.type === "tool_use").map(({ input }) => input);
          expect(inputs).toContain(text.join(""));
        }
      }),
      { numRuns: 500 },
    );
  });

  const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
  const stepsOf = (inputs: readonly object[]) => fc.array(fc.nat(inputs.length - 1), { maxLength: 200 });

  test("sends calls completely and in order, for any mix of their pieces", () => {
    const mixed = fc.array(json, { minLength: 1, maxLength: 4 }).chain((inputs) => fc.tuple(fc.constant(inputs), stepsOf(inputs))); // prettier-ignore
    fc.assert(
      fc.property(mixed, fc.integer({ min: 1, max: 7 }), ([inputs, steps], size) => {
        const rest = inputs.map((input) => JSON.stringify(input));
        const deltas = inputs.map((_input, index) => call(index, "", { id: `id${index}`, name: "f" }));
        const take = (index: number, length: number): void => {
          const text = rest[index] ?? "";
          rest[index] = text.slice(length);
          if (text !== "") deltas.push(call(index, text.slice(0, length)));
        };
        for (const index of steps) take(index, size);
        for (const index of inputs.keys()) take(index, Infinity);
        const blocks = blocksOf(deltas, "tool_calls");
        expect(blocks.map(({ id }) => id)).toEqual(inputs.map((_input, index) => `id${index}`));
        expect(blocks.map(({ input }) => String(input))).toEqual(inputs.map((input) => JSON.stringify(input)));
      }),
      { numRuns: 300 },
    );
  });
});
