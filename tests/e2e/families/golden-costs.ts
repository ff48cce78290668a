/**
 * The golden cost table: whatever a family calls its tokens and however it sends them, the same use costs
 * the same credits, streamed or not. Every cell goes through the whole service, from HTTP to the books. Amounts are worked
 * out by hand beside each row. In nano-credits a token costs: input 300,000, output 1,500,000, read from the cache 30,000,
 * written to it 375,000 (5 minutes) or 600,000 (an hour), sound 1,000,000 in and 2,000,000 out.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import { audit } from "#tests/faults/audit.ts";
import { type Answer, DONE, requestId, streamedText } from "#tests/faults/client.ts";
import { metric } from "#tests/faults/metric.ts";
import { VENDOR_MARK } from "#tests/providers/engine/behaviour.ts";

import { FAMILIES, type Family } from "./bed.ts";
import { OPENAI_TOOLS, PNG, QUESTION, SYSTEM, TURNS } from "./conversation.ts";
import { type SharedBed, sharedBed, UNSERVED } from "./shared-bed.ts";
import type { Report, Took, Turn } from "./turn.ts";

let bed: SharedBed;

beforeAll(async () => {
  bed = await sharedBed();
});

type Body = Readonly<Record<string, unknown>>;

interface Row {
  readonly name: string;
  readonly body: Body;
  readonly turn: Turn;
  readonly report?: Report;
  readonly nano: bigint;
  /** Usage in the response to the client; details that are zero are left out here. */
  readonly usage: Readonly<Record<string, number>>;
  /** Units in the usage record. */
  readonly units: Readonly<Record<string, number>>;
}

/** Long enough that the hold, which counts bytes, covers what the rows say was read. */
const INSTRUCTIONS = { role: "system", content: `${SYSTEM} ${"Be exact. ".repeat(300)}` };
const ASKED = { messages: [INSTRUCTIONS, { role: "user", content: QUESTION }], max_completion_tokens: 2_000 };
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const recording = { type: "input_audio", input_audio: { format: "wav", data: "UklGRiQAAABXQVZF" } };
const shown = (...parts: Body[]): Body => ({
  ...ASKED,
  messages: [INSTRUCTIONS, { role: "user", content: [{ type: "text", text: QUESTION }, ...parts] }],
});

/** The system prompt is marked for the cache, as clients of Claude do; other families are not told. */
const MARKED: Body = {
  ...ASKED,
  messages: [
    {
      role: "system",
      content: [{ type: "text", text: INSTRUCTIONS.content, cache_control: { type: "ephemeral", ttl: "1h" } }],
    },
    { role: "user", content: QUESTION },
  ],
};

const GOLDEN: readonly Row[] = [
  {
    name: "plain",
    body: ASKED,
    turn: {
      thought: "Hm, let me see.",
      text: "Two boats on a lake.",
      took: { input: 1_200, output: 345, thinking: 45 },
    },
    // 1,200 × 300,000 = 360,000,000; 345 × 1,500,000 = 517,500,000
    nano: 877_500_000n,
    usage: { prompt_tokens: 1_200, completion_tokens: 345, total_tokens: 1_545, reasoning_tokens: 45 },
    units: { input_tokens: 1_200, output_tokens: 345, reasoning_tokens: 45 },
  },
  {
    name: "cached",
    body: MARKED,
    turn: { text: "Two boats on a lake.", took: { input: 300, cached: 2_048, output: 80 } },
    // 300 × 300,000 = 90,000,000; 2,048 × 30,000 = 61,440,000; 80 × 1,500,000 = 120,000,000
    nano: 271_440_000n,
    usage: { prompt_tokens: 2_348, completion_tokens: 80, total_tokens: 2_428, cached_tokens: 2_048 },
    units: { input_tokens: 300, cached_input_tokens: 2_048, output_tokens: 80 },
  },
  {
    name: "tools",
    body: { ...ASKED, tools: OPENAI_TOOLS, tool_choice: "auto" },
    turn: TURNS[0] ?? fail("the conversation has no first turn"),
    // 640 × 300,000 = 192,000,000; 96 × 1,500,000 = 144,000,000
    nano: 336_000_000n,
    usage: { prompt_tokens: 640, completion_tokens: 96, total_tokens: 736, reasoning_tokens: 16 },
    units: { input_tokens: 640, output_tokens: 96, reasoning_tokens: 16 },
  },
  {
    name: "multimodal",
    body: shown(picture),
    turn: { text: "Two boats 🚣 on a lake.", took: { input: 150, image: 1_100, output: 60 } },
    // 150 × 300,000 = 45,000,000; 1,100 × 300,000 = 330,000,000 (these models have no price for pictures);
    // 60 × 1,500,000 = 90,000,000
    nano: 465_000_000n,
    usage: { prompt_tokens: 1_250, completion_tokens: 60, total_tokens: 1_310 },
    units: { input_tokens: 150, image_input_tokens: 1_100, output_tokens: 60 },
  },
];

