import { describe, expect, test } from "bun:test";

import type { Trait } from "#shared/calls/model.ts";
import { messagesRequest } from "#workers/providers/anthropic/request.ts";
import { chatRequest as geminiRequest } from "#workers/providers/gemini/request.ts";
import { chatRequest } from "#workers/providers/openai-compatible/request.ts";

import { chatCall } from "./engine/calls.ts";

type Turn = Record<string, unknown>;

const SYSTEM = { role: "system", content: "Be kind." } as const;
const LATE = { role: "system", content: "Now in French." } as const;
const REMINDER = "<system-reminder>\nNow in French.\n</system-reminder>";
const user = (content: string) => ({ role: "user", content }) as const;
const assistant = (content: string) => ({ role: "assistant", content }) as const;
const text = (said: string) => ({ type: "text", text: said });
const called = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
} as const;
const result = { role: "tool", tool_call_id: "a", content: "18" } as const;
const calledBlocks = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] };
const resultBlock = { type: "tool_result", tool_use_id: "a", content: [text("18")] };

function bodyOf(
  request: (call: ReturnType<typeof chatCall>) => { body: string },
  messages: readonly object[],
  traits: readonly Trait[],
): Turn {
  return JSON.parse(request(chatCall({ messages }, { traits })).body) as Turn;
}

const anthropic = (messages: readonly object[], ...traits: readonly Trait[]) =>
  bodyOf((call) => messagesRequest(call, false), messages, traits);
const openai = (messages: readonly object[], ...traits: readonly Trait[]) =>
  bodyOf((call) => chatRequest(call, false), messages, traits);
const gemini = (messages: readonly object[]) => bodyOf((call) => geminiRequest(call, false), messages, []);

describe("instructions in the middle of a conversation", () => {
  const turns: [string, readonly object[]][] = [
    ["behind a question", [user("hi"), LATE]],
    ["before a question", [user("hi"), assistant("ho"), LATE, user("go")]],
    ["behind a tool's result", [user("hi"), called, result, LATE]],
    ["before a tool's result", [user("hi"), called, LATE, result]],
  ];
  const families: [string, (messages: readonly object[]) => unknown[]][] = [
    ["Anthropic", (messages) => lists(anthropic(messages), "system", "messages")],
    ["Anthropic, system_first", (messages) => lists(anthropic(messages, "system_first"), "system", "messages")],
    ["Gemini", (messages) => lists(gemini(messages), "systemInstruction", "contents")],
    ["OpenAI", (messages) => lists(openai(messages), "messages")],
    ["OpenAI, system_first", (messages) => lists(openai(messages, "system_first"), "messages")],
  ];
  const cases = families.flatMap(([name, sent]) =>
    turns.map(([place, messages]): [string, typeof sent, typeof messages] => [`${name}, ${place}`, sent, messages]),
  );

  test.each(cases)("change no earlier part of the request: %s", (_name, sent, messages) => {
    const before = sent([SYSTEM, ...messages.slice(0, 1)]);
    const first = sent([SYSTEM, ...messages]);
    const second = sent([SYSTEM, ...messages, assistant("oui"), user("and?")]);
    expect(first[0]).toEqual(before[0]);
    expect(second.slice(0, first.length)).toEqual(first);
  });

  test("stay a separate message for a Claude model that accepts them", () => {
    const late = { role: "system", content: [text("Now in French.")] };
    expect(anthropic([user("hi"), LATE, assistant("oui"), user("go")])["messages"]).toEqual([
      { role: "user", content: [text("hi")] },
      late,
      { role: "assistant", content: [text("oui")] },
      { role: "user", content: [text("go")] },
    ]);
    expect(anthropic([user("hi"), called, LATE, result])["messages"]).toEqual([
      { role: "user", content: [text("hi")] },
      calledBlocks,
      { role: "user", content: [resultBlock] },
      late,
    ]);
  });

  test.each<[string, readonly Trait[], readonly object[], unknown]>([
    [
      "behind an answer",
      [],
      [user("hi"), assistant("ho"), LATE, user("go")],
      [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("ho")] },
        { role: "user", content: [text(REMINDER), text("go")] },
      ],
    ],
    [
      "of an older model",
      ["system_first"],
      [user("hi"), LATE],
      [{ role: "user", content: [text("hi"), text(REMINDER)] }],
    ],
    [
      "between two questions",
      [],
      [user("hi"), LATE, user("go")],
      [{ role: "user", content: [text("hi"), text(REMINDER), text("go")] }],
    ],
  ])("become text of the user's turn for a Claude model that rejects them: %s", (_name, traits, messages, sent) => {
    expect(anthropic(messages, ...traits)["messages"]).toEqual(sent);
  });

  test("become text of the user's message for sources that accept them only first", () => {
    expect(openai([user("hi"), LATE, assistant("oui"), LATE, user("go")], "system_first")["messages"]).toEqual([
      user(`hi\n\n${REMINDER}`),
      assistant("oui"),
      user(`${REMINDER}\n\ngo`),
    ]);
    expect(openai([user("hi"), called, LATE, result], "system_first")["messages"]).toEqual([
      user("hi"),
      called,
      result,
      user(REMINDER),
    ]);
    expect(gemini([user("hi"), LATE])["contents"]).toEqual([
      { role: "user", parts: [{ text: "hi" }, { text: REMINDER }] },
    ]);
  });

  test("with a mark get no second one", () => {
    expect(gemini([user("hi"), { role: "developer", content: REMINDER }])["contents"]).toEqual([
      { role: "user", parts: [{ text: "hi" }, { text: REMINDER }] },
    ]);
  });
});

/** Members of a body in the order in which a prompt cache reads them, a conversation message by message. */
function lists(body: Turn, ...names: readonly string[]): unknown[] {
  return names.flatMap((name) => {
    const value = body[name];
    return Array.isArray(value) && name !== "system" ? (value as unknown[]) : [value];
  });
}
