/** Charge of a call in its own answer, as stock clients read it: it equals the ledger entry that is written afterwards. */
import { beforeAll, describe, expect, test } from "bun:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import { callOfResponse } from "#shared/responses/ids.ts";
import { createWorkspace } from "#tests/faults/bed.ts";

import { type SharedStack, sharedStack } from "./shared-stack.ts";

let stack: SharedStack;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  stack = await sharedStack();
  openai = openaiOf(stack.key);
  anthropic = new Anthropic({ baseURL: stack.baseUrls[0], apiKey: stack.key, maxRetries: 0 });
});

function openaiOf(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey, maxRetries: 0 });
}

const MODEL = "sandbox-chat";
const messages = [{ role: "user" as const, content: "Say exactly: one two three" }];
const input = "Say exactly: one two three";

/** `credits` of a usage object; SDKs keep members that they do not know. */
const creditsOf = (usage: object | null | undefined): unknown => (usage as { credits?: unknown } | undefined)?.credits;

/** The charge of a call in the books, in credits. */
async function entryOf(id: string | null): Promise<number> {
  await stack.settled();
  const rows = await stack.query<{ amount: bigint }>(
    "select amount from ledger_entry where source_id = $1 and kind = 'settle'",
    [id],
  );
  expect(rows).toHaveLength(1);
  return -Number(rows[0]?.amount) / 1e9;
}

/** A call and the charge that its answer states. */
interface Priced {
  readonly id: string | null;
  readonly credits: unknown;
  /** Header `x-credits-used`; null for a stream. */
  readonly header: string | null;
}

const idOf = (response: Response): string | null => response.headers.get("x-request-id");
const headerOf = (response: Response): string | null => response.headers.get("x-credits-used");

/** Returns the last usage that a stream reports. */
async function lastUsage<T>(stream: AsyncIterable<T>, usageOf: (event: T) => object | null | undefined) {
  let last: object | undefined;
  for await (const event of stream) last = usageOf(event) ?? last;
  return last;
}

const CALLS: Readonly<Record<string, () => Promise<Priced>>> = {
  "a chat completion": async () => {
    const { data, response } = await openai.chat.completions.create({ model: MODEL, messages }).withResponse();
    return { id: idOf(response), credits: creditsOf(data.usage), header: headerOf(response) };
  },
  "a streamed chat completion": async () => {
    const { data, response } = await openai.chat.completions
      .create({ model: MODEL, messages, stream: true, stream_options: { include_usage: true } })
      .withResponse();
    const usage = await lastUsage(data, (chunk) => chunk.usage);
    return { id: idOf(response), credits: creditsOf(usage), header: headerOf(response) };
  },
  "a response": async () => {
    const { data, response } = await openai.responses.create({ model: MODEL, input }).withResponse();
    expect(creditsOf((await openai.responses.retrieve(data.id)).usage)).toBe(creditsOf(data.usage));
    return { id: idOf(response), credits: creditsOf(data.usage), header: headerOf(response) };
  },
  "a streamed response": async () => {
    const { data, response } = await openai.responses.create({ model: MODEL, input, stream: true }).withResponse();
    const usage = await lastUsage(data, (event) =>
      event.type === "response.completed" ? event.response.usage : undefined,
    );
    return { id: idOf(response), credits: creditsOf(usage), header: headerOf(response) };
  },
  "a message": async () => {
    const { data, response } = await anthropic.messages
      .create({ model: MODEL, max_tokens: 50, messages })
      .withResponse();
    return { id: idOf(response), credits: creditsOf(data.usage), header: headerOf(response) };
  },
  "a streamed message": async () => {
    const { data, response } = await anthropic.messages
      .create({ model: MODEL, max_tokens: 50, messages, stream: true })
      .withResponse();
    const usage = await lastUsage(data, (event) => (event.type === "message_delta" ? event.usage : undefined));
    return { id: idOf(response), credits: creditsOf(usage), header: headerOf(response) };
  },
  embeddings: async () => {
    const { data, response } = await openai.embeddings
      .create({ model: "sandbox-embed", input: ["one", "two"] })
      .withResponse();
    return { id: idOf(response), credits: creditsOf(data.usage), header: headerOf(response) };
  },
};

