/** The stock OpenAI SDK with nothing changed but its base URL, against the running service. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import type { Stack } from "#tests/support/stack.ts";

import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await sharedStack();
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key });
});

const say = (text: string) => [{ role: "user" as const, content: `Say exactly: ${text}` }];

/** A 2 × 3 PNG. */
const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGP8z8DAwMDAxMDAwIBMAQALAQEE6Xm2ZAAAAABJRU5ErkJggg==";

const weather: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

describe("a plain completion", () => {
  test("answers, counts its tokens and reports its cost", async () => {
    const { data, response } = await client.chat.completions
      .create({ model: "sandbox-chat", messages: say("hello there") })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe("hello there");
    expect(data.choices[0]?.finish_reason).toBe("stop");
    expect(data.object).toBe("chat.completion");
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
    expect(response.headers.get("x-model-used")).toBe("sandbox-chat");
    const requestId = response.headers.get("x-request-id") ?? "";
    await stack.settled();
    const [row] = await stack.query("select settled, status, units from usage_record where job_id = $1", [requestId]);
    expect(row).toMatchObject({ status: "succeeded", units: { output_tokens: data.usage?.completion_tokens } });
    expect(Number(response.headers.get("x-credits-used")) * 1e9).toBeCloseTo(Number(row?.["settled"]), 0);
  });

  test("fills a JSON schema", async () => {
    const answer = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: [{ role: "user", content: "Invent a person called Ada who is 36" }],
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "person",
          strict: true,
          schema: {
            type: "object",
            properties: { name: { type: "string" }, age: { type: "integer", minimum: 0, maximum: 150 } },
            required: ["name", "age"],
            additionalProperties: false,
          },
        },
      },
    });
    const person = JSON.parse(answer.choices[0]?.message.content ?? "") as { name: unknown; age: unknown };
    expect(person).toEqual({ name: expect.any(String), age: expect.any(Number) });
    expect(Number.isInteger(person.age)).toBe(true);
  });

  test("sees a picture sent as a data URL", async () => {
    const answer = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: PNG } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toMatch(/2\s*[×x]\s*3/);
  });

  test("carries a request larger than a queue message", async () => {
    const filler = "word ".repeat(120_000);
    const answer = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: [{ role: "system", content: filler }, ...say("large")],
    });
    expect(answer.choices[0]?.message.content).toBe("large");
    expect(answer.usage?.prompt_tokens).toBeGreaterThan(100_000);
  });
});

describe("tools", () => {
  test("a call is returned, its result is sent, and the answer uses it", async () => {
    const question = { role: "user" as const, content: "What is the weather in Paris? Use the get_weather tool." };
    const first = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: [question],
      tools: [weather],
    });
    const message = first.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    if (!message || call?.type !== "function") throw new Error("expected a function call");
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    expect(JSON.parse(call.function.arguments)).toEqual({ city: "Paris" });
    const second = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: [question, message, { role: "tool", tool_call_id: call.id, content: "18 degrees and sunny" }],
      tools: [weather],
    });
    expect(second.choices[0]?.message.content).toContain("18 degrees and sunny");
  });

  test("streamed parallel calls join to the plain ones", async () => {
    const body = {
      model: "sandbox-chat",
      messages: [{ role: "user" as const, content: "Use get_weather for Paris and for Rome." }],
      tools: [weather],
      tool_choice: "required" as const,
      seed: 7,
    };
    const plain = await client.chat.completions.create(body);
    const stream = client.chat.completions.stream(body);
    const joined = await stream.finalChatCompletion();
    expect(joined.choices[0]?.finish_reason).toBe("tool_calls");
    const shape = (choice: OpenAI.ChatCompletion.Choice | undefined) =>
      choice?.message.tool_calls?.map((call) => (call.type === "function" ? call.function.arguments : ""));
    expect(shape(joined.choices[0] as OpenAI.ChatCompletion.Choice)).toEqual(shape(plain.choices[0]));
  });
});

describe("a stream", () => {
  test("returns the text in pieces under one id and ends with usage on request", async () => {
    const stream = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: say("one two three four five"),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    const ids = new Set<string>();
    let last: OpenAI.ChatCompletionChunk | undefined;
    for await (const chunk of stream) {
      ids.add(`${chunk.id} ${chunk.created} ${chunk.model}`);
      text += chunk.choices[0]?.delta.content ?? "";
      last = chunk;
    }
    expect(text).toBe("one two three four five");
    expect(ids.size).toBe(1);
    expect(last?.choices).toEqual([]);
    expect(last?.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test("sends no usage chunk without a request", async () => {
    const stream = await client.chat.completions.create({
      model: "sandbox-chat",
      messages: say("plain"),
      stream: true,
    });
    for await (const chunk of stream) expect([chunk.choices.length, chunk.usage ?? null]).toEqual([1, null]);
  });

  test("that is interrupted makes the SDK throw instead of ending regularly", async () => {
    const read = async (): Promise<void> => {
      const stream = await client.chat.completions.create({
        model: "sandbox-truncate",
        messages: say("a b c d e f g"),
        stream: true,
      });
      for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
    };
    expect(await read().catch((error: unknown) => error)).toBeInstanceOf(Error);
  });
});

test("functions, the predecessor of tools, are called and answered in their own form, streamed or not", async () => {
  const body = {
    model: "sandbox-chat",
    messages: [{ role: "user" as const, content: "What is the weather in Paris? Use the get_weather tool." }],
    functions: [{ name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }],
    function_call: { name: "get_weather" },
  };
  const plain = await client.chat.completions.create(body);
  const [choice] = plain.choices;
  expect(choice).toMatchObject({ finish_reason: "function_call", message: { function_call: { name: "get_weather" } } });
  const call = choice?.message.function_call;
  expect(JSON.parse(call?.arguments ?? "")).toEqual({ city: "Paris" });
  let streamed = "";
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
    streamed += chunk.choices[0]?.delta.function_call?.arguments ?? "";
  }
  expect(JSON.parse(streamed)).toEqual({ city: "Paris" });
  const told = await client.chat.completions.create({
    model: "sandbox-chat",
    functions: body.functions,
    messages: [
      ...body.messages,
      { role: "assistant", content: null, function_call: call ?? null },
      { role: "function", name: "get_weather", content: "18 degrees and sunny" },
    ],
  });
  expect(told.choices[0]?.message.content).toContain("18 degrees and sunny");
});

describe("refusals", () => {
  const failing = async (call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
    try {
      await call;
    } catch (error) {
      if (error instanceof OpenAI.APIError) return error;
      throw error;
    }
    throw new Error("expected the call to fail");
  };

  test("a wrong key is 401", async () => {
    const stranger = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: "slk_nobody" });
    const error = await failing(stranger.chat.completions.create({ model: "sandbox-chat", messages: say("x") }));
    expect([error.status, error.code, error.type]).toEqual([401, "invalid_api_key", "authentication_error"]);
  });

  test("an unknown model is 400 and names the parameter", async () => {
    const error = await failing(client.chat.completions.create({ model: "no-such-model", messages: say("x") }));
    expect([error.status, error.code, error.param]).toEqual([400, "model_not_found", "model"]);
  });

  test("a provider's rejection is 502 and costs nothing", async () => {
    const once = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
    const error = await failing(once.chat.completions.create({ model: "sandbox-refuse", messages: say("x") }));
    expect([error.status, error.code]).toEqual([502, "upstream_refused"]);
    const [row] = await stack.query("select status, settled from usage_record where job_id = $1", [
      error.requestID ?? "",
    ]);
    expect(row).toMatchObject({ status: "failed", settled: 0n });
  });
});
