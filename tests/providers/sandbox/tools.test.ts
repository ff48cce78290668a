import { expect, test } from "bun:test";

import { answerTo, ask, type Body, callOf, deltasOf, failureOf, putTogether, sandbox, usageOf } from "./calls.ts";

function tool(
  name: string,
  description: string,
  properties?: Body,
  required: readonly string[] = Object.keys(properties ?? {}),
): Body {
  const parameters = properties === undefined ? {} : { parameters: { type: "object", properties, required } };
  return { type: "function", function: { name, description, ...parameters } };
}

const TEXT = { type: "string" };
const WEATHER = tool(
  "get_weather",
  "Get the current weather for a city",
  { city: TEXT, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
  ["city"],
);
const TIME = tool("get_time", "Tells the time in a place", { location: TEXT });
const PING = tool("ping", "Checks the connection");
const CALCULATOR = tool("calculator", "Evaluates a math expression", { expression: TEXT });
const FLIGHTS = tool("search_flights", "Finds flights", {
  origin: TEXT,
  destination: TEXT,
  date: { type: "string", format: "date" },
  passengers: { type: "integer", minimum: 1 },
});
const EMAIL = tool("send_email", "Sends an email", { to: { type: "string", format: "email" }, body: TEXT });
const ADD = tool("add", "Adds two numbers", { a: { type: "number" }, b: { type: "number" } });
const MULTIPLY = tool("multiply", "Multiplies two numbers", { a: { type: "number" }, b: { type: "number" } });
const SUBTRACT = tool("subtract", "Subtracts two numbers", { a: { type: "number" }, b: { type: "number" } });
const FILES = tool("list_files", "Lists files", { path: TEXT });
const DIRECTORY = tool("list_directory", "Shows what a directory holds", { path: TEXT });

/** Calls as `name{arguments}`. */
async function callsFor(prompt: string, tools: readonly Body[], more: Body = {}): Promise<string[]> {
  const { calls } = await answerTo(ask(prompt, { tools, ...more }));
  return calls.map((call) => `${call.name}${call.input}`);
}

const DRAWN: readonly (readonly [prompt: string, tools: readonly Body[], calls: readonly string[]])[] = [
  ["What's the weather in Paris?", [WEATHER, TIME], ['get_weather{"city":"Paris"}']],
  ["What time is it in Oslo?", [WEATHER, TIME], ['get_time{"location":"Oslo"}']],
  ["weather in paris, in celsius", [WEATHER], ['get_weather{"city":"paris","unit":"celsius"}']],
  ["What's the weather in Austin, TX?", [TIME, WEATHER], ['get_weather{"city":"Austin"}']],
  ["What is 17 * 23?", [WEATHER, CALCULATOR], ['calculator{"expression":"17 * 23"}']],
  ["Add 17 and 25", [ADD], ['add{"a":17,"b":25}']],
  [
    "Send an email to bob@example.com saying hello there",
    [EMAIL],
    ['send_email{"to":"bob@example.com","body":"hello there"}'],
  ],
  [
    "Find flights from Paris to London on 2026-04-02 for 2 passengers",
    [WEATHER, FLIGHTS],
    ['search_flights{"origin":"Paris","destination":"London","date":"2026-04-02","passengers":2}'],
  ],
  ["Use the ping tool", [WEATHER, PING], ["ping{}"]],
  [
    "Call get_time and get_weather for Berlin",
    [WEATHER, TIME],
    ['get_time{"location":"Berlin"}', 'get_weather{"city":"Berlin"}'],
  ],
  ["Call ping and get_weather for Berlin", [WEATHER, PING], ["ping{}", 'get_weather{"city":"Berlin"}']],
  [
    "Weather in Paris, Rome and Oslo?",
    [WEATHER],
    ["Paris", "Rome", "Oslo"].map((city) => `get_weather{"city":"${city}"}`),
  ],
  ["How warm is it in Lima? I would like the weather.", [WEATHER], ['get_weather{"city":"Lima"}']],
  ["Please calculate (3 + 4) * 12", [WEATHER, CALCULATOR], ['calculator{"expression":"(3 + 4) * 12"}']],
  ["Is it raining in Boston?", [TIME, WEATHER], ['get_weather{"city":"Boston"}']],
  ["Do I need an umbrella in Oslo?", [WEATHER], ['get_weather{"city":"Oslo"}']],
  ["What is 5 plus 7?", [WEATHER, ADD], ['add{"a":5,"b":7}']],
  ["5 + 7", [ADD, CALCULATOR], ['add{"a":5,"b":7}']],
  ["What is 5 times 7?", [ADD, MULTIPLY], ['multiply{"a":5,"b":7}']],
  ["List the files in /tmp", [WEATHER, FILES], ['list_files{"path":"/tmp"}']],
  ["List the files in /tmp", [WEATHER, DIRECTORY], ['list_directory{"path":"/tmp"}']],
  ["Call the tool.", [PING], ["ping{}"]],
  ["Please use the provided tool", [PING], ["ping{}"]],
  ["Call the tool.", [PING, WEATHER], []],
  ["What is a tool?", [PING], []],
  ["Write a poem plus a song", [ADD], []],
  ["Meet me on 2026-04-02", [ADD, SUBTRACT], []],
  ["Say exactly: it is raining in Boston", [WEATHER], []],
  ["Say hello", [WEATHER], []],
  ["Tell me a joke", [WEATHER, TIME, CALCULATOR], []],
  ["Do not use any tools. What's the weather in Paris?", [WEATHER], []],
];

test.each(DRAWN)("calls a matching tool for %j, with values from the prompt", async (prompt, tools, calls) => {
  expect(await callsFor(prompt, tools)).toEqual([...calls]);
});

test("makes one call when parallel calls are off", async () => {
  expect(await callsFor("Weather and time in Paris and Rome", [WEATHER, TIME], { parallel_tool_calls: false })).toEqual(
    ['get_weather{"city":"Paris"}'],
  );
});

test("calls something when it must, even for a dictated answer", async () => {
  const calls = await callsFor("Say hello", [WEATHER, TIME], { tool_choice: "required" });
  expect(calls).toHaveLength(1);
  expect(calls[0]).toStartWith("get_weather{");
});

test("calls the tool that is named", async () => {
  const tool_choice = { type: "function", function: { name: "get_time" } };
  expect(await callsFor("What's the weather in Paris?", [WEATHER, TIME], { tool_choice })).toEqual([
    'get_time{"location":"Paris"}',
  ]);
});

test("uses allowed tools only", async () => {
  const allowed = (mode: string): Body => ({
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode, tools: [{ type: "function", function: { name: "get_time" } }] },
    },
  });
  expect(await callsFor("What's the weather like?", [WEATHER, TIME], allowed("auto"))).toEqual([]);
  expect(await callsFor("What's the weather in Rome?", [WEATHER, TIME], allowed("required"))).toEqual([
    'get_time{"location":"Rome"}',
  ]);
});

