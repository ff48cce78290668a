/**
 * Progress of a run: a pure function from state and events to the next state and its effects. Events may arrive twice, late or in any order;
 * an event that does not fit the state has no effect.
 */
import type { CompiledDefinition, CompiledStep } from "#shared/workflows/definition.ts";

import {
  countWork,
  type Draft,
  findRun,
  isFailing,
  isPassedOver,
  isSpent,
  latestOf,
  newDraft,
  nextEnd,
  scopeOf,
  type StepDraft,
  TOO_MUCH_WORK,
} from "./draft.ts";
import { type Effect, isEnded, type RunEvent, type RunState, type WorkEnd, type WorkPlace } from "./state.ts";
import { cancelItems, cancelQueued, prepare, settle, startItems } from "./step-runs.ts";

/** Most concurrent calls of one run. */
const RUN_WORK_MAX = 200;
const RUN_OUTPUT_BYTES_MAX = 1_048_576;

export interface Advanced {
  readonly state: RunState;
  readonly effects: readonly Effect[];
  /** True if further work could begin and waits for the next pass, so that other runs get their turn. */
  readonly isCut: boolean;
  /** Events for the next pass. */
  readonly untold: readonly RunEvent[];
  /** Number of counted calls and runs. */
  readonly work: number;
}

/**
 * Advances a run.
 * @param events events in order; one pass starts all work that they make ready
 * @param workLeft number of calls and runs that may still be created under the root of the run
 */
export function advance(
  compiled: CompiledDefinition,
  before: RunState,
  events: readonly RunEvent[],
  workLeft?: number,
): Advanced {
  const stepRuns = before.stepRuns.map((one) => ({ ...one, items: one.items.map((item) => ({ ...item })) }));
  const draft = newDraft(compiled, { ...before, stepRuns }, workLeft);
  const untold = [...events];
  // The end of an item may create the next attempt of a list.
  for (let event = untold.shift(); event; event = isSpent(draft) ? undefined : untold.shift()) happen(draft, event);
  if (!isEnded(draft.state.status)) driveRun(draft);
  return { state: draft.state, effects: draft.effects, isCut: draft.isCut, untold, work: draft.counted };
}

function happen(draft: Draft, event: RunEvent): void {
  const { state } = draft;
  switch (event.kind) {
    case "tick":
      // Only the first attempt; later attempts begin at their time.
      if (state.status === "queued" && state.attempt === 1) begin(draft, "run.started");
      return;
    case "run_due":
      if (state.status === "queued" && state.attempt === event.attempt) begin(draft, "run.retrying");
      return;
    case "work_ended":
      endWork(draft, event.place, event.end, event.creditsNano);
      return;
    case "step_due": {
      const run = findRun(draft, event);
      if (run?.status === "queued") delete run.isDelayed;
      return;
    }
    case "work_late":
      endLate(draft, event.place);
      return;
    case "cancel":
      cancel(draft);
      return;
  }
}

function begin(draft: Draft, event: "run.started" | "run.retrying"): void {
  const { state, effects, compiled } = draft;
  state.status = "running";
  effects.push({ kind: "event", event });
  // Each step counts as one; items of lists and retries are counted when they are created.
  if (event !== "run.started" || countWork(draft, compiled.steps.length)) return;
  const { code, message } = TOO_MUCH_WORK;
  endFailed(draft, { code, message, stepId: "" });
}

function endWork(draft: Draft, place: WorkPlace, end: WorkEnd, creditsNano: bigint): void {
  const run = findRun(draft, place);
  const item = run?.items[place.index];
  if (!run || !item || item.isKept || item.status === "queued") return;
  if (item.creditsNano !== undefined) {
    // Late work adds to the cost of the run.
    item.creditsNano = creditsNano;
    return;
  }
  // Applies to an ended step or run too: the work was done and is charged.
  item.creditsNano = creditsNano;
  if (item.status !== "running") return;
  item.endedSeq = nextEnd(draft);
  // A run that has ended takes no results.
  const isAwaited = run.status === "running" && !isEnded(draft.state.status);
  if (!isAwaited) item.status = "cancelled";
  else if (end.status === "succeeded") Object.assign(item, { ...end });
  else Object.assign(item, { status: "failed", error: end.status === "failed" ? end.error : CANCELLED_ELSEWHERE });
  settle(draft, run);
}

const CANCELLED_ELSEWHERE = {
  code: "step_cancelled",
  message: "The step's job was cancelled while its run continued.",
  isFinal: true,
} as const;

/** Continues the step without the late work; its cost is added when it ends. */
function endLate(draft: Draft, place: WorkPlace): void {
  const run = findRun(draft, place);
  const item = run?.items[place.index];
  if (!run || item?.status !== "running" || run.status !== "running" || isEnded(draft.state.status)) return;
  const message = "The step took longer than its timeout.";
  Object.assign(item, { status: "failed", error: { code: "step_timeout", message }, endedSeq: nextEnd(draft) });
  draft.effects.push({ kind: "cancel_work", place });
  settle(draft, run);
}

