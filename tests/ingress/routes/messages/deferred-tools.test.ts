/** Tools that the model is shown only after the client's own search has found them, from the client's body to the provider's. */
import { describe, expect, test } from "bun:test";

import { chatRequestOf } from "#ingress/routes/messages/translate.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { chatCall } from "#tests/providers/engine/calls.ts";
import { checkMessages } from "#tests/providers/anthropic/check-request.ts";
import { messagesRequest } from "#workers/providers/anthropic/request.ts";
import type { JsonRequest } from "#workers/providers/http.ts";
import { chatRequest as geminiRequest } from "#workers/providers/gemini/request.ts";
import { chatRequest as openaiRequest } from "#workers/providers/openai-compatible/request.ts";

type Members = Record<string, unknown>;

const search = { name: "search", input_schema: { type: "object" } };
const deferred = (name: string, more: Members = {}) => ({ ...search, name, defer_loading: true, ...more });
const reference = (tool_name: string) => ({ type: "tool_reference", tool_name });
const text = (said: string) => ({ type: "text", text: said });
const mark = { type: "ephemeral" };

const ASKED = { role: "user", content: [text("hi")] };
const use = { type: "tool_use", id: "s", name: "search", input: {} };
const result = (content: readonly Members[], more: Members = {}) => ({ type: "tool_result", tool_use_id: "s", content, ...more }); // prettier-ignore
const found = (...content: Members[]) => [
  ASKED,
  { role: "assistant", content: [use] },
  { role: "user", content: [result(content)] },
];

function sentBy(request: (call: ReturnType<typeof chatCall>) => JsonRequest, body: Members) {
  const asked = chatRequestOf(parse("MessagesRequest", { model: "m", max_tokens: 100, messages: [ASKED], ...body }));
  const { body: sent, headers = {} } = request(chatCall(asked.request));
  return { body: JSON.parse(sent) as Members, headers };
}
function anthropic(body: Members) {
  const sent = sentBy((call) => messagesRequest(call, false), body);
  expect(checkMessages("application/json", sent.body)).toBeNull();
  return sent;
}

describe("at Anthropic", () => {
  test("tools and search results reach the provider as the client sent them", () => {
    const tools = [search, deferred("one"), deferred("two")];
    const messages = found(reference("one"), reference("two"));
    const { body, headers } = anthropic({ tools, messages });
    expect(body).toMatchObject({ tools, messages });
    expect(headers).toEqual({ "anthropic-beta": "advanced-tool-use-2025-11-20" });
  });

  test("a call without deferred tools has no field for them", () => {
    const { body, headers } = anthropic({ tools: [search, { ...deferred("one"), defer_loading: false }] });
    expect(JSON.stringify(body)).not.toContain("defer_loading");
    expect(headers).toEqual({});
  });

  test("a search that finds one more tool changes no earlier part of the request", () => {
    const before = anthropic({ tools: [search] }).body;
    const after = anthropic({ tools: [search, deferred("one")], messages: found(reference("one")) }).body;
    const shown = (after["tools"] as Members[]).filter((tool) => tool["defer_loading"] !== true);
    expect(shown).toEqual(before["tools"] as Members[]);
    expect((after["messages"] as Members[]).slice(0, 1)).toEqual(before["messages"] as Members[]);
  });

  test("text beside references follows the results, and a cache mark stays", () => {
    const content = [reference("one"), text("found")];
    const messages = [...found().slice(0, 2), { role: "user", content: [result(content, { cache_control: mark })] }];
    const { body } = anthropic({ tools: [search, deferred("one")], messages });
    expect((body["messages"] as Members[]).at(-1)).toEqual({
      role: "user",
      content: [result([reference("one")], { cache_control: mark }), text("found")],
    });
  });

  test.each<[string, readonly Members[], readonly Members[]]>([
    ["to a tool that is not offered", [search, deferred("two")], [reference("one"), text("found")]],
    ["to a tool that is shown already", [search, { ...search, name: "one" }], [reference("one"), text("found")]],
  ])("a reference %s is omitted, as the provider would reject it", (_name, tools, content) => {
    const { body } = anthropic({ tools, messages: found(...content) });
    expect((body["messages"] as Members[]).at(-1)).toEqual({ role: "user", content: [result([text("found")])] });
  });

  test("with only deferred tools all are listed, since the provider rejects such a request", () => {
    const { body, headers } = anthropic({ tools: [deferred("one"), deferred("two")] });
    expect([JSON.stringify(body).includes("defer_loading"), headers]).toEqual([false, {}]);
  });

  test("tools that only a search at Anthropic could find are listed immediately", () => {
    const served = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
    expect(anthropic({ tools: [served, search, deferred("one")] }).body["tools"]).toEqual([
      search,
      { ...search, name: "one" },
    ]);
  });

  test("a cache mark on a deferred tool is omitted, as the provider would reject it", () => {
    const { body } = anthropic({ tools: [search, deferred("one", { cache_control: mark })] });
    expect(body["tools"]).toEqual([search, deferred("one")]);
  });

  test("a result without text keeps its cache mark", () => {
    const messages = [...found().slice(0, 2), { role: "user", content: [result([], { cache_control: mark })] }];
    const { body } = anthropic({ tools: [search], messages });
    expect((body["messages"] as Members[]).at(-1)).toMatchObject({ content: [{ cache_control: mark }] });
  });
});

test.each([
  ["OpenAI", (call: ReturnType<typeof chatCall>) => openaiRequest(call, false)],
  ["Gemini", (call: ReturnType<typeof chatCall>) => geminiRequest(call, false)],
])("at %s every tool is listed, and references are omitted", (_name, request) => {
  const sent = JSON.stringify(
    sentBy(request, { tools: [search, deferred("one")], messages: found(reference("one"), text("said")) }).body,
  );
  expect(sent).not.toMatch(/defer_loading|tool_reference/);
  expect(sent).toContain('"name":"one"');
  expect(sent).toContain("said");
});

test.each<[string, readonly Members[]]>([
  ["beside others", [search, { type: "web_search_20250305", name: "web_search" }]],
  ["alone", [{ type: "web_search_20250305", name: "web_search" }]],
])("a choice of an omitted tool is rejected by its name, %s", (_name, tools) => {
  const body = { model: "m", max_tokens: 100, messages: [ASKED], tools, tool_choice: { type: "tool", name: "web_search" } }; // prettier-ignore
  const refused = (): unknown => chatRequestOf(parse("MessagesRequest", body));
  expect(refused).toThrow(ApiError);
  expect(refused).toThrow("Tools of type web_search_20250305 run at Anthropic");
  try {
    refused();
  } catch (error) {
    expect(error).toMatchObject({ code: "unsupported_value", param: "tool_choice.name" });
  }
});
