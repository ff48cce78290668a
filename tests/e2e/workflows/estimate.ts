/** Estimates of runs: what they say, and that no run exceeds them. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { WorkflowEstimate } from "#schemas/generated/types.ts";
import { errorOf } from "#tests/e2e/media/bench.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

import { say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns, type WorkspaceRuns } from "./shared-runs.ts";

let bench: WorkspaceRuns;
let child: string;
/** Makes images, as many as it is told, if it is told to; neither need be said. */
let images: string;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
  child = await bench.store({
    inputs: { word: { type: "string", required: true }, list: { type: "array", default: [1, 2] } },
    steps: [say("a", "${{ inputs.word }}"), say("b", "${{ item }}", { for_each: "${{ inputs.list }}" })],
    output: { b: "${{ steps.b.output }}" },
  });
  images = await bench.store({
    inputs: {
      go: { type: "boolean", default: true },
      n: { type: "integer", default: 4 },
      unsaid: { type: "string" },
    },
    steps: [
      image("a", { if: "${{ inputs.go == true }}" }),
      image("b", { if: "${{ !has(inputs.unsaid) }}", params: { prompt: "x", size: "256x256", n: "${{ inputs.n }}" } }),
    ],
  });
}, 120_000);

const image = (id: string, more: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-image",
  params: { prompt: "x", size: "256x256" },
  ...more,
});
const nested = (workflow_id: string, input: object, more: object = {}) => ({
  id: "sub",
  type: "sub_pipeline",
  workflow_id,
  input,
  ...more,
});

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
  test("of constant values equals the estimate of the call, and unknown outputs count at their bound", async () => {
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
    expect(open?.assumption).toContain("Unknown before a run: messages.");
    expect(open?.assumption).toContain("The estimate assumes 100 output tokens, the maximum 100.");
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
    const { steps } = await estimate({
      definition: { steps: [nested(child, { word: "x", list: [1, 2, 3, 4] })] },
    });
    expect(steps[0]?.assumption).toContain("A workflow of 2 steps.");
    expect(await estimate({ workflow_id: child, input: { word: "x" } })).toMatchObject({
      steps: [{ id: "a" }, { id: "b" }],
    });
  });

  test.each<[string, object, object?]>([
    ["by itself", { go: null, n: null, unsaid: null }],
    ["as an item", { n: "${{ item }}" }, { for_each: [null, 1, 2] }],
    ["by a path", { go: "${{ inputs.o.none }}", unsaid: "${{ inputs.o.none }}" }],
    ["by an expression", { n: "${{ inputs.k == 1 ? null : 2 }}", unsaid: "${{ inputs.k == 1 ? null : 'a' }}" }],
  ])("reads null as missing, like the runs of workflows with it: %s", async (_name, input, more = {}) => {
    const definition = {
      inputs: { o: { type: "object" }, k: { type: "integer" } },
      steps: [nested(images, input, more)],
    };
    const body = { definition, input: { o: { none: null }, k: 1 } };
    const { max_credits } = await estimate(body);
    const { run } = await bench.run(definition, { input: body.input });
    expect([run.status, run.creditsUsed]).toEqual(["succeeded", max_credits]);
  });

  test("of nested workflows estimates each once for its input", async () => {
    const small = await bench.store({ steps: [limited("a", "x")] });
    const of = (id: string) => ({
      steps: Array.from({ length: 25 }, (_, at) => ({ ...nested(id, {}), id: `s${at}` })),
    });
    const outer = await bench.store(of(await bench.store(of(small))));
    const one = (await estimate({ workflow_id: small })).max_credits;
    expect((await estimate({ workflow_id: outer })).max_credits).toBeCloseTo(625 * one, 6);
  });

  test("reports an error of a nested workflow that would fail its step", async () => {
    const withFile = (id: string) => [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }];
    const missing = await bench.store({
      steps: [
        say("a", "x"),
        { ...say("b", "x"), params: { messages: withFile("file-00000000000000000000000000000000") } },
      ],
    });
    const outer = await bench.store({ steps: [nested(missing, {})] });
    for (const id of [missing, outer]) {
      const answer = await bench.call("/v1/workflows/estimate", { definition: { steps: [nested(id, {})] } });
      expect(await errorOf(answer)).toMatchObject({
        status: 404,
        code: "file_not_found",
        param: "definition.steps[0]",
      });
    }
    const typed = { inputs: { any: { type: "object" } }, steps: [nested(images, { n: "${{ inputs.any.n }}" })] };
    const answer = await bench.call("/v1/workflows/estimate", { definition: typed, input: { any: { n: "two" } } });
    expect(await errorOf(answer)).toMatchObject({ status: 400, param: "definition.steps[0].input.n" });
  });

  test("reports a missing version, and rejects a version beside a definition", async () => {
    const answer = await bench.call("/v1/workflows/estimate", { workflow_id: child, version: 7, input: { word: "x" } });
    expect(await answer.json()).toMatchObject({
      error: { code: "workflow_not_found", message: "The workflow has no version 7." },
    });
    const beside = { definition: { steps: [limited("a", "x")] }, version: 1 };
    expect(await errorOf(await bench.call("/v1/workflows/estimate", beside))).toMatchObject({
      status: 400,
      code: "invalid_request",
      param: "version",
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
    ["with a misspelt input", () => ({ workflow_id: child, inputs: { topic: "tea" } }), 400, "unknown_parameter"],
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
  ])("of a call of %s with unknown params has a bound", async (model, params) => {
    const open = JSON.parse(JSON.stringify(params).replaceAll("OPEN", "${{ steps.a.output.text }}")) as object;
    const definition = { steps: [limited("a", "x"), { id: "b", type: "model", model, params: open }] };
    const [, b] = (await estimate({ definition })).steps;
    expect(b?.estimated_credits).toBeGreaterThan(0);
    expect(b?.max_credits).toBeGreaterThanOrEqual(b?.estimated_credits ?? Infinity);
  });

  test("places no hold and no charge", async () => {
    const count = async () =>
      (
        await bench.stack.query(
          `select (select count(*) from hold where workspace_id = $1) + (select count(*) from run where workspace_id = $1)
             + (select count(*) from usage_record where workspace_id = $1) as n`,
          [bench.workspace.id],
        )
      )[0];
    const before = await count();
    await estimate({ workflow_id: child, input: { word: "x" } });
    expect(await count()).toEqual(before);
  });
});

