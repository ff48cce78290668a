/** Stock clients of OpenAI's Responses API with nothing changed but their base URL, against the running service. */
import { beforeAll, describe, expect, test } from "bun:test";

import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";

import { parse } from "#shared/json/contracts.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";
import { eventsOf, readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { HOSTILE_BODIES, NAUGHTY_TEXTS } from "./hostile-bodies.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await sharedStack();
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
});

const MODEL = "sandbox-chat";
const WEATHER = {
  type: "function" as const,
  name: "get_weather",
  description: "Current weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};
const QUESTION = "What is the weather in Paris? Use the get_weather tool.";

interface AgentTransport {
  readonly stream?: boolean;
  readonly useResponsesWebSocket?: boolean;
}

const post = (body: object): Promise<Response> =>
  fetch(`${stack.baseUrls[0]}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, ...body }),
  });

describe("a plain response", () => {
  test("answers, repeats its settings, counts its tokens and reports its cost", async () => {
    const { data, response } = await client.responses
      .create({ model: MODEL, input: "Say exactly: hello there", metadata: { a: "b" }, temperature: 0.5 })
      .withResponse();
    expect(data.output_text).toBe("hello there");
    expect(data).toMatchObject({ object: "response", status: "completed", metadata: { a: "b" }, temperature: 0.5 });
    const id = response.headers.get("x-request-id") ?? "";
    expect(data.id).toBe(`resp_${id.replaceAll("-", "")}`);
    await stack.settled();
    const [row] = await stack.query("select settled, units from usage_record where job_id = $1", [id]);
    expect(row?.["units"]).toEqual({ input_tokens: data.usage?.input_tokens, output_tokens: data.usage?.output_tokens }); // prettier-ignore
    expect(Number(response.headers.get("x-credits-used")) * 1e9).toBeCloseTo(Number(row?.["settled"]), 0);
  });

  test("is incomplete at its limit", async () => {
    const response = await client.responses.create({
      model: MODEL,
      input: "Say exactly: a b c d e",
      max_output_tokens: 2,
    });
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  });

  test.each([false, true])("lowers a limit above the model's, and reports it, with stream %p", async (stream) => {
    const listed = (await client.models.retrieve(MODEL)) as unknown as { _svc: { max_output_tokens: number } };
    const answer = await post({ input: "Say exactly: low", max_output_tokens: 2_000_000_000, stream });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-max-tokens-lowered")).toBe(String(listed._svc.max_output_tokens));
    expect(await answer.text()).toContain("low");
  });

  test("fills a JSON schema, and returns log probabilities", async () => {
    const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"], additionalProperties: false }; // prettier-ignore
    const filled = await client.responses.create({
      model: MODEL,
      input: "Invent a person who is 36",
      text: { format: { type: "json_schema", name: "person", schema, strict: true } },
      include: ["message.output_text.logprobs"],
      top_logprobs: 1,
    });
    expect(JSON.parse(filled.output_text)).toEqual({ age: expect.any(Number) as number });
    const [message] = filled.output;
    const [part] = message?.type === "message" ? message.content : [];
    expect(part?.type === "output_text" && part.logprobs?.length).toBeGreaterThan(0);
  });

  test("of a long request, whose settings do not fit into a message, is complete", async () => {
    const instructions = "word ".repeat(45_000);
    const response = await client.responses.create({ model: MODEL, instructions, input: "Say exactly: large" });
    expect(response.output_text).toBe("large");
    expect(response.instructions).toBe(instructions);
    const refused = await post({ instructions: "word ".repeat(60_000), input: "x" });
    expect(refused.status).toBe(400);
  });

  test("has chat's error texts, with the parameter names of Responses", async () => {
    const unknown = await post({ model: "nobody", input: "x" });
    expect([unknown.status, await unknown.json()]).toMatchObject([400, { error: { code: "model_not_found" } }]);
    const picture = await post({ input: [{ role: "user", content: [{ type: "input_image", image_url: "http://127.0.0.1/a.png" }] }] }); // prettier-ignore
    expect(await picture.json()).toMatchObject({ error: { param: "input[0].content[0].image_url" } });
  });
});

describe("a hostile body", () => {
  test.each(HOSTILE_BODIES)("is rejected in the envelope, and costs nothing: %s", async (_name, body) => {
    const own = await createWorkspace(stack, { creditsNano: 10n ** 12n });
    const headers = { authorization: `Bearer ${own.key}`, "content-type": "application/json" };
    const answer = await fetch(`${stack.baseUrls[0]}/v1/responses`, { method: "POST", headers, body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(Object.keys(((await answer.json()) as { error: object }).error)).toEqual([
      "message",
      "type",
      "code",
      "param",
    ]);
    const paid = "select 1 from usage_record where workspace_id = $1 and settled > 0";
    expect(await stack.query(paid, [own.id])).toEqual([]);
  });

  test.each(NAUGHTY_TEXTS)("is a text like any other: %j", async (text) => {
    const asked = {
      input: [{ role: "user", content: `Say exactly: ${text}a` }],
      instructions: text,
      metadata: { a: text },
    };
    const plain = parse("ModelResponse", await (await post(asked)).json());
    expect([plain.status, plain.instructions, plain.metadata["a"]]).toEqual(["completed", text, text]);
    const streamed = readStream(await (await post({ ...asked, stream: true })).text());
    expect(streamed.response.output).toMatchObject(plain.output.map(({ type }) => ({ type })));
    expect((await client.responses.retrieve(plain.id)).instructions).toBe(text);
  });
});

describe("a stream", () => {
  test("has every event in its place, and the plain response at its end", async () => {
    const body = { input: "Say exactly: one two three four five" };
    const streamed = readStream(await (await post({ ...body, stream: true })).text());
    const plain = parse("ModelResponse", await (await post(body)).json());
    const { id: _id, created_at: _at, completed_at: _done, output: _output, ...same } = plain;
    expect(streamed.response).toMatchObject(same);
    const deltas = streamed.events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.length).toBeGreaterThan(1);
  });

  test("of a thinking model has reasoning, as a summary on request", async () => {
    for (const summary of [null, "auto"] as const) {
      const stream = client.responses.stream({ model: "sandbox-reasoning", input: "What is 2 + 2?", reasoning: { effort: "high", summary } }); // prettier-ignore
      const { output, usage } = await stream.finalResponse();
      expect(output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
      const [thought] = output;
      expect(thought?.type === "reasoning" && thought.summary.length).toBe(summary === null ? 0 : 1);
      expect(usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    }
  });

  test("that is interrupted makes the client throw, and the delivered part is charged", async () => {
    const response = await post({ model: "sandbox-truncate", input: "Say exactly: a b c d e f g", stream: true });
    const events = eventsOf(await response.text());
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    const stream = client.responses.stream({ model: "sandbox-truncate", input: "Say exactly: a b c d e f g" });
    const error: unknown = await stream.finalResponse().catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    const id = response.headers.get("x-request-id") ?? "";
    const [row] = await stack.query("select status, settled from usage_record where job_id = $1", [id]);
    expect(row?.["status"]).toBe("failed");
    expect(Number(row?.["settled"])).toBeGreaterThan(0);
  });
});

describe("a stored response", () => {
  const say = (text: string) => ({ model: MODEL, input: `Say exactly: ${text}` });

  test("can be read after its answer, with its input, until it is deleted", async () => {
    const made = await client.responses.stream(say("one")).finalResponse();
    expect(made).toMatchObject({ store: true });
    const { id, usage, output } = await client.responses.retrieve(made.id);
    expect({ id, usage, output }).toMatchObject({
      id: made.id,
      usage: made.usage,
      output: [{ id: made.output[0]?.id }],
    });
    const input = [
      { role: "user" as const, content: "a" },
      { role: "assistant" as const, content: "b" },
      { role: "user" as const, content: "c" },
    ];
    const { id: asked } = await client.responses.create({ model: MODEL, input });
    const texts: unknown[] = [];
    for await (const item of client.responses.inputItems.list(asked, { limit: 2, order: "asc" })) texts.push(item);
    expect(texts).toMatchObject(["a", "b", "c"].map((text) => ({ content: [{ text }] })));
    const beyond: unknown = await client.responses.inputItems.list(asked, { after: "msg_unknown" }).catch((error: unknown) => error); // prettier-ignore
    expect(beyond).toMatchObject({ status: 400, param: "after" });
    const [last] = (await client.responses.inputItems.list(asked)).data;
    expect(last).toMatchObject({ content: [{ text: "c" }] });
    await client.responses.delete(made.id);
    const gone: unknown = await client.responses.retrieve(made.id).catch((error: unknown) => error);
    expect(gone).toMatchObject({ status: 404, code: "response_not_found" });
    const next: unknown = await client.responses.create({ ...say("two"), previous_response_id: made.id }).catch((error: unknown) => error); // prettier-ignore
    expect(next).toMatchObject({ status: 400, code: "previous_response_not_found", param: "previous_response_id" });
  });

  test("does not exist with store: false", async () => {
    const made = await client.responses.create({ ...say("x"), store: false });
    expect(made).toMatchObject({ store: false });
    expect(await client.responses.retrieve(made.id).catch((error: unknown) => error)).toMatchObject({ status: 404 });
  });

  test("does not exist in another workspace", async () => {
    const { id } = await client.responses.create(say("mine"));
    const { key } = await asNewWorkspace(stack);
    const theirs = client.withOptions({ apiKey: key });
    const faultOf = (work: PromiseLike<unknown>): Promise<unknown> =>
      Promise.resolve(work).catch((error: unknown) => error);
    expect(await faultOf(theirs.responses.retrieve(id))).toMatchObject({ status: 404 });
    expect(await faultOf(theirs.responses.delete(id))).toMatchObject({ status: 404 });
    expect(await faultOf(theirs.responses.inputItems.list(id))).toMatchObject({ status: 404 });
    const next = theirs.responses.create({ ...say("x"), previous_response_id: id });
    expect(await next.catch((error: unknown) => error)).toMatchObject({ code: "previous_response_not_found" });
    const refers = theirs.responses.create({ model: MODEL, input: [{ type: "item_reference", id: `msg_${id.slice("resp_".length)}_0` }] }); // prettier-ignore
    expect(await refers.catch((error: unknown) => error)).toMatchObject({ code: "response_not_found" });
    expect((await client.responses.retrieve(id)).id).toBe(id);
  });

  test("larger than its row can be continued, and counts as it is charged", async () => {
    const input = `${"word ".repeat(30_000)} Say exactly: long`;
    const first = await client.responses.create({ model: MODEL, input });
    const body = { ...say("more"), previous_response_id: first.id };
    const counted = await client.responses.inputTokens.count(body);
    const second = await client.responses.create(body);
    expect(second.output_text).toBe("more");
    expect(second.previous_response_id).toBe(first.id);
    expect(counted.object).toBe("response.input_tokens");
    expect(counted.input_tokens).toBeGreaterThan(30_000);
    expect(Math.abs(counted.input_tokens - (second.usage?.input_tokens ?? 0))).toBeLessThan(20);
    const { data } = await client.responses.inputItems.list(second.id);
    expect(data).toHaveLength(1);
  });

  test("passes no instructions to responses that continue it", async () => {
    const first = await client.responses.create({ ...say("a"), instructions: "Be brief." });
    const second = await client.responses.create({ ...say("b"), previous_response_id: first.id });
    expect(second.instructions).toBeNull();
  });
});

describe("a compaction", () => {
  test("compacts a conversation, stored and sent, and starts a new one", async () => {
    const first = await client.responses.create({ model: MODEL, input: "Say exactly: red" });
    const compacted = await client.responses.compact({
      model: MODEL,
      previous_response_id: first.id,
      input: [
        { role: "user", content: [{ type: "input_text", text: "And blue?" }] },
        { type: "function_call", call_id: "a", name: "paint", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "painted" },
      ],
      instructions: "Be brief.",
    });
    expect(compacted.object).toBe("response.compaction");
    expect(compacted.usage.output_tokens).toBeGreaterThan(0);
    const [summary] = compacted.output;
    expect(summary?.type).toBe("compaction");
    const next = await client.responses.create({
      model: MODEL,
      input: [
        ...(compacted.output as OpenAI.Responses.ResponseInputItem[]),
        { role: "user", content: "Say exactly: on" },
      ],
    });
    expect(next.output_text).toBe("on");
  });

  test("of nothing, or without a model, is rejected", async () => {
    const of = (body: object): Promise<Response> =>
      fetch(`${stack.baseUrls[0]}/v1/responses/compact`, {
        method: "POST",
        headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const nothing = await of({ model: MODEL, input: [] });
    expect([nothing.status, await nothing.json()]).toMatchObject([400, { error: { param: "input" } }]);
    const nobody = await of({ input: "x" });
    expect([nobody.status, await nobody.json()]).toMatchObject([400, { error: { param: "model" } }]);
  });
});

describe("tools", () => {
  test.each([false, true])("two turns with a call and its result, streamed: %p", async (isStream) => {
    const create = (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> => {
      const body = { model: MODEL, input, tools: [WEATHER], store: false };
      return isStream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
    };
    const question = { role: "user" as const, content: QUESTION };
    const { output } = await create([question]);
    const call = output.find((item) => item.type === "function_call");
    if (!call) throw new Error("expected a call");
    expect(JSON.parse(call.arguments)).toEqual({ city: "Paris" });
    const result = { type: "function_call_output" as const, call_id: call.call_id, output: "18 degrees and sunny" };
    const second = await create([question, ...(output as OpenAI.Responses.ResponseInputItem[]), result]);
    expect(second.output_text).toMatch(/18 degrees and sunny/);
  });

  test("with free text are called with text, and parallel calls are complete", async () => {
    const custom = { type: "custom" as const, name: "note", description: "Keeps a note" };
    const { output } = await client.responses
      .stream({
        model: MODEL,
        input: "Use the note tool.",
        tools: [custom],
        tool_choice: { type: "custom", name: "note" },
      }) // prettier-ignore
      .finalResponse();
    const [call] = output;
    expect(call).toMatchObject({ type: "custom_tool_call", name: "note", input: expect.any(String) as string });
    const parallel = await client.responses
      .stream({
        model: "sandbox-interleaved",
        input: "Use get_weather for Paris, for Rome and for Oslo.",
        tools: [WEATHER],
        tool_choice: "required",
      }) // prettier-ignore
      .finalResponse();
    const cities = parallel.output.map(
      (item) => item.type === "function_call" && (JSON.parse(item.arguments) as unknown),
    );
    expect(cities).toEqual([{ city: "Paris" }, { city: "Rome" }, { city: "Oslo" }]);
  });

  test.each([
    ["plain", {}],
    ["streamed", { stream: true }],
    ["over a WebSocket", { stream: true, useResponsesWebSocket: true }],
  ])("the Agents SDK runs a tool to the answer: %s", async (_how, { stream, ...transport }: AgentTransport) => {
    setTracingDisabled(true);
    const called: unknown[] = [];
    const weather = tool({
      name: "get_weather",
      description: WEATHER.description,
      parameters: { ...WEATHER.parameters, type: "object", additionalProperties: false },
      strict: true,
      execute: (input) => {
        called.push(input);
        return "18 degrees and sunny";
      },
    });
    const agent = new Agent({ name: "Guide", instructions: "Be brief.", model: MODEL, tools: [weather] });
    const provider = new OpenAIProvider({ openAIClient: client, useResponses: true, ...transport });
    const runner = new Runner({ modelProvider: provider });
    const result =
      stream === true ? await runner.run(agent, QUESTION, { stream: true }) : await runner.run(agent, QUESTION);
    if ("completed" in result) await result.completed;
    expect(called).toEqual([{ city: "Paris" }]);
    expect(result.finalOutput).toMatch(/18 degrees and sunny/);
    await provider.close();
  });
});
