/** Responses whose model uses capabilities. */
import { beforeAll, expect, test } from "bun:test";

import OpenAI from "openai";

import type { ModelResponse } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Tenant } from "#tests/support/tenant.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import {
  askTwiceOverSocket,
  ENDLESS,
  MODEL,
  newTenant,
  post,
  REGEX,
  disarmDuringRun,
  spentOf,
  USE_REGEX,
  WEATHER,
} from "./bench.ts";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await newTenant();
}, 240_000);

const ask = (body: object): Promise<Response> =>
  post(tenant, "/v1/responses", { model: MODEL, input: USE_REGEX, tools: [REGEX], ...body });
const responseOf = async (body: object = {}): Promise<ModelResponse> => {
  const answer = await ask(body);
  return parse("ModelResponse", await answer.json());
};
const typesOf = ({ output }: ModelResponse): readonly string[] => output.map(({ type }) => type);

test("a response contains runs and answer as its items, and sums their costs and usage", async () => {
  const before = await spentOf(tenant);
  const answer = await ask({});
  const response = parse("ModelResponse", await answer.json());
  expect(response.id).toBe(`resp_${answer.headers.get("x-request-id")?.replaceAll("-", "")}`);
  expect(response).toMatchObject({ status: "completed", tools: [REGEX] });
  expect(typesOf(response)).toEqual(["sluice_call", "message"]);
  expect(response.output[0]).toMatchObject({ tool: "code.regex", status: "completed", round: 1 });
  expect(JSON.stringify(response.output[1])).toContain("code_regex returned");
  const after = await spentOf(tenant);
  const used = (after.nano - before.nano) / 1e9;
  expect(response.sluice).toMatchObject({ ended_by: "answer", turns: [{}, {}] });
  expect(response.sluice?.credits_used).toBeCloseTo(used, 9);
  expect(Number(answer.headers.get("x-credits-used"))).toBeCloseTo(used, 9);
  expect(response.usage?.total_tokens).toBeGreaterThan(0);
  expect(response.usage?.credits).toBe(response.sluice?.credits_used ?? 0);
}, 60_000);

test("its stream follows the grammar of every Responses stream, with the runs as items", async () => {
  const { response, events } = readStream(await (await ask({ stream: true })).text());
  expect(typesOf(response)).toEqual(["sluice_call", "message"]);
  const items = events.filter(({ type }) => /output_item/.test(type)).map(({ type }) => type.replace("response.", ""));
  expect(items).toEqual(["output_item.added", "output_item.done", "output_item.added", "output_item.done"]);
  expect(events.some(({ type }) => /function_call/.test(type))).toBe(false);
  expect(response.sluice?.ended_by).toBe("answer");
}, 60_000);

test("a stock client reads its stream to the end", async () => {
  const client = new OpenAI({ baseURL: `${tenant.baseUrls[0]}/v1`, apiKey: tenant.key, maxRetries: 0 });
  const asked = {
    model: MODEL,
    input: USE_REGEX,
    tools: [REGEX],
  } as unknown as OpenAI.Responses.ResponseCreateParamsStreaming;
  const whole = await client.responses.stream(asked).finalResponse();
  expect(whole.output_text).toContain("code_regex returned");
}, 60_000);

