/** The engine behind all local providers: what it plays, and what it tells of its callers. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";

import OpenAI from "openai";

import text from "../gemini/fixtures/text.json" with { type: "json" };
import toolCall from "../gemini/fixtures/tool-call.json" with { type: "json" };
import { startAnthropicServer } from "../anthropic/server.ts";
import { VENDOR_MARK } from "./behaviour.ts";
import { useServers } from "./calls.ts";
import { behavioursOf } from "./named.ts";
import type { Upstream } from "./upstream.ts";
import { startGeminiServer } from "../gemini/server.ts";
import { ERRORS } from "../openai-compatible/errors.ts";
import { startOpenAiServer } from "../openai-compatible/server.ts";

const own = useServers();

function post(server: Upstream, path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer key",
    "x-api-key": "key",
    "anthropic-version": "2023-06-01",
    "x-goog-api-key": "key",
    ...(init.headers as Record<string, string>),
  };
  return fetch(`${server.url}${path}`, { method: "POST", ...init, headers, body: JSON.stringify(body) });
}

const SAID = [{ role: "user", content: "say héllo wörld 🙂 again" }];
const ask = (server: Upstream, model: string, more: object = {}, init: RequestInit = {}): Promise<Response> =>
  post(server, "/chat/completions", { model, messages: SAID, ...more }, init);

describe("a behaviour", () => {
  test("is read from the model's name, then from the queue, then from the default", async () => {
    const server = own(startOpenAiServer({ default: { text: "default" } }));
    server.next({ status: 503, body: "" });
    expect((await ask(server, "mock-rate-limit")).status).toBe(429);
    expect((await ask(server, "m")).status).toBe(503);
    expect(await (await ask(server, "m")).text()).toContain("default");
  });

  test("with an unknown name resets the call and is listed among the server's errors", async () => {
    const server = startOpenAiServer();
    expect(ask(server, "mock-oops")).rejects.toThrow();
    const call = await server.received(1);
    await call.finished;
    expect(String(server.faults[0])).toContain("oops");
    server.close();
  });

  test.each([
    ["OpenAI", startOpenAiServer, (name: string) => ["/chat/completions", { model: name, messages: SAID }]],
    [
      "Anthropic",
      startAnthropicServer,
      (name: string) => [
        "/messages",
        { model: name, max_tokens: 99, messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] },
      ],
    ],
    [
      "Gemini",
      startGeminiServer,
      (name: string, stream: boolean) => [
        `/models/${name}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
        { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
      ],
    ],
  ] as const)(
    "of each name answers, hangs or breaks without an error of the server: %s",
    async (_name, start, callOf) => {
      const server = own(start());
      const abort = new AbortController();
      const known = Object.keys(behavioursOf({ errors: ERRORS, streamError: "{}" }));
      const names = known.filter((name) => !/^(huge-1g|gzip-bomb)$/.test(name) && !(name in ERRORS));
      for (const stream of [false, true]) {
        for (const name of names) {
          const [path, body] = callOf(`mock-${name}`, stream) as [string, object];
          const more = path.startsWith("/models") ? {} : { stream };
          void post(server, path, { ...body, ...more }, { signal: abort.signal }).catch(() => {});
        }
      }
      await server.received(names.length * 2);
      abort.abort();
      await Promise.all(server.requests.map((call) => call.finished));
      expect(server.refusals).toEqual([]);
    },
  );

  test("of hints and of usage that JSON.stringify cannot write is sent unchanged", async () => {
    const server = own(startOpenAiServer());
    expect((await ask(server, "mock-429-7")).headers.get("retry-after")).toBe("7");
    expect(await (await ask(server, "mock-usage-bare-nan")).text()).toContain('"prompt_tokens":NaN');
    expect(await (await ask(server, "mock-usage-missing")).text()).not.toContain('"usage"');
  });

  test.each(["fin", "rst", "cut-utf8", "cut-in-json", "cut-body"])(
    "of an interruption leaves the HTTP message open: %s",
    async (name) => {
      const server = own(startOpenAiServer());
      const { promise, resolve } = Promise.withResolvers<string>();
      const socket = connect(server.port, "127.0.0.1");
      let received = "";
      socket.setEncoding("latin1");
      socket.on("data", (piece: string) => (received += piece));
      socket.on("error", () => {});
      socket.on("close", () => resolve(received));
      const body = JSON.stringify({ model: `mock-${name}`, stream: name !== "cut-body", messages: SAID });
      const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`);
      const bytes = await promise;
      expect(bytes).toStartWith("HTTP/1.1 200");
      expect(bytes).not.toContain("0\r\n\r\n");
      expect(bytes).not.toContain("[DONE]");
      if (name === "cut-utf8") expect(bytes).toEndWith(" cr\u00c3\r\n");
    },
  );
});

describe("a client that disconnects", () => {
  test.each(["mock-silent", "mock-stall", "mock-endless", "mock-huge-1g"])(
    "is recorded with its moment: %s",
    async (model) => {
      const server = own(startOpenAiServer());
      const abort = new AbortController();
      const answer = ask(server, model, { stream: true }, { signal: abort.signal });
      const call = await server.received(1);
      if (model !== "mock-silent") await (await answer).body?.getReader().read();
      const leftAt = performance.now();
      abort.abort();
      await answer.catch(() => {});
      await call.finished;
      expect(call.closedByClientAt).toBeGreaterThanOrEqual(leftAt);
      expect(call.answeredAt).toBeNull();
      expect(server.openSockets()).toBe(0);
    },
  );

  test("after its answer has not abandoned it", async () => {
    const server = own(startOpenAiServer());
    await (await ask(server, "m")).text();
    const [call] = server.requests;
    expect(call?.answeredAt).not.toBeNull();
    server.close();
    expect(call?.closedByClientAt).toBeNull();
  });
});

describe("a dialect", () => {
  test("of OpenAI's is readable by its own client, with equal counts plain and streamed", async () => {
    const client = new OpenAI({ baseURL: own(startOpenAiServer()).url, apiKey: "sk-test", maxRetries: 0 });
    const body = { model: "m", messages: [{ role: "user" as const, content: "say one two three" }] };
    const plain = await client.chat.completions.create(body);
    const streamed = await client.chat.completions
      .stream({ ...body, stream_options: { include_usage: true } })
      .finalChatCompletion();
    for (const { choices, usage } of [plain, streamed]) {
      expect(choices[0]?.message.content).toBe("one two three");
      expect(usage).toEqual({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 });
    }
  });

  /** Names of members at every depth, in their order. */
  const shape = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.slice(0, 1).map(shape);
    if (typeof value !== "object" || value === null) return typeof value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]));
  };

  test("of Gemini's has the shape of recorded traffic", async () => {
    const server = own(startGeminiServer());
    server.next(
      { thoughts: "a b", text: "c" },
      { toolCalls: [{ name: "f", arguments: '{"location":"x"}', signature: "s" }] },
    );
    const hello = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
    const asked = async (): Promise<unknown> => (await post(server, "/models/m:generateContent", hello)).json();
    const { thoughtSignature: _signature, ...part } = text.plain.candidates[0]!.content.parts[0]!;
    const candidates = [{ ...text.plain.candidates[0], content: { parts: [part], role: "model" } }];
    expect(shape(await asked())).toEqual(shape({ ...text.plain, candidates }));
    const { finishMessage: _message, ...candidate } = toolCall.plain.candidates[0]!;
    const { thoughtsTokenCount: _thoughts, ...usageMetadata } = toolCall.plain.usageMetadata;
    expect(shape(await asked())).toEqual(shape({ ...toolCall.plain, candidates: [candidate], usageMetadata }));
  });

  const user = { role: "user", content: [{ type: "text", text: "hi" }] };
  const message = { model: "m", max_tokens: 10, messages: [user] };
  const hello = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
  const generate = "/models/m:generateContent";
  const embedding = { model: "models/m", content: { parts: [{ text: "a" }] } };

  test.each<[string, (options: { apiKey?: string }) => Upstream, string, readonly object[]]>([
    [
      "OpenAI",
      startOpenAiServer,
      "/chat/completions",
      [
        { model: "m", messages: [] },
        { model: "m", messages: SAID, stream_options: {} },
      ],
    ],
    [
      "Anthropic",
      startAnthropicServer,
      "/messages",
      [
        { ...message, max_tokens: undefined },
        { ...message, seed: 1 },
        { ...message, messages: [user, user] },
        { ...message, messages: [{ role: "user", content: [{ type: "text", text: " " }] }] },
        {
          ...message,
          messages: [user, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] }, user],
        },
        { ...message, temperature: 1.5 },
        { ...message, tool_choice: { type: "any" } },
        { ...message, thinking: { type: "enabled", budget_tokens: 1_024 } },
      ],
    ],
    [
      "Gemini",
      startGeminiServer,
      generate,
      [
        { ...hello, messages: [] },
        { ...hello, generationConfig: { max_tokens: 1 } },
        { contents: [] },
        { contents: [{ role: "user", parts: [{ thoughtSignature: "s" }] }] },
        { contents: [{ role: "assistant", parts: [{ text: "a" }] }] },
        { contents: [{ role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] }] },
        {
          contents: [
            { role: "model", parts: [{ functionCall: { name: "f" } }] },
            { role: "user", parts: [{ text: "a" }] },
          ],
        },
        { ...hello, generationConfig: { thinkingConfig: { thinkingLevel: "low", thinkingBudget: 1 } } },
      ],
    ],
    ["Gemini's embeddings", startGeminiServer, "/models/m:embedContent", [{ ...embedding, model: "models/x" }]],
    [
      "Gemini's batches",
      startGeminiServer,
      "/models/m:batchEmbedContents",
      [{ requests: Array.from({ length: 101 }, () => embedding) }],
    ],
  ])("of %s rejects what the vendor rejects", async (_name, start, path, wrong) => {
    const server = own(start({}));
    for (const body of wrong) {
      const answer = await post(server, path, body);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(VENDOR_MARK)]);
    }
    expect(server.refusals).toHaveLength(wrong.length);
    expect((await post(server, "/elsewhere", {})).status).toBe(404);
    const strict = own(start({ apiKey: "another" }));
    expect([400, 401]).toContain((await post(strict, path, wrong[0])).status);
  });
});
