/** Runs over HTTP, from their beginning to their books. */
import { beforeAll, describe, expect, test } from "bun:test";

import { framesOf, type RunsBench, say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedRuns } from "./shared-runs.ts";

let bench: RunsBench;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedRuns());
}, 120_000);

const TWO = {
  inputs: { topic: { type: "string", required: true }, tone: { type: "string", default: "dry" } },
  steps: [
    say("first", "about ${{ inputs.topic }}"),
    say("second", "${{ steps.first.output.text }}, ${{ inputs.tone }}"),
    say("never", "no", { if: "${{ inputs.tone == 'wet' }}" }),
  ],
  output: { text: "${{ steps.second.output.text }}", never: "${{ steps.never.output.text }}" },
};

describe("a synchronous run", () => {
  test("is returned completely: steps in the order of their start, credits, output, and no input", async () => {
    const { status, headers, run } = await bench.run(TWO, { input: { topic: "tea" } });
    expect(status).toBe(200);
    expect(run).toMatchObject({
      status: "succeeded",
      mode: "sync",
      attempt: 1,
      maxAttempts: 1,
      output: { text: "about tea, dry", never: null },
    });
    expect(run).not.toHaveProperty("input");
    expect(run.stepRuns.map(({ id, status: ended, skippedReason }) => [id, ended, skippedReason])).toEqual([
      ["first", "succeeded", undefined],
      ["never", "skipped", "condition_false"],
      ["second", "succeeded", undefined],
    ]);
    const sum = run.stepRuns.reduce((total, { creditsUsed }) => total + creditsUsed, 0);
    expect(run.creditsUsed).toBeCloseTo(sum, 12);
    expect(run.creditsUsed).toBeGreaterThan(0);
    for (const { status: end, output, creditsUsed } of run.stepRuns) {
      if (end === "succeeded") expect(output).toMatchObject({ usage: { credits: creditsUsed } });
    }
    expect(headers.get("x-credits-used")).toBe(String(run.creditsUsed));
    expect(run.durationMs).toBeGreaterThan(0);
    const read = await bench.read(run.id);
    expect(read).toEqual({ ...run, input: { topic: "tea", tone: "dry" }, stepRuns: expect.any(Array) as never });
    expect(read.stepRuns.map(({ id }) => id)).toEqual(["first", "never", "second"]);
  });
});

describe("a streamed run", () => {
  test("reports each step, and ends with the run", async () => {
    const answer = await bench.call("/v1/pipelines/runs", { definition: TWO, input: { topic: "tea" }, mode: "stream" });
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    const frames = (await framesOf(answer)).filter(({ frame }) => frame === "[DONE]" || frame.type !== "step.delta");
    const told = frames.map(({ frame }) =>
      frame === "[DONE]" ? frame : `${frame.type} ${frame.stepRun?.id ?? ""}`.trim(),
    );
    expect(told).toEqual([
      "run.started",
      "step.started first",
      "step.finished never",
      "step.finished first",
      "step.started second",
      "step.finished second",
      "run.finished",
      "[DONE]",
    ]);
  });
});

describe("deltas", () => {
  test("are delivered while a chat step answers, and its output equals a plain call's", async () => {
    const definition = {
      steps: [say("long", "one two three four five six seven eight nine ten")],
      output: { long: "${{ steps.long.output }}" },
    };
    const answer = await bench.call("/v1/pipelines/runs", { definition, mode: "stream" });
    const frames = await framesOf(answer);
    const deltas = frames.flatMap(({ frame }) => (frame !== "[DONE]" && frame.type === "step.delta" ? [frame] : []));
    expect(deltas.map(({ delta }) => delta?.content).join("")).toBe("one two three four five six seven eight nine ten");
    const ended = frames.at(-2)?.frame;
    const { run } = await bench.run(definition);
    const shapeOf = (output: unknown) => ({ ...(output as object), usage: undefined, model: undefined });
    expect(ended === "[DONE]" ? ended : shapeOf(ended?.run?.output?.["long"])).toEqual(shapeOf(run.output?.["long"]));
    expect(run.output?.["long"]).toMatchObject({
      text: "one two three four five six seven eight nine ten",
      finish_reason: "stop",
    });
  });
});