/** Usage that some families report and others do not; the same use costs the same wherever two of them report it. */
const OWN: readonly (Row & { readonly models: readonly string[] })[] = [
  {
    name: "five-minute and one-hour cache writes",
    models: ["claude-one"],
    body: MARKED,
    turn: { text: "Two boats.", took: { input: 100, cached: 500, write5m: 400, write1h: 200, output: 50 } },
    // 30,000,000 + 500 × 30,000 = 15,000,000 + 400 × 375,000 = 150,000,000 + 200 × 600,000 = 120,000,000 + 75,000,000
    nano: 390_000_000n,
    usage: {
      prompt_tokens: 1_200,
      completion_tokens: 50,
      total_tokens: 1_250,
      cached_tokens: 500,
      cache_write_tokens: 600,
    },
    units: {
      input_tokens: 100,
      cached_input_tokens: 500,
      cache_write_5m_tokens: 400,
      cache_write_1h_tokens: 200,
      output_tokens: 50,
    },
  },
  {
    name: "cache writes of no said length",
    models: ["openai-one", "claude-one"],
    body: MARKED,
    report: "unsplit",
    turn: { text: "Two boats.", took: { input: 100, cached: 500, write5m: 600, output: 50 } },
    // 30,000,000 + 15,000,000 + 600 × 375,000 = 225,000,000 + 75,000,000
    nano: 345_000_000n,
    usage: {
      prompt_tokens: 1_200,
      completion_tokens: 50,
      total_tokens: 1_250,
      cached_tokens: 500,
      cache_write_tokens: 600,
    },
    units: { input_tokens: 100, cached_input_tokens: 500, cache_write_5m_tokens: 600, output_tokens: 50 },
  },
  {
    name: "a picture and a recording at prices of their own",
    models: ["openai-two", "gemini-two"],
    body: shown(picture, recording),
    turn: { text: "Two boats.", took: { input: 150, image: 1_100, audio: 320, output: 60, thinking: 10 } },
    // 45,000,000 + 1,100 × 450,000 = 495,000,000 + 320 × 1,000,000 = 320,000,000 + 90,000,000
    nano: 950_000_000n,
    usage: {
      prompt_tokens: 1_570,
      completion_tokens: 60,
      total_tokens: 1_630,
      audio_tokens: 320,
      reasoning_tokens: 10,
    },
    units: {
      input_tokens: 150,
      image_input_tokens: 1_100,
      audio_input_tokens: 320,
      output_tokens: 60,
      reasoning_tokens: 10,
    },
  },
  {
    name: "a picture half of which came from the cache",
    models: ["gemini-two"],
    body: shown(picture),
    turn: { text: "Two boats.", took: { input: 300, cached: 480, cachedImage: 280, image: 720, output: 40 } },
    // 90,000,000 + 480 × 30,000 = 14,400,000 + 720 × 450,000 = 324,000,000 + 60,000,000
    nano: 488_400_000n,
    usage: { prompt_tokens: 1_500, completion_tokens: 40, total_tokens: 1_540, cached_tokens: 480 },
    units: { input_tokens: 300, cached_input_tokens: 480, image_input_tokens: 720, output_tokens: 40 },
  },
  {
    name: "a spoken answer",
    models: ["openai-one"],
    body: { ...ASKED, modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } },
    turn: {
      spoken: { transcript: "Two boats.", data: "UklGRiQAAABXQVZF" },
      took: { input: 200, output: 20, audioOutput: 130 },
    },
    // 60,000,000 + 30,000,000 + 130 × 2,000,000 = 260,000,000
    nano: 350_000_000n,
    usage: { prompt_tokens: 200, completion_tokens: 150, total_tokens: 350, audio_tokens: 130 },
    units: { input_tokens: 200, output_tokens: 20, audio_output_tokens: 130 },
  },
];

function fail(message: string): never {
  throw new Error(message);
}

interface Settled {
  readonly status: string;
  readonly source: string;
  readonly settled: bigint;
  readonly held: bigint;
  readonly uncollected: bigint;
  readonly is_estimated: boolean;
  readonly units: Readonly<Record<string, number>>;
}

async function settledOf(answer: Answer): Promise<Settled> {
  await bed.stack.settled();
  const rows = await bed.stack.query<Settled>(
    `select status, source, settled, held, uncollected, is_estimated, units from usage_record where job_id = $1`,
    [requestId(answer)],
  );
  expect(rows).toHaveLength(1);
  return rows[0] ?? fail("no usage record");
}

