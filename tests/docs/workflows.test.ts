/** The page on workflows: its definition can be stored, and it states the limits in force. */
import { expect, test } from "bun:test";

import components from "#schemas/generated/components.json" with { type: "json" };
import { EXPRESSION_VALUE_BYTES_MAX, PARSED_UNITS } from "#shared/workflows/expressions/work.ts";
import { DEFINITION_BYTES_MAX, DEFINITION_WORK_MAX } from "#shared/workflows/definition.ts";
import { BINDING_WORK_MAX, EXPRESSION_CHARS_MAX } from "#shared/workflows/expressions/template.ts";
import {
  EXPRESSION_NODES_MAX,
  EXPRESSION_DEPTH_MAX,
  EXPRESSION_WORK_MAX,
  CONSTANT_WORK_MAX,
} from "#shared/workflows/expressions/cel.ts";
import { RUN_STREAMS_PER_WORKSPACE_MAX, RUN_STREAMS_PER_KEY_MAX } from "#ingress/routes/workflows/run-follower.ts";
import {
  FOR_EACH_ITEMS_MAX,
  RUN_ATTEMPTS_MAX,
  STEP_OUTPUT_BYTES_MAX,
  WORKFLOW_DEPTH_MAX,
  WORKFLOW_WORK_MAX,
} from "#shared/workflows/limits.ts";
import { FOR_EACH_CONCURRENCY } from "#workers/workflows/advance.ts";
import { compile } from "../workers/workflows/play.ts";
import { readPage } from "./page.ts";

const page = readPage("guides/workflows.md");

test("its definition can be stored", () => {
  const example = page.blocks.find(({ text }) => text.includes('"thumbs"'))?.text ?? "";
  expect(compile(JSON.parse(example) as object).steps.map(({ step, waitsFor }) => [step.id, ...waitsFor])).toEqual([
    ["outline"],
    ["art", "outline"],
    ["thumbs", "art"],
  ]);
});

test("unknown params are accepted for a model and refused for a capability", () => {
  expect(page.body).toContain("- Unknown `params` of a capability are refused.");
  expect(page.body).toContain("- Unknown `params` of a model are accepted");
  const step = (more: object): object => ({ steps: [{ id: "one", ...more }] });
  const messages = [{ role: "user", content: "Hello" }];
  const chat = step({ type: "model", model: "sandbox-chat", params: { messages, temprature: 1 } });
  expect(compile(chat).steps).toHaveLength(1);
  const image = { file_id: "file-sample-photo" };
  const resize = step({ type: "image.resize", input: { image }, params: { width: 320, widht: 320 } });
  expect(() => compile(resize)).toThrow("widht");
});

test("it has every reason why a step is skipped", () => {
  const { properties } = components.schemas.WorkflowStepRun;
  const rows = Array.from(page.body.matchAll(/^\| `([a-z_]+)` \| .*\|$/gm), ([, name]) => name);
  expect(rows).toEqual(expect.arrayContaining([...properties.skippedReason.enum]));
});

test("it states the limits in force", () => {
  const mib = (bytes: number): string => `${bytes / 1_048_576} MiB`;
  const count = (value: number): string => value.toLocaleString("en");
  const stated = [
    `| Definition | ${DEFINITION_BYTES_MAX / 1_024} KiB, 100 steps, 64 inputs, ${count(DEFINITION_WORK_MAX)} units of work to parse; each character counts ${PARSED_UNITS} |`,
    `${count(EXPRESSION_CHARS_MAX)} characters, ${EXPRESSION_NODES_MAX} parts, ${EXPRESSION_DEPTH_MAX} levels, ${count(EXPRESSION_WORK_MAX)} units of work; a result of ${mib(EXPRESSION_VALUE_BYTES_MAX)}`,
    `| ${count(CONSTANT_WORK_MAX)} units of work; it is evaluated when`,
    `| ${count(BINDING_WORK_MAX)} units;`,
    `| ${RUN_STREAMS_PER_WORKSPACE_MAX} of a workspace, ${RUN_STREAMS_PER_KEY_MAX} of a key |`,
    `at most ${count(FOR_EACH_ITEMS_MAX)} items`,
    `\`concurrency\` (${FOR_EACH_CONCURRENCY}) at once`,
    `Depth ${WORKFLOW_DEPTH_MAX};`,
    `| ${count(WORKFLOW_WORK_MAX)}; beyond it a step fails`,
    `| ${mib(STEP_OUTPUT_BYTES_MAX)}, 64 MiB;`,
    `(1 to ${RUN_ATTEMPTS_MAX})`,
  ];
  expect(stated.filter((one) => !page.body.includes(one))).toEqual([]);
});
