/**
 * The guide to the test models (schemas/docs/reference/test-models.md), row by row, with the stock SDK against a running
 * service: what a client is told, what its SDK makes of it, what it is billed. Two stacks: one as it comes, one whose
 * limits are small, for the models that never end.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { audit } from "#tests/faults/audit.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { createClient, requestId } from "#tests/faults/client.ts";
import { metric } from "#tests/faults/metric.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";

import {
  type Caller,
  createCaller,
  expectBill,
  priceOf,
  type Rates,
  ratesOf,
  type Told,
  usageRow,
} from "./test-models-calls.ts";
import { blockWith, GUIDE, type Mode, type Row, rowsOf } from "./test-models-guide.ts";

const CHAT = rowsOf("Chat");
const EMBEDDINGS = rowsOf("Embeddings");
/** Held against what happens in tests/e2e/test-models-media.test.ts. */
const MEDIA = ["Images", "Speech", "Transcriptions", "Videos", "Music", "3D"].flatMap(rowsOf);
/** And these in tests/e2e/media/rules.ts. */
const RULES = rowsOf("Rules");
const MODES: readonly Mode[] = ["plain", "streamed"];
/** They end at a limit of the service. */
const NEVER_END = new Set(["sandbox-hang", "sandbox-stall", "sandbox-embed-hang"]);
/** All rows are begun at once; these take longest and are looked at last. */
const LONG = ["sandbox-silent", "sandbox-slow", "sandbox-drained", "sandbox-hang", "sandbox-stall"];

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const CALLS = {
  messages: [{ role: "user", content: "Use get_weather for Paris and for Rome." }],
  tools: [weather],
  tool_choice: "required",
};
/** Members of a row's call beside the model; ten words to repeat unless told here. */
const BODIES: Readonly<Record<string, object>> = {
  "sandbox-small-context": { messages: [{ role: "user", content: "many words ".repeat(100) }] },
  "sandbox-no-temperature": { temperature: 0.5 },
  "sandbox-interleaved": CALLS,
  "sandbox-empty-arguments": CALLS,
  "sandbox-malformed-arguments": CALLS,
};

let normal: Stack;
let strict: Stack;
/** In workspaces of their own: the guide's examples change the first one's. */
let caller: Caller;
let strictCaller: Caller;
let rates: Map<string, Rates>;
const callers: { stack: Stack; caller: Caller }[] = [];
const begun = new Map<string, Promise<Told>>();

async function newCaller(stack: Stack, maxRetries?: number): Promise<Caller> {
  const { key } = await createWorkspace(stack, { creditsNano: 1_000_000_000_000n });
  return callerWith(stack, key, maxRetries);
}

function callerWith(stack: Stack, key: string, maxRetries?: number): Caller {
  const made = createCaller(stack, key, maxRetries);
  callers.push({ stack, caller: made });
  return made;
}

function begin(model: string, mode: Mode): Promise<Told> {
  const name = `${model} ${mode}`;
  const known = begun.get(name);
  if (known !== undefined) return known;
  const call = (NEVER_END.has(model) ? strictCaller : caller).chat(model, mode, BODIES[model]);
  // A test looks at it later; until then its rejection is not unhandled.
  call.catch(() => undefined);
  begun.set(name, call);
  return call;
}

beforeAll(async () => {
  [normal, strict] = await Promise.all([
    startStack(),
    startStack({
      env: { SLUICE_CALL_STALL_MS: "1500", SLUICE_CALL_FIRST_BYTE_MS: "1500", SLUICE_CALL_TOTAL_MS: "3000" },
    }),
  ]);
  caller = await newCaller(normal);
  strictCaller = await newCaller(strict);
  rates = await ratesOf(caller.client);
  for (const { model } of CHAT) for (const mode of MODES) void begin(model, mode);
});

afterAll(() => Promise.all([normal?.stop(), strict?.stop()]));

function ratesFor(model: string): Rates {
  const found = rates.get(model);
  if (found === undefined) throw new Error(`no model ${model}`);
  return found;
}

/** Holds a call against its row. Where a row tells of two ends, the first is the good one. */
async function expectRow(row: Row, mode: Mode, call: Told): Promise<void> {
  expect(row.outcomes[mode]).toContain(call.outcome);
  const pick = (cell: string): string => cell.split(", or ").at(call.error === undefined ? 0 : -1) ?? "";
  expect(call.sdk).toBe(pick(row.sdk[mode]));
  const stack = NEVER_END.has(row.model) ? strict : normal;
  await expectBill(stack, call, pick(row.billed[mode]), ratesFor(row.model));
}

