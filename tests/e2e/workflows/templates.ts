/** The templates of workflows, and checks of their runs. */
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { WorkflowTemplate } from "#schemas/generated/types.ts";

import type { RunsBench } from "./runs-bench.ts";

const FOLDER = join(import.meta.dir, "../../../deploy/examples");

/** Ids of all templates. */
export const TEMPLATES: readonly string[] = readdirSync(FOLDER).map((name) => name.replace(".json", ""));

/** Templates that the gate runs: their steps need neither OCR, LibreOffice, sound, video nor meshes. */
export const GATE_TEMPLATES: readonly string[] = ["pdf-summary", "product-pictures"];

/** The templates that the service lists. */
export async function listTemplates(bench: RunsBench): Promise<readonly WorkflowTemplate[]> {
  const answer = await bench.call("/v1/workflows/templates");
  return ((await answer.json()) as { data: WorkflowTemplate[] }).data;
}

/** Runs a template as it is. The run must succeed, each of its outputs must have content, and its credits must add up. */
export async function expectRun(bench: RunsBench, template: WorkflowTemplate | undefined): Promise<void> {
  if (!template) throw new Error("the template is not listed");
  const { run } = await bench.run(template.definition, { input: template.input, mode: "async" });
  const ended = await bench.ended(run.id, 90_000);
  expect([ended.status, ended.error]).toEqual(["succeeded", undefined]);
  for (const [name, value] of Object.entries(ended.output as object))
    expect([name, await hasContent(bench, value)]).toEqual([name, true]);
  const sum = ended.stepRuns.reduce((total, { creditsUsed }) => total + creditsUsed, 0);
  expect(ended.creditsUsed).toBeCloseTo(sum, 9);
  expect(sum).toBeGreaterThan(0);
}

/** True if a member of an output has content, such as a file that can be read, or a text. */
async function hasContent(bench: RunsBench, value: unknown): Promise<boolean> {
  if (Array.isArray(value)) {
    const items = await Promise.all(value.map((item) => hasContent(bench, item)));
    return items.length > 0 && items.every(Boolean);
  }
  if (typeof value === "string" && value.startsWith("file-")) {
    const answer = await bench.call(`/v1/files/${value}/content`);
    return answer.ok && (await answer.arrayBuffer()).byteLength > 0;
  }
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return typeof value === "number" || (typeof value === "string" && value !== "");
}
