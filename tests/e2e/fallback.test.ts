/**
 * Fallback chains through the running service: three models on three families, the first two
 * failing in different ways, so that the third serves at its own price and is the only one settled. What must not move a
 * call on: a request nobody would take, the workspace's own limits, a stream that has begun, a client that has left.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import type { Key, UsageRequest } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { audit } from "#tests/faults/audit.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { type Answer, DONE, errorCode, requestId, streamedText, type Target } from "#tests/faults/client.ts";
import { eventually } from "#tests/faults/wait.ts";
import { VENDOR_MARK } from "#tests/providers/engine/behaviour.ts";
import type { RecordedCall } from "#tests/providers/engine/recorder.ts";

import { FAMILIES, type Family, type FamilyBed, type ModelOptions, startFamilies } from "./families/bed.ts";
import { storm } from "../support/storm.ts";

/** For a source that says nothing, where another model could serve; far above what the others take on a busy machine. */
const PATIENCE_MS = 1_500;
const CHAINS_AT_ONCE = 8;
const UPSTREAM_CLOSED_WITHIN_MS = storm(60_000, 1_000);

/** Ways to fail, and what each family's local server calls them; `gone` is an address where nobody listens. */
const FAILURES = {
  "500": { openai: "server-error", claude: "server-error", gemini: "server-error" },
  silence: { openai: "silent", claude: "silent", gemini: "silent" },
  "error-event": { openai: "error-first", claude: "error-first", gemini: "error-first" },
  refusal: { openai: "content-policy", claude: "refusal", gemini: "content-policy" },
  gone: { openai: "golden", claude: "golden", gemini: "golden" },
  "429": { openai: "429-30", claude: "429-30", gemini: "rate-limit" },
} as const satisfies Readonly<Record<string, Readonly<Record<Family, string>>>>;
type Failure = keyof typeof FAILURES;
const KINDS = Object.keys(FAILURES) as Failure[];

/** Prices of the model that serves in the end: unlike the others', so that the bill shows whose price was charged. */
const LAST = {
  input_per_million: "500",
  output_per_million: "2500",
  cached_input_per_million: "50",
  cache_write_per_million: "625",
  cache_write_1h_per_million: "1000",
};
/** Its hold is more than the small workspace of a test has. */
const DEAR = { output_per_million: "90000" };

/** A plain call gets an error for an answer where a stream gets an error event. */
function sourceOf(kind: Failure, family: Family, isStream: boolean): string {
  return kind === "error-event" && !isStream ? "error-in-200" : FAILURES[kind][family];
}

/** A chain may not lead back to its model by way of others, so those that stand second have names of their own. */
function slugOf(kind: Failure, family: Family, isStream: boolean, place: "first" | "second" = "first"): string {
  return `${family}-${kind}-${isStream ? "stream" : "plain"}-${place}`;
}

const MODES = [false, true] as const;
const PLACES = ["first", "second"] as const;

const MODELS: readonly ModelOptions[] = FAMILIES.flatMap((family): ModelOptions[] => [
  { slug: `${family}-last`, family, prices: LAST },
  { slug: `${family}-dear`, family, prices: DEAR },
  { slug: `${family}-mid`, family, source: "mock-error-mid" },
  { slug: `${family}-breaks`, family, source: "mock-error-mid" },
  { slug: `${family}-goes-on`, family, prices: LAST, continues: true },
  { slug: `${family}-wrong`, family, source: "mock-bad-request" },
  { slug: `${family}-lone`, family, source: "lone" },
  ...(family === "gemini"
    ? []
    : [{ slug: `${family}-small`, family, source: "mock-context-length", contextTokens: 8_000 }]),
  { slug: `${family}-declines`, family, source: `mock-${FAILURES.refusal[family]}` },
  ...KINDS.flatMap((kind) =>
    MODES.flatMap((isStream) => {
      const source = `mock-${sourceOf(kind, family, isStream)}`;
      const served = kind === "gone" ? { isGone: true } : { source };
      return PLACES.map((place) => ({ slug: slugOf(kind, family, isStream, place), family, ...served }));
    }),
  ),
]);

