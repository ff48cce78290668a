/**
 * Calls at prices with tiers, from HTTP to the books. The models `…-tiers` have the prices of the golden table; priority costs twice as much
 * and flex half as much. Above 1,000 input tokens, every rate is three times as high. A batch line pays a quarter.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { type Answer, requestId } from "#tests/faults/client.ts";
import { eventually } from "#tests/faults/wait.ts";

import type { Family } from "./bed.ts";
import { type SharedBed, sharedBed } from "./shared-bed.ts";
import type { Report, Turn } from "./turn.ts";

let bed: SharedBed;

beforeAll(async () => {
  bed = await sharedBed();
});

type Body = Readonly<Record<string, unknown>>;

/** Longer than 1,100 bytes, so that the hold covers the tokens that the rows report. */
const ASKED = { messages: [{ role: "user", content: "Be exact. ".repeat(300) }], max_completion_tokens: 200 };
const SHORT = { input: 600, cached: 300, output: 100 };
/** 600 × 300,000 + 300 × 30,000 + 100 × 1,500,000 */
const PLAIN = 339_000_000n;
const SHORT_UNITS = { input_tokens: 600, cached_input_tokens: 300, output_tokens: 100 };

interface Row {
  readonly asked?: string;
  /** Tier that the provider receives and the tier that it reports, by the names of OpenAI. */
  readonly sent: string;
  readonly served: string;
  readonly took?: Turn["took"];
  readonly nano: bigint;
  readonly units: Readonly<Record<string, number>>;
}

const PRIORITY = { ...SHORT_UNITS, priority_requests: 1 };
const ROWS: readonly Row[] = [
  { sent: "default", served: "default", nano: PLAIN, units: SHORT_UNITS },
  { asked: "default", sent: "default", served: "default", nano: PLAIN, units: SHORT_UNITS },
  { asked: "priority", sent: "priority", served: "priority", nano: 2n * PLAIN, units: PRIORITY },
  { asked: "priority", sent: "priority", served: "default", nano: PLAIN, units: SHORT_UNITS },
  { asked: "auto", sent: "auto", served: "priority", nano: 2n * PLAIN, units: PRIORITY },
  { asked: "auto", sent: "auto", served: "default", nano: PLAIN, units: SHORT_UNITS },
  // A provider that ignores the requested tier.
  { asked: "default", sent: "default", served: "priority", nano: PLAIN, units: SHORT_UNITS },
  {
    sent: "default",
    served: "default",
    took: { ...SHORT, input: 701 },
    // 701 × 900,000 + 300 × 90,000 + 100 × 4,500,000
    nano: 1_107_900_000n,
    units: { ...SHORT_UNITS, input_tokens: 701, long_context_requests: 1 },
  },
];

const FLEX: readonly Row[] = [
  { asked: "flex", sent: "flex", served: "flex", nano: PLAIN / 2n, units: { ...SHORT_UNITS, flex_requests: 1 } },
  {
    asked: "flex",
    sent: "flex",
    served: "flex",
    took: { ...SHORT, input: 701 },
    // half of the row above
    nano: 553_950_000n,
    units: { ...SHORT_UNITS, input_tokens: 701, flex_requests: 1, long_context_requests: 1 },
  },
];

async function settledOf(id: string) {
  await bed.stack.settled();
  const [row] = await bed.stack.query<{
    readonly settled: bigint;
    readonly held: bigint;
    readonly uncollected: bigint;
    readonly is_estimated: boolean;
    readonly units: Readonly<Record<string, number>>;
  }>("select settled, held, uncollected, is_estimated, units from usage_record where job_id = $1", [id]);
  if (row === undefined) throw new Error("no usage record");
  return row;
}

function ask(family: Family, body: Body, isStream: boolean): Promise<Answer> {
  const streamed = isStream ? { stream: true, stream_options: { include_usage: true } } : {};
  return bed.client.chat(bed.target(), { model: `${family}-tiers`, ...ASKED, ...body, ...streamed });
}