const FIVE = "one two three four five";
const TEN = `${FIVE} six seven eight nine ten`;

type Case = readonly [model: string, mode: Mode, row: Row];

function casesOf(isWanted: (one: Case) => boolean): Case[] {
  return CHAT.flatMap((row) => MODES.map((mode): Case => [row.model, mode, row])).filter(isWanted);
}

async function expectCase(model: string, mode: Mode, row: Row): Promise<void> {
  const call = await begin(model, mode);
  await expectRow(row, mode, call);
  await WORDS[model]?.(call, mode);
}

/** Checks, by model, of what a row says in words. */
const WORDS: Readonly<Record<string, (call: Told, mode: Mode) => unknown>> = {
  "sandbox-chat": ({ text }) => expect(text).toBe(TEN),
  "sandbox-long": ({ usage }) => expect(Math.abs((usage?.completion_tokens ?? 0) - 2_000)).toBeLessThan(100),
  "sandbox-reasoning": ({ reasoning, text }) => expect([reasoning.length > 20, text]).toEqual([true, TEN]),
  "sandbox-backup"() {
    const [own, usual] = [ratesFor("sandbox-backup"), ratesFor("sandbox-chat")];
    expect([own.input, own.output]).toEqual([usual.input * 2n, usual.output * 2n]);
  },
  "sandbox-slow": ({ text }) => expect(text).toBe(TEN),
  "sandbox-silent"({ text, answer }, mode) {
    expect(text).toBe(TEN);
    if (mode === "streamed") expect(answer.comments).toBeGreaterThanOrEqual(4);
  },
  "sandbox-stall": ({ text }, mode) => expect(text).toBe(mode === "plain" ? "" : FIVE),
  "sandbox-filtered": ({ text, finish }) => expect([text, finish]).toEqual([FIVE, "content_filter"]),
  async "sandbox-small-context"({ error }, mode) {
    expect(error?.param).toBe("messages");
    expect(await caller.chat("sandbox-small-context", mode)).toMatchObject({ text: TEN });
  },
  async "sandbox-no-temperature"({ error }, mode) {
    expect(error?.param).toBe("temperature");
    expect(await caller.chat("sandbox-no-temperature", mode, { temperature: 1 })).toMatchObject({ text: TEN });
  },
  "sandbox-error-midway": ({ text }, mode) => expect(text).toBe(mode === "plain" ? "" : FIVE),
  "sandbox-truncate": ({ text }, mode) => expect(text).toBe(mode === "plain" ? "" : FIVE),
  "sandbox-endless"({ text }, mode) {
    if (mode === "plain") return;
    expect(text.length).toBeGreaterThan(60 * 1_024);
    expect(text.length).toBeLessThanOrEqual(64 * 1_024);
  },
  "sandbox-megabyte"({ text, answer }, mode) {
    expect(text).toBe(TEN);
    const frames = mode === "plain" ? [answer.body] : answer.frames;
    expect(frames.filter((frame) => frame.length > 1_000_000)).toHaveLength(1);
  },
  "sandbox-busy-once": ({ text }) => expect(text).toBe(TEN),
  async "sandbox-two-sources"({ text, answer }) {
    expect(text).toBe(TEN);
    expect(servedBy(answer.headers)).toEqual(["sandbox-two-sources", null, null]);
    expect((await usageRow(normal, requestId(answer))).source).toBe("sandbox/sandbox-chat");
  },
  "sandbox-interleaved"({ pieces }, mode) {
    const inputs = [0, 1].map((index) => join(pieces, index));
    expect(inputs.map((input) => JSON.parse(input) as unknown)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
    if (mode === "streamed") expect(pieces.slice(0, 4).map(({ index }) => index)).toEqual([0, 1, 0, 1]);
  },
  "sandbox-empty-arguments": ({ pieces, finish }) =>
    expect([join(pieces, 0), join(pieces, 1), finish]).toEqual(["{}", "{}", "tool_calls"]),
  "sandbox-malformed-arguments": ({ pieces, finish }) => {
    expect(finish).toBe("tool_calls");
    expect(() => JSON.parse(join(pieces, 0)) as unknown).toThrow(SyntaxError);
  },
};

function join(pieces: Told["pieces"], index: number): string {
  return pieces
    .filter((piece) => piece.index === index)
    .map((piece) => piece.arguments)
    .join("");
}

function servedBy(headers: Headers): (string | null)[] {
  return ["x-model-used", "x-fallback-from", "x-fallback-depth"].map((name) => headers.get(name));
}

describe("the guide", () => {
  test("has a row for each sandbox model, and no other", async () => {
    const { data } = await caller.client.models.list();
    const models = data.filter((model) => model.owned_by === "sandbox").map((model) => model.id);
    expect([...CHAT, ...EMBEDDINGS, ...MEDIA, ...RULES].map((row) => row.model).toSorted()).toEqual(models.toSorted());
  });

  test("names only existing models in its text", () => {
    const named = Array.from(GUIDE.matchAll(/sandbox-[a-z0-9-]*[a-z0-9]/g), ([name]) => name);
    expect(named.filter((name) => !rates.has(name))).toEqual([]);
  });
});

describe("a chat model", () => {
  test.each(casesOf(([model]) => !LONG.includes(model)))("%s, %s, behaves as its row states", expectCase);

  test("sandbox-flaky ends in each of its ways, by its seed", async () => {
    const row = CHAT.find(({ model }) => model === "sandbox-flaky");
    for (const mode of MODES) {
      const seen = new Set<string>();
      for (let seed = 0; seed < 10; seed += 1) {
        const call = await caller.chat("sandbox-flaky", mode, { seed });
        expect(call.error === undefined).toBe(seed % 2 === 0);
        seen.add(call.outcome);
      }
      expect(seen).toEqual(new Set(row?.outcomes[mode]));
    }
  });

  test("sandbox-guarded fails, then is not called again, and returns the remaining time", async () => {
    const row = CHAT.find(({ model }) => model === "sandbox-guarded");
    const calls: Told[] = [];
    // The calls of its row came before, and others may follow before the fleet agrees.
    while (calls.length < 6 && calls.at(-1)?.answer.status !== 503) {
      calls.push(await caller.chat("sandbox-guarded", "streamed"));
    }
    const last = calls.pop();
    expect(last?.answer.headers.get("retry-after")).toMatch(/^[1-6]$/);
    expect(row?.outcomes.streamed).toEqual(["502 upstream_error", "503 service_unavailable"]);
    expect([last?.answer.status, last?.error?.code]).toEqual([503, "service_unavailable"]);
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) expect(call.outcome).toBe("502 upstream_error");
  });

  test("sandbox-busy-once is called twice for one answer with one charge", async () => {
    const asked = () => metric(normal.processes[0]?.adminUrl ?? "", "sluice_provider_errors_total", 'kind="busy"');
    const before = await asked();
    const call = await caller.chat("sandbox-busy-once", "plain");
    expect(call.error).toBeUndefined();
    expect(await asked()).toBe(before + 1);
  });

  test("sandbox-drained is charged completely when its client leaves a stream, sandbox-slow for the delivered part", async () => {
    const outputs = await Promise.all(
      ["sandbox-drained", "sandbox-slow"].map(async (model) => {
        const { data, response } = await caller.client.chat.completions
          .create({ model, stream: true, messages: [{ role: "user", content: `Repeat after me: ${TEN}` }] })
          .withResponse();
        for await (const chunk of data) if (chunk.choices[0]?.delta.content) break;
        const row = await usageRow(normal, response.headers.get("x-request-id") ?? "");
        expect(row.status).toBe("cancelled");
        expect(row.settled).toBe(priceOf(row, ratesFor(model)));
        return row.units.output_tokens ?? 0;
      }),
    );
    expect(outputs[0]).toBe(10);
    expect(outputs[1]).toBeLessThan(10);
    expect(outputs[1]).toBeGreaterThan(0);
  });
});

