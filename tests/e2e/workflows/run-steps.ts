/** Abilities of steps in a run: lists, conditions, retries, workflows within workflows, failures, and large values. */
import { beforeAll, describe, expect, test } from "bun:test";

import { type RunsBench, say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns } from "./shared-runs.ts";

let bench: RunsBench;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
}, 120_000);

const EACH = {
  inputs: { list: { type: "array" } },
  steps: [
    say("each", "${{ index }}: ${{ item }}", { for_each: "${{ inputs.list }}", concurrency: 3 }),
    say("count", "${{ size(steps.each.output) }} of them"),
  ],
  output: { texts: "${{ steps.each.output.map(one, one.text) }}", count: "${{ steps.count.output.text }}" },
};

describe("a step for each item", () => {
  test("gives its outputs in the order of the list", async () => {
    const list = Array.from({ length: 12 }, (_, at) => `item ${at}`);
    const { run } = await bench.run(EACH, { input: { list } });
    expect(run).toMatchObject({
      status: "succeeded",
      output: { texts: list.map((item, at) => `${at}: ${item}`), count: "12 of them" },
    });
  });

  test.each([[[]], [undefined]])("of %p does nothing", async (list) => {
    const definition = { ...EACH, inputs: { list: { type: "array", default: [] } } };
    const { run } = await bench.run(definition, { input: list ? { list } : {} });
    expect(run.output).toEqual({ texts: [], count: "0 of them" });
  });

  test("of workflows lists their runs in the order of the list", async () => {
    const child = await bench.store({
      inputs: { word: { type: "string", required: true } },
      steps: [say("say", "${{ inputs.word }}!")],
      output: { text: "${{ steps.say.output.text }}" },
    });
    const { run } = await bench.run({
      steps: [
        {
          id: "each",
          type: "sub_pipeline",
          workflow_id: child,
          for_each: ["one", "two", "three"],
          input: { word: "${{ item }}" },
        },
      ],
      output: { list: "${{ steps.each.output }}" },
    });
    expect(run).toMatchObject({
      status: "succeeded",
      output: { list: ["one!", "two!", "three!"].map((text) => ({ text })) },
    });
    const [step] = run.stepRuns;
    const children = await Promise.all((step?.childRunIds ?? []).map((id) => bench.read(id)));
    expect(children.map(({ input, parentRunId, status }) => [input, parentRunId, status])).toEqual(
      ["one", "two", "three"].map((word) => [{ word }, run.id, "succeeded"]),
    );
    const credits = children.reduce((sum, { creditsUsed }) => sum + creditsUsed, 0);
    expect(run.creditsUsed).toBeCloseTo(credits, 9);
    expect(step?.creditsUsed).toBe(run.creditsUsed);
    const listed = await bench.call(`/v1/workflows/runs?parentRunId=${run.id}`);
    expect(((await listed.json()) as { total: number }).total).toBe(3);
  });
});

