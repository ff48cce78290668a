/** schemas/WORKFLOWS.md: its example is one, and its limits are those in force. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "bun:test";

import { PARSED_UNITS } from "#shared/workflows/expressions/work.ts";
import { DEFINITION_BYTES_MAX, DEFINITION_WORK_MAX } from "#shared/workflows/definition.ts";
import { EXPRESSION_CHARS_MAX } from "#shared/workflows/expressions/template.ts";
import {
  EXPRESSION_NODES_MAX,
  EXPRESSION_DEPTH_MAX,
  EXPRESSION_WORK_MAX,
  CONSTANT_WORK_MAX,
} from "#shared/workflows/expressions/cel.ts";
import { RUN_STREAMS_PER_WORKSPACE_MAX, RUN_STREAMS_PER_KEY_MAX } from "#ingress/workflows/run-follower.ts";
import { FOR_EACH_ITEMS_MAX, WORKFLOW_DEPTH_MAX } from "#shared/workflows/limits.ts";
import { FOR_EACH_CONCURRENCY } from "#workers/workflows/step-runs.ts";
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
    `at most ${DEFINITION_BYTES_MAX / 1_024} KiB`,
    `${EXPRESSION_CHARS_MAX.toLocaleString("en")} characters, ${EXPRESSION_NODES_MAX} parts and ${EXPRESSION_DEPTH_MAX} levels`,
    `by ${EXPRESSION_WORK_MAX.toLocaleString("en")} units`,
    `has ${CONSTANT_WORK_MAX.toLocaleString("en")} units`,
    `at most ${DEFINITION_WORK_MAX.toLocaleString("en")} units of work to be read, a character ${PARSED_UNITS}`,
    `at most ${RUN_STREAMS_PER_WORKSPACE_MAX} streams of runs from one process, ${RUN_STREAMS_PER_KEY_MAX} with one key`,
    `at most ${FOR_EACH_ITEMS_MAX.toLocaleString("en")} items`,
    `\`concurrency\` (${FOR_EACH_CONCURRENCY}) at once`,
    `to a depth of ${WORKFLOW_DEPTH_MAX}`,
  ];
  expect(said.filter((one) => !page.replaceAll("\n", " ").includes(one))).toEqual([]);
});