/** Cancels the run immediately. Its work is requested to stop and closes its steps when it ends. */
function cancel(draft: Draft): void {
  const { state, effects } = draft;
  if (isEnded(state.status)) return;
  state.status = "cancelled";
  effects.push({ kind: "event", event: "run.cancelled" });
  for (const run of state.stepRuns) {
    if (run.status === "running") cancelItems(draft, run);
    if (run.status === "queued") run.status = "cancelled";
    settle(draft, run);
  }
}

/** Starts all work that can begin, and ends the run when no work can begin and none is running. */
function driveRun(draft: Draft): void {
  const { state } = draft;
  if (state.status !== "running") return;
  const items = state.stepRuns.flatMap((run) => run.items);
  const capacity = { left: RUN_WORK_MAX - items.filter(({ status }) => status === "running").length };
  // A step that ends immediately may enable others.
  for (let hasMoved = true; hasMoved && !draft.isCut && !isFailing(draft);) {
    hasMoved = prepareReady(draft);
    for (const run of state.stepRuns) {
      if (draft.isCut || isFailing(draft)) break;
      hasMoved = startItems(draft, run, capacity) || hasMoved;
    }
  }
  if (draft.isCut) return;
  if (isFailing(draft)) {
    for (const run of state.stepRuns.filter(({ status }) => status === "running")) {
      cancelQueued(run);
      settle(draft, run);
    }
  }
  const isBusy = state.stepRuns.some(
    (run) => run.status === "running" || run.items.some(({ status }) => status === "running"),
  );
  const isWaiting = !isFailing(draft) && state.stepRuns.some(({ status }) => status === "queued");
  if (!isBusy && !isWaiting) end(draft);
}

/** Evaluates all steps that can begin before any of them starts, because a failing one prevents the others. */
function prepareReady(draft: Draft): boolean {
  let hasPrepared = false;
  for (let hasMoved = true; hasMoved && !isFailing(draft);) {
    hasMoved = false;
    for (const one of draft.compiled.steps) {
      if (latestOf(draft, one.step.id) !== undefined || !isReady(draft, one)) continue;
      if (isSpent(draft)) return hasPrepared;
      prepare(draft, one);
      hasMoved = true;
      hasPrepared = true;
    }
  }
  return hasPrepared;
}

function isReady(draft: Draft, { waitsFor }: CompiledStep): boolean {
  return [...waitsFor].every((id) => {
    const run = latestOf(draft, id);
    return run?.status === "succeeded" || run?.status === "skipped" || (run !== undefined && isPassedOver(draft, run));
  });
}

function end(draft: Draft): void {
  const { state, effects, compiled } = draft;
  const first = firstFailure(draft);
  if (first?.error) {
    for (const run of state.stepRuns) if (run.status === "queued") run.status = "cancelled";
    skipBehind(draft);
    if (first.error.isFinal !== true && state.attempt < state.maxAttempts) {
      state.status = "queued";
      state.attempt += 1;
      effects.push({ kind: "run_timer", attempt: state.attempt });
      return;
    }
    const { code, message } = first.error;
    return endFailed(draft, { code, message, stepId: first.stepId });
  }
  const output = compiled.output.resolve(scopeOf(draft));
  if ("fault" in output) {
    return endFailed(draft, { code: "binding_unresolved", message: output.fault, stepId: "output" });
  }
  const bytes = Buffer.byteLength(JSON.stringify(output.value));
  if (bytes > RUN_OUTPUT_BYTES_MAX) {
    const message = `Expected an output of at most ${RUN_OUTPUT_BYTES_MAX} bytes, got ${bytes}; refer to files by their ids.`;
    return endFailed(draft, { code: "output_too_large", message, stepId: "output" });
  }
  state.status = "succeeded";
  state.output = output.value;
  effects.push({ kind: "event", event: "run.succeeded" });
}

function endFailed({ state, effects }: Draft, error: NonNullable<RunState["error"]>): void {
  state.status = "failed";
  state.error = error;
  effects.push({ kind: "event", event: "run.failed" });
}

/** Returns the step that was the first to fail permanently. */
function firstFailure(draft: Draft): StepDraft | undefined {
  return draft.state.stepRuns
    .filter((run) => run.status === "failed" && latestOf(draft, run.stepId) === run && !isPassedOver(draft, run))
    .toSorted((one, other) => (one.endedSeq ?? 0) - (other.endedSeq ?? 0))[0];
}

/** Skips steps that depend on a failed step or on a step that was skipped for this reason. */
function skipBehind(draft: Draft): void {
  const { state, compiled } = draft;
  for (let hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (const { step, waitsFor } of compiled.steps) {
      if (latestOf(draft, step.id) !== undefined) continue;
      const isBehind = [...waitsFor].some((id) => {
        const run = latestOf(draft, id);
        return run?.skippedReason === "dependency_failed" || (run?.status === "failed" && !isPassedOver(draft, run));
      });
      if (!isBehind) continue;
      const attempt = (state.stepRuns.findLast((run) => run.stepId === step.id)?.attempt ?? 0) + 1;
      state.stepRuns.push({
        stepId: step.id,
        attempt,
        runAttempt: state.attempt,
        status: "skipped",
        skippedReason: "dependency_failed",
        items: [],
      });
      hasMoved = true;
    }
  }
}