const lastSent = (family: "openai" | "claude"): unknown =>
  (bed.servers[family].requests.at(-1)?.body as Body | undefined)?.["service_tier"];

async function settles(family: "openai" | "claude", { asked, sent, served, took = SHORT, nano, units }: Row) {
  for (const isStream of [false, true]) {
    bed.says(family, [{ text: "Yes.", took, tier: served }]);
    const answer = await ask(family, asked === undefined ? {} : { service_tier: asked }, isStream);
    expect(answer.status).toBe(200);
    const row = await settledOf(requestId(answer));
    expect([row.settled, row.uncollected, row.is_estimated, row.units]).toEqual([nano, 0n, false, units]);
    expect(row.held).toBeGreaterThanOrEqual(row.settled);
    const anthropic = sent === "auto" || sent === "priority" ? "auto" : "standard_only";
    expect(lastSent(family)).toBe(family === "claude" ? anthropic : sent);
    const body = JSON.parse(isStream ? (answer.frames[0] ?? "") : answer.body) as Body;
    expect(body["service_tier"]).toBe(served);
  }
}

describe.each(["openai", "claude"] as const)("with %s", (family) => {
  test.each(ROWS.map((row) => [row.asked, row.served, row] as const))(
    "a call for the tier %p that is served by %s pays its price, to the nano-credit",
    (_asked, _served, row) => settles(family, row),
  );

  test("a missing usage report is estimated at the rates of the tier", async () => {
    for (const isStream of [false, true]) {
      const charge = async (report: Report, tier?: string) => {
        bed.says(family, [{ text: "Yes.", took: SHORT, tier: tier ?? "default" }], report);
        return settledOf(requestId(await ask(family, tier === undefined ? {} : { service_tier: tier }, isStream)));
      };
      const [plain, priority] = [await charge("missing"), await charge("missing", "priority")];
      expect([plain.is_estimated, priority.is_estimated]).toEqual([true, true]);
      expect(plain.settled).toBeGreaterThan(0n);
      expect(priority.settled).toBe(2n * plain.settled);
    }
  });
});

test.each(FLEX.map((row) => [row] as const))("a call for flex pays its price", (row) => settles("openai", row));

test("a hold covers the most expensive tier that the request allows", async () => {
  const held = async (service_tier?: string): Promise<bigint> => {
    bed.says("openai", [{ text: "Yes.", took: SHORT }]);
    const body = { messages: [{ role: "user", content: "Say yes." }], ...(service_tier && { service_tier }) };
    return (await settledOf(requestId(await ask("openai", body, false)))).held;
  };
  const plain = await held();
  // The member itself is longer by its bytes, which count as tokens at the highest rate of the tier.
  const bytes = (tier: string): bigint => BigInt(`,"service_tier":"${tier}"`.length) * 600_000n;
  expect(await held("default")).toBe(plain + bytes("default"));
  expect(await held("flex")).toBe(plain + bytes("flex"));
  expect(await held("priority")).toBe(2n * (plain + bytes("priority")));
  expect(await held("auto")).toBe(2n * (plain + bytes("auto")));
});

describe("Gemini, which reports no tier", () => {
  test("charges a long input at its rates", async () => {
    for (const isStream of [false, true]) {
      bed.says("gemini", [{ text: "Yes.", took: { ...SHORT, input: 701 } }]);
      const row = await settledOf(requestId(await ask("gemini", {}, isStream)));
      expect([row.settled, row.units["long_context_requests"]]).toEqual([1_107_900_000n, 1]);
    }
  });
});

async function post(path: string, body: Body): Promise<{ status: number; body: Record<string, unknown>; id: string }> {
  const { url, key } = bed.target();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const id = response.headers.get("x-request-id") ?? "";
  return { status: response.status, body: (await response.json()) as Record<string, unknown>, id };
}