interface Chain {
  readonly first: string;
  readonly second: string;
  readonly third: string;
  readonly families: readonly [Family, Family, Family];
  readonly isStream: boolean;
}

/** Every kind of failure first and second, at every family, plain and streamed; every family serves. */
const CHAINS: readonly (readonly [name: string, chain: Chain])[] = KINDS.flatMap((kind, at) => {
  const next = KINDS[(at + 1) % KINDS.length] ?? kind;
  return FAMILIES.flatMap((family, turn) => {
    const families = [family, rotated(turn + 1), rotated(turn + 2)] as const;
    return MODES.map((isStream) => {
      const [one, two, three] = families;
      const chain = {
        first: slugOf(kind, one, isStream),
        second: slugOf(next, two, isStream, "second"),
        third: `${three}-last`,
        families,
        isStream,
      };
      return [`${isStream ? "a stream" : "a plain call"}: ${kind} at ${one}, ${next} at ${two}`, chain] as const;
    });
  });
});

function rotated(turn: number): Family {
  return FAMILIES[turn % FAMILIES.length] ?? "openai";
}

let bed: FamilyBed;
/** Not the key that sets the chains: a key is believed for a moment as it was read, its chains included. */
let caller: Target;

beforeAll(async () => {
  bed = await startFamilies({
    models: MODELS,
    env: { SLUICE_CALL_FIRST_BYTE_MS: String(PATIENCE_MS), SLUICE_CALL_PLAIN_MS: String(PATIENCE_MS) },
  });
  const chains: [string, string[]][] = [
    ...CHAINS.map(([, { first, second, third }]): [string, string[]] => [first, [second, third]]),
    ...FAMILIES.flatMap((family, turn): [string, string[]][] => [
      [`${family}-wrong`, [`${rotated(turn + 1)}-last`]],
      [`${family}-mid`, [`${rotated(turn + 1)}-last`]],
    ]),
    ["openai-one", ["claude-last"]],
  ];
  // One after the other: writers of one workspace's chains would refuse each other on a busy machine.
  for (const [model, fallbacks] of chains) await setChain({ model, fallbacks });
  for (const [turn, family] of FAMILIES.entries()) {
    const fallbacks = [`${rotated(turn + 2)}-last`, `${rotated(turn + 1)}-goes-on`];
    await setChain({ model: `${family}-breaks`, fallbacks, continue_streams: true });
  }
  caller = bed.target(await secondKey());
});
afterAll(() => bed?.stop());

async function setChain(chain: { model: string; fallbacks: string[]; continue_streams?: boolean }): Promise<void> {
  const { model, ...body } = chain;
  const { url, key } = bed.target();
  const [workspace] = await bed.stack.query<{ id: string }>("select id from workspace order by id limit 1");
  const answer = await fetch(`${url}/workspaces/${workspace?.id}/fallback-chains/${model}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect([model, answer.status, await answer.json()]).toMatchObject([model, 200, chain]);
}

async function secondKey(): Promise<string> {
  const key = mintKey();
  await bed.stack.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     select $1, workspace_id, member_id, 'second', $2, $3, 'unlimited' from api_key limit 1`,
    [newId(), Buffer.from(hashKey(key)), keyHint(key)],
  );
  return key;
}

