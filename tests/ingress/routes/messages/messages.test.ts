import { afterEach, describe, expect, test } from "bun:test";

import { createApp, routesOf } from "#ingress/app.ts";
import { validate } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { COUNTED_CHARACTERS_MAX } from "#shared/calls/estimate/estimate.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { envelopeOf, type FakeContext, fakeContext, type FakeOptions, KEY } from "../../fake-context.ts";

const open: FakeContext[] = [];
afterEach(() => {
  for (const fake of open.splice(0)) fake.close();
});

const MESSAGE = { model: "one", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };

function start(options?: FakeOptions) {
  const fake = fakeContext(options);
  open.push(fake);
  const app = createApp(fake.context);
  const post = (body: object, headers: Record<string, string> = { "x-api-key": KEY }, path = ""): Promise<Response> =>
    app.handle(
      new Request(`http://localhost/v1/messages${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
        body: JSON.stringify(body),
      }),
    );
  return { ...fake, post };
}

describe("POST /v1/messages", () => {
  test("is one count, one hold and one job with the translated request and the answer's form", async () => {
    const { post, counted, sent, relayed } = start();
    const response = await post({ ...MESSAGE, system: "Be brief.", future: 1 });
    expect(response.status).toBe(200);
    const requestId = response.headers.get("x-request-id") ?? "";
    expect(response.headers.get("request-id")).toBe(requestId);
    expect(counted).toEqual([
      expect.objectContaining({ hold: expect.objectContaining({ mayExceed: false }) as unknown }),
    ]);
    expect(relayed).toEqual([expect.objectContaining({ jobId: requestId, api: "anthropic" })]);
    const message = { ...sent[0]?.head, request: JSON.parse(sent[0]?.text ?? "") as unknown };
    expect(validate("JobMessage", message)).toBeNull();
    expect(message).toMatchObject({
      api: "anthropic",
      kind: "chat",
      output_tokens_max: 100,
      request: {
        model: "one",
        max_completion_tokens: 100,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "hello" },
        ],
      },
    });
  });

  test.each<[string, Record<string, string>, (string | null)[]]>([
    ["x-api-key", { "x-api-key": KEY }, [`Bearer ${KEY}`]],
    ["a bearer token", { authorization: `Bearer ${KEY}` }, [`Bearer ${KEY}`]],
    ["both: the token counts", { authorization: `Bearer ${KEY}`, "x-api-key": "other" }, [`Bearer ${KEY}`]],
  ])("reads the key from %s", async (_name, headers, asked) => {
    const { post, authorizations } = start();
    expect((await post(MESSAGE, headers)).status).toBe(200);
    expect(authorizations).toEqual(asked);
  });

  test.each<[string, Record<string, string>, string]>([
    ["none", {}, "missing_api_key"],
    ["an empty one", { "x-api-key": "" }, "missing_api_key"],
    ["a wrong one", { "x-api-key": "wrong" }, "invalid_api_key"],
    ["a good one behind a wrong token", { authorization: "Bearer wrong", "x-api-key": KEY }, "invalid_api_key"],
  ])("rejects a key: %s", async (_name, headers, code) => {
    const { post, counted } = start();
    const response = await post(MESSAGE, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    expect(await envelopeOf(response)).toMatchObject({ code, param: null });
    expect(counted).toEqual([]);
  });

  test.each<[string, string, string, object, number, string]>([
    ["a call without a key", "POST", "", {}, 401, "missing_api_key"],
    ["a body that is none", "POST", "", { "x-api-key": KEY }, 400, "missing_required_parameter"],
    [
      "a count of a body that is none",
      "POST",
      "/count_tokens",
      { "x-api-key": KEY },
      400,
      "missing_required_parameter",
    ],
    ["a method that it does not take", "GET", "", {}, 405, "method_not_allowed"],
    ["a path of Anthropic's that is not here", "POST", "/batches", { "x-api-key": KEY }, 404, "not_found"],
  ])("answers %s with our error in Anthropic's format", async (_name, method, path, headers, status, code) => {
    const app = createApp(start().context);
    const init = method === "GET" ? { method } : { method, body: "{}" };
    const type = { "content-type": "application/json", ...headers };
    const response = await app.handle(new Request(`http://localhost/v1/messages${path}`, { ...init, headers: type }));
    expect(response.status).toBe(status);
    const body: unknown = await response.json();
    expect(body).toEqual({
      type: "error",
      error: expect.objectContaining({ code, message: expect.any(String) as unknown }) as unknown,
      request_id: response.headers.get("request-id"),
    });
    expect(validate("ErrorEnvelope", body)).toBeNull();
  });

  test("lowers a limit above the model's, holds credits for the lowered one, and reports it", async () => {
    const { post, sent } = start();
    const within = await post(MESSAGE);
    expect(within.headers.get("x-max-tokens-lowered")).toBeNull();
    const response = await post({ ...MESSAGE, max_tokens: 2_000_000_000 });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-max-tokens-lowered")).toBe("500");
    expect(sent[1]?.head).toMatchObject({ output_tokens_max: 500 });
  });

  const image = { type: "image", source: { type: "url", url: "https://a.example/b.png" } };
  test.each<[string, object, string, string]>([
    ["an unknown tool of Anthropic's", { tools: [{ type: "browser_20260801", name: "browser" }] }, "unsupported_value", "tools[0].type"], // prettier-ignore
    [
      "a choice of a tool that runs at Anthropic",
      {
        tools: [{ type: "web_search_20250305", name: "web_search" }],
        tool_choice: { type: "tool", name: "web_search" },
      },
      "unsupported_value",
      "tool_choice.name",
    ],
    [
      "a picture for a model without eyes",
      { system: "s", messages: [{ role: "user", content: [{ type: "text", text: "a" }, image] }] },
      "image_not_supported_by_model",
      "messages[0].content[1]",
    ],
  ])("rejects %s by the caller's own field, and counts once", async (_name, members, code, param) => {
    const { post, counted, relayed } = start();
    const response = await post({ ...MESSAGE, ...members });
    expect(response.status).toBe(400);
    expect(await envelopeOf(response)).toMatchObject({ code, param, type: "invalid_request_error" });
    expect(counted).toEqual([expect.objectContaining({ hold: null })]);
    expect(relayed).toEqual([]);
  });

  test("answers 404 for an unknown model, as Anthropic's API does", async () => {
    const { post, counted } = start();
    const response = await post({ ...MESSAGE, model: "nothing" });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([404, "false"]);
    expect(await envelopeOf(response)).toMatchObject({
      code: "model_not_found",
      type: "not_found_error",
      param: "model",
    });
    expect(counted).toEqual([expect.objectContaining({ hold: null })]);
  });

  test("omits tools that run at Anthropic, and names their types", async () => {
    const withTools = BASE.replace("supports_chat: true", "supports_chat: true\n    supports_tools: true");
    const presets = "presets: [{ name: standard, requests_per_minute: 120, daily_tokens: null }]";
    const { post, sent } = start({ catalogue: build([`${withTools}\n${presets}\n`]) });
    const tools = [
      { type: "web_search_20250305", name: "web_search" },
      { type: "bash_20250124", name: "bash" },
      { type: "web_fetch_20250910", name: "web_fetch" },
    ];
    const response = await post({ ...MESSAGE, tools });
    expect([response.status, response.headers.get("x-tools-omitted")]).toEqual([
      200,
      "web_search_20250305, web_fetch_20250910",
    ]);
    expect((JSON.parse(sent[0]?.text ?? "") as { tools: object[] }).tools).toMatchObject([
      { type: "function", function: { name: "bash" } },
    ]);
  });

  test("reports a provider's rejected parameter by the caller's own field, with headers and retry hint", async () => {
    const { post, counted } = start({
      relay: () => {
        throw new ApiError("unsupported_value", "No.", {
          param: "max_completion_tokens",
          shouldRetry: false,
          headers: { "retry-after": "7" },
        });
      },
    });
    const response = await post(MESSAGE);
    expect(await envelopeOf(response)).toMatchObject({ code: "unsupported_value", param: "max_tokens" });
    expect([response.headers.get("retry-after"), response.headers.get("x-should-retry")]).toEqual(["7", "false"]);
    expect(counted).toHaveLength(1);
  });
});

