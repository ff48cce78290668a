/**
 * Streams that break off after their first words, and the models of a chain with `continue_streams` that go on with them:
 * one stream for the client, one bill with each part at its own model's price.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import { parseCredits } from "#shared/base/money.ts";
import { audit } from "#tests/faults/audit.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { type Answer, createClient, DONE, errorCode, requestId, streamedText } from "#tests/faults/client.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";

const WORDS = "one two three four five six seven eight nine ten eleven twelve";
const MESSAGES = [{ role: "user" as const, content: `Reply with exactly this text and nothing else: ${WORDS}` }];
/** Nano-credits a token of the sandbox's models, and of `sandbox-backup`, which is twice as dear. */
const RATES = { input: 10_000n, output: 40_000n };

const client = createClient();
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ env: { SLUICE_SANDBOX: "on", SLUICE_CALL_STALL_MS: "1500" } });
});
afterAll(() => stack?.stop());

/** A workspace whose model has this chain. */
async function chained(model: string, fallbacks: readonly string[], continues = true): Promise<Workspace> {
  const workspace = await createWorkspace(stack, { creditsNano: 100_000_000_000n });
  const set = ["admin", "fallback-chains", "set", model, ...fallbacks, "--workspace", workspace.id];
  const flag = continues ? ["--continue-streams", "yes"] : [];
  expect(await stack.command(...set, ...flag)).toMatchObject({ code: 0 });
  return workspace;
}

const bodyOf = (model: string, more: object = {}): Record<string, unknown> => ({
  model,
  messages: MESSAGES,
  max_completion_tokens: 100,
  stream: true,
  stream_options: { include_usage: true },
  ...more,
});

const targetOf = (workspace: Workspace) => ({ url: stack.baseUrls[0] ?? "", key: workspace.key });

interface Part {
  readonly model: string;
  readonly source: string;
  readonly units: Readonly<Record<string, number>>;
  readonly credits: string;
  readonly fault?: string;
}
interface Usage extends Part {
  readonly status: string;
  readonly held: string;
  readonly parts?: readonly Part[];
}

function usageOf(workspace: Workspace, answer: Answer): Promise<Usage> {
  return eventually(`the usage record of ${requestId(answer)}`, async () => {
    const of = ["admin", "usage", workspace.id, "--request", requestId(answer), "--json"];
    const { code, stdout } = await stack.command(...of);
    return code === 0 && (JSON.parse(stdout) as Usage[])[0];
  });
}

interface Chunk {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly { readonly delta: { role?: string; content?: string }; finish_reason: string | null }[];
  readonly usage?: { prompt_tokens: number; completion_tokens: number; credits: number } | null;
}

function chunksOf(answer: Answer): Chunk[] {
  return answer.frames.filter((frame) => frame !== DONE).map((frame) => JSON.parse(frame) as Chunk);
}

const tokens = ({ units }: Part, name: string): bigint => BigInt(units[name] ?? 0);
const priceOf = (part: Part, times: bigint): bigint =>
  (tokens(part, "input_tokens") * RATES.input + tokens(part, "output_tokens") * RATES.output) * times;

/** Returns the last model's part of the sum. */
function lastOf(usage: Usage): Part {
  const units: Record<string, number> = { ...usage.units };
  for (const part of usage.parts ?? []) {
    for (const [name, count] of Object.entries(part.units)) units[name] = (units[name] ?? 0) - count;
  }
  return { ...usage, units };
}

