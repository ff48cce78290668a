/** Estimates of runs: what they say, and that no run exceeds them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { WorkflowEstimate } from "#schemas/generated/types.ts";
import { errorOf } from "#tests/e2e/media/bench.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

import { type RunsBench, say, startRunsBench } from "./runs-bench.ts";

let bench: RunsBench;
let child: string;
beforeAll(async () => {
  bench = await startRunsBench({
    pools: ["chat", "image", "capability", "workflow"],
    env: { SLUICE_WORKER_SLOTS: "64" },
  });
  child = await bench.store({
    inputs: { word: { type: "string", required: true }, list: { type: "array", default: [1, 2] } },
    steps: [say("a", "${{ inputs.word }}"), say("b", "${{ item }}", { for_each: "${{ inputs.list }}" })],
    output: "${{ steps.b.output }}",
  });
}, 120_000);
afterAll(() => bench.close());

async function estimate(body: object): Promise<WorkflowEstimate> {
  const answer = await bench.call("/v1/workflows/estimate", body);
  const value: unknown = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(value));
  return value as WorkflowEstimate;
}

const limited = (id: string, text: string, more: object = {}) => {
  const step = say(id, text, more);
  return { ...step, params: { ...step.params, max_tokens: 100 } };
};

describe("an estimate", () => {
  test("of what is known is that of the call, and what depends on outputs counts at its bound", async () => {
    const definition = {
      inputs: { topic: { type: "string" } },
      steps: [limited("known", "about ${{ inputs.topic }}"), limited("open", "${{ steps.known.output.text }}")],
    };
    const { steps, max_credits, currency } = await estimate({ definition, input: { topic: "tea" } });
    const call = await bench.call("/v1/models/sandbox-chat/estimate", {
      model: "sandbox-chat",
      messages: [{ role: "user", content: "Say exactly and nothing else: about tea" }],
      max_tokens: 100,
    });
    const [known, open] = steps;
    expect(known?.max_credits).toBe(((await call.json()) as { max_credits: number }).max_credits);
    expect(open?.max_credits).toBeGreaterThan(10 * (known?.max_credits ?? 0));
    expect(open?.assumption).toContain("Not known before a run: messages.");
    expect(currency).toBe("credits");
    expect(max_credits).toBeCloseTo((known?.max_credits ?? 0) + (open?.max_credits ?? 0), 9);
  });

  test("of lists, conditions, tries and workflows counts them", async () => {
    const one = (await estimate({ definition: { steps: [limited("a", "x")] } })).max_credits;
    const of = async (step: object, more: object = {}) =>
      (
        await estimate({
          definition: {
            inputs: { on: { type: "boolean" }, list: { type: "array" } },
            steps: [limited("a", "x", step)],
            ...more,
          },
          input: { on: false, list: [1, 2, 3] },
          mode: "async",
        })
      ).steps[0];
    expect((await of({ for_each: [1, 2, 3] }))?.max_credits).toBeCloseTo(3 * one, 9);
    expect((await of({ for_each: "${{ inputs.list }}" }))?.max_credits).toBeCloseTo(3 * one, 9);
    expect(await of({ if: "${{ inputs.on }}" })).toMatchObject({ estimated_credits: 0, max_credits: 0 });
    expect((await of({ retry: { max_attempts: 3 } }))?.max_credits).toBeCloseTo(3 * one, 9);
    expect((await of({ retry: { max_attempts: 3 } }, { retry: { max_attempts: 2 } }))?.max_credits).toBeCloseTo(
      6 * one,
      9,
    );
    const behind = {
      steps: [
        limited("a", "x"),
        limited("b", "y", { if: "${{ steps.a.status == 'failed' }}" }),
        limited("c", "z", { for_each: "${{ steps.a.output.json }}" }),
      ],
    };
    const [, b, c] = (await estimate({ definition: behind })).steps;
    expect(b).toMatchObject({ estimated_credits: 0, max_credits: one });
    expect(c?.max_credits).toBeCloseTo(1_000 * one, 6);
    const nested = await estimate({
      definition: {
        steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child, input: { word: "x", list: [1, 2, 3, 4] } }],
      },
    });
    expect(nested.steps[0]?.assumption).toContain("A workflow of 2 steps.");
    expect(await estimate({ workflow_id: child, input: { word: "x" } })).toMatchObject({
      steps: [{ id: "a" }, { id: "b" }],
    });
  });

  test.each<[string, () => object, number, string]>([
    ["without either", () => ({}), 400, "invalid_request"],
    [
      "of a workflow that there is not",
      () => ({ workflow_id: "01a208a8-74a2-74f4-b2d2-763ef695b360" }),
      404,
      "workflow_not_found",
    ],
    ["without an input that is needed", () => ({ workflow_id: child }), 400, "missing_required_parameter"],
  ])("%s is refused", async (_name, body, status, code) => {
    expect(await errorOf(await bench.call("/v1/workflows/estimate", body()))).toMatchObject({ status, code });
  });

  test.each<[string, object]>([
    ["sandbox-tts", { input: "OPEN", voice: "alloy" }],
    ["sandbox-stt", { file_id: "OPEN" }],
    ["sandbox-image", { prompt: "OPEN", image_file_id: "OPEN" }],
    ["sandbox-video", { prompt: "OPEN", duration: "OPEN" }],
    ["sandbox-music", { prompt: "OPEN" }],
    ["sandbox-3d", { prompt: "OPEN" }],
    ["sandbox-embed", { input: "OPEN" }],
  ])("of a call of %s whose params are not known has a bound", async (model, params) => {
    const open = JSON.parse(JSON.stringify(params).replaceAll("OPEN", "${{ steps.a.output.text }}")) as object;
    const definition = { steps: [limited("a", "x"), { id: "b", type: "model", model, params: open }] };
    const [, b] = (await estimate({ definition })).steps;
    expect(b?.estimated_credits).toBeGreaterThan(0);
    expect(b?.max_credits).toBeGreaterThanOrEqual(b?.estimated_credits ?? Infinity);
  });

  test("holds and bills nothing", async () => {
    const count = async () =>
      (
        await bench.stack.query(
          "select (select count(*) from hold) + (select count(*) from usage_record) + (select count(*) from run) as n",
        )
      )[0];
    const before = await count();
    await estimate({ workflow_id: child, input: { word: "x" } });
    expect(await count()).toEqual(before);
  });
});

test("no run costs more than its estimate said at most", async () => {
  const chance = seeded(testSeed("workflow estimates"));
  const below = (count: number): number => Math.floor(chance() * count);
  const step = (at: number): object => {
    const id = `s${at}`;
    const before = at > 0 && chance() < 0.6 ? `\${{ steps.s${below(at)}.output }}` : "${{ inputs.word }}";
    const more = {
      ...(chance() < 0.3 ? { for_each: chance() < 0.5 ? [1, 2, 3] : "${{ inputs.list }}" } : {}),
      ...(chance() < 0.2 ? { if: at > 0 ? `\${{ steps.s${below(at)}.status == 'succeeded' }}` : true } : {}),
      ...(chance() < 0.3 ? { retry: { max_attempts: 1 + below(3) } } : {}),
      ...(chance() < 0.4 ? { on_error: "continue" } : {}),
    };
    const roll = chance();
    if (roll < 0.5)
      return {
        ...(chance() < 0.5 ? limited : say)(id, before, more),
        model: ["sandbox-chat", "sandbox-flaky", "sandbox-bad-usage", "sandbox-no-usage"][below(4)],
      };
    if (roll < 0.65)
      return {
        id,
        type: "sub_pipeline",
        workflow_id: child,
        input: { word: "x", ...(chance() < 0.5 ? { list: "${{ inputs.list }}" } : {}) },
        ...more,
      };
    if (roll < 0.8)
      return { id, type: "model", model: "sandbox-image", params: { prompt: `a ${before}`, size: "256x256" }, ...more };
    return {
      id,
      type: "image.resize",
      input: { image: { file_id: "file-sample-photo" } },
      params: { width: 64 },
      ...more,
    };
  };
  for (let round = 0; round < 15; round += 1) {
    const definition = {
      inputs: { word: { type: "string" }, list: { type: "array" } },
      steps: Array.from({ length: 1 + below(4) }, (_, at) => step(at)),
    };
    const body = { definition, input: { word: "tea", list: [1, 2, 3, 4].slice(below(4)) } };
    const said = await estimate(body);
    const { run } = await bench.run(definition, { input: body.input });
    expect([run.status === "succeeded" || run.status === "failed", run.creditsUsed <= said.max_credits]).toEqual([
      true,
      true,
    ]);
    for (const { id, max_credits: max } of said.steps) {
      const used = run.stepRuns.filter((one) => one.id === id).reduce((sum, { creditsUsed }) => sum + creditsUsed, 0);
      expect([id, used <= max + 1e-9]).toEqual([id, true]);
    }
  }
}, 120_000);
