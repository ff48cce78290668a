/** Calls to test models with the stock SDK, told in the words of the guide, and what they were billed. */
import { expect } from "bun:test";

import OpenAI from "openai";

import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import { type Answer, DONE, requestId } from "#tests/faults/client.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";

import { createRecorder, type Mode, type Recorder } from "./test-models-guide.ts";

/** An answer as far as it came, and what the SDK made of it. */
export interface Told {
  /** The request's and, of media, the job's. */
  readonly id: string;
  /** The SDK answered, and then threw while its answer was read. */
  readonly isBroken: boolean;
  /** Outcome in the guide's words, such as `503 overloaded, retry-after: 30`. */
  readonly outcome: string;
  readonly sdk: string;
  readonly error: InstanceType<typeof OpenAI.APIError> | undefined;
  readonly answer: Answer;
  readonly text: string;
  readonly reasoning: string;
  readonly finish: string | null;
  /** Pieces of tool calls as they came; of a plain answer each call is one piece. */
  readonly pieces: readonly { readonly index: number; readonly arguments: string }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens?: number } | undefined;
}

export interface Caller {
  readonly client: OpenAI;
  readonly recorder: Recorder;
  chat(model: string, mode: Mode, more?: object): Promise<Told>;
  embed(model: string): Promise<Told>;
}

/** A client of the service, set up as its users do; without resending unless told otherwise. */
export function createCaller(stack: Pick<Stack, "baseUrls">, key: string, maxRetries = 0): Caller {
  const recorder = createRecorder();
  const baseURL = `${stack.baseUrls[0]}/v1`;
  const client = new OpenAI({ baseURL, apiKey: key, maxRetries, fetch: recorder.fetch });
  return {
    client,
    recorder,
    chat: (model, mode, more = {}) => {
      const body = { model, ...COUNT_TO_TEN, ...more };
      return told(recorder, (seen) => (mode === "plain" ? plain(client, body, seen) : streamed(client, body, seen)));
    },
    embed: (model) =>
      told(recorder, async (seen) => {
        const { data, response } = await client.embeddings
          .create({ model, input: "How many legs has a spider?" })
          .withResponse();
        seen.id = response.headers.get("x-request-id") ?? "";
        seen.usage = data.usage;
      }),
  };
}

/** Ten tokens, of which models that stop early send five. */
const COUNT_TO_TEN: Pick<OpenAI.ChatCompletionCreateParams, "messages"> = {
  messages: [{ role: "user", content: "Repeat after me: one two three four five six seven eight nine ten" }],
};

export interface Seen {
  id: string;
  isBroken: boolean;
  text: string;
  reasoning: string;
  finish: string | null;
  pieces: { index: number; arguments: string }[];
  usage: Told["usage"];
}

type Body = Omit<OpenAI.ChatCompletionCreateParams, "stream">;

async function plain(client: OpenAI, body: Body, seen: Seen): Promise<void> {
  const { data, response } = await client.chat.completions.create({ ...body, stream: false }).withResponse();
  seen.id = response.headers.get("x-request-id") ?? "";
  const [choice] = data.choices;
  seen.finish = choice?.finish_reason ?? null;
  seen.usage = data.usage;
  take(seen, choice?.message, choice?.message.tool_calls ?? []);
}

async function streamed(client: OpenAI, body: Body, seen: Seen): Promise<void> {
  const { data, response } = await client.chat.completions
    .create({ ...body, stream: true, stream_options: { include_usage: true } })
    .withResponse();
  seen.id = response.headers.get("x-request-id") ?? "";
  for await (const chunk of data) {
    if (chunk.usage) seen.usage = chunk.usage;
    const [choice] = chunk.choices;
    seen.finish ??= choice?.finish_reason ?? null;
    take(seen, choice?.delta, choice?.delta.tool_calls ?? []);
  }
}

function take(seen: Seen, message: { content?: string | null } | undefined, calls: readonly object[]): void {
  seen.text += message?.content ?? "";
  seen.reasoning += (message as { reasoning_content?: string } | undefined)?.reasoning_content ?? "";
  for (const [at, call] of (calls as readonly CallPiece[]).entries()) {
    seen.pieces.push({ index: call.index ?? at, arguments: call.function?.arguments ?? "" });
  }
}

interface CallPiece {
  readonly index?: number;
  readonly function?: { readonly arguments?: string };
}

