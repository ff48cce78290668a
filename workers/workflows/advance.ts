/**
 * Progress of a run: a pure function from its state and its events to the next state and its effects. Events may come twice,
 * late, or in any order; one that does not fit the state any more changes nothing.
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

/** Calls of one run that are under way at once. */
const RUN_WORK_MAX = 200;
const RUN_OUTPUT_BYTES_MAX = 1_048_576;

export interface Advanced {
  readonly state: RunState;
  readonly effects: readonly Effect[];
  /** More could begin now, and waits for the next pass: other runs have their turn between. */
  readonly isCut: boolean;
  /** Events that the next pass is to be told. */
  readonly untold: readonly RunEvent[];
  /** Calls and runs that were counted. */
  readonly work: number;
}

/**
 * @param events in the order in which they are told; one pass starts what all of them make ready
 * @param workLeft calls and runs that may still come to be under the run's root
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
  // An end may make a list's next attempt.
  for (let event = untold.shift(); event; event = isSpent(draft) ? undefined : untold.shift()) happen(draft, event);
  if (!isEnded(draft.state.status)) driveRun(draft);
  return { state: draft.state, effects: draft.effects, isCut: draft.isCut, untold, work: draft.counted };
}

function happen(draft: Draft, event: RunEvent): void {
  const { state } = draft;
  switch (event.kind) {
    case "tick":
      // The first; later attempts begin when their time has come.
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
  // Each step counts as one; what lists and tries again add is counted as they are made.
  if (event !== "run.started" || countWork(draft, compiled.steps.length)) return;
  const { code, message } = TOO_MUCH_WORK;
  endFailed(draft, { code, message, stepId: "" });
}

function endWork(draft: Draft, place: WorkPlace, end: WorkEnd, creditsNano: bigint): void {
  const run = findRun(draft, place);
  const item = run?.items[place.index];
  if (!run || !item || item.isKept || item.status === "queued") return;
  if (item.creditsNano !== undefined) {
    // A run's late work adds to what it cost.
    item.creditsNano = creditsNano;
    return;
  }
  // Also of a step or run that has ended meanwhile: the work was done, and is paid.
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

/** The step goes on without the work; what it still costs is added when it returns. */
function endLate(draft: Draft, place: WorkPlace): void {
  const run = findRun(draft, place);
  const item = run?.items[place.index];
  if (!run || item?.status !== "running" || run.status !== "running" || isEnded(draft.state.status)) return;
  const message = "The step took longer than its timeout.";
  Object.assign(item, { status: "failed", error: { code: "step_timeout", message }, endedSeq: nextEnd(draft) });
  draft.effects.push({ kind: "cancel_work", place });
  settle(draft, run);
}

/** The run is over at once; its work is asked to stop, and closes its steps when it returns. */
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

/** Begins what can begin, and ends the run when nothing can and nothing is under way. */
function driveRun(draft: Draft): void {
  const { state } = draft;
  if (state.status !== "running") return;
  const items = state.stepRuns.flatMap((run) => run.items);
  const capacity = { left: RUN_WORK_MAX - items.filter(({ status }) => status === "running").length };
  // A step that ends at once may let others begin.
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

/** All that can begin is judged before anything is started: one that fails keeps the others from starting. */
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

/** Returns the step that failed for good first. */
function firstFailure(draft: Draft): StepDraft | undefined {
  return draft.state.stepRuns
    .filter((run) => run.status === "failed" && latestOf(draft, run.stepId) === run && !isPassedOver(draft, run))
    .toSorted((one, other) => (one.endedSeq ?? 0) - (other.endedSeq ?? 0))[0];
}

/** Skips the steps that waited for one that failed, or for one that was skipped for that. */
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
