/** Every template runs as it is, and gives what it says. */
import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { WorkflowRun, WorkflowTemplate } from "#schemas/generated/types.ts";

import type { RunsBench } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns } from "./shared-runs.ts";

const FOLDER = join(import.meta.dir, "../../../deploy/examples");
const NAMES = readdirSync(FOLDER).map((name) => name.replace(".json", ""));

let bench: RunsBench;
let listed: readonly WorkflowTemplate[];
/** Runs of all templates by the template's id. They run side by side. */
let runs: ReadonlyMap<string, Promise<WorkflowRun>>;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
  const answer = await bench.call("/v1/workflows/templates");
  listed = ((await answer.json()) as { data: WorkflowTemplate[] }).data;
  runs = new Map(listed.map((template) => [template.id, runOf(template)]));
  // Each test awaits its run. A run that fails before its test is no unhandled rejection.
  for (const run of runs.values()) run.catch(() => undefined);
}, 120_000);

async function runOf({ definition, input }: WorkflowTemplate): Promise<WorkflowRun> {
  const { run } = await bench.run(definition, { input, mode: "async" });
  return bench.ended(run.id, 90_000);
}

test("all of them are listed, by name", () => {
  expect(listed.length).toBeGreaterThanOrEqual(8);
  expect(listed.map(({ id }) => id).toSorted()).toEqual(NAMES.toSorted());
  expect(listed.map(({ name }) => name)).toEqual(listed.map(({ name }) => name).toSorted());
});

/** True if a member of an output has content, such as a file that can be read, or a text. */
async function isReal(value: unknown): Promise<boolean> {
  if (Array.isArray(value)) return value.length > 0 && (await Promise.all(value.map(isReal))).every(Boolean);
  if (typeof value === "string" && value.startsWith("file-")) {
    const answer = await bench.call(`/v1/files/${value}/content`);
    return answer.ok && (await answer.arrayBuffer()).byteLength > 0;
  }
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return typeof value === "number" || (typeof value === "string" && value !== "");
}

describe("a template", () => {
  test.each(NAMES)(
    "%s",
    async (id) => {
      const ended = await runs.get(id);
      if (!ended) throw new Error(`the template ${id} is not listed`);
      expect([ended.status, ended.error]).toEqual(["succeeded", undefined]);
      for (const [name, value] of Object.entries(ended.output as object))
        expect([name, await isReal(value)]).toEqual([name, true]);
      const sum = ended.stepRuns.reduce((total, { creditsUsed }) => total + creditsUsed, 0);
      expect(ended.creditsUsed).toBeCloseTo(sum, 9);
      expect(sum).toBeGreaterThan(0);
    },
    100_000,
  );
});