describe("an embedding model", () => {
  test.each(EMBEDDINGS.map((row) => [row.model, row] as const))("%s behaves as its row states", async (model, row) => {
    const call = await (NEVER_END.has(model) ? strictCaller : caller).embed(model);
    await expectRow(row, "plain", call);
  });

  test("sandbox-embed-flaky ends in each of its ways", async () => {
    const row = EMBEDDINGS.find(({ model }) => model === "sandbox-embed-flaky");
    const seen = new Set<string>();
    for (let calls = 0; calls < 40; calls += 1) seen.add((await caller.embed("sandbox-embed-flaky")).outcome);
    expect(seen).toEqual(new Set(row?.outcomes.plain));
  });
});

describe("resending by a stock SDK", () => {
  test("does not happen after x-should-retry: false: the model that never answers is called once", async () => {
    const resender = await newCaller(strict, 2);
    const call = await resender.chat("sandbox-hang", "streamed");
    expect(call.outcome).toBe("504 upstream_timeout, x-should-retry: false");
    expect(resender.recorder.answers).toHaveLength(1);
  });

  test("happens twice if nothing was charged: the failing model is called three times, for free", async () => {
    const resender = await newCaller(normal, 2);
    await resender.chat("sandbox-error", "plain");
    expect(resender.recorder.answers.map(({ status }) => status)).toEqual([502, 502, 502]);
    for (const answer of resender.recorder.answers) {
      expect(await usageRow(normal, requestId(answer))).toMatchObject({ settled: 0n });
    }
  });

  test("does not happen to a stream that ends in an error frame", async () => {
    const resender = await newCaller(normal, 2);
    const call = await resender.chat("sandbox-truncate", "streamed");
    expect(call.sdk).toBe("`APIError`");
    expect(resender.recorder.answers).toHaveLength(1);
  });
});

