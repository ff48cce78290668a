/** Bounds of a run's work, and of one pass. */
import { describe, expect, test } from "bun:test";

import { advance, type Advanced, PASS_ITEMS_MAX } from "#workers/workflows/advance.ts";
import type { RunEvent, RunState } from "#workers/workflows/state.ts";
import { WORKFLOW_WORK_MAX, FOR_EACH_ITEMS_MAX } from "#shared/workflows/limits.ts";

import { begun, compile, say } from "./play.ts";

const TICK = { kind: "tick" } as const;
const LIST = { inputs: { list: { type: "array" } } };
const each = (id: string, more: object = {}) => say(id, "${{ item }}", { for_each: "${{ inputs.list }}", ...more });
const listOf = (length: number) => begun({ inputs: { list: Array.from({ length }, (_, at) => at) } });

/** The run's first pass, with so much work left under its root. */
function first(definition: object, state: RunState, remainingWork: number): Advanced {
  return advance(compile({ ...LIST, ...definition }), state, [TICK], remainingWork);
}

const itemsOf = ({ stepRuns }: RunState): number => stepRuns.reduce((sum, { items }) => sum + items.length, 0);
const endOf = (stepId: string, index: number, attempt = 1): RunEvent => ({
  kind: "work_ended",
  place: { stepId, attempt, index },
  end: { status: "failed", error: { code: "upstream_error", message: "no" } },
  creditsNano: 0n,
});

describe("the work under one root", () => {
  test("is the steps and the items of their lists, as counted for the stored definition", () => {
    const { work } = first({ steps: [say("a", "x"), each("b"), say("c", "y", { if: false })] }, listOf(7), 100);
    expect(work).toBe(9);
  });

  test("is limited exactly: above the limit the step fails, and nothing of it starts", () => {
    const definition = { steps: [say("a", "x"), each("b")] };
    expect(first(definition, listOf(7), 8)).toMatchObject({ work: 8, state: { status: "running" } });
    const { state, work, effects } = first(definition, listOf(7), 7);
    expect(work).toBe(2);
    expect(state.stepRuns.map(({ stepId, status, items }) => [stepId, status, items.length])).toEqual([
      ["a", "cancelled", 1],
      ["b", "failed", 0],
    ]);
    expect(state.stepRuns[1]?.error).toMatchObject({ code: "run_too_large", isFinal: true });
    expect(state.stepRuns[1]?.error?.message).toContain(`at most ${WORKFLOW_WORK_MAX} calls and runs`);
    expect(effects.filter(({ kind }) => kind === "start_work")).toEqual([]);
  });

  test("is reported to a step that may continue without", () => {
    const steps = [each("b", { on_error: "continue" }), say("c", "${{ steps.b.status }}")];
    const { state } = first({ steps }, listOf(7), 5);
    expect(state.stepRuns.map(({ stepId, status }) => [stepId, status])).toEqual([
      ["b", "failed"],
      ["c", "running"],
    ]);
  });

  test("that is exhausted fails a nested run at its start", () => {
    const { state, effects, work } = first({ steps: [say("a", "x"), say("b", "y")] }, begun(), 1);
    expect(state).toMatchObject({ status: "failed", stepRuns: [], error: { code: "run_too_large", stepId: "" } });
    expect(effects.flatMap((effect) => (effect.kind === "event" ? [effect.event] : []))).toEqual([
      "run.started",
      "run.failed",
    ]);
    expect(work).toBe(0);
  });

  test("counts retries, and nothing is retried beyond it", () => {
    const steps = [each("b", { retry: { max_attempts: 3 }, concurrency: 2 })];
    const compiled = compile({ ...LIST, steps });
    const { state } = first({ steps }, listOf(2), 100);
    const again = (workLeft: number) => advance(compiled, state, [endOf("b", 0), endOf("b", 1)], workLeft);
    expect(again(2)).toMatchObject({ work: 2, state: { status: "running" } });
    expect(again(1)).toMatchObject({ work: 0, state: { status: "failed", error: { code: "upstream_error" } } });
  });
});

describe("a pass", () => {
  test("readies no further list after many items; the next ones do, and none is lost", () => {
    const count = 12;
    const definition = { ...LIST, steps: Array.from({ length: count }, (_, at) => each(`s${at}`)) };
    const compiled = compile(definition);
    let state: RunState = listOf(600);
    const made: number[] = [];
    for (let isCut = true; isCut;) {
      const before = itemsOf(state);
      ({ state, isCut } = advance(compiled, state, [TICK]));
      made.push(itemsOf(state) - before);
    }
    expect(itemsOf(state)).toBe(count * 600);
    for (const items of made) expect(items).toBeLessThan(PASS_ITEMS_MAX + FOR_EACH_ITEMS_MAX);
    expect(made.length).toBeGreaterThan(5);
  });

  test("receives no further end after many items: they are left to the next", () => {
    const steps = Array.from({ length: 4 }, (_, at) =>
      each(`s${at}`, { retry: { max_attempts: 2 }, concurrency: 1, on_error: "fail" }),
    );
    const compiled = compile({ ...LIST, steps });
    let state: RunState = listOf(900);
    for (let isCut = true; isCut;) ({ state, isCut } = advance(compiled, state, [TICK]));
    const events = steps.map(({ id }) => endOf(id, 0));
    const { state: after, deferredEvents, isCut } = advance(compiled, state, events);
    expect(itemsOf(after) - itemsOf(state)).toBe(1_800);
    expect(deferredEvents).toEqual(events.slice(2));
    expect(isCut).toBe(true);
    const last = advance(compiled, after, deferredEvents);
    expect(itemsOf(last.state) - itemsOf(state)).toBe(3_600);
  });
});
