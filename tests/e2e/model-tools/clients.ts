/** Stock clients whose model uses capabilities: none of them knows the items that tell of a run, and each goes on with its next turn. */
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, type AgentInputItem, OpenAIProvider, Runner, setTracingDisabled, tool, user } from "@openai/agents";
import { generateText, type LanguageModel, type ModelMessage, streamText } from "ai";
import { beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";

import type { Tenant } from "#tests/support/tenant.ts";

import { MODEL, newTenant, REGEX, USE_REGEX, WEATHER } from "./bench.ts";

let tenant: Tenant;
let baseURL: string;
beforeAll(async () => {
  tenant = await newTenant();
  baseURL = `${tenant.baseUrls[0]}/v1`;
}, 240_000);

const USED = "code_regex returned";
const THANKS = "Say exactly: thanks";

describe.each([false, true])("the Agents SDK, streamed: %p", (stream) => {
  const run = async (agent: Agent, input: string | AgentInputItem[]) => {
    const client = new OpenAI({ baseURL, apiKey: tenant.key, maxRetries: 0 });
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }) });
    const result = stream ? await runner.run(agent, input, { stream: true }) : await runner.run(agent, input);
    if ("completed" in result) await result.completed;
    return result;
  };
  const regex = { type: "hosted_tool", name: "sluice", providerData: REGEX } as const;

  test("receives the answer, and returns the run with the next turn", async () => {
    setTracingDisabled(true);
    const agent = new Agent({ name: "Guide", instructions: "Be brief.", model: MODEL, tools: [regex] });
    const first = await run(agent, USE_REGEX);
    expect(first.finalOutput).toContain(USED);
    const second = await run(agent, [...first.history, user(THANKS)]);
    expect(second.finalOutput).toBe("thanks");
    const counted = await tenant.query<{ tokens: number }>(
      "select (units->>'input_tokens')::int as tokens from usage_record where workspace_id = $1 and model = $2 order by started_at desc limit 1",
      [tenant.workspace.id, MODEL],
    );
    // What the run came to is in it.
    expect(counted[0]?.tokens).toBeGreaterThan(100);
  }, 60_000);

  test("runs its own function beside it", async () => {
    const called: unknown[] = [];
    const weather = tool({
      ...WEATHER,
      parameters: { ...WEATHER.parameters, type: "object", additionalProperties: false },
      strict: true,
      execute: (input) => {
        called.push(input);
        return "21 degrees";
      },
    });
    const agent = new Agent({ name: "Guide", instructions: "Be brief.", model: MODEL, tools: [regex, weather] });
    const { finalOutput } = await run(agent, `${USE_REGEX} Then use get_weather for the city "Paris".`);
    expect(called.length).toBeGreaterThan(0);
    expect(finalOutput).toContain("get_weather returned");
  }, 60_000);
});

/** The SDK has no tool of this type: an application adds it to what goes out. */
const withRegex = (body: Record<string, unknown>) => ({
  ...body,
  tools: [...((body["tools"] as object[]) ?? []), REGEX],
});
const fetchWithRegex = ((input: string | URL | Request, init?: RequestInit) => {
  const body = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Record<string, unknown>;
  return fetch(input, { ...init, body: JSON.stringify(withRegex(body)) });
}) as typeof fetch;

const VERCEL: Readonly<Record<string, () => LanguageModel>> = {
  Responses: () => createOpenAI({ baseURL, apiKey: tenant.key, fetch: fetchWithRegex })(MODEL),
  chat: () =>
    createOpenAICompatible({ name: "sluice", baseURL, apiKey: tenant.key, transformRequestBody: withRegex })(MODEL),
};

// Of plain answers by Responses this SDK reads no item that OpenAI does not have: there an application streams, or asks by chat.
describe.each([
  ["Responses", "streamed"],
  ["chat", "streamed"],
  ["chat", "plain"],
] as const)("Vercel's SDK by %s, %s", (door, how) => {
  const ask = async (messages: ModelMessage[]) => {
    const asked = { model: VERCEL[door]?.() ?? MODEL, messages, maxRetries: 0 };
    if (how === "plain") return generateText(asked);
    const result = streamText({ ...asked, onError: () => undefined });
    return { text: await result.text, responseMessages: await result.responseMessages };
  };

  test("receives the answer, and continues with the next turn", async () => {
    const question: ModelMessage = { role: "user", content: USE_REGEX };
    const { text, responseMessages } = await ask([question]);
    expect(text).toContain(USED);
    const next = await ask([question, ...responseMessages, { role: "user", content: THANKS }]);
    expect(next.text).toBe("thanks");
  }, 60_000);
});

test.each([
  ["streamed", true],
  ["plain", false],
])(
  "LangChain by Responses receives the answer, and continues with the next turn: %s",
  async (_name, streaming) => {
    const chat = new ChatOpenAI({
      model: MODEL,
      apiKey: tenant.key,
      configuration: { baseURL },
      useResponsesApi: true,
      streaming,
      maxRetries: 0,
    }).bindTools([REGEX]);
    const question = new HumanMessage(USE_REGEX);
    const first = await chat.invoke([question]);
    expect(first.text).toContain(USED);
    const next = await chat.invoke([question, first, new HumanMessage(THANKS)]);
    expect(next.text).toBe("thanks");
  },
  60_000,
);