test("the Responses API returns the tier that served the call", async () => {
  bed.says("openai", [{ text: "Yes.", took: SHORT, tier: "priority" }]);
  const answer = await post("/v1/responses", {
    model: "openai-tiers",
    input: "Be exact. ".repeat(300),
    max_output_tokens: 200,
    service_tier: "auto",
    store: false,
  });
  expect([answer.status, answer.body["service_tier"]]).toEqual([200, "priority"]);
  expect((await settledOf(answer.id)).settled).toBe(2n * PLAIN);
});

test.each([
  ["openai", "auto", "priority", "auto", "priority", 2n],
  ["openai", "auto", "default", "auto", "standard", 1n],
  ["openai", "standard_only", "default", "default", "standard", 1n],
  ["claude", "auto", "priority", "auto", "priority", 2n],
  ["claude", undefined, "default", "standard_only", "standard", 1n],
] as const)(
  "the Messages API asks %s for the tier %s, served by %s",
  async (family, asked, tier, sent, returned, factor) => {
    bed.says(family, [{ text: "Yes.", took: SHORT, tier }]);
    const answer = await post("/v1/messages", {
      model: `${family}-tiers`,
      messages: ASKED.messages,
      max_tokens: 200,
      ...(asked && { service_tier: asked }),
    });
    expect(answer.status).toBe(200);
    expect((answer.body["usage"] as Body)["service_tier"]).toBe(returned);
    expect(lastSent(family)).toBe(sent);
    expect((await settledOf(answer.id)).settled).toBe(factor * PLAIN);
  },
);

test("the Messages API sends no tier to other families for a model without priced tiers", async () => {
  bed.says("openai", [{ text: "Yes.", took: SHORT }]);
  const body = { model: "openai-one", messages: ASKED.messages, max_tokens: 200, service_tier: "standard_only" };
  expect((await post("/v1/messages", body)).status).toBe(200);
  expect(lastSent("openai")).toBeUndefined();
  const refused = await post("/v1/messages", { ...body, service_tier: "priority" });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("service_tier")]);
});

const client = (): OpenAI => {
  const { url, key } = bed.target();
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
};

async function outputOf(lines: readonly Body[]): Promise<Record<string, { status: number; body: Body; id: string }>> {
  const own = client();
  const text = lines.map((body, at) =>
    JSON.stringify({ custom_id: String(at), method: "POST", url: "/v1/chat/completions", body }),
  );
  const file = await own.files.create({
    file: await toFile(Buffer.from(text.join("\n")), "lines.jsonl"),
    purpose: "batch",
  });
  const { id } = await own.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  const batch = await eventually("the batch has ended", async () => {
    const now = await own.batches.retrieve(id);
    return now.status === "completed" && now;
  });
  const files = [batch.output_file_id, batch.error_file_id].filter((one) => one != null);
  const contents = await Promise.all(files.map(async (one) => (await own.files.content(one)).text()));
  const rows = contents.flatMap((content) => content.trim().split("\n")).map((row) => JSON.parse(row) as Outcome);
  return Object.fromEntries(
    rows.map(({ custom_id, response }) => [
      custom_id,
      { status: response.status_code, body: response.body, id: response.request_id },
    ]),
  );
}

interface Outcome {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: Body };
}

test("a batch line pays the share of its model, at the rates of its tier", async () => {
  bed.says("openai", [{ text: "Yes.", took: SHORT, tier: "priority" }]);
  const { 0: line } = await outputOf([{ model: "openai-tiers", ...ASKED, service_tier: "priority" }]);
  expect(line?.status).toBe(200);
  const row = await settledOf(line?.id ?? "");
  // a quarter of 678,000,000
  expect([row.settled, row.uncollected, row.units]).toEqual([169_500_000n, 0n, PRIORITY]);
  expect(row.held).toBeGreaterThanOrEqual(row.settled);
  bed.says("openai", [{ text: "Yes.", took: SHORT }]);
  const { 0: plain } = await outputOf([{ model: "openai-one", ...ASKED }]);
  expect((await settledOf(plain?.id ?? "")).settled).toBe(PLAIN);
});