describe("an interrupted stream", () => {
  test.each([
    ["sandbox-error-midway", "failed"],
    ["sandbox-truncate", "failed"],
    ["sandbox-stall", "timeout"],
  ])(
    "in %s continues at the next model of its chain: one stream, each part at its own price, with the cause on record",
    async (model, fault) => {
      const workspace = await chained(model, ["sandbox-backup"]);
      const answer = await client.chat(targetOf(workspace), bodyOf(model));
      expect([answer.status, errorCode(answer), answer.frames.at(-1)]).toEqual([200, undefined, DONE]);
      expect(streamedText(answer)).toBe(WORDS);
      // Sent with the first byte.
      expect(answer.headers.get("x-model-used")).toBe(model);

      const chunks = chunksOf(answer);
      expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.model}`)).size).toBe(1);
      const choices = chunks.flatMap((chunk) => chunk.choices);
      expect(choices.filter(({ delta }) => delta.role !== undefined)).toHaveLength(1);
      expect(choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null)).toEqual(["stop"]);
      expect(chunks.filter(({ usage }) => usage != null)).toHaveLength(1);

      const usage = await usageOf(workspace, answer);
      const [part, ...more] = usage.parts ?? [];
      if (part === undefined) throw new Error("no part");
      expect(more).toEqual([]);
      expect(usage).toMatchObject({ model: "sandbox-backup", source: "sandbox/sandbox-chat", status: "succeeded" });
      expect(part).toMatchObject({ model, source: `sandbox/${model}`, fault });
      expect(chunks.at(-1)?.usage).toMatchObject({
        prompt_tokens: usage.units["input_tokens"],
        completion_tokens: usage.units["output_tokens"],
        // The sum of both models.
        credits: Number(usage.credits),
      });
      expect(tokens(lastOf(usage), "output_tokens")).toBeGreaterThan(0n);
      expect(parseCredits(part.credits)).toBe(priceOf(part, 1n));
      expect(parseCredits(usage.credits)).toBe(priceOf(part, 1n) + priceOf(lastOf(usage), 2n));
      expect(parseCredits(usage.held)).toBeGreaterThan(parseCredits(usage.credits));
      await audit({ stack, client });
    },
  );

  test("continues a second time if the next model is interrupted too, and skips those that fail or cannot continue", async () => {
    const workspace = await chained("sandbox-error-midway", [
      "sandbox-reasoning",
      "sandbox-error",
      "sandbox-truncate",
      "sandbox-chat",
    ]);
    const answer = await client.chat(targetOf(workspace), bodyOf("sandbox-error-midway"));
    expect([streamedText(answer), answer.frames.at(-1)]).toEqual([WORDS, DONE]);
    const usage = await usageOf(workspace, answer);
    expect([...(usage.parts ?? []), usage].map(({ model }) => model)).toEqual([
      "sandbox-error-midway",
      "sandbox-truncate",
      "sandbox-chat",
    ]);
    expect(parseCredits(usage.credits)).toBe(priceOf(usage, 1n));
    const text = await stack.command("admin", "usage", workspace.id);
    expect(text.stdout).toContain("sandbox-error-midway, then sandbox-truncate, then sandbox-chat");
  });

  test("is complete for the stock SDK, and in Anthropic's format", async () => {
    const workspace = await chained("sandbox-error-midway", ["sandbox-chat"]);
    const openai = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: workspace.key, maxRetries: 0 });
    const body = { model: "sandbox-error-midway", messages: MESSAGES };
    const final = await openai.chat.completions.stream(body).finalChatCompletion();
    expect(final.choices[0]).toMatchObject({ message: { content: WORDS }, finish_reason: "stop" });

    const path = "/v1/messages";
    const answer = await createClient().chat(
      { ...targetOf(workspace), path },
      { model: "sandbox-error-midway", messages: MESSAGES, max_tokens: 100, stream: true },
    );
    const events = answer.frames.map((frame) => JSON.parse(frame) as { type: string; delta?: { text?: string } });
    expect(events.map(({ delta }) => delta?.text ?? "").join("")).toBe(WORDS);
    for (const type of ["message_start", "content_block_start", "message_delta", "message_stop"]) {
      expect([type, events.filter((event) => event.type === type).length]).toEqual([type, 1]);
    }
    expect(events.find(({ type }) => type === "message_delta")).toMatchObject({ delta: { stop_reason: "end_turn" } });
    await audit({ stack, client });
  });

  test("whose client disconnects in the second part is charged for both", async () => {
    const workspace = await chained("sandbox-error-midway", ["sandbox-slow"]);
    const body = bodyOf("sandbox-error-midway", {
      messages: [{ role: "user", content: "Write a long story about a spider." }],
      max_completion_tokens: 500,
    });
    const live = await client.open(targetOf(workspace), body);
    // The first model breaks off after five tokens.
    await live.frames(14);
    live.leave();
    await live.ended;
    const usage = await usageOf(workspace, live.answer);
    expect(usage).toMatchObject({
      status: "cancelled",
      model: "sandbox-slow",
      parts: [{ model: "sandbox-error-midway" }],
    });
    expect(tokens(lastOf(usage), "output_tokens")).toBeGreaterThan(0n);
    expect(tokens(lastOf(usage), "output_tokens")).toBeLessThan(400n);
    expect(parseCredits(usage.credits)).toBe(priceOf(usage, 1n));
    await audit({ stack, client });
  });
});

describe("an interrupted stream ends with an error as without a chain", () => {
  const answerOf = async (workspace: Workspace, more: object = {}): Promise<Usage> => {
    const answer = await client.chat(targetOf(workspace), bodyOf("sandbox-error-midway", more));
    expect([answer.status, errorCode(answer)]).toEqual([200, "upstream_error"]);
    expect(answer.frames).not.toContain(DONE);
    return usageOf(workspace, answer);
  };

  test("when the chain does not enable it", async () => {
    const usage = await answerOf(await chained("sandbox-error-midway", ["sandbox-chat"], false));
    expect(usage).toMatchObject({ model: "sandbox-error-midway", status: "failed" });
    expect(usage).not.toHaveProperty("parts");
  });

  test.each([
    ["tools", { tools: [{ type: "function", function: { name: "look" } }] }],
    ["JSON mode", { response_format: { type: "json_object" } }],
    ["two choices", { n: 2 }],
    ["log probabilities", { logprobs: true }],
  ])("when it was requested with %s", async (_name, more) => {
    const usage = await answerOf(await chained("sandbox-error-midway", ["sandbox-chat"]), more);
    expect(usage).toMatchObject({ model: "sandbox-error-midway", status: "failed" });
  });

  test("when no model of the chain can continue it", async () => {
    const usage = await answerOf(await chained("sandbox-error-midway", ["sandbox-reasoning"]));
    expect(usage).toMatchObject({ model: "sandbox-error-midway", status: "failed" });
  });

  test("when the remaining models fail, and only its first part is charged", async () => {
    const usage = await answerOf(await chained("sandbox-error-midway", ["sandbox-error"]));
    expect(usage.status).toBe("failed");
    expect(parseCredits(usage.credits)).toBe(priceOf(usage, 1n));
    await audit({ stack, client });
  });
});
