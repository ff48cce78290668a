import { afterEach, describe, expect, test } from "bun:test";

import { ERROR_NAMES, ERRORS } from "./errors.ts";
import text from "./fixtures/text.json" with { type: "json" };
import toolCall from "./fixtures/tool-call.json" with { type: "json" };
import { BEHAVIOUR_NAMES, behaviourOfModel } from "./named.ts";
import { type GeminiServer, startGeminiServer } from "./server.ts";

const servers: GeminiServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function start(): Promise<GeminiServer> {
  const server = await startGeminiServer({ apiKey: "right" });
  servers.push(server);
  return server;
}

const HELLO = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };

function ask(server: GeminiServer, path: string, body: unknown, key = "right"): Promise<Response> {
  return fetch(`${server.url}/models/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": key },
    body: JSON.stringify(body),
  });
}

async function refusalOf(body: unknown, path = "m:generateContent", key = "right"): Promise<[number, string]> {
  const answer = await ask(await start(), path, body, key);
  const { error } = (await answer.json()) as { error: { status: string } };
  return [answer.status, error.status];
}

/** Names of members at every depth, in their order. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]));
}

describe("the local Gemini", () => {
  test("answers in the shape of recorded traffic", async () => {
    const server = await start();
    server.next(
      { thoughts: "a b", text: "c" },
      { toolCalls: [{ name: "f", args: { location: "x" }, signature: "s" }] },
    );
    const spoken = (await (await ask(server, "m:generateContent", HELLO)).json()) as object;
    const { thoughtSignature: _signature, ...part } = text.plain.candidates[0]!.content.parts[0]!;
    const candidates = [{ ...text.plain.candidates[0], content: { parts: [part], role: "model" } }];
    expect(shape(spoken)).toEqual(shape({ ...text.plain, candidates }));
    const called = (await (await ask(server, "m:generateContent", HELLO)).json()) as { usageMetadata: object };
    const { finishMessage: _message, ...candidate } = toolCall.plain.candidates[0]!;
    const { thoughtsTokenCount: _thoughts, ...usageMetadata } = toolCall.plain.usageMetadata;
    expect(shape(called)).toEqual(shape({ ...toolCall.plain, candidates: [candidate], usageMetadata }));
  });

  test("streams events with CRLF and no end marker, the last with the finish reason", async () => {
    const body = await (await ask(await start(), "mock-ok:streamGenerateContent?alt=sse", HELLO)).text();
    const events = body.split("\r\n\r\n").filter((event) => event !== "");
    const last = JSON.parse(events.at(-1)?.slice("data: ".length) ?? "") as { candidates: { finishReason: string }[] };
    expect(last.candidates[0]?.finishReason).toBe("STOP");
    expect(body).not.toContain("[DONE]");
  });

  test.each<[string, unknown]>([
    ["an unknown member", { ...HELLO, messages: [] }],
    ["an unknown setting", { ...HELLO, generationConfig: { max_tokens: 1 } }],
    ["no contents", { contents: [] }],
    ["no parts", { contents: [{ role: "user", parts: [] }] }],
    ["a part without data", { contents: [{ role: "user", parts: [{ thoughtSignature: "s" }] }] }],
    ["a role of OpenAI's", { contents: [{ role: "assistant", parts: [{ text: "a" }] }] }],
    [
      "a result nobody called for",
      { contents: [{ role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] }] },
    ],
    [
      "a call nobody answers",
      {
        contents: [
          { role: "model", parts: [{ functionCall: { name: "f" } }] },
          { role: "user", parts: [{ text: "a" }] },
        ],
      },
    ],
    [
      "two kinds of thinking",
      { ...HELLO, generationConfig: { thinkingConfig: { thinkingLevel: "low", thinkingBudget: 1 } } },
    ],
    [
      "two schemas of a tool",
      { ...HELLO, tools: [{ functionDeclarations: [{ name: "f", parameters: {}, parametersJsonSchema: {} }] }] },
    ],
  ])("refuses %s", async (_name, body) => {
    expect(await refusalOf(body)).toEqual([400, "INVALID_ARGUMENT"]);
  });

  test("refuses keys it does not know, and paths that are none", async () => {
    expect(await refusalOf(HELLO, "m:generateContent", "wrong")).toEqual([400, "INVALID_ARGUMENT"]);
    for (const path of ["m:streamGenerateContent", "m", "m:generate", "a/b:generateContent"]) {
      expect((await ask(await start(), path, HELLO)).status).toBe(404);
    }
  });

  test("refuses what it should embed when it is too much or for another model", async () => {
    const entry = { model: "models/m", content: { parts: [{ text: "a" }] } };
    const requests = Array.from({ length: 101 }, () => entry);
    expect(await refusalOf({ requests }, "m:batchEmbedContents")).toEqual([400, "INVALID_ARGUMENT"]);
    expect(await refusalOf({ ...entry, model: "models/x" }, "m:embedContent")).toEqual([400, "INVALID_ARGUMENT"]);
  });

  test.each(ERROR_NAMES)("sends the error %s with its status", async (name) => {
    const answer = await ask(await start(), `mock-${name}:generateContent`, HELLO);
    expect(answer.status).toBe(ERRORS[name].code);
    expect(((await answer.json()) as { error: { status: string } }).error.status).toBe(ERRORS[name].status);
  });

  test("knows every behaviour by name, and no other", () => {
    for (const name of BEHAVIOUR_NAMES) expect(behaviourOfModel(`mock-${name}`)).not.toBeNull();
    expect(behaviourOfModel("gemini-3.5-flash")).toBeNull();
    expect(() => behaviourOfModel("mock-nothing")).toThrow(RangeError);
  });
});
