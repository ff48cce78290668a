/** Tools of a Responses call as the model is shown them. */
import { describe, expect, test } from "bun:test";

import { inputPlace, readingItems } from "#ingress/routes/responses/items.ts";
import { renamedTools } from "#ingress/routes/responses/declared-tools.ts";
import { type Translated, translatingRequest } from "#ingress/routes/responses/translate.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { toFunctionName } from "#shared/responses/tool-names.ts";
import { runWhole } from "#shared/base/time-slices.ts";

function translate(members: object): Translated {
  const body = parse("ResponsesRequest", { model: "m", input: "hi", ...members });
  const items = runWhole(readingItems(body.input)).map((item, at) => ({ item, from: inputPlace(at) }));
  return runWhole(translatingRequest(body, items));
}

function refusal(members: object): readonly [message: string, param: string | null] {
  try {
    translate(members);
  } catch (error) {
    if (error instanceof ApiError) return [error.message, error.param];
    throw error;
  }
  throw new Error("the body was taken");
}

const USER = { role: "user", content: "hi" };
const f = (name: string) => ({ type: "function", name });
const ns = (name: string, ...tools: object[]) => ({ type: "namespace", name, description: `About ${name}.`, tools });
const added = (...tools: object[]) => ({ type: "additional_tools", role: "developer", tools });
const SEARCH = { type: "tool_search", execution: "client", description: "Finds.", parameters: { type: "object" } };
const WEB = { type: "web_search", external_web_access: true };

const namesIn = ({ request }: Translated): unknown =>
  request.tools?.map((tool) => (tool.type === "function" ? tool.function.name : tool.type));

describe("the model receives", () => {
  test("tools in namespaces by joined names, the first with the description of the namespace", () => {
    const { request, tools } = translate({ tools: [f("a"), ns("crm", { ...f("find"), description: "Finds." }, { type: "custom", name: "note" })] }); // prettier-ignore
    expect(request.tools).toMatchObject([
      { function: { name: "a" } },
      { function: { name: "crm__find", description: "About crm.\n\nFinds." } },
      { function: { name: "crm__note", parameters: { required: ["input"] } } },
    ]);
    expect(renamedTools(tools)).toEqual([
      { type: "function", namespace: "crm", name: "find", shown: "crm__find" },
      { type: "custom", namespace: "crm", name: "note", shown: "crm__note" },
    ]);
  });

  test("tools that the conversation adds, and tools that a search has found, each once", () => {
    const found = { type: "tool_search_output", call_id: "s", execution: "client", tools: [ns("mail", f("send")), f("a"), { type: "unheard_of" }] }; // prettier-ignore
    const input = [
      added(ns("functions", f("exec")), SEARCH),
      { type: "tool_search_call", call_id: "s", execution: "client", arguments: { query: "mail" } },
      found,
      { type: "tool_search_call", call_id: "t", execution: "client", arguments: { query: "mail" } },
      { ...found, call_id: "t" },
      USER,
    ];
    const translated = translate({ tools: [f("a")], input });
    expect(namesIn(translated)).toEqual(["a", "functions__exec", "tool_search", "mail__send"]);
    expect(translated.request.messages).toMatchObject([
      { tool_calls: [{ id: "s", function: { name: "tool_search", arguments: '{"query":"mail"}' } }] },
      { role: "tool", tool_call_id: "s", content: "These tools can be called now: mail__send, a." },
      { tool_calls: [{ id: "t" }] },
      { role: "tool", tool_call_id: "t" },
      { role: "user" },
    ]);
  });

  test("no tools that run at another service, which are named", () => {
    const input = [added(WEB, { type: "image_generation" }), USER];
    const translated = translate({ tools: [f("a"), { type: "web_search_preview" }, { type: "tool_search" }], input });
    expect(namesIn(translated)).toEqual(["a"]);
    expect(translated.omittedToolTypes).toEqual([
      "web_search_preview",
      "tool_search",
      "web_search",
      "image_generation",
    ]);
  });

  test("earlier calls of such tools by the same names", () => {
    const long = "n".repeat(70);
    const input = [
      { type: "function_call", call_id: "a", namespace: "crm", name: "find", arguments: "{}" },
      { type: "custom_tool_call", call_id: "b", namespace: "crm", name: long, input: "x" },
      { type: "function_call_output", call_id: "a", output: "1" },
      { type: "custom_tool_call_output", call_id: "b", output: "2" },
    ];
    const { request } = translate({ input, tools: [ns("crm", f("find"), { type: "custom", name: long })] });
    const names = request.tools?.map((tool) => tool.type === "function" && tool.function.name);
    expect(request.messages[0]).toMatchObject({ tool_calls: names?.map((name) => ({ function: { name } })) });
  });
});

test("names longer than a source accepts are shortened, uniquely and stably", () => {
  const names = ["a", "b"].map((end) => toFunctionName({ namespace: "mcp__server", name: `${"n".repeat(80)}${end}` }));
  for (const name of names) expect(name).toMatch(/^mcp__server__n+_[0-9a-f]{8}$/);
  expect(names.map((name) => name.length)).toEqual([64, 64]);
  expect(new Set(names).size).toBe(2);
  expect(toFunctionName({ namespace: "x.y", name: "z" })).toMatch(/^x_y__z_[0-9a-f]{8}$/);
  expect(toFunctionName({ name: "n".repeat(64) })).toBe("n".repeat(64));
});

describe("rejected:", () => {
  test("two tools whose joined names are equal, by both of their names", () => {
    expect(refusal({ tools: [f("crm__find"), ns("crm", f("find"))] })).toEqual([
      "Expected tools with different names: crm__find and find of the namespace crm are both sent as crm__find.",
      "tools[1].tools[0]",
    ]);
    expect(refusal({ tools: [SEARCH], input: [added(f("tool_search")), USER] })).toEqual([
      "Expected tools with different names: the search for tools and tool_search are both sent as tool_search.",
      "input[0].tools[0]",
    ]);
  });

  test("a required web search", () => {
    expect(refusal({ tools: [WEB], tool_choice: { type: "web_search" } })[1]).toBe("tool_choice.type");
  });
});

test.each([
  [{ type: "function", namespace: "crm", name: "find" }, "crm__find"],
  [{ type: "function", name: "find" }, "crm__find"],
  [{ type: "custom", name: "a" }, "a"],
  [{ type: "tool_search" }, "tool_search"],
])("a choice of %j is one of %s", (choice, name) => {
  const tools = [f("a"), ns("crm", f("find"), f("a")), SEARCH];
  expect(translate({ tools, tool_choice: choice }).request.tool_choice).toEqual({
    type: "function",
    function: { name },
  });
  const allowed = { type: "allowed_tools", mode: "auto", tools: [choice] };
  expect(translate({ tools, tool_choice: allowed }).request.tool_choice).toMatchObject({
    allowed_tools: { tools: [{ function: { name } }] },
  });
});

test("an error of the chat request is reported for the caller's own tool", () => {
  const { paramOf } = translate({ tools: [f("a"), ns("crm", f("b"))], input: [added(f("c")), USER] });
  const places = ["tools[0].function.name", "tools[1].function.parameters", "tools[2]"].map((param) => paramOf(param));
  expect(places).toEqual(["tools[0].name", "tools[1].tools[0].parameters", "input[0].tools[0]"]);
});
