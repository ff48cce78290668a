/** Mutable state of one call of `advance`, and functions that read it. */
import type { CompiledDefinition, CompiledStep } from "#shared/workflows/definition.ts";
import type { Scope } from "#shared/workflows/expressions/scope.ts";
import { Work } from "#shared/workflows/expressions/work.ts";
import { WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";

import type { Effect, ItemRun, RunState, StepError, StepRun } from "./state.ts";

/** New items of a pass after which no further list is prepared; a pass exceeds it by one list at most. */
export const PASS_ITEMS_MAX = 1_000;

/** Most evaluation steps of expressions in one pass, about 50 ms, so that other runs get their turn. */
const PASS_WORK_MAX = 4_000_000;

type Writable<T> = { -readonly [M in keyof T]: T[M] };
export type StepDraft = Omit<Writable<StepRun>, "items"> & { items: Writable<ItemRun>[] };

export interface Draft {
  readonly compiled: CompiledDefinition;
  readonly state: Omit<Writable<RunState>, "stepRuns"> & { stepRuns: StepDraft[] };
  readonly effects: Effect[];
  /** Evaluation steps of the expressions so far. */
  readonly work: Work;
  /** True when the pass has reached its limits; further work waits for the next pass. */
  isCut: boolean;
  /** Number of new items. */
  made: number;
  /** Calls and runs that may still be created under the root of the run, and those counted in this pass. */
  workLeft: number;
  counted: number;
}

/** Limit of the counter: it only counts, since each binding has its own limit. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

export function newDraft(compiled: CompiledDefinition, state: Draft["state"], workLeft = UNBOUNDED): Draft {
  return { compiled, state, effects: [], work: new Work(UNBOUNDED), isCut: false, made: 0, workLeft, counted: 0 };
}

/** Counts calls and runs that may begin. Returns false without counting if the limit would be exceeded. */
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

/** Returns true if no further work may begin in this pass. False at the beginning of each pass, so that a run always progresses. */
export function isSpent(draft: Draft): boolean {
  draft.isCut ||= UNBOUNDED - draft.work.left > PASS_WORK_MAX || draft.made >= PASS_ITEMS_MAX;
  return draft.isCut;
}

/**
 * Returns the current attempt of a step. Results that other steps may have read are kept through all attempts of a run: outputs, skips by
 * `if`, and failures that `on_error` ignores.
 */
export function latestOf(draft: Draft, stepId: string): StepDraft | undefined {
  const { state } = draft;
  const latest = state.stepRuns.findLast((run) => run.stepId === stepId);
  if (!latest) return undefined;
  const isKept =
    latest.status === "succeeded" || latest.skippedReason === "condition_false" || isPassedOver(draft, latest);
  return isKept || latest.runAttempt === state.attempt ? latest : undefined;
}

/** Returns the next sequence number of an end in the run. */
export function nextEnd({ state }: Draft): number {
  state.ends += 1;
  return state.ends;
}

/** Returns true if the step failed and the run continues. */
export function isPassedOver(draft: Draft, run: StepDraft): boolean {
  return run.status === "failed" && stepOf(draft, run.stepId).step.on_error === "continue";
}

/** Returns true if a step has failed permanently. */
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
