import { describe, expect, test } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Trait } from "#shared/calls/model.ts";
import { ChunkChoices, wholeChoices } from "#workers/providers/openai-compatible/choices.ts";
import { chatRequest } from "#workers/providers/openai-compatible/request.ts";

type Members = Record<string, unknown>;

const messageOf = (message: Members): unknown => wholeChoices([{ message, finish_reason: "stop" }])[0]?.["message"];

/** The deltas of one choice as they come out, for deltas as a vendor sends them; the last one has ended. */
function deltasOf(...deltas: readonly Members[]): Members[] {
  const choices = new ChunkChoices();
  return deltas.map((delta, at) => {
    const finish_reason = at === deltas.length - 1 ? "tool_calls" : null;
    return choices.read([{ index: 0, delta: structuredClone(delta), finish_reason }])[0]?.["delta"] as Members;
  });
}

const piece = (members: Members): Members => ({ tool_calls: [members] });
const callsOf = (delta: Members | undefined): Members[] => (delta?.["tool_calls"] ?? []) as Members[];

describe("reasoning", () => {
  test("has one name, for every vendor's name", () => {
    expect(messageOf({ content: "a", reasoning: "because" })).toMatchObject({ reasoning_content: "because" });
    expect(messageOf({ content: "a", reasoning: "because" })).not.toHaveProperty("reasoning");
    expect(deltasOf({ reasoning: "be" }, { reasoning: "cause" })).toEqual([
      { reasoning_content: "be" },
      { reasoning_content: "cause" },
    ]);
  });

  test("in blocks beside the text is separated from it", () => {
    const content = [
      {
        type: "thinking",
        thinking: [
          { type: "text", text: "be" },
          { type: "text", text: "cause" },
        ],
      },
      { type: "text", text: "Eight" },
      { type: "text", text: "." },
    ];
    expect(messageOf({ content })).toMatchObject({ content: "Eight.", reasoning_content: "because" });
  });

  test("that is not text stays unchanged, readable for clients", () => {
    const details = [{ type: "reasoning.encrypted", data: "x" }];
    expect(messageOf({ content: "a", reasoning: null, reasoning_details: details })).toMatchObject({
      reasoning_details: details,
    });
  });
});

describe("a tool call", () => {
  test("without an id has one of ours from its first piece", () => {
    const [first, second, third] = deltasOf(
      piece({ index: 0, function: { name: "f", arguments: "{" } }),
      piece({ index: 0, id: "late", function: { arguments: "}" } }),
      piece({ index: 1, id: "b", function: { name: "g", arguments: "{}" } }),
    );
    expect(callsOf(first)).toMatchObject([{ index: 0, id: expect.stringMatching(/^call_[0-9a-f]{32}$/) }]);
    expect(callsOf(second)).toEqual([{ index: 0, function: { arguments: "}" } }]);
    expect(callsOf(third)).toMatchObject([{ index: 1, id: "b" }]);
  });

  test("without arguments joins to an empty object", () => {
    const [, last] = deltasOf(piece({ index: 0, id: "a", function: { name: "f", arguments: "" } }), {});
    expect(callsOf(last)).toEqual([{ index: 0, function: { arguments: "{}" } }]);
  });

  test("without arguments in its only piece, which ends the answer, does too", () => {
    const [only] = deltasOf(piece({ index: 0, id: "a", function: { name: "f" } }));
    const texts = callsOf(only).map((call) => (call["function"] as { arguments?: string }).arguments ?? "");
    expect(texts.join("")).toBe("{}");
  });

  test("with arguments is unchanged", () => {
    const [, last] = deltasOf(piece({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }), {});
    expect(last).not.toHaveProperty("tool_calls");
  });

  test("of a plain answer has an id and a type", () => {
    expect(messageOf({ tool_calls: [{ function: { name: "f", arguments: "{}" } }] })).toMatchObject({
      tool_calls: [{ id: expect.stringMatching(/^call_/), type: "function" }],
    });
  });
});

