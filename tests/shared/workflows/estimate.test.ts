/** Estimates of steps, and how much they look at. Workflows that steps run are in tests/e2e/workflows/estimate.ts. */
import { describe, expect, test } from "bun:test";

import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import { findCapability } from "#shared/calls/capabilities/list.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { estimateWorkflow } from "#shared/workflows/estimate/estimate.ts";
import { EstimateWork, ESTIMATE_WORK_MAX, ESTIMATE_READ_WORK_MAX } from "#shared/workflows/estimate/work.ts";

import { catalogue, read, refusal } from "./definitions.ts";

type Context = Parameters<typeof estimateWorkflow>[0];

const context: Context = {
  catalogue,
  caller: { keyId: "k", workspaceId: "w", workspaceName: "w", memberId: "m", role: "owner", preset: catalogue.presets.get("unlimited") as never }, // prettier-ignore
  database: { query: () => Promise.reject(new Error("expected no query")) },
  capability: (id) => findCapability(id) as never,
};

/** Estimates the steps of a definition that may be stored. */
async function estimate(definition: object, inputs: object = {}, work = new EstimateWork(new TimeSlices())) {
  const { definition: stored } = read(definition);
  const steps = await estimateWorkflow(
    context,
    stored,
    { inputs: inputs as Readonly<Record<string, unknown>>, unknown: new Set() },
    1,
    work,
  );
  return steps.map(({ estimatedNano, maxNano, assumption }) => ({
    usual: Number(estimatedNano) / 1e9,
    most: Number(maxNano) / 1e9,
    assumption,
  }));
}

const chat = (id: string, content: unknown, more: object = {}, params: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-chat",
  params: { messages: [{ role: "user", content }], max_tokens: 5, ...params },
  ...more,
});
const call = (model: string, params: object, more: object = {}) => ({ id: "b", type: "model", model, params, ...more });
const count = (length: number) => Array.from({ length }, (_, at) => at);

test("a step costs at most its max_credits", async () => {
  const [free] = await estimate({ steps: [chat("a", "x", {}, { max_tokens: 1_000 })] });
  const max_credits = Number(((free?.most ?? 0) / 2).toFixed(9));
  const [limited] = await estimate({ steps: [chat("a", "x", {}, { max_tokens: 1_000, max_credits })] });
  expect(limited?.most).toBe(max_credits);
  const [ample] = await estimate({ steps: [chat("a", "x", {}, { max_tokens: 1_000, max_credits: 1_000 })] });
  expect(ample?.most).toBe(free?.most ?? 0);
});

describe("fallbacks that params name", () => {
  const most = async (params: object): Promise<number> =>
    (await estimate({ steps: [chat("a", "x", {}, params)] }))[0]?.most ?? 0;

  test("raise the maximum to that of the most expensive model", async () => {
    const own = await most({});
    expect(await most({ models: ["sandbox-chat"] })).toBeCloseTo(own, 3);
    // It costs twice as much.
    expect((await most({ models: ["sandbox-backup"] })) / own).toBeGreaterThan(1.9);
  });

  test("are checked like those of a call", async () => {
    for (const [models, param] of [
      [["nothing"], "models[0]"],
      [["sandbox-embed"], "models[0]"],
      [["sandbox-slow", "sandbox-slow"], "models[1]"],
    ] as const) {
      expect(refusal({ steps: [chat("a", "x", {}, { models })] })[0]).toEndWith(`steps[0].params.${param}`);
    }
  });
});