describe("a fallback chain", () => {
  const REJECTING = ["sandbox-small-context", "sandbox-no-temperature"];
  let owner: Caller;

  beforeAll(async () => {
    owner = callerWith(normal, normal.key);
    const set = blockWith("sh", "fallback-chains set").trim().replace("npm run admin --", "admin").split(" ");
    for (const words of [set, ...REJECTING.map((model) => set.with(3, model))]) {
      expect(await normal.command(...words)).toMatchObject({ code: 0 });
    }
    const put = blockWith("sh", "curl").replace("http://127.0.0.1:8080", normal.baseUrls[0] ?? "");
    const curl = Bun.spawn(["bash", "-c", put], {
      env: { ...process.env, SLUICE_KEY: normal.key },
    });
    expect(JSON.parse(await new Response(curl.stdout).text())).toMatchObject({
      model: "sandbox-truncate",
      fallbacks: ["sandbox-refuse", "sandbox-backup"],
    });
    await curl.exited;
    // A workspace's chains come into force together; this one is the last.
    await eventually("the chains are in force", async () => {
      return (await owner.chat("sandbox-truncate", "plain")).error === undefined;
    });
  });

  async function expectBackup(call: Told, from: string): Promise<void> {
    expect([call.error, call.text]).toEqual([undefined, TEN]);
    expect(servedBy(call.answer.headers)).toEqual(["sandbox-backup", from, "2"]);
    await expectBill(normal, call, "as reported", ratesFor("sandbox-backup"));
  }

  test.each(MODES)("set by an operator serves a %s call at the price of the model that answers", async (mode) => {
    const call = await owner.chat("sandbox-error", mode);
    await expectBackup(call, "sandbox-error");
    const told = blockWith("text", "x-model-used").trim().split("\n");
    for (const line of told) {
      const [name = "", value = ""] = line.split(": ");
      expect(call.answer.headers.get(name)).toBe(value);
    }
  });

  test("set over HTTP serves a plain call, but no stream that has started", async () => {
    const call = await owner.chat("sandbox-truncate", "plain");
    await expectBackup(call, "sandbox-truncate");
    expect(await owner.chat("sandbox-truncate", "streamed")).toMatchObject({ outcome: "200 … upstream_error" });
  });

  test("does not replace a model for a request that sandbox-no-temperature rejects", async () => {
    const model = "sandbox-no-temperature";
    expect((await owner.chat(model, "plain", BODIES[model])).error?.status).toBe(400);
  });

  test("serves requests that are too long for sandbox-small-context", async () => {
    const model = "sandbox-small-context";
    const { answer, error } = await owner.chat(model, "plain", BODIES[model]);
    expect([error, servedBy(answer.headers)]).toEqual([undefined, ["sandbox-backup", model, "2"]]);
  });
});

describe("a slow chat model", () => {
  test.each(casesOf(([model]) => LONG.includes(model)))("%s, %s, behaves as its row states", expectCase);
});

describe("afterwards", () => {
  test("every answer agrees with the books, and no hold is open", async () => {
    for (const { stack, caller: one } of callers) {
      const { answers } = one.recorder;
      await Promise.all(answers.map((answer) => one.recorder.whole(answer)));
      expect(answers.length).toBeGreaterThan(0);
      await audit({ stack, client: { ...createClient(), answers } });
    }
  });
});