test("a tier without a price is refused on every road, with the tiers that are accepted", async () => {
  const message = 'Expected one of auto, default, flex, got "priority". Other tiers have no price for this model.';
  const refusal = { code: "unsupported_value", param: "service_tier", message };
  const asked = { model: "openai-one", service_tier: "priority" };
  const chat = await post("/v1/chat/completions", { ...asked, ...ASKED });
  expect(chat).toMatchObject({ status: 400, body: { error: refusal } });
  const responses = await post("/v1/responses", { ...asked, input: "Yes?" });
  expect(responses).toMatchObject({ status: 400, body: { error: refusal } });
  const estimate = await post("/v1/models/openai-one/estimate", { ...ASKED, service_tier: "priority" });
  expect(estimate).toMatchObject({ status: 400, body: { error: refusal } });
  const { 0: line } = await outputOf([{ ...asked, ...ASKED }]);
  expect(line).toMatchObject({ status: 400, body: { error: refusal } });
  const steps = [{ id: "say", type: "model", model: "openai-one", params: { ...ASKED, service_tier: "priority" } }];
  const run = await post("/v1/workflows/estimate", { definition: { steps }, input: {} });
  expect([run.status, JSON.stringify(run.body)]).toEqual([400, expect.stringContaining("service_tier")]);
  const unknown = await post("/v1/chat/completions", { model: "openai-tiers", ...ASKED, service_tier: "scale" });
  expect(unknown.body).toMatchObject({
    error: { message: expect.stringContaining('Expected one of auto, default, flex, priority, got "scale".') },
  });
});

test("an estimate has the rates of the tier, and its maximum covers them", async () => {
  const estimate = async (service_tier: string) => {
    const body = { messages: [{ role: "user", content: "Say yes." }], max_tokens: 10, service_tier };
    const answer = await post("/v1/models/openai-tiers/estimate", body);
    return answer.body as { estimated_credits: number; max_credits: number; breakdown: { unit_credits: number }[] };
  };
  const [plain, flex, priority] = [await estimate("default"), await estimate("flex"), await estimate("priority")];
  expect(priority.estimated_credits).toBe(2 * plain.estimated_credits);
  expect(flex.estimated_credits).toBe(plain.estimated_credits / 2);
  expect(priority.breakdown.map((line) => line.unit_credits)).toEqual([0.0006, 0.003]);
  for (const one of [plain, flex, priority]) expect(one.max_credits).toBeGreaterThanOrEqual(one.estimated_credits);
  const long = await post("/v1/models/openai-tiers/estimate", {
    messages: [{ role: "user", content: "one ".repeat(1_200) }],
    max_tokens: 10,
  });
  const [input] = (long.body as { breakdown: { unit_credits: number; quantity: number }[] }).breakdown;
  expect(input?.quantity).toBeGreaterThan(1_000);
  expect(input?.unit_credits).toBe(0.0009);
});

test("the list of models shows the tiers", async () => {
  const { url, key } = bed.target();
  const response = await fetch(`${url}/v1/models/openai-tiers`, { headers: { authorization: `Bearer ${key}` } });
  const { _svc: facts } = (await response.json()) as { _svc: { pricing: Body } };
  expect(facts.pricing).toMatchObject({
    input_per_million: 300,
    long_context: { above_tokens: 1_000, input_per_million: 900 },
    service_tiers: {
      flex: { input_per_million: 150, long_context: { above_tokens: 1_000, input_per_million: 450 } },
      // Priority has no rates of its own for long inputs: the higher of both applies.
      priority: { input_per_million: 600, long_context: { above_tokens: 1_000, input_per_million: 900 } },
    },
    batch_factor: 0.25,
  });
});