test("never calls when it may not", async () => {
  expect(await callsFor("Use the get_weather tool for Paris", [WEATHER], { tool_choice: "none" })).toEqual([]);
});

test("rejects a choice of an unknown tool", async () => {
  const body = ask("hm", { tools: [PING], tool_choice: { type: "function", function: { name: "pong" } } });
  expect(await failureOf(sandbox.complete(callOf(body)))).toMatchObject({
    kind: "rejected",
    code: "unsupported_value",
    param: "tool_choice",
  });
});

test("sends a custom tool plain text", async () => {
  const body = ask('Use the run_code tool for "print(1)"', {
    tools: [{ type: "custom", custom: { name: "run_code" } }],
  });
  expect((await answerTo(body)).calls).toMatchObject([{ type: "custom", name: "run_code", input: "print(1)" }]);
});

test("returns distinct call ids that are equal for the same request and differ from turn to turn", async () => {
  const body = ask("Weather in Paris and Rome?", { tools: [WEATHER], seed: 7 });
  const first = (await answerTo(body)).calls.map((call) => call.id);
  expect(new Set(first).size).toBe(2);
  for (const id of first) expect(id).toMatch(/^call_[A-Za-z0-9]{24}$/);
  expect((await answerTo(body)).calls.map((call) => call.id)).toEqual(first);
  const later = ask("Weather in Oslo and Bergen?", { tools: [WEATHER], seed: 7 });
  expect((await answerTo(later)).calls.map((call) => call.id)).not.toContain(first[0]);
});

test("writes no text beside its calls and finishes with tool_calls", async () => {
  expect(await answerTo(ask("Weather in Paris?", { tools: [WEATHER] }))).toMatchObject({
    content: null,
    finish: "tool_calls",
  });
});

test("answers in text from the results, by the names of the tools", async () => {
  const call = (id: string, name: string): Body => ({ id, type: "function", function: { name, arguments: "{}" } });
  const messages = [
    { role: "user", content: "Weather in Paris?" },
    { role: "assistant", content: null, tool_calls: [call("a", "get_weather"), call("b", "get_time")] },
    { role: "tool", tool_call_id: "b", content: "half past nine." },
    { role: "tool", tool_call_id: "a", content: '{"celsius":21,"sky":"clear"}' },
  ];
  const answer = await answerTo({ messages, tools: [WEATHER], tool_choice: "auto" });
  expect(answer).toMatchObject({
    content: "get_time returned half past nine. get_weather returned celsius 21, sky clear.",
    calls: [],
    finish: "stop",
  });
});

test("truncates calls at the token limit", async () => {
  const body = ask("Weather in Paris and Rome?", { tools: [WEATHER] });
  const whole = await answerTo(body);
  for (let max_tokens = 1; max_tokens < (await usageOf(body)).output; max_tokens += 1) {
    const { calls, finish } = await answerTo({ ...body, max_tokens });
    expect(finish).toBe("length");
    calls.forEach((call, at) => expect(whole.calls[at]?.input.startsWith(call.input)).toBe(true));
    expect(putTogether(await deltasOf({ ...body, max_tokens }))).toEqual([await answerTo({ ...body, max_tokens })]);
  }
});