/** Tells a call by what came over the wire and what the SDK made of it. @throws what is no error of the SDK's own */
export async function told(recorder: Recorder, call: (seen: Seen) => Promise<void>): Promise<Told> {
  const seen: Seen = { id: "", isBroken: false, text: "", reasoning: "", finish: null, pieces: [], usage: undefined };
  let error: InstanceType<typeof OpenAI.APIError> | undefined;
  try {
    await call(seen);
  } catch (caught) {
    if (!(caught instanceof OpenAI.APIError)) throw caught;
    error = caught;
  }
  const id = seen.id || error?.requestID;
  const answer = recorder.answers.find((candidate) => requestId(candidate) === id);
  if (answer === undefined) throw new Error(`no answer with the id ${id}`, { cause: error });
  await recorder.whole(answer);
  const sdk = seen.isBroken ? "answers, then reading throws" : sdkOf(answer, error);
  return { ...seen, id: id ?? "", error, answer, outcome: outcomeOf(answer, error), sdk };
}

function outcomeOf(answer: Answer, error: Told["error"]): string {
  if (answer.status < 300) {
    if (!answer.isStream) return `${answer.status}${answer.isCut ? " … cut" : ""}`;
    const isDone = answer.frames.at(-1) === DONE;
    return `${answer.status} … ${isDone ? "[DONE]" : (error?.code ?? "nothing")}`;
  }
  const headers = ["retry-after", "x-should-retry"].flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [`, ${name}: ${value}`];
  });
  return `${answer.status} ${error?.code}${headers.join("")}`;
}

/** Result in the stock SDK, whose own rule decides if it sends the call again. */
function sdkOf({ status, headers }: Answer, error: Told["error"]): string {
  if (error === undefined) return "answers";
  const name = `\`${error.constructor.name}\``;
  if (![408, 409, 429].includes(status) && status < 500) return name;
  return `${name}, ${headers.get("x-should-retry") === "false" ? "not resent" : "resent"}`;
}

interface UsageRow {
  readonly status: string;
  readonly source: string | null;
  readonly units: { readonly input_tokens?: number; readonly output_tokens?: number };
  readonly is_estimated: boolean;
  readonly held: bigint;
  readonly settled: bigint;
}

/** The usage record of a call, as soon as it is there. */
export function usageRow(stack: Stack, jobId: string): Promise<UsageRow> {
  return eventually(`the usage record of ${jobId}`, async () => {
    const [row] = await stack.query<UsageRow>(
      "select status, source, units, is_estimated, held, settled from usage_record where job_id = $1",
      [jobId],
    );
    return row;
  });
}

/** Prices of a model, from the catalogue that clients see: nano-credits a token. */
export interface Rates {
  readonly input: bigint;
  readonly output: bigint;
  readonly outputTokensMax: number;
}

export async function ratesOf(client: OpenAI): Promise<Map<string, Rates>> {
  const { data } = await client.models.list();
  return new Map(
    data.map((model) => {
      const { _svc: facts } = model as unknown as ModelFacts;
      const nano = (rate = 0): bigint => BigInt(Math.round(rate * 1_000));
      const { input_per_million, output_per_million } = facts.pricing;
      const outputTokensMax = facts.max_output_tokens;
      return [model.id, { input: nano(input_per_million), output: nano(output_per_million), outputTokensMax }];
    }),
  );
}

interface ModelFacts {
  readonly _svc: {
    readonly max_output_tokens: number;
    readonly pricing: { readonly input_per_million?: number; readonly output_per_million?: number };
  };
}

export function priceOf({ units }: UsageRow, { input, output }: Rates): bigint {
  return BigInt(units.input_tokens ?? 0) * input + BigInt(units.output_tokens ?? 0) * output;
}

/** Holds a usage record against the guide's word for it. */
export async function expectBill(stack: Stack, call: Told, billed: string, rates: Rates): Promise<void> {
  const row = await usageRow(stack, requestId(call.answer));
  const { units } = row;
  expect(row.status).toBe(call.error === undefined ? "succeeded" : "failed");
  switch (billed) {
    case "nothing":
      expect(row.settled).toBe(0n);
      return;
    case "the hold":
      expect(row).toMatchObject({ is_estimated: true, settled: row.held });
      expect(row.held).toBeGreaterThan(priceOf(row, rates));
      return;
    case "as reported":
      expect(row.is_estimated).toBe(false);
      expect(units.input_tokens).toBe(call.usage?.prompt_tokens ?? -1);
      expect(units.output_tokens).toBe(call.usage?.completion_tokens);
      break;
    case "own count":
      expect(row.is_estimated).toBe(true);
      expect(units.input_tokens).toBe(call.usage?.prompt_tokens ?? -1);
      expect(units.output_tokens ?? 0).toBe(await tokensOf(call.text));
      break;
    case "what came":
      expect(row.is_estimated).toBe(true);
      expect(units.output_tokens).toBe(Math.min(await tokensOf(call.text), rates.outputTokensMax));
      break;
    default:
      throw new Error(`the guide bills "${billed}", which means nothing`);
  }
  expect(row.settled).toBe(priceOf(row, rates));
  expect(row.settled).toBeGreaterThan(0n);
}

async function tokensOf(text: string): Promise<number> {
  return (await loadTokenizer()).count(text);
}
