/** Templates are listed, are valid and can be estimated; two of them are run. The others run in templates.nightly.test.ts. */
import { beforeAll, expect, test } from "bun:test";

import type { WorkflowEstimate, WorkflowTemplate } from "#schemas/generated/types.ts";

import type { RunsBench } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns } from "./shared-runs.ts";
import { expectRun, GATE_TEMPLATES, listTemplates, TEMPLATES } from "./templates.ts";

let bench: RunsBench;
let listed: readonly WorkflowTemplate[];
const find = (id: string): WorkflowTemplate | undefined => listed.find((one) => one.id === id);
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
  listed = await listTemplates(bench);
}, 120_000);

test("all templates are listed, by name", () => {
  expect(listed.length).toBeGreaterThanOrEqual(8);
  expect(listed.map(({ id }) => id).toSorted()).toEqual(TEMPLATES.toSorted());
  expect(listed.map(({ name }) => name)).toEqual(listed.map(({ name }) => name).toSorted());
});

test.each(TEMPLATES)("the template %s can be stored and estimated with its own input", async (id) => {
  const { definition, input } = find(id) ?? {};
  await bench.store(definition ?? {});
  const answer = await bench.call("/v1/workflows/estimate", { definition, input });
  expect(answer.status).toBe(200);
  const { max_credits } = (await answer.json()) as WorkflowEstimate;
  expect(max_credits).toBeGreaterThan(0);
});

test.each(GATE_TEMPLATES)("the template %s runs", (id) => expectRun(bench, find(id)), 100_000);