test("a stored response is read, continued, referenced and compacted", async () => {
  const first = await responseOf();
  const read = await fetch(`${tenant.baseUrls[0]}/v1/responses/${first.id}`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  expect(await read.json()).toEqual(first as object);
  const next = await responseOf({ input: "Say exactly: thanks", previous_response_id: first.id });
  expect(typesOf(next)).toEqual(["message"]);
  expect(next.usage?.input_tokens).toBeGreaterThan(100);
  const [run] = first.output;
  const referred = [
    { role: "user", content: "Hi" },
    { type: "item_reference", id: run?.id },
    { role: "user", content: "Say exactly: yes" },
  ];
  expect(typesOf(await responseOf({ input: referred, store: false }))).toEqual(["message"]);
  const compacted = await post(tenant, "/v1/responses/compact", { model: MODEL, previous_response_id: first.id });
  expect(compacted.status).toBe(200);
  const unstored = await responseOf({ store: false });
  const gone = await ask({ input: "x", previous_response_id: unstored.id });
  expect(await gone.json()).toMatchObject({ error: { code: "previous_response_not_found" } });
}, 60_000);

test("output returned as input is part of the model's context", async () => {
  const { output } = await responseOf({ store: false });
  const input = [{ role: "user", content: USE_REGEX }, ...output.slice(0, 1)];
  const again = await responseOf({ store: false, input, tools: [] });
  expect(JSON.stringify(again.output)).toContain("code_regex returned");
}, 60_000);

test("calls of the caller's own functions come as items, after the runs of the same turn", async () => {
  const tools = [REGEX, { type: "function", ...WEATHER }];
  const input = `${USE_REGEX} Then use get_weather for the city "Paris".`;
  for (const stream of [false, true]) {
    const answer = await ask({ tools, input, stream });
    const response = stream ? readStream(await answer.text()).response : ((await answer.json()) as ModelResponse);
    expect([...new Set(typesOf(response))]).toEqual(["function_call", "sluice_call"]);
    expect(response).toMatchObject({ status: "completed", sluice: { ended_by: "handover" } });
    const calls = response.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    const output = calls.map(({ call_id: id }) => ({
      type: "function_call_output",
      call_id: id,
      output: "21 degrees",
    }));
    const next = await responseOf({ tools, input: output, previous_response_id: response.id });
    expect(JSON.stringify(next.output)).toContain("get_weather returned");
  }
}, 60_000);

test("limits leave it incomplete, and max_tool_calls skips a run", async () => {
  expect(await responseOf({ tools: [{ ...REGEX, max_rounds: 1 }] })).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "max_rounds" },
    output: [],
  });
  const both = { type: "sluice", capabilities: ["code.regex", "code.diff"] };
  const input = `${USE_REGEX} Then use code_diff.`;
  const { output } = await responseOf({ tools: [both], input, max_tool_calls: 1 });
  expect(output).toMatchObject([{ status: "completed" }, { status: "failed" }, { type: "message" }]);
  expect(output[1]).not.toHaveProperty("request_id");
}, 60_000);

test("definitions of the service's tools count as input", async () => {
  const count = async (tools: readonly object[]) => {
    const answer = await post(tenant, "/v1/responses/input_tokens", { model: MODEL, input: "hi", tools });
    return ((await answer.json()) as { input_tokens: number }).input_tokens;
  };
  expect(await count([REGEX])).toBeGreaterThan((await count([])) + 50);
});

test("a stream that fails in a later turn ends like every failed one, with the earlier output and its cost", async () => {
  const own = await newTenant();
  const tools = [{ type: "sluice", capabilities: ["code.run_javascript"] }];
  const answered = post(own, "/v1/responses", { model: MODEL, input: ENDLESS, tools, stream: true });
  await disarmDuringRun(own);
  const frames = (await (await answered).text()).split("\n\n");
  const events = frames.flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? []);
  const [error, failed] = events.slice(-2).map((text) => parse("ResponseStreamEvent", JSON.parse(text)));
  expect(error).toMatchObject({ type: "error", code: "permission_denied", sequence_number: events.length - 2 });
  expect(failed).toMatchObject({
    type: "response.failed",
    response: { status: "failed", output: [{ type: "sluice_call" }], sluice: { ended_by: "error", turns: [{}] } },
  });
  expect(frames.at(-2)).toBe("data: [DONE]");
}, 60_000);

test("turns over a WebSocket have such tools too, and continue from what only the connection has", async () => {
  const responses = await askTwiceOverSocket(
    tenant,
    { tools: [REGEX], input: USE_REGEX },
    { tools: [REGEX], input: `Again: ${USE_REGEX}` },
  );
  expect(responses.map((one) => typesOf(one))).toEqual([
    ["sluice_call", "message"],
    ["sluice_call", "message"],
  ]);
  const [first, second] = responses.map(({ usage }) => usage?.input_tokens ?? 0);
  expect(second).toBeGreaterThan((first ?? 0) + 20);
}, 60_000);