describe("a known list", () => {
  const image = (more: object) => ({
    inputs: { list: { type: "array" } },
    steps: [call("sandbox-image", { prompt: "x", n: "${{ item }}" }, more)],
  });

  test("is estimated item by item, for every length", async () => {
    const ones = Array.from({ length: 150 }, () => 1);
    const [one] = await estimate(image({ for_each: [1] }));
    const [all] = await estimate(image({ for_each: ones }));
    expect(all).toMatchObject({ usual: 150 * (one?.usual ?? 0), most: 150 * (one?.most ?? 0) });
    expect(all?.assumption).toStartWith("150 items. All parameters are known.");
    const [short] = await estimate({ steps: [chat("a", "x ${{ item }}", { for_each: count(1_000) })] });
    const [last] = await estimate({ steps: [chat("a", "x 999")] });
    expect(short?.most).toBeLessThanOrEqual(1_000 * (last?.most ?? 0));
  });

  test("counts items above the limit at the mean, and at most as an unknown one", async () => {
    const definition = image({ for_each: count(1_000).map((at) => 1 + (at % 2)) });
    const work = new EstimateWork(new TimeSlices(), 300_000);
    const [{ usual, most, assumption } = { usual: 0, most: 0, assumption: "" }] = await estimate(definition, {}, work);
    const looked = Number(/items, (\d+) of them estimated/.exec(assumption)?.[1]);
    expect(looked).toBeGreaterThan(10);
    expect(looked).toBeLessThan(1_000);
    const [each] = await estimate(image({ for_each: [1] }));
    const mean = usual / 1_000 / (each?.usual ?? 0);
    expect(mean).toBeGreaterThan(1.4);
    expect(mean).toBeLessThan(1.6);
    const open = image({ for_each: "${{ inputs.list }}" });
    const [unknown] = await estimate({ ...open, steps: [chat("a", "x"), { ...open.steps[0], for_each: "${{ steps.a.output.json }}" }] }).then(([, b]) => [b]); // prettier-ignore
    expect(most).toBeGreaterThan((1_000 - looked) * ((unknown?.most ?? 0) / 1_000));
    expect(most).toBeLessThan(unknown?.most ?? 0);
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["a text", "1,2"],
    ["an object", { a: 1 }],
    ["empty", []],
    ["longer than a list may be", count(1_001)],
  ])("costs nothing if it is %s", async (_name, list) => {
    const definition = {
      inputs: { of: { type: "object" } },
      steps: image({ for_each: "${{ inputs.of.list }}" }).steps,
    };
    expect(await estimate(definition, { of: { list } })).toMatchObject([{ usual: 0, most: 0 }]);
  });

  test("costs nothing behind a condition that is neither true nor false", async () => {
    const definition = { inputs: { n: { type: "integer" } }, steps: [chat("a", "x", { if: "${{ inputs.n }}" })] };
    expect(await estimate(definition, { n: 1 })).toMatchObject([{ usual: 0, most: 0 }]);
  });
});

describe("the work of an estimate", () => {
  const size = "${{ inputs.l.map(x, inputs.m.map(y, y)).size() }}";
  const given = { l: count(1_000), m: count(100) };
  const inputs = { l: { type: "array" }, m: { type: "array" } };
  const heavy = (content: string, more: object) => (at: number) =>
    chat(`s${at}`, content, more, { user: "x", p: size + size, q: size + size, r: size + size, s: size + size });

  test.each([
    ["for a list that its params do not read", "x"],
    ["for each item", "x ${{ item }}"],
  ])("is bounded in total, and the remainder counts as unknown: %s", async (_name, content) => {
    const work = new EstimateWork(new TimeSlices());
    const steps = count(10).map(heavy(content, { for_each: count(100) }));
    const costs = await estimate({ inputs, steps }, given, work);
    expect(costs).toHaveLength(10);
    expect(costs.at(-1)?.assumption).toContain("Unknown before a run:");
    expect(costs.at(-1)?.assumption).toContain("p, q, r, s");
    // One step's own call may still be counted when nothing is left.
    expect(work.remaining).toBeGreaterThan(-ESTIMATE_WORK_MAX / 10);
  });

  test("is bounded by the bytes read, of all definitions together", async () => {
    const definition = { steps: [chat("a", "is ${{ 1 + 1 }}")] };
    const ofReading = async (left: number): Promise<number> => {
      const work = new EstimateWork(new TimeSlices());
      work.reading.count(ESTIMATE_READ_WORK_MAX - left);
      await estimate(definition, {}, work);
      return left - work.reading.remaining;
    };
    const units = await ofReading(ESTIMATE_READ_WORK_MAX);
    expect(await ofReading(units)).toBe(units);
    const fault: unknown = await ofReading(units - 1).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "invalid_request", message: expect.stringContaining("too complex") as string });
  });

  test("evaluates values once for all items that do not read them", async () => {
    const text = "x".repeat(100_000);
    const of = async (items: number) => {
      const work = new EstimateWork(new TimeSlices());
      const steps = [chat("a", "${{ inputs.text }}", { for_each: count(items) })];
      await estimate({ inputs: { text: { type: "string" } }, steps }, { text }, work);
      return ESTIMATE_WORK_MAX - work.remaining;
    };
    expect(await of(1_000)).toBe(await of(1));
  });
});