function familyOf(model: string): Family {
  return FAMILIES.find((family) => model.startsWith(family)) ?? fail(`no family of ${model}`);
}

async function ask(model: string, body: Body, isStream: boolean): Promise<Answer> {
  const streamed = isStream ? { stream: true, stream_options: { include_usage: true } } : {};
  return bed.client.chat(bed.target(), { model, ...body, ...streamed });
}

/** The `usage` a client reads, details brought up beside the totals, zeros left out. */
function toldUsage(answer: Answer): Record<string, number> {
  const holder = JSON.parse(answer.isStream ? (answer.frames.at(-2) ?? "") : answer.body) as { usage: Usage };
  const { prompt_tokens_details: read, completion_tokens_details: written, ...totals } = holder.usage;
  const audio = (read?.["audio_tokens"] ?? 0) + (written?.["audio_tokens"] ?? 0);
  const told = { ...totals, ...read, ...written, audio_tokens: audio } as Record<string, number>;
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== 0));
}

type Usage = Record<string, number> & {
  prompt_tokens_details?: Record<string, number>;
  completion_tokens_details?: Record<string, number>;
};

/** A plain answer's text; a stream's, put together. */
function textOf(answer: Answer): string | null {
  if (answer.isStream) return streamedText(answer);
  const { choices } = JSON.parse(answer.body) as { choices: { message: { content: string | null } }[] };
  return choices[0]?.message.content ?? "";
}

/** Runs a row as a plain call and as a stream; both must have cost what the row says. */
async function settles(model: string, row: Row): Promise<void> {
  for (const isStream of [false, true]) {
    bed.says(familyOf(model), [row.turn], row.report);
    const answer = await ask(model, row.body, isStream);
    expect([answer.status, textOf(answer)]).toEqual([200, row.turn.text ?? ""]);
    expect(toldUsage(answer)).toEqual({ ...row.usage, credits: Number(row.nano) / 1e9 });
    const { settled, held, uncollected, is_estimated, status, units } = await settledOf(answer);
    expect({ settled, uncollected, is_estimated, status }).toEqual({
      settled: row.nano,
      uncollected: 0n,
      is_estimated: false,
      status: "succeeded",
    });
    expect(settled).toBeLessThanOrEqual(held);
    expect(units).toEqual(row.units);
    expect(answer.headers.get("x-credits-used")).toBe(isStream ? null : String(Number(row.nano) / 1e9));
    if (isStream) expect(answer.frames.at(-1)).toBe(DONE);
  }
}

describe.each(FAMILIES)("with %s", (family) => {
  test.each(GOLDEN.map((row) => [row.name, row] as const))("%s settles to the golden credits", async (_, row) => {
    // Claude does not count pictures apart.
    const { image_input_tokens: pictures = 0, ...rest } = row.units;
    const units = family === "claude" ? { ...rest, input_tokens: (rest["input_tokens"] ?? 0) + pictures } : row.units;
    await settles(`${family}-one`, { ...row, units });
  });
});

describe("usage that only some families report", () => {
  test.each(OWN.flatMap((row) => row.models.map((model) => [row.name, model, row] as const)))(
    "%s settle to the golden credits with %s",
    async (_, model, row) => settles(model, row),
  );
});

const SAID: Body = { messages: [{ role: "user", content: "say one two three four five" }] };
const FIVE: Turn = { text: "one two three four five", took: { input: 20, output: 8 } };

