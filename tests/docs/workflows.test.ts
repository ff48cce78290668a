/** schemas/WORKFLOWS.md: its example is one, and its limits are those in force. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "bun:test";

import { LIMITS } from "#shared/limits.ts";
import { PARSED_UNITS } from "#shared/workflows/expressions/work.ts";
import { compile } from "../workers/workflows/play.ts";

const page = readFileSync(join(import.meta.dir, "../../schemas/WORKFLOWS.md"), "utf8");

test("its example can be stored", () => {
  const [, example = ""] = /```json\n([^]*?)```/.exec(page) ?? [];
  expect(compile(JSON.parse(example) as object).steps.map(({ step, waitsFor }) => [step.id, ...waitsFor])).toEqual([
    ["outline"],
    ["art", "outline"],
    ["thumbs", "art"],
  ]);
});

test("it says the limits in force", () => {
  const said = [
    `at most ${LIMITS.definitionBytesMax / 1_024} KiB`,
    `${LIMITS.expressionCharsMax.toLocaleString("en")} characters, ${LIMITS.expressionNodesMax} parts and ${LIMITS.expressionDepthMax} levels`,
    `by ${LIMITS.expressionWorkMax.toLocaleString("en")} units`,
    `has ${LIMITS.constantWorkMax.toLocaleString("en")} units`,
    `at most ${LIMITS.definitionWorkMax.toLocaleString("en")} units of work to be read, a character ${PARSED_UNITS}`,
    `at most ${LIMITS.runStreamsPerWorkspaceMax} streams of runs from one process, ${LIMITS.runStreamsPerKeyMax} with one key`,
    `at most ${LIMITS.forEachItemsMax.toLocaleString("en")} items`,
    `\`concurrency\` (${LIMITS.forEachConcurrency}) at once`,
    `to a depth of ${LIMITS.workflowDepthMax}`,
  ];
  expect(said.filter((one) => !page.replaceAll("\n", " ").includes(one))).toEqual([]);
});
