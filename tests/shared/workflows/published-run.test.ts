/** Runs of publishers as jobs: a run is shown as cancelled from when that was asked on, its job not before it has ended. */
import { expect, test } from "bun:test";

import type { RunRow } from "#shared/database/runs.ts";
import { jobOfRun } from "#shared/workflows/published-run.ts";

const at = new Date(0);
const run = (more: Partial<RunRow>): RunRow =>
  ({ credits: 5n, error: null, ended_at: null, started_at: at, ...more }) as RunRow;

test.each<[string, Partial<RunRow>, object]>([
  ["waits", { status: "queued", started_at: null }, { state: "queued", error: null, credits: null }],
  [
    "is to end before it began",
    { status: "cancelled", started_at: null },
    { state: "queued", error: null, credits: null },
  ],
  ["is to end", { status: "cancelled" }, { state: "running", error: null, credits: null }],
  [
    "was cancelled",
    { status: "cancelled", ended_at: at },
    { state: "cancelled", error: { code: "run_failed" }, credits: 5n },
  ],
  ["failed", { status: "failed", ended_at: at }, { state: "failed", error: { code: "run_failed" } }],
  ["succeeded", { status: "succeeded", ended_at: at }, { state: "completed", error: null, progress: 1 }],
])("a message that %s", (_name, row, job) => {
  expect(jobOfRun(run(row))).toMatchObject(job);
});