describe("a step that fails", () => {
  const failing = (more: object = {}) => ({
    steps: [
      {
        id: "bad",
        type: "model",
        model: "sandbox-error",
        params: { messages: [{ role: "user", content: "x" }] },
        ...more,
      },
      say("after", "got ${{ steps.bad.status }}"),
      say("beside", "still paid"),
    ],
    output: { text: "${{ steps.after.output.text }}" },
  });

  test("fails the run with its error; parallel steps are charged", async () => {
    const { status, run } = await bench.run(failing());
    expect(status).toBe(200);
    expect(run).toMatchObject({ status: "failed", error: { code: "upstream_error", stepId: "bad" } });
    expect(run).not.toHaveProperty("output");
    expect(run.stepRuns.map(({ id, status: ended, skippedReason }) => [id, ended, skippedReason])).toEqual([
      ["bad", "failed", undefined],
      ["beside", "succeeded", undefined],
      ["after", "skipped", "dependency_failed"],
    ]);
    expect(run.creditsUsed).toBe(run.stepRuns[1]?.creditsUsed as number);
  });

  test("is skipped if the definition allows it", async () => {
    const { run } = await bench.run(failing({ on_error: "continue" }));
    expect(run).toMatchObject({ status: "succeeded", output: { text: "got failed" } });
  });

  test("is retried, and each attempt has its own entry", async () => {
    const { run } = await bench.run(failing({ retry: { max_attempts: 3 } }));
    const tries = run.stepRuns.filter(({ id }) => id === "bad");
    expect(tries.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, "failed"],
      [2, "failed"],
      [3, "failed"],
    ]);
  });

  test("is not retried when its request is invalid", async () => {
    const { run } = await bench.run(
      {
        inputs: { n: { type: "integer" } },
        steps: [
          {
            id: "bad",
            type: "image.resize",
            input: { image: { file_id: "file-${{ inputs.n }}" } },
            params: { width: "${{ inputs.n }}" },
            retry: { max_attempts: 3 },
          },
        ],
      },
      { input: { n: -1 } },
    );
    expect(run).toMatchObject({ status: "failed", error: { stepId: "bad" } });
    expect(run.stepRuns).toHaveLength(1);
  });

  const reading = (type: string, url: string) => ({
    steps: [
      {
        id: "read",
        type,
        input: type === "web.fetch" ? { url } : { image: { url } },
        ...(type === "web.fetch" ? {} : { params: { width: 8 } }),
        retry: { max_attempts: 3 },
      },
    ],
  });

  test.each([
    ["web.fetch", 0],
    ["web.fetch", 408],
    ["web.fetch", 429],
    ["web.fetch", 503],
    ["image.resize", 0],
    ["image.resize", 500],
  ])("that reads an address (%s) is retried after %i", async (type, status) => {
    const { failingPage, requestsFor } = await sharedMediaRuns();
    const url = failingPage(status, 2);
    const { run } = await bench.run(reading(type, url));
    expect(run).toMatchObject({ status: "succeeded" });
    expect(run.stepRuns.map((one) => one.error?.code)).toEqual(["input_unavailable", "input_unavailable", undefined]);
    expect(requestsFor(url)).toBe(3);
  });

  test.each(["web.fetch", "image.resize"])("that reads an address (%s) is not retried after 404", async (type) => {
    const { failingPage, requestsFor } = await sharedMediaRuns();
    const url = failingPage(404, 2);
    const { run } = await bench.run(reading(type, url));
    expect(run).toMatchObject({ status: "failed", error: { code: "unprocessable_input", stepId: "read" } });
    expect(run.stepRuns.map((one) => one.error?.code)).toEqual(["unprocessable_input"]);
    expect(requestsFor(url)).toBe(1);
  });

  test("times out after its limit", async () => {
    const { run } = await bench.run({
      steps: [
        {
          id: "slow",
          type: "model",
          model: "sandbox-slow",
          params: { messages: [{ role: "user", content: "x" }] },
          timeout_seconds: 0.5,
        },
      ],
    });
    expect(run).toMatchObject({ status: "failed", error: { code: "step_timeout", stepId: "slow" } });
  });
});

describe("a capability", () => {
  test("uses the output of an earlier step, and its output contains its own members and files", async () => {
    const { run } = await bench.run({
      steps: [
        say("json", '{"name":"tea","price":3}'),
        {
          id: "table",
          type: "code.transform_json",
          input: { data: { text: "${{ steps.json.output.text }}" } },
          params: { jq: "{named: .name}" },
        },
      ],
      output: { parsed: "${{ steps.json.output.json.price }}", table: "${{ steps.table.output }}" },
    });
    expect(run).toMatchObject({ status: "succeeded", output: { parsed: 3 } });
  });
});

describe("a large output", () => {
  test("is stored separately, and can be read through its step and by the next step", async () => {
    const text = "word ".repeat(30_000).trim();
    const { run } = await bench.run(
      {
        inputs: { text: { type: "string" } },
        steps: [
          {
            id: "big",
            type: "sub_pipeline",
            workflow_id: await bench.store({
              inputs: { text: { type: "string" } },
              steps: [say("noop", "x")],
              output: { text: "${{ inputs.text }}" },
            }),
            input: { text: "${{ inputs.text }}" },
          },
          say("size", "${{ size(steps.big.output.text) }}"),
        ],
        output: { size: "${{ steps.size.output.text }}" },
      },
      { input: { text } },
    );
    expect(run).toMatchObject({ status: "succeeded", output: { size: String(text.length) } });
    const [big] = run.stepRuns;
    expect(big).not.toHaveProperty("output");
    const answer = await bench.call(big?.outputRef ?? "");
    expect(await answer.json()).toEqual({ text });
  });
});
