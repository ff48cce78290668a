/** The stock Anthropic SDK with nothing changed but its base URL, against the running service. */
import { beforeAll, describe, expect, test } from "bun:test";

import Anthropic from "@anthropic-ai/sdk";

import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";

import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let client: Anthropic;
let once: Anthropic;

beforeAll(async () => {
  stack = await sharedStack();
  client = new Anthropic({ baseURL: stack.baseUrls[0] ?? "", apiKey: stack.key });
  once = client.withOptions({ maxRetries: 0 });
});

const say = (text: string) => [{ role: "user" as const, content: `Say exactly: ${text}` }];

/** A 2 × 3 PNG. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGP8z8DAwMDAxMDAwIBMAQALAQEE6Xm2ZAAAAABJRU5ErkJggg==";

const picture: Anthropic.ImageBlockParam = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
};

const weather: Anthropic.Tool = {
  name: "get_weather",
  description: "Current weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

describe("a plain message", () => {
  test("answers, counts its tokens and reports its cost", async () => {
    const { data, response, request_id } = await client.messages
      .create({ model: "sandbox-chat", max_tokens: 100, messages: say("hello there") })
      .withResponse();
    expect(data.content).toMatchObject([{ type: "text", text: "hello there" }]);
    expect(data).toMatchObject({ type: "message", role: "assistant", model: "sandbox-chat", stop_reason: "end_turn" });
    expect(request_id).toBe(response.headers.get("x-request-id") ?? "");
    await stack.settled();
    const [row] = await stack.query("select settled, status, units from usage_record where job_id = $1", [
      request_id ?? "",
    ]);
    expect(row).toMatchObject({
      status: "succeeded",
      units: { input_tokens: data.usage.input_tokens, output_tokens: data.usage.output_tokens },
    });
    expect(Number(response.headers.get("x-credits-used")) * 1e9).toBeCloseTo(Number(row?.["settled"]), 0);
  });

  test("stops at its limit", async () => {
    const message = await client.messages.create({ model: "sandbox-chat", max_tokens: 2, messages: say("a b c d e") });
    expect(message.stop_reason).toBe("max_tokens");
    expect(message.usage.output_tokens).toBe(2);
  });

  test("fills a JSON schema", async () => {
    const message = await client.messages.create({
      model: "sandbox-chat",
      max_tokens: 200,
      messages: [{ role: "user", content: "Invent a person called Ada who is 36" }],
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { name: { type: "string" }, age: { type: "integer" } },
            required: ["name", "age"],
            additionalProperties: false,
          },
        },
      },
    });
    expect(JSON.parse(textOf(message))).toEqual({ name: expect.any(String), age: expect.any(Number) });
  });

  test("reads documents: a text, and a PDF's bytes", async () => {
    const message = await client.messages.create({
      model: "sandbox-chat",
      max_tokens: 200,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "document", source: { type: "text", media_type: "text/plain", data: "Rain in May." } },
            { type: "document", source: { type: "base64", media_type: "application/pdf", data: btoa("%PDF-1.4") } },
            { type: "text", text: "Say exactly: read" },
          ],
        },
      ],
    });
    expect(textOf(message)).not.toBe("");
  });

  test("carries a request larger than a queue message", async () => {
    const system = "word ".repeat(120_000);
    const message = await client.messages.create({
      model: "sandbox-chat",
      max_tokens: 100,
      system,
      messages: say("large"),
    });
    expect(textOf(message)).toBe("large");
    expect(message.usage.input_tokens).toBeGreaterThan(100_000);
  });
});

describe("a stream", () => {
  test("returns the text in pieces, which join to the plain message", async () => {
    const body = { model: "sandbox-chat", max_tokens: 100, messages: say("one two three four five") };
    const plain = await client.messages.create(body);
    const pieces: string[] = [];
    const reported: unknown[] = [];
    const stream = client.messages.stream(body).on("text", (text) => pieces.push(text));
    stream.on("streamEvent", (event) => {
      if (event.type === "message_delta") reported.push(event.usage);
    });
    const joined = await stream.finalMessage();
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("one two three four five");
    // The SDK adds members of its own to streamed messages, and joins only those members of the usage that it knows.
    const { credits, ...usage } = plain.usage as Anthropic.Usage & { credits: number };
    expect(joined).toMatchObject({ ...plain, usage, id: joined.id });
    expect(reported).toMatchObject([{ credits }]);
    expect(joined.id).toMatch(/^msg_[0-9a-f]{32}$/);
  });

  test("of a thinking model has a thinking block, which is returned with the next turn", async () => {
    const question = { role: "user" as const, content: "What is 2 + 2?" };
    const body = { model: "sandbox-reasoning", max_tokens: 1_000, thinking: { type: "adaptive" as const } };
    const message = await client.messages.stream({ ...body, messages: [question] }).finalMessage();
    expect(message.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
    expect(message.usage.output_tokens_details?.thinking_tokens).toBeGreaterThan(0);
    const next = await client.messages.create({
      ...body,
      messages: [question, { role: "assistant", content: message.content }, ...say("thanks")],
    });
    expect(textOf(next)).toBe("thanks");
  });

  test("that is interrupted makes the SDK throw, and the delivered part is charged", async () => {
    const stream = once.messages.stream({ model: "sandbox-truncate", max_tokens: 100, messages: say("a b c d e f g") });
    const error: unknown = await stream.finalMessage().catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({
      type: "api_error",
      error: { type: "error" },
      apiMessage: expect.any(String) as unknown,
    });
    const [row] = await stack.query("select status, settled from usage_record where job_id = $1", [
      stream.request_id ?? "",
    ]);
    expect(row?.["status"]).toBe("failed");
    expect(Number(row?.["settled"])).toBeGreaterThan(0);
  });

  test("whose reader disconnects is ended and charged for the generated part", async () => {
    const stream = client.messages.stream({ model: "sandbox-slow", max_tokens: 1_000, messages: say("a b c d e f g h i j k l m n o p q r s t u v w x y z") }); // prettier-ignore
    const aborted = stream.done().catch((error: unknown) => error);
    stream.on("text", () => stream.abort());
    expect(await aborted).toBeInstanceOf(Anthropic.APIUserAbortError);
    const id = stream.request_id ?? "";
    const row = await eventually("the usage record", async () => {
      const [found] = await stack.query("select status from usage_record where job_id = $1", [id]);
      return found;
    });
    expect(row).toEqual({ status: "cancelled" });
  });
});

describe("tools", () => {
  test("a streamed conversation with a picture, a call and its result", async () => {
    const question: Anthropic.MessageParam = {
      role: "user",
      content: [picture, { type: "text", text: "What is the weather in Paris? Use the get_weather tool." }],
    };
    const body = { model: "sandbox-chat", max_tokens: 500, tools: [weather] };
    const first = await client.messages.stream({ ...body, messages: [question] }).finalMessage();
    expect(first.stop_reason).toBe("tool_use");
    const [call] = first.content.filter((block) => block.type === "tool_use");
    if (!call) throw new Error("expected a call");
    expect(call.input).toEqual({ city: "Paris" });
    const second = await client.messages
      .stream({
        ...body,
        messages: [
          question,
          { role: "assistant", content: first.content },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: call.id,
                content: [{ type: "text", text: "18 degrees and sunny" }, picture],
              },
            ],
          },
        ],
      })
      .finalMessage();
    expect(second.stop_reason).toBe("end_turn");
    expect(textOf(second)).toMatch(/18 degrees and sunny|2\s*[×x]\s*3/);
  });

  test("parallel calls that a source interleaves are complete, one after the other", async () => {
    const body = {
      model: "sandbox-interleaved",
      max_tokens: 500,
      messages: [{ role: "user" as const, content: "Use get_weather for Paris, for Rome and for Oslo." }],
      tools: [weather],
      tool_choice: { type: "any" as const },
    };
    const inputs = ({ content }: Anthropic.Message) =>
      content.map((block) => (block.type === "tool_use" ? block.input : block.type));
    const plain = await client.messages.create(body);
    const joined = await client.messages.stream(body).finalMessage();
    expect(inputs(plain)).toEqual([{ city: "Paris" }, { city: "Rome" }, { city: "Oslo" }]);
    expect(inputs(joined)).toEqual(inputs(plain));
    const single = await client.messages.create({ ...body, tool_choice: { type: "any", disable_parallel_tool_use: true } }); // prettier-ignore
    expect(inputs(single)).toHaveLength(1);
  });

  test("the SDK's own loop runs a tool to the answer", async () => {
    const called: unknown[] = [];
    const answer = await client.beta.messages.toolRunner({
      model: "sandbox-chat",
      max_tokens: 500,
      messages: [{ role: "user", content: "What is the weather in Rome? Use the get_weather tool." }],
      tools: [
        {
          ...weather,
          type: "custom",
          run: (input: unknown) => {
            called.push(input);
            return "12 degrees and rain";
          },
          parse: (input: unknown) => input,
        },
      ],
    });
    expect(called).toEqual([{ city: "Rome" }]);
    expect(answer.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toContain("12 degrees and rain"); // prettier-ignore
  });
});

describe("models", () => {
  test("are listed page by page, the newest first, and read one by one", async () => {
    const all: Anthropic.ModelInfo[] = [];
    for await (const info of client.models.list({ limit: 2 })) all.push(info);
    const ids = all.map(({ id }) => id);
    expect(ids).toContain("sandbox-chat");
    expect(ids).not.toContain("sandbox-image");
    expect(new Set(ids).size).toBe(ids.length);
    expect(all.map(({ created_at: made }) => made)).toEqual(
      all
        .map(({ created_at: made }) => made)
        .toSorted()
        .toReversed(),
    );
    const whole = await client.models.list({ limit: 1_000 });
    expect([whole.data, whole.has_more, whole.first_id, whole.last_id]).toEqual([
      all,
      false,
      ids[0] ?? "",
      ids.at(-1) ?? "",
    ]);
    const before = await client.models.list({ limit: 2, before_id: ids[3] ?? "" });
    expect([before.data, before.has_more]).toEqual([all.slice(1, 3), true]);
    const info = all.find(({ id }) => id === "sandbox-chat");
    expect(await client.models.retrieve("sandbox-chat")).toEqual(info as Anthropic.ModelInfo);
    expect(info).toMatchObject({
      type: "model",
      display_name: "sandbox-chat",
      max_tokens: expect.any(Number) as number,
    });
  });

  test("that do not exist, and invalid pages, are errors with their sentence", async () => {
    for (const [ask, status, sentence] of [
      [() => once.models.retrieve("no-such"), 404, "There is no such model"],
      [() => once.models.retrieve("sandbox-image"), 404, "There is no such model"],
      [() => once.models.list({ limit: 0 }), 400, "Expected limit"],
      [() => once.models.list({ after_id: "no-such" }), 400, "Expected after_id"],
      [() => once.messages.batches.list(), 404, "/v1/batches"],
    ] as const) {
      const error = await ask().then(
        () => undefined,
        (one: unknown) => one as InstanceType<typeof Anthropic.APIError>,
      );
      expect([error?.status, error?.message, error?.requestID]).toEqual([
        status,
        expect.stringContaining(sentence) as string,
        expect.any(String) as string,
      ]);
      expect(error?.error).toMatchObject({ type: "error", error: { code: expect.any(String) as string } });
    }
  });
});

test("count_tokens equals the count of the call, and costs nothing", async () => {
  const body = { model: "sandbox-chat", system: "Be brief.", messages: say("count me"), tools: [weather] };
  await stack.settled();
  const before = await stack.query("select count(*) from usage_record");
  const { input_tokens } = await client.messages.countTokens(body);
  expect(await stack.query("select count(*) from usage_record")).toEqual(before);
  const message = await client.messages.create({ ...body, max_tokens: 50 });
  expect(message.usage.input_tokens).toBe(input_tokens);
});

describe("refusals", () => {
  const failing = async (call: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> => {
    try {
      await call;
    } catch (error) {
      if (error instanceof Anthropic.APIError) return error;
      throw error;
    }
    throw new Error("expected the call to fail");
  };
  const body = { model: "sandbox-chat", max_tokens: 100, messages: say("x") };

  test("a wrong key is an AuthenticationError, from either header", async () => {
    for (const key of [{ apiKey: "slk_nobody" }, { authToken: "slk_nobody" }]) {
      const stranger = new Anthropic({ baseURL: stack.baseUrls[0] ?? "", ...key });
      const error = await failing(stranger.messages.create(body));
      expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
      expect(error.error).toMatchObject({ error: { code: "invalid_api_key", type: "authentication_error" } });
    }
  });

  test("a key as a bearer token is accepted", async () => {
    const bearer = new Anthropic({ baseURL: stack.baseUrls[0] ?? "", authToken: stack.key });
    expect(textOf(await bearer.messages.create(body))).toBe("x");
  });

  test("an unknown model is a NotFoundError", async () => {
    const error = await failing(once.messages.create({ ...body, model: "no-such-model" }));
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect(error.type).toBe("not_found_error");
  });

  test("a conversation that is too long has the error text that clients parse", async () => {
    const messages = [{ role: "user" as const, content: "word ".repeat(200) }];
    const error = await failing(once.messages.create({ ...body, model: "sandbox-small-context", messages }));
    expect(error.apiMessage ?? error.message).toMatch(/prompt is too long: \d+ tokens > \d+ maximum/);
  });

  test.each<[string, object, string, string]>([
    [
      "an unknown tool of Anthropic's",
      { tools: [{ type: "browser_20260801", name: "browser" }] },
      "unsupported_value",
      "tools[0].type",
    ],
  ])("%s is a BadRequestError that names the parameter", async (_name, members, code, param) => {
    const error = await failing(once.messages.create({ ...body, ...members }));
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error.type).toBe("invalid_request_error");
    expect(error.error).toMatchObject({ type: "error", error: { code, param }, request_id: error.requestID });
    expect(error.message).toContain(error.apiMessage ?? "no message");
  });

  test.each<[string, string, number, string, string]>([
    ["a provider's refusal", "sandbox-refuse", 502, "InternalServerError", "upstream_refused"],
    ["a provider's failure", "sandbox-error", 502, "InternalServerError", "upstream_error"],
    ["a provider without capacity", "sandbox-rate-limited", 503, "ServiceUnavailableError", "overloaded"],
  ])("%s keeps its status, streamed or not, and costs nothing", async (_name, model, status, kind, code) => {
    const calls = [
      () => once.messages.create({ ...body, model }),
      () => once.messages.stream({ ...body, model }).finalMessage(),
    ];
    for (const call of calls) {
      const error = await failing(call());
      expect([error.status, error.name]).toEqual([status, kind]);
      expect(error.error).toMatchObject({ type: "error", error: { code } });
      const [row] = await stack.query("select status, settled from usage_record where job_id = $1", [
        error.requestID ?? "",
      ]);
      expect(row).toMatchObject({ status: "failed", settled: 0n });
    }
  });
});