/** A call whose words name it, so that it is known again at whichever provider it comes to. */
function bodyOf(model: string, marker: string, isStream: boolean): Record<string, unknown> {
  return {
    model,
    messages: [{ role: "user", content: `say hello from ${marker}` }],
    max_completion_tokens: 200,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** Calls with this marker that a family's provider has received. */
function receivedBy(family: Family, marker: string): RecordedCall[] {
  const { requests } = bed.servers[family];
  return requests.filter(({ body }) => JSON.stringify(body).includes(`from ${marker}"`));
}

interface Row {
  readonly model: string;
  readonly source: string | null;
  readonly status: string;
  readonly held: bigint;
  readonly settled: bigint;
  readonly units: Readonly<Record<string, number>>;
}

/** All usage records of a call, as soon as there is one. */
async function usageOf({ url, key }: Target, id: string): Promise<UsageRequest> {
  const headers = { authorization: `Bearer ${key}` };
  const { workspace } = (await (await fetch(`${url}/v1/key`, { headers })).json()) as Key;
  return eventually(`the usage of ${id}`, async () => {
    const response = await fetch(`${url}/workspaces/${workspace.id}/usage/requests/${id}`, { headers });
    return response.ok && ((await response.json()) as UsageRequest);
  });
}

function rowsOf(jobId: string): Promise<Row[]> {
  return eventually(`the usage record of ${jobId}`, async () => {
    const rows = await bed.stack.query<Row>(
      "select model, source, status, held, settled, units from usage_record where job_id = $1",
      [jobId],
    );
    return rows.length > 0 && rows;
  });
}

/** Returns the amount of every ledger entry of a call. */
async function entriesOf(jobId: string): Promise<bigint[]> {
  await bed.stack.settled();
  const rows = await bed.stack.query<{ amount: bigint }>("select amount from ledger_entry where source_id = $1", [
    jobId,
  ]);
  return rows.map(({ amount }) => amount);
}

function headersOf({ headers }: Pick<Answer, "headers">): (string | null)[] {
  return ["x-model-used", "x-fallback-from", "x-fallback-depth"].map((name) => headers.get(name));
}

function textOf(answer: Answer): string {
  if (answer.isStream) return streamedText(answer);
  const { choices } = JSON.parse(answer.body) as { choices?: { message: { content: string } }[] };
  // An error is shown as it came.
  return choices?.[0]?.message.content ?? answer.body;
}

/** Nano-credits at the last model's prices: 500,000 a token read, 2,500,000 a token written. */
function atLast(input: number, output: number): bigint {
  return BigInt(input) * 500_000n + BigInt(output) * 2_500_000n;
}

describe("a chain of three whose first two fail", () => {
  const answers = new Map<string, Promise<Answer>>();
  /** The answer of this chain. Asks it and the next few: most of the time is waiting for the silent ones. All at once would be each other's load. */
  const askFrom = async (name: string): Promise<Answer> => {
    const at = CHAINS.findIndex(([known]) => known === name);
    for (const [next, { first, isStream }] of CHAINS.slice(at, at + CHAINS_AT_ONCE)) {
      if (!answers.has(next)) answers.set(next, bed.client.chat(caller, bodyOf(first, markerOf(next), isStream)));
    }
    return (await answers.get(name)) ?? Promise.reject(new Error("not asked"));
  };
  const markerOf = (name: string): string => `chain ${CHAINS.findIndex(([known]) => known === name)} end`;

  test.each(CHAINS)("%s", async (name, { first, third, families, isStream }) => {
    const answer = await askFrom(name);
    const marker = markerOf(name);
    expect([answer.status, textOf(answer)]).toEqual([200, `hello from ${marker}`]);
    expect(headersOf(answer)).toEqual([third, first, "2"]);
    expect(answer.isStream).toBe(isStream);
    if (isStream) expect(answer.frames.at(-1)).toBe(DONE);
    for (const frame of isStream ? answer.frames.slice(0, -1) : [answer.body]) {
      expect(JSON.parse(frame)).toMatchObject({ model: third });
    }
    expect(answer.body).not.toContain(VENDOR_MARK);

    const [row, ...more] = await rowsOf(requestId(answer));
    expect(more).toEqual([]);
    const { input_tokens: input = 0, output_tokens: output = 0 } = row?.units ?? {};
    expect([input > 0, output]).toEqual([true, `hello from ${marker}`.split(" ").length]);
    const settled = atLast(input, output);
    // A token of the body is at least a byte: at the dearest rate of reading, 1,000,000, beside 200 tokens written.
    const bytes = Buffer.byteLength(JSON.stringify(bodyOf(first, marker, isStream)));
    const held = BigInt(bytes) * 1_000_000n + 200n * 2_500_000n;
    expect(row).toMatchObject({ model: third, status: "succeeded", settled, held });
    expect(row?.source).toBe(`local-${families[2]}/golden`);
    expect(await entriesOf(requestId(answer))).toEqual([-settled]);
    if (!isStream) expect(Number(answer.headers.get("x-credits-used")) * 1e9).toBeCloseTo(Number(settled), 0);

    // Each was asked once, but for the one that could not be reached, and for the one repeat that a failure may be granted.
    const asked = families.map((family) => receivedBy(family, marker).length);
    const kinds = [first, CHAINS.find(([known]) => known === name)?.[1].second ?? ""];
    const repeats = kinds.map((slug, at) => (asked[at] ?? 0) - (slug.includes("-gone-") ? 0 : 1));
    expect(asked.at(-1)).toBe(1);
    expect(["0,0", "0,1", "1,0"]).toContain(repeats.join(","));
  });

  test("the connection to a silent source is closed", () => {
    const silent = FAMILIES.flatMap((family) =>
      bed.servers[family].requests.filter(({ body, path }) => /mock-silent/.test(JSON.stringify([body, path]))),
    );
    expect(silent).toHaveLength(FAMILIES.length * 2 * MODES.length);
    for (const call of silent) expect([call.answeredAt, call.closedByClientAt]).toEqual([null, expect.any(Number)]);
  });
});

describe("the stock openai SDK", () => {
  test("reads a fallback's answer and its model, plain and streamed", async () => {
    const client = new OpenAI({ baseURL: `${caller.url}/v1`, apiKey: caller.key, maxRetries: 0 });
    const ask = (isStream: boolean): [string, OpenAI.ChatCompletionMessageParam[]] => [
      slugOf("500", "openai", isStream),
      [{ role: "user", content: "say hello from the sdk" }],
    ];
    const [model, messages] = ask(false);
    const plain = await client.chat.completions.create({ model, messages }).withResponse();
    expect(plain.data.choices[0]?.message.content).toBe("hello from the sdk");
    expect([plain.data.model, ...headersOf(plain.response)]).toEqual(["gemini-last", "gemini-last", model, "2"]);
    const used = await usageOf(caller, plain.response.headers.get("x-request-id") ?? "");
    const { provider_attempts: attempts } = used;
    expect([used.status, used.http_status, used.failure]).toEqual(["succeeded", 200, undefined]);
    expect(attempts.map(({ error }) => error === null)).toEqual([...attempts.slice(1).map(() => false), true]);
    expect(attempts.length).toBeGreaterThan(2);
    expect(attempts[0]).toMatchObject({ error: "failed", status: 500 });
    const starts = attempts.map(({ started_at: at }) => Date.parse(at));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));

    const [streamed, same] = ask(true);
    const stream = await client.chat.completions
      .create({ model: streamed, messages: same, stream: true, stream_options: { include_usage: true } })
      .withResponse();
    let text = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream.data) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage;
    }
    expect(text).toBe("hello from the sdk");
    expect(headersOf(stream.response)).toEqual(["gemini-last", streamed, "2"]);
    expect(usage).toMatchObject({ completion_tokens: 4 });
  });
});

