/** Values that steps give and hand on: whatever they are, the run ends and can be read. */
import { beforeAll, expect, test } from "bun:test";

import { type RunsBench, say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns } from "./shared-runs.ts";

let bench: RunsBench;
let echo: string;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
  echo = await bench.store({
    inputs: { value: { type: "object" } },
    steps: [say("a", "x")],
    output: { of: "${{ inputs.value.of }}" },
  });
}, 120_000);

const deep = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

test.each<[string, unknown]>([
  ["NUL", "a\u0000b"],
  ["a lone surrogate", "a\ud800b"],
  ["a bare list", [1, [2, null]]],
  ["null", null],
  ["members with names of the language", { constructor: 1, toString: 2 }],
  ["a text of 900 KB", "x".repeat(900_000)],
  ["a list of 60 levels", deep(60)],
  ["an empty text", ""],
  ["0", 0],
])("%s is passed on unchanged", async (_name, value) => {
  const { status, run } = await bench.run(
    {
      inputs: { value: { type: "object" } },
      steps: [
        { id: "echo", type: "sub_pipeline", workflow_id: echo, input: { value: "${{ inputs.value }}" } },
        say("after", "done ${{ steps.echo.status }}"),
      ],
      output: { echo: "${{ steps.echo.output }}", after: "${{ steps.after.output.text }}" },
    },
    { input: { value: { of: value } } },
  );
  expect([status, run.status, run.error]).toEqual([200, "succeeded", undefined]);
  expect(run.output).toEqual({ echo: { of: value }, after: "done succeeded" });
  expect((await bench.read(run.id)).status).toBe("succeeded");
});

test("a value that is too large fails its run, which stays readable", async () => {
  const { run } = await bench.run(
    {
      inputs: { value: { type: "object" } },
      steps: [{ id: "echo", type: "sub_pipeline", workflow_id: echo, input: { value: "${{ inputs.value }}" } }],
    },
    { input: { value: { of: "x".repeat(1_100_000) } } },
  );
  expect(run).toMatchObject({ status: "failed", error: { code: "output_too_large", stepId: "echo" } });
  const { status } = await bench.run(
    { inputs: { v: { type: "string" } }, steps: [say("a", "x")] },
    { input: { v: "x".repeat(4_200_000) } },
  );
  expect(status).toBe(400);
});