describe("members for the next turn of other families", () => {
  const messages = [
    { role: "user", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] },
    {
      role: "assistant",
      content: null,
      reasoning_content: "because",
      thinking_blocks: [{ type: "thinking", signature: "s" }],
      reasoning_details: [{ type: "reasoning.encrypted", data: "x" }],
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: "{}" }, extra_content: { google: {} } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "1" },
  ] as unknown as ChatCompletionRequest["messages"];

  const sent = (...traits: readonly Trait[]): Members[] => {
    const call = {
      request: { model: "m", messages },
      sourceModel: "m",
      adapt: () => undefined,
      traits: new Set(traits),
    };
    return (JSON.parse(chatRequest(call, false).body) as { messages: Members[] }).messages;
  };

  test("are omitted: servers reject unknown members", () => {
    expect(sent()).toEqual([
      { role: "user", content: [{ type: "text", text: "a" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: "1" },
    ]);
  });

  test("are sent if the catalogue declares support", () => {
    const [user, assistant] = sent("cache_control", "reasoning_back");
    expect(user).toMatchObject({ content: [{ cache_control: { type: "ephemeral" } }] });
    expect(assistant).toMatchObject({ reasoning_content: "because" });
    expect(assistant).not.toHaveProperty("reasoning_details");
    const [, other] = sent("reasoning_details_back");
    expect(other).toMatchObject({ reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] });
    expect(other).not.toHaveProperty("reasoning_content");
  });

  test("stay in the caller's own request, which a fallback reads again", () => {
    sent();
    expect(messages[1]).toHaveProperty("thinking_blocks");
  });
});

describe("parallel calls without ids under one number", () => {
  type Piece = { name?: string; arguments?: string | null };
  /** Returns name and arguments of each call, joined as clients join them. */
  const joined = (...pieces: Piece[]): string[] => {
    const choices = new ChunkChoices();
    const calls = new Map<number, { id: unknown; text: string }>();
    for (const piece of pieces) {
      const delta = { tool_calls: [{ index: 0, function: piece }] };
      const [choice] = choices.read([{ index: 0, delta, finish_reason: null }]);
      const told = choice?.["delta"] as { tool_calls?: { index: number; id?: string; function: Piece }[] } | undefined;
      for (const { index, id, function: fn } of told?.tool_calls ?? []) {
        const known = calls.get(index) ?? { id, text: "" };
        calls.set(index, {
          ...known,
          text: `${known.text}${fn.name === undefined ? "" : `${fn.name}:`}${fn.arguments ?? ""}`,
        });
      }
    }
    expect(new Set([...calls.values()].map(({ id }) => id)).size).toBe(calls.size);
    return [...calls.values()].map(({ text }) => text);
  };
  const paris = '{"city":"Paris"}';
  const london = '{"city":"London"}';
  const cut = london.slice(0, 5);
  const rest = london.slice(5);

  test.each([
    ["whole in one piece each", [{ name: "f", arguments: paris }, { name: "g", arguments: london }], [`f:${paris}`, `g:${london}`]],
    ["of one function", [{ name: "f", arguments: paris }, { name: "f", arguments: london }], [`f:${paris}`, `f:${london}`]],
    ["name first", [{ name: "f", arguments: "" }, { arguments: paris }, { name: "g" }, { arguments: cut }, { arguments: rest }], [`f:${paris}`, `g:${london}`]],
    ["name first, of one function", [{ name: "f", arguments: "" }, { arguments: paris }, { name: "f", arguments: "" }, { arguments: cut }, { arguments: rest }], [`f:${paris}`, `f:${london}`]],
    ["in pieces that split the first", [{ name: "f", arguments: cut }, { arguments: rest }, { name: "g", arguments: paris }], [`f:${london}`, `g:${paris}`]],
    ["the first without arguments", [{ name: "f", arguments: null }, { name: "g", arguments: paris }], ["f:", `g:${paris}`]],
  ] as [string, Piece[], string[]][])("are separated: %s", (_name, pieces, calls) => {
    expect(joined(...pieces)).toEqual(calls);
  }); // prettier-ignore

  test("stay one call if its name is repeated with its pieces", () => {
    const pieces = [
      { name: "f", arguments: cut },
      { name: "f", arguments: rest },
      { name: "f", arguments: "" },
    ];
    expect(joined(...pieces)).toHaveLength(1);
  });
});
