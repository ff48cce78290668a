/** Tools of coding agents over every family: namespaces, tools that the conversation adds, and those that a search finds. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { ModelResponse, ResponseItem } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { FAMILIES, type FamilyBed } from "./bed.ts";
import { QUESTION, SYSTEM } from "./conversation.ts";
import { readSent } from "./sent.ts";
import { sharedBed } from "./shared-bed.ts";
import type { Turn } from "./turn.ts";

let bed: FamilyBed;

beforeAll(async () => {
  bed = await sharedBed();
});

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const ADDED = {
  type: "additional_tools",
  role: "developer",
  tools: [
    {
      type: "namespace",
      name: "functions",
      description: "",
      tools: [
        { type: "custom", name: "exec", description: "Runs code." },
        { type: "function", name: "wait", description: "Waits.", strict: false, parameters },
      ],
    },
  ],
};
const SEARCH = {
  type: "tool_search",
  execution: "client",
  description: "Finds tools.",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};
const FOUND = { type: "namespace", name: "mcp__weather", description: "Weather.", tools: [{ type: "function", name: "today", description: "Tells it.", defer_loading: true, strict: false, parameters }] }; // prettier-ignore

const TURNS: readonly Turn[] = [
  {
    text: "I look.",
    calls: [
      { id: "call_exec1", name: "functions__exec", args: { input: "1 + 1" } },
      { id: "call_search2", name: "tool_search", args: { query: "weather" } },
    ],
    took: { input: 100, output: 20 },
  },
  {
    calls: [{ id: "call_today3", name: "mcp__weather__today", args: { city: "Paris" } }],
    took: { input: 120, output: 9 },
  },
  { text: "18 degrees.", took: { input: 140, output: 5 } },
];

describe.each(FAMILIES)("%s", (family) => {
  test.each([true, false])("calls tools by the names that the client gave them, streamed: %p", async (stream) => {
    const { url, key } = bed.target();
    const input: object[] = [ADDED, { role: "user", content: QUESTION }];
    const ask = async (): Promise<{ readonly response: ModelResponse; readonly leftOut: string | null }> => {
      const tools = [SEARCH, { type: "web_search", external_web_access: true }];
      const body = { model: `${family}-one`, instructions: SYSTEM, input, tools, store: false, stream };
      const answer = await fetch(`${url}/v1/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      const response = stream ? readStream(text).response : parse("ModelResponse", JSON.parse(text));
      input.push(...response.output);
      return { response, leftOut: answer.headers.get("x-tools-omitted") };
    };
    const callsIn = ({ output }: ModelResponse): ResponseItem[] => output.filter(({ type }) => type.endsWith("_call"));
    bed.says(family, TURNS);
    const first = await ask();
    expect(first.leftOut).toBe("web_search");
    expect(first.response.tools).toMatchObject([{ type: "tool_search" }]);
    const [exec, search] = callsIn(first.response) as readonly { readonly call_id: string }[];
    expect([exec, search]).toMatchObject([
      { type: "custom_tool_call", namespace: "functions", name: "exec", input: "1 + 1" },
      { type: "tool_search_call", execution: "client", arguments: { query: "weather" } },
    ]);
    input.push(
      { type: "custom_tool_call_output", call_id: exec?.call_id, output: "2" },
      {
        type: "tool_search_output",
        call_id: search?.call_id,
        status: "completed",
        execution: "client",
        tools: [FOUND],
      },
    );
    const [today] = callsIn((await ask()).response) as readonly { readonly call_id: string }[];
    expect(today).toMatchObject({ type: "function_call", namespace: "mcp__weather", name: "today" });
    input.push({ type: "function_call_output", call_id: today?.call_id, output: "18" });
    expect((await ask()).response.output.at(-1)).toMatchObject({ content: [{ text: "18 degrees." }] });
    const sent = readSent(family, bed.servers[family].requests.at(-1) ?? { path: "", body: {} });
    expect(sent.tools.toSorted()).toEqual(["functions__exec", "functions__wait", "mcp__weather__today", "tool_search"]);
    expect(sent.said.slice(-4)).toMatchObject([
      { model: "I look.", calls: [{ name: "functions__exec", args: { input: "1 + 1" } }, { name: "tool_search" }] },
      { results: [{ of: "functions__exec" }, { of: "tool_search" }] },
      { calls: [{ name: "mcp__weather__today", args: { city: "Paris" } }] },
      { results: [{ of: "mcp__weather__today" }] },
    ]);
  });
});