describe("a call that is too long for its model", () => {
  test.each(["openai", "claude"] as const)("is served by a larger one of its chain (%s)", async (family) => {
    const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000_000_000n });
    const other = family === "openai" ? "claude" : "openai";
    await chainOf(workspace.id, `${family}-small`, [`${other}-small`, "gemini-last"]);
    for (const isStream of MODES) {
      const marker = `long ${family} ${isStream}`;
      const answer = await bed.client.chat(bed.target(workspace.key), bodyOf(`${family}-small`, marker, isStream));
      expect([answer.status, textOf(answer)]).toEqual([200, `hello from ${marker}`]);
      expect(headersOf(answer)).toEqual(["gemini-last", `${family}-small`, "1"]);
      // Of the same size, so it would refuse as well.
      expect(receivedBy(other, marker)).toEqual([]);
      const [row] = await rowsOf(requestId(answer));
      expect(row?.settled).toBe(atLast(row?.units["input_tokens"] ?? 0, row?.units["output_tokens"] ?? 0));
    }
  });

  test("and rejected by the larger one receives the context length error", async () => {
    const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000_000_000n });
    await chainOf(workspace.id, "openai-small", ["claude-declines"]);
    const answer = await bed.client.chat(bed.target(workspace.key), bodyOf("openai-small", "too long", false));
    expect([answer.status, errorCode(answer)]).toEqual([400, "context_length_exceeded"]);
    expect(receivedBy("claude", "too long")).toHaveLength(1);
  });
});

