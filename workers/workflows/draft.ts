/** The state that a step of `advance` is writing, and what can be read from it. */
import type { CompiledDefinition, CompiledStep } from "#shared/workflows/definition.ts";
import type { Scope } from "#shared/workflows/expressions/scope.ts";
import { Work } from "#shared/workflows/expressions/work.ts";
import { WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";

import type { Effect, ItemRun, RunState, StepError, StepRun } from "./state.ts";

/** New items of one pass: past this it makes no further list ready, so one list is the most that it goes beyond. */
export const PASS_ITEMS_MAX = 1_000;

/** Work of one run's expressions in one pass, in units of an evaluation: some 50 ms, and then other runs have their turn. */
const PASS_WORK_MAX = 4_000_000;

type Writable<T> = { -readonly [M in keyof T]: T[M] };
export type StepDraft = Omit<Writable<StepRun>, "items"> & { items: Writable<ItemRun>[] };

export interface Draft {
  readonly compiled: CompiledDefinition;
  readonly state: Omit<Writable<RunState>, "stepRuns"> & { stepRuns: StepDraft[] };
  readonly effects: Effect[];
  /** Work that the run's expressions have done. */
  readonly work: Work;
  /** The pass has done as much as one may: everything else that could begin waits for the next. */
  isCut: boolean;
  /** Items that are new. */
  made: number;
  /** Calls and runs that may still come to be under the run's root, and those that this pass has counted. */
  workLeft: number;
  counted: number;
}

/** Counts, and refuses nothing: each binding has a bound of its own. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

export function newDraft(compiled: CompiledDefinition, state: Draft["state"], workLeft = UNBOUNDED): Draft {
  return { compiled, state, effects: [], work: new Work(UNBOUNDED), isCut: false, made: 0, workLeft, counted: 0 };
}

/** Counts calls and runs that may begin from here on. False: there would be too many, and none is counted. */
export function countWork(draft: Draft, count: number): boolean {
  if (count > draft.workLeft) return false;
  draft.workLeft -= count;
  draft.counted += count;
  return true;
}

export const TOO_MUCH_WORK: StepError = {
  code: "run_too_large",
  message: `Expected at most ${WORKFLOW_WORK_MAX} calls and runs in a run with its nested runs and retries.`,
  isFinal: true,
};

/** To be asked before something more is begun. It is never so at the first: each pass gets on. */
export function isSpent(draft: Draft): boolean {
  draft.isCut ||= UNBOUNDED - draft.work.left > PASS_WORK_MAX || draft.made >= PASS_ITEMS_MAX;
  return draft.isCut;
}

/**
 * The attempt of a step that counts now. What other steps may have read is kept through all attempts of a run: outputs, skips by
 * `if`, and failures that `on_error` lets pass.
 */
export function latestOf(draft: Draft, stepId: string): StepDraft | undefined {
  const { state } = draft;
  const latest = state.stepRuns.findLast((run) => run.stepId === stepId);
  if (!latest) return undefined;
  const isKept =
    latest.status === "succeeded" || latest.skippedReason === "condition_false" || isPassedOver(draft, latest);
  return isKept || latest.runAttempt === state.attempt ? latest : undefined;
}

/** @returns the next place among the ends of the run */
export function nextEnd({ state }: Draft): number {
  state.ends += 1;
  return state.ends;
}

/** It failed, and the run goes on. */
export function isPassedOver(draft: Draft, run: StepDraft): boolean {
  return run.status === "failed" && stepOf(draft, run.stepId).step.on_error === "continue";
}

/** A step has failed for good. */
export function isFailing(draft: Draft): boolean {
  return draft.state.stepRuns.some(
    (run) => run.status === "failed" && latestOf(draft, run.stepId) === run && !isPassedOver(draft, run),
  );
}

export function scopeOf(draft: Draft): Scope {
  const { state, compiled } = draft;
  const steps: Record<string, { status: string; output: unknown }> = {};
  for (const { step } of compiled.steps) {
    const run = latestOf(draft, step.id);
    if (run) steps[step.id] = { status: run.status, output: run.status === "succeeded" ? (run.output ?? null) : null };
  }
  return { inputs: state.inputs, steps, run: { id: state.id, attempt: state.attempt } };
}

export function findRun(
  { state }: Draft,
  { stepId, attempt }: { readonly stepId: string; readonly attempt: number },
): StepDraft | undefined {
  return state.stepRuns.find((run) => run.stepId === stepId && run.attempt === attempt);
}

export function stepOf({ compiled }: Draft, id: string): CompiledStep {
  const found = compiled.steps.find(({ step }) => step.id === id);
  if (!found) throw new Error(`the definition has no step ${id}`);
  return found;
}
