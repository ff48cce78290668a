/** Responses of every family as they go over the wire: streamed and plain, stored and not, a tool's turn and the next. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { ModelResponse } from "#schemas/generated/types.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { FAMILIES, type Family, type FamilyBed } from "./bed.ts";
import { PNG, QUESTION, SYSTEM, TOOL_NAMES, TOOLS, TURNS } from "./conversation.ts";
import { readSent } from "./sent.ts";
import { sharedBed } from "./shared-bed.ts";

let bed: FamilyBed;

beforeAll(async () => {
  bed = await sharedBed();
});

const QUESTIONS = [
  {
    role: "user",
    content: [
      { type: "input_text", text: QUESTION },
      { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
    ],
  },
];
const RESULTS = TOOL_NAMES.map((name) => ({
  type: "function_call_output",
  call_id: "",
  name,
  output: TOOLS[name].result,
}));

/** The answer to a body, each of which is as our schemas say. */
async function ask(family: Family, members: object): Promise<ModelResponse> {
  const tools = TOOL_NAMES.map((name) => {
    const { description, parameters } = TOOLS[name];
    return { type: "function", name, description, parameters };
  });
  const body = { model: `${family}-one`, instructions: SYSTEM, tools, max_output_tokens: 2_000, ...members };
  expect(validate("ResponsesRequest", body)).toBeNull();
  const { url, key } = bed.target();
  const answer = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return "stream" in members ? readStream(text).response : parse("ModelResponse", JSON.parse(text));
}

describe.each(FAMILIES)("%s", (family) => {
  test.each([
    ["streamed, stored", { stream: true }],
    ["streamed, not stored", { stream: true, store: false }],
    ["plain, stored", {}],
    ["plain, not stored", { store: false }],
  ])("calls tools and continues from their results: %s", async (_name, how) => {
    const server = bed.servers[family];
    const before = server.requests.length;
    bed.says(family, TURNS.slice(0, 2));
    const first = await ask(family, { ...how, input: QUESTIONS });
    // OpenAI's chat shows no thoughts.
    const thoughts = family === "openai" ? [] : ["reasoning" as const];
    expect(first.output.map(({ type }) => type)).toEqual([...thoughts, "message", "function_call", "function_call"]);
    const calls = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    expect(calls.map(({ name, arguments: text }) => [name, JSON.parse(text) as unknown])).toEqual(
      TOOL_NAMES.map((name) => [name, TOOLS[name].call.args]),
    );
    const results = RESULTS.map((result, at) => ({ ...result, call_id: calls[at]?.call_id }));
    const isStored = !("store" in how);
    const second = await ask(family, {
      ...how,
      ...(isStored
        ? { previous_response_id: first.id, input: results }
        : { input: [...QUESTIONS, ...first.output, ...results] }),
    });
    expect(second.store).toBe(isStored);
    expect(second.output.at(-1)).toMatchObject({ type: "message", content: [{ text: TURNS[1]?.text }] });
    expect(second.usage).toMatchObject({ input_tokens: 764, input_tokens_details: { cached_tokens: 704 } });
    // The provider hears the same of the turn, however it came back.
    const [asked, told] = server.requests.slice(before).map((call) => readSent(family, call));
    expect(told?.said).toHaveLength((asked?.said.length ?? 0) + 2);
  });
});