describe("a source that fails once", () => {
  test.each(FAMILIES)("is retried once before the fallback chain (%s)", async (family) => {
    const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000_000_000n });
    await chainOf(workspace.id, `${family}-lone`, [`${rotated(FAMILIES.indexOf(family) + 1)}-last`]);
    bed.servers[family].next({ status: 500, body: "{}" });
    const answer = await bed.client.chat(bed.target(workspace.key), bodyOf(`${family}-lone`, `lone ${family}`, true));
    expect([answer.status, textOf(answer)]).toEqual([200, `hello from lone ${family}`]);
    expect(headersOf(answer)).toEqual([`${family}-lone`, null, null]);
    expect(receivedBy(family, `lone ${family}`)).toHaveLength(2);
    expect(await entriesOf(requestId(answer))).toHaveLength(1);
  });
});

describe("an interrupted stream", () => {
  /** The local servers answer anew, whatever the messages end in: what they repeat must not reach the client. */
  test.each(FAMILIES)("at %s is continued by another family, which receives the text so far", async (family) => {
    const [other, third] = [rotated(FAMILIES.indexOf(family) + 1), rotated(FAMILIES.indexOf(family) + 2)];
    const marker = `breaks ${family} and more words to come`;
    const answer = await bed.client.chat(caller, bodyOf(`${family}-breaks`, marker, true));
    expect([streamedText(answer), answer.frames.at(-1)]).toEqual([`hello from ${marker}`, DONE]);
    expect(headersOf(answer)).toEqual([`${family}-breaks`, null, null]);

    const [begun, wentOn, ...none] = [family, other, third].map((each) => receivedBy(each, marker));
    expect([begun?.length, wentOn?.length, none]).toEqual([1, 1, [[]]]);
    const { messages, contents } = (wentOn?.[0]?.body ?? {}) as { messages?: object[]; contents?: object[] };
    const last = (messages ?? contents)?.at(-1);
    expect(last).toMatchObject({ role: other === "gemini" ? "model" : "assistant" });
    const [, text = ""] = /"(?:text|content)":"([^"]*)"/.exec(JSON.stringify(last)) ?? [];
    expect([text.length > 0, text, `hello from ${marker}`.startsWith(text)]).toEqual([true, text.trimEnd(), true]);

    const [row] = await rowsOf(requestId(answer));
    expect(row).toMatchObject({ model: `${other}-goes-on`, source: `local-${other}/golden`, status: "succeeded" });
    const [part] = await bed.stack.query<{ amount: bigint; units: Row["units"] }>(
      "select amount, units from usage_part where job_id = $1 and model = $2",
      [requestId(answer), `${family}-breaks`],
    );
    const { input_tokens: read = 0, output_tokens: written = 0 } = part?.units ?? {};
    expect(part?.amount).toBe(BigInt(read) * 300_000n + BigInt(written) * 1_500_000n);
    const { input_tokens: input = 0, output_tokens: output = 0 } = row?.units ?? {};
    expect(row?.settled).toBe((part?.amount ?? 0n) + atLast(input - read, output - written));
    expect(await entriesOf(requestId(answer))).toEqual([-(row?.settled ?? 0n)]);
  });
});

