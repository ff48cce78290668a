/** The local server against the vendor's own client: what it sends must be what that client reads. */
import { describe, expect, test } from "bun:test";

import Anthropic from "@anthropic-ai/sdk";

import { startAnthropicServer } from "./server.ts";
import { useServers } from "../engine/calls.ts";

const own = useServers();

function start() {
  const server = own(startAnthropicServer({ apiKey: "sk-ant-ours" }));
  const baseURL = server.url.replace(/\/v1$/, "");
  // Newer releases of the client say another version, which changes nothing of what is tested here.
  const defaultHeaders = { "x-api-key": "sk-ant-ours", "anthropic-version": "2023-06-01" };
  return { server, client: new Anthropic({ baseURL, apiKey: "unused", maxRetries: 0, defaultHeaders }) };
}

const bodyOf = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "say Où crème 🙂" }] }],
});

describe("the stock client", () => {
  test.each([
    "ok",
    "reasoning",
    "redacted",
    "tool-use",
    "tools-parallel",
    "tools-interleaved",
    "refusal-late",
    "usage-cached",
  ])("reads the same message from a stream as from a plain answer: %s", async (behaviour) => {
    const { server, client } = start();
    const plain = await client.messages.create(bodyOf(`mock-${behaviour}`));
    const streamed = await client.messages.stream(bodyOf(`mock-${behaviour}`)).finalMessage();
    expect(streamed.content as unknown).toEqual(plain.content);
    expect(streamed.stop_reason).toBe(plain.stop_reason);
    const { input_tokens: input, output_tokens: output } = plain.usage;
    expect(streamed.usage).toMatchObject({ input_tokens: input, output_tokens: output });
    expect(server.refusals).toEqual([]);
  });

  test.each([
    ["rate-limit", 429],
    ["overloaded", 529],
    ["context-length", 400],
    ["unauthorized", 401],
  ])("reads errors: %s", async (behaviour, status) => {
    const { client } = start();
    const error = await client.messages.create(bodyOf(`mock-${behaviour}`)).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect((error as { status?: number }).status).toBe(status);
  });

  test("reads an error in the middle of a stream as one", async () => {
    const { client } = start();
    const final = client.messages.stream(bodyOf("mock-error-mid")).finalMessage();
    const error = await final.catch((fault: unknown) => fault);
    expect(String(error)).toMatch(/overloaded/i);
  });
});