describe("the answer states the charge of the ledger", () => {
  test.each(Object.keys(CALLS))("for %s", async (name) => {
    const { id, credits, header } = (await CALLS[name]?.()) ?? expect.unreachable();
    expect(credits).toBeGreaterThan(0);
    expect(credits).toBe(await entryOf(id));
    expect(header).toBe(name.includes("stream") ? null : String(credits));
  });

  test("for a background response, which is stored before it is settled, and for its stream", async () => {
    const events = await openai.responses.create({ model: MODEL, input, background: true, stream: true });
    let id = "";
    const usage = await lastUsage(events, (event) => {
      if (event.type !== "response.completed") return undefined;
      ({ id } = event.response);
      return event.response.usage;
    });
    const credits = await entryOf(callOfResponse(id) ?? null);
    expect([creditsOf(usage), credits > 0]).toEqual([credits, true]);
    expect(creditsOf((await openai.responses.retrieve(id)).usage)).toBe(credits);
  });

  test("at the price of the fallback that served", async () => {
    const { id: workspace, key } = await createWorkspace(stack, { creditsNano: 1_000_000_000n });
    const set = ["admin", "fallback-chains", "set", "sandbox-error", "sandbox-backup", "--workspace", workspace];
    expect(await stack.command(...set)).toMatchObject({ code: 0 });
    const call = openaiOf(key).chat.completions.create({ model: "sandbox-error", messages, max_tokens: 50 });
    const { data, response } = await call.withResponse();
    expect([data.model, creditsOf(data.usage)]).toEqual(["sandbox-backup", await entryOf(idOf(response))]);
  });

  test("for a free model: 0", async () => {
    const call = openai.chat.completions.create({ model: "upstream-free", messages });
    const { data, response } = await call.withResponse();
    expect([creditsOf(data.usage), headerOf(response)]).toEqual([0, "0"]);
    expect(await entryOf(idOf(response))).toBeCloseTo(0, 12);
  });

  test("unless the client did not ask a chat stream for its usage", async () => {
    const chunks = await openai.chat.completions.create({ model: MODEL, messages, stream: true });
    expect(await lastUsage(chunks, (chunk) => chunk.usage)).toBeUndefined();
  });
});

describe("a call without output limit that costs more than its hold", () => {
  // Its 20,000 output tokens cost 200 credits; 8,192 of them are held.
  const body = { model: "upstream-long", messages: [{ role: "user" as const, content: "hi" }] };
  const usageOf = async (id: string | null) => {
    await stack.settled();
    const [row] = await stack.query<{ settled: bigint; held: bigint; uncollected: bigint }>(
      "select settled, held, uncollected from usage_record where job_id = $1",
      [id],
    );
    return row ?? expect.unreachable();
  };

  test.each([
    ["states its whole price", 1_000_000_000_000n, 200],
    ["states what was left in the balance", 90_000_000_000n, 90],
  ])("%s", async (_name, creditsNano, credits) => {
    for (const isStream of [false, true]) {
      const { key } = await createWorkspace(stack, { creditsNano });
      const client = openaiOf(key);
      stack.upstream.next({ usage: { prompt_tokens: 1, completion_tokens: 20_000, total_tokens: 20_001 } });
      let stated: unknown;
      let id: string | null;
      if (isStream) {
        const call = client.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } });
        const { data, response } = await call.withResponse();
        [stated, id] = [creditsOf(await lastUsage(data, (chunk) => chunk.usage)), idOf(response)];
      } else {
        const { data, response } = await client.chat.completions.create(body).withResponse();
        [stated, id] = [creditsOf(data.usage), idOf(response)];
        expect(headerOf(response)).toBe(String(credits));
      }
      const { settled, held, uncollected } = await usageOf(id);
      expect([stated, Number(settled) / 1e9, Number(settled + uncollected) / 1e9]).toEqual([credits, credits, 200]);
      expect(settled).toBeGreaterThan(held);
    }
  });
});