describe("a chain whose models all fail", () => {
  test.each(MODES)("reports the tried models on the error (stream: %p)", async (isStream) => {
    const { id, key } = await createWorkspace(bed.stack, { creditsNano: 10_000_000_000n });
    const [one, two] = [slugOf("500", "openai", isStream), slugOf("500", rotated(1), isStream, "second")];
    await chainOf(id, one, [two]);
    const answer = await bed.client.chat(bed.target(key), bodyOf(one, `all fail ${isStream}`, isStream));
    expect(answer.status).toBe(502);
    expect(headersOf(answer)).toEqual([null, one, "1"]);
    const alone = await createWorkspace(bed.stack, { creditsNano: 10_000_000_000n });
    const without = await bed.client.chat(bed.target(alone.key), bodyOf(one, `alone ${isStream}`, isStream));
    expect([without.status, ...headersOf(without)]).toEqual([502, null, null, null]);
  });
});

describe("no fallback is called", () => {
  test.each(FAMILIES)("when %s reports an invalid request", async (family) => {
    for (const isStream of MODES) {
      const marker = `wrong ${family} ${isStream}`;
      const answer = await bed.client.chat(caller, bodyOf(`${family}-wrong`, marker, isStream));
      expect(answer.status).toBe(400);
      expect(answer.body).not.toContain(VENDOR_MARK);
      expect(headersOf(answer).slice(1)).toEqual([null, null]);
      expect(FAMILIES.map((each) => receivedBy(each, marker).length)).toEqual(
        FAMILIES.map((each) => (each === family ? 1 : 0)),
      );
      expect(await rowsOf(requestId(answer))).toMatchObject([{ status: "failed", settled: 0n }]);
    }
  });

  test.each(FAMILIES)("when a stream of %s is interrupted after its start", async (family) => {
    const marker = `mid ${family} and more words to come`;
    const answer = await bed.client.chat(caller, bodyOf(`${family}-mid`, marker, true));
    expect([answer.status, errorCode(answer) === undefined]).toEqual([200, false]);
    expect(headersOf(answer)).toEqual([`${family}-mid`, null, null]);
    expect(answer.frames).not.toContain(DONE);
    expect(`hello from ${marker}`.startsWith(streamedText(answer))).toBe(true);
    expect(FAMILIES.map((each) => receivedBy(each, marker).length)).toEqual(
      FAMILIES.map((each) => (each === family ? 1 : 0)),
    );
    const [row] = await rowsOf(requestId(answer));
    const { input_tokens: input = 0, output_tokens: output = 0 } = row?.units ?? {};
    expect(output).toBe(streamedText(answer).split(" ").length);
    expect(row?.settled).toBe(BigInt(input) * 300_000n + BigInt(output) * 1_500_000n);
  });

  test("when the workspace cannot pay", async () => {
    const poor = await createWorkspace(bed.stack, { creditsNano: 1_000n });
    await chainOf(poor.id, "openai-one", ["claude-last"]);
    const answer = await bed.client.chat(bed.target(poor.key), bodyOf("openai-one", "poor", false));
    expect([answer.status, errorCode(answer)]).toEqual([402, "insufficient_credits"]);
    expect(FAMILIES.flatMap((family) => receivedBy(family, "poor"))).toEqual([]);
  });

  test("when the workspace has used its calls of the minute", async () => {
    const busy = await createWorkspace(bed.stack, { creditsNano: 10_000_000_000n, preset: "one-a-minute" });
    await chainOf(busy.id, "openai-one", ["claude-last"]);
    const first = await bed.client.chat(bed.target(busy.key), bodyOf("openai-one", "busy 1", false));
    const second = await bed.client.chat(bed.target(busy.key), bodyOf("openai-one", "busy 2", false));
    expect([first.status, second.status, errorCode(second)]).toEqual([200, 403, "rate_limit_exceeded"]);
    expect(FAMILIES.flatMap((family) => receivedBy(family, "busy 2"))).toEqual([]);
  });
});