test("no run costs more than the maximum of its estimate", async () => {
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
    if (roll < 0.25) {
      // Null, said or come to, is what the workflow's defaults stand for.
      const maybe = (value: unknown) =>
        [null, "${{ inputs.none.x }}", "${{ inputs.word == '' ? 1 : null }}", value][below(4)];
      return {
        ...nested(images, { go: maybe(false), n: maybe(1), unsaid: maybe("x") }),
        ...more,
        id,
      };
    }
    if (roll < 0.6)
      return {
        ...(chance() < 0.5 ? limited : say)(id, before, more),
        model: ["sandbox-chat", "sandbox-flaky", "sandbox-bad-usage", "sandbox-no-usage"][below(4)],
      };
    if (roll < 0.72)
      return {
        id,
        type: "sub_pipeline",
        workflow_id: child,
        input: { word: "x", ...(chance() < 0.5 ? { list: "${{ inputs.list }}" } : {}) },
        ...more,
      };
    if (roll < 0.85)
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
      inputs: { word: { type: "string" }, list: { type: "array" }, none: { type: "object" } },
      steps: Array.from({ length: 1 + below(4) }, (_, at) => step(at)),
    };
    const body = { definition, input: { word: "tea", list: [1, 2, 3, 4].slice(below(4)), none: { x: null } } };
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