describe("a call that may be stored", () => {
  const O = "${{ steps.a.output.json.it }}";
  const content = (block: object) => [{ type: "text", text: "x" }, block];

  test.each<[string, object]>([
    ["sandbox-tts-designed", { input: "x", instructions: O }],
    ["sandbox-tts-designed", { input: O, instructions: `a ${O}`, speed: O }],
    ["sandbox-image-redraw", { prompt: "x", image_base64: O, strength: 0.5 }],
    ["sandbox-image-redraw", { prompt: O, image_file_id: O, strength: O }],
    ["sandbox-upscale", { prompt: "x", image_base64: O }],
    ["sandbox-image", { prompt: O, image_base64: O, mask_base64: O, size: O, n: O }],
    ["sandbox-image", { prompt: "x", size: `${O}x512`, negative_prompt: O }],
    ["sandbox-video", { prompt: O, duration: O, resolution: O, aspect_ratio: O, seed: O }],
    ["sandbox-video-restyle", { prompt: "x", video_url: O }],
    ["sandbox-3d", { image_url: O }],
    ["sandbox-3d-remesh", { prompt: O, mesh_url: O }],
    ["sandbox-music", { prompt: O, duration: O, lyrics: O }],
    ["sandbox-stt", { audio_base64: O, prompt: O }],
    ["sandbox-stt", { file_id: O, response_format: O }],
    ["sandbox-embed", { input: O, dimensions: O }],
    ["sandbox-embed", { input: ["x", O] }],
    ["sandbox-vision", { messages: O }],
    ["sandbox-vision", { messages: [{ role: "user", content: content({ type: "image_url", image_url: { url: O } }) }] }], // prettier-ignore
    ["sandbox-vision", { messages: [{ role: "user", content: content({ type: "image_url", image_url: O }) }] }],
    ["sandbox-vision", { messages: [{ role: "user", content: content({ type: "image_url", image_url: { url: "https://example.org/a.png" } }) }], temperature: O }], // prettier-ignore
    ["sandbox-chat", { messages: [{ role: O, content: O }], n: O, max_tokens: O, stop: O }],
  ])("has an estimate if only a run knows a part of it: %s %j", async (model, params) => {
    const [, cost] = await estimate({ steps: [chat("a", "x"), call(model, params)] });
    expect(cost?.usual).toBeGreaterThan(0);
    expect(cost?.most).toBeGreaterThanOrEqual(cost?.usual ?? Infinity);
  });

  test("uses the known part of its messages", async () => {
    const messages = (text: string) => [
      { role: "system", content: text },
      { role: "user", content: O },
    ];
    const of = async (text: string) =>
      (await estimate({ steps: [chat("a", "x"), call("sandbox-chat", { messages: messages(text) })] }))[1];
    const [short, long] = [await of("word"), await of("word ".repeat(2_000))];
    expect(long?.usual).toBeGreaterThan(1.5 * (short?.usual ?? Infinity));
    expect(long?.most).toBe(short?.most as number);
  });

  test("that edits or generates an image, depending on a value, counts the more expensive one", async () => {
    const definition = (params: object) => ({
      steps: [chat("a", "x"), call("sandbox-image", { prompt: "x", ...params })],
    });
    const [, either] = await estimate(definition({ image_file_id: O, n: 4 }));
    const [, made] = await estimate(definition({ n: 4 }));
    expect(either?.most).toBeGreaterThanOrEqual(made?.most ?? Infinity);
  });

  test("is rejected with its path if no run can fix it", async () => {
    const definition = { inputs: { n: { type: "integer" } }, steps: [call("sandbox-image", { prompt: "x", n: "${{ inputs.n }}" })] }; // prettier-ignore
    const subtitles = { inputs: { f: { type: "string" } }, steps: [call("sandbox-stt", { file_id: "file-1", response_format: "${{ inputs.f }}" })] }; // prettier-ignore
    const refusals = await Promise.allSettled([estimate(definition, { n: 99 }), estimate(subtitles, { f: "srt" })]);
    expect(refusals).toMatchObject([
      { status: "rejected", reason: { param: "definition.steps[0].params.n" } },
      { status: "rejected", reason: { param: "definition.steps[0].params.response_format" } },
    ]);
  });
});

test("a definition's output is not changed by its estimate", async () => {
  const definition = { inputs: { t: { type: "string" } }, steps: [chat("a", "${{ inputs.t }}", { for_each: [1, 2] })] };
  const before = structuredClone(definition) as unknown as WorkflowDefinition;
  await estimate(definition, { t: "x" });
  expect(definition as unknown).toEqual(before);
});