/** A chain of a workspace whose key has not been used yet. */
async function chainOf(workspaceId: string, model: string, fallbacks: readonly string[]): Promise<void> {
  const given = [model, ...fallbacks, "--workspace", workspaceId];
  const { code, stderr } = await bed.stack.command("admin", "fallback-chains", "set", ...given);
  expect([code, stderr]).toEqual([0, ""]);
}

describe("cost of a fallback", () => {
  test("must be covered: a fallback above the balance is skipped, the next one serves", async () => {
    // Holds some 0.35 credits for the first and 0.6 for the last; the dear one would take 18.
    const modest = await createWorkspace(bed.stack, { creditsNano: 2_000_000_000n });
    const first = slugOf("500", "openai", false);
    await chainOf(modest.id, first, ["claude-dear", "gemini-last"]);
    const answer = await bed.client.chat(bed.target(modest.key), bodyOf(first, "modest", false));
    expect([answer.status, textOf(answer)]).toEqual([200, "hello from modest"]);
    expect(headersOf(answer)).toEqual(["gemini-last", first, "1"]);
    expect(receivedBy("claude", "modest")).toEqual([]);
    const [row, ...more] = await rowsOf(requestId(answer));
    expect(more).toEqual([]);
    expect(row?.settled).toBe(atLast(row?.units["input_tokens"] ?? 0, 3));
  });

  test("is zero if all of them fail, and the caller receives the last error", async () => {
    const lost = await createWorkspace(bed.stack, { creditsNano: 2_000_000_000n });
    const firstOf = (isStream: boolean): string => slugOf("500", "openai", isStream);
    const lastOf = (isStream: boolean): string => slugOf("refusal", "gemini", isStream, "second");
    for (const isStream of MODES) {
      await chainOf(lost.id, firstOf(isStream), [slugOf("429", "claude", isStream, "second"), lastOf(isStream)]);
    }
    for (const isStream of MODES) {
      const body = bodyOf(firstOf(isStream), `lost ${isStream}`, isStream);
      const answer = await bed.client.chat(bed.target(lost.key), body);
      expect([answer.status, errorCode(answer)]).toEqual([502, "upstream_refused"]);
      expect(await rowsOf(requestId(answer))).toMatchObject([
        { model: lastOf(isStream), status: "failed", settled: 0n },
      ]);
      expect(await entriesOf(requestId(answer))).toEqual([]);
    }
  });
});

describe("a client that disconnects during the first attempt", () => {
  test.each(FAMILIES)("closes the socket at %s, and no other model is called", async (family) => {
    for (const isStream of MODES) {
      const marker = `left ${family} ${isStream}`;
      const model = slugOf("silence", family, isStream);
      const begun = bed.client.begin(caller, bodyOf(model, marker, isStream));
      const call = await eventually("the provider is asked", () => receivedBy(family, marker)[0]);
      const [hold] = await bed.stack.query<{ job_id: string }>("select job_id from hold where model = $1", [model]);
      const leftAt = performance.now();
      begun.leave();
      await call.finished;
      expect(call.answeredAt).toBeNull();
      expect((call.closedByClientAt ?? Infinity) - leftAt).toBeLessThan(UPSTREAM_CLOSED_WITHIN_MS);
      // Closed with the call's record: nothing can follow it.
      expect(await rowsOf(hold?.job_id ?? "")).toMatchObject([{ model, status: "cancelled", settled: 0n }]);
      expect(FAMILIES.map((each) => receivedBy(each, marker).length)).toEqual(
        FAMILIES.map((each) => (each === family ? 1 : 0)),
      );
    }
  });
});

test("no provider received an invalid request, and the books are exact", async () => {
  expect(bed.servers.claude.refusals).toEqual([]);
  for (const family of FAMILIES) expect(bed.servers[family].faults).toEqual([]);
  await audit(bed);
});