test("the codes of messages equal those of chat, plus stored files", () => {
  const fake = fakeContext();
  open.push(fake);
  const codesOf = (path: string) => new Set(routesOf(fake.context).find((route) => route.path === path)?.errors);
  expect(codesOf("/v1/messages").union(new Set(["file_not_found"]))).toEqual(codesOf("/v1/chat/completions"));
  // Counting looks files up and reads none of their bytes.
  const counting = codesOf("/v1/messages/count_tokens");
  expect([counting.has("file_not_found"), counting.has("unprocessable_input")]).toEqual([true, false]);
});

describe("POST /v1/messages/count_tokens", () => {
  const countOf = async (post: ReturnType<typeof start>["post"], members: object): Promise<number> => {
    const { max_tokens: _limit, ...rest } = MESSAGE;
    const response = await post({ ...rest, ...members }, undefined, "/count_tokens");
    const body: unknown = await response.json();
    expect(validate("TokenCount", body)).toBeNull();
    return (body as { input_tokens: number }).input_tokens;
  };

  test("counts the model's input, in the window once, without hold or job", async () => {
    const { post, counted, relayed } = start();
    const base = await countOf(post, {});
    expect(base).toBeGreaterThan(0);
    expect(counted).toEqual([expect.objectContaining({ hold: null })]);
    expect(relayed).toEqual([]);
    expect(await countOf(post, { system: "Answer in rhymes." })).toBeGreaterThan(base);
    expect(await countOf(post, { tools: [{ name: "f", input_schema: { type: "object" } }] })).toBeGreaterThan(base);
    expect(await countOf(post, { max_tokens: 5, temperature: 1 })).toBe(base);
  });

  test("counts an image at the model's bound", async () => {
    const { post } = start();
    const picture = (size: number) => ({
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(size) } }],
        },
      ],
    });
    expect(await countOf(post, picture(4))).toBe(await countOf(post, picture(2_000)));
  });

  test("counts a text that is too long by its length", async () => {
    const { post } = start({ bodyBytesMax: 8 * 1_048_576 });
    const size = COUNTED_CHARACTERS_MAX + 4;
    expect(await countOf(post, { messages: [{ role: "user", content: "x ".repeat(size / 2) }] })).toBeWithin(size / 4, size / 4 + 20); // prettier-ignore
  });

  test.each<[string, object, string]>([
    ["an unknown model", { model: "nothing" }, "model_not_found"],
    ["a turn of no shape", { messages: [{ role: "user", content: [{ type: "video" }] }] }, "unsupported_value"],
  ])("rejects %s", async (_name, members, code) => {
    const { post } = start();
    expect(await envelopeOf(await post({ ...MESSAGE, ...members }, undefined, "/count_tokens"))).toMatchObject({
      code,
    });
  });
});