describe.each(FAMILIES)("a usage report of %s", (family) => {
  const both = async (body: Body, report: Report, turn = FIVE): Promise<[Answer, Settled][]> => {
    const ended: [Answer, Settled][] = [];
    for (const isStream of [false, true]) {
      bed.says(family, [turn], report);
      const answer = await ask(`${family}-one`, body, isStream);
      expect([answer.status, textOf(answer)]).toEqual([200, turn.text ?? ""]);
      ended.push([answer, await settledOf(answer)]);
    }
    return ended;
  };

  test.each(["missing", "zero"] as const)("that is %s is replaced by our own estimate, and flagged", async (report) => {
    for (const [answer, row] of await both(SAID, report)) {
      // Three for the message, three that open the answer, one for the role, six words; five words out:
      // 13 × 300,000 = 3,900,000; 5 × 1,500,000 = 7,500,000
      expect(row).toMatchObject({ settled: 11_400_000n, is_estimated: true, uncollected: 0n });
      expect(row.units).toEqual({ input_tokens: 13, output_tokens: 5 });
      const credits = 0.0114;
      expect(toldUsage(answer)).toEqual({ prompt_tokens: 13, completion_tokens: 5, total_tokens: 18, credits });
    }
  });

  test.each(["negative", "fractional", "huge", "beyond"] as const)(
    "that is impossible (%s) settles at the hold, with or without a limit, and is flagged",
    async (report) => {
      for (const limit of [{ max_completion_tokens: 100 }, {}]) {
        for (const [answer, row] of await both({ ...SAID, ...limit }, report)) {
          expect(row.settled).toBe(row.held);
          expect(row).toMatchObject({ is_estimated: true, uncollected: 0n, status: "succeeded" });
          // The client is told what we counted, not what nobody can believe.
          const credits = Number(row.held) / 1e9;
          expect(toldUsage(answer)).toEqual({ prompt_tokens: 13, completion_tokens: 5, total_tokens: 18, credits });
        }
      }
    },
  );

  test.each(["late", "growing"] as const)("that is %s counts with its last value", async (report) => {
    for (const [answer, row] of await both(SAID, report)) {
      // 20 × 300,000 = 6,000,000; 8 × 1,500,000 = 12,000,000
      expect(row).toMatchObject({ settled: 18_000_000n, is_estimated: false });
      const credits = 0.018;
      expect(toldUsage(answer)).toEqual({ prompt_tokens: 20, completion_tokens: 8, total_tokens: 28, credits });
    }
  });

  test("above the hold charges more only for a call without a limit", async () => {
    const took: Took = { input: 20, output: 15_000 };
    // 6,000,000 + 15,000 × 1,500,000 = 22,500,000,000
    const nano = 22_506_000_000n;
    for (const [, row] of await both(SAID, "honest", { ...FIVE, took })) {
      expect(row).toMatchObject({ settled: nano, uncollected: 0n, is_estimated: false });
      expect(row.settled).toBeGreaterThan(row.held);
    }
    for (const [, row] of await both({ ...SAID, max_completion_tokens: 1_000 }, "honest", { ...FIVE, took })) {
      expect(row).toMatchObject({ settled: row.held, uncollected: nano - row.held, is_estimated: false });
    }
  });
});

describe.each(FAMILIES)("an error text of %s", (family) => {
  const errors = (answer: Answer): void => {
    expect(answer.body).toContain('"error"');
    expect(answer.body).not.toContain(VENDOR_MARK);
  };

  test.each(UNSERVED[family])("in place of an answer (%s) costs nothing", async (name) => {
    // An error event is a thing of streams.
    for (const isStream of name === "error-first" ? [true] : [false, true]) {
      const answer = await ask(`${family}-${name}`, SAID, isStream);
      // Some errors say that the provider is busy.
      expect([502, 503]).toContain(answer.status);
      errors(answer);
      expect(await settledOf(answer)).toMatchObject({ status: "failed", settled: 0n, uncollected: 0n, units: {} });
    }
  });

  test("in the middle of a stream is not charged with the text before it", async () => {
    const answer = await ask(`${family}-error-mid`, SAID, true);
    expect(answer.status).toBe(200);
    errors(answer);
    expect(answer.frames).not.toContain(DONE);
    const words = streamedText(answer).split(" ").length;
    expect(words).toBeGreaterThan(1);
    const { units, settled, status, is_estimated } = await settledOf(answer);
    // Gemini says with every event what it has taken so far, Claude at the beginning what the input was.
    const input = family === "openai" ? 13 : (units["input_tokens"] ?? 0);
    expect(input).toBeGreaterThan(0);
    expect({ units, status, is_estimated }).toEqual({
      units: { input_tokens: input, output_tokens: words },
      status: "failed",
      is_estimated: family !== "gemini",
    });
    expect(settled).toBe(BigInt(input) * 300_000n + BigInt(words) * 1_500_000n);
  });
});

describe.each(FAMILIES)("audio from an address without a type, at %s", (family) => {
  test.each<[string, Body]>([
    ["image_url.url", { type: "image_url", image_url: { url: "IT" } }],
    ["file.file_url", { type: "file", file: { file_url: "IT" } }],
  ])("in %s is rejected like other audio before the provider is called, and costs nothing", async (param, part) => {
    const named = JSON.parse(JSON.stringify(part).replace("IT", bed.site.url("/it"))) as Body;
    const answer = await ask(`${family}-reader`, shown(named), false);
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining("audio_not_supported_by_model")]);
    expect(answer.body).toContain(`messages[1].content[1].${param}`);
    expect(answer.body).toContain("audio/wav");
    expect(await settledOf(answer)).toMatchObject({ status: "failed", settled: 0n, uncollected: 0n, units: {} });
  });
});

test("impossible reports raise the alert for operators", async () => {
  const url = bed.stack.processes[0]?.adminUrl ?? "";
  expect(await metric(url, "sluice_usage_estimated_total", "impossible")).toBe(FAMILIES.length * 4 * 2 * 2);
});

test("the books are exact, and every answer equals its charge", async () => {
  await audit(bed);
  expect(bed.servers.claude.refusals).toEqual([]);
});
