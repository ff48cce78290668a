/** Creates, starts and ends attempts of steps. */
import type { CompiledDefinition, CompiledStep } from "#shared/workflows/definition.ts";
import type { Resolved } from "#shared/workflows/expressions/scope.ts";
import { STEP_OUTPUT_BYTES_MAX, FOR_EACH_ITEMS_MAX } from "#shared/workflows/limits.ts";

import {
  countWork,
  type Draft,
  findRun,
  isFailing,
  isSpent,
  newDraft,
  nextEnd,
  scopeOf,
  type StepDraft,
  stepOf,
  TOO_MUCH_WORK,
} from "./draft.ts";
import { isEnded, type ItemRun, type RunState, type StepError, type WorkPlace } from "./state.ts";

export const FOR_EACH_CONCURRENCY = 4;

/** Evaluates a step whose dependencies have ended, and creates its attempt. */
export function prepare(draft: Draft, { step, condition, list }: CompiledStep): void {
  const { state } = draft;
  const earlier = state.stepRuns.findLast((run) => run.stepId === step.id);
  const run: StepDraft = {
    stepId: step.id,
    attempt: (earlier?.attempt ?? 0) + 1,
    runAttempt: state.attempt,
    status: "queued",
    items: [],
  };
  state.stepRuns.push(run);
  const scope = scopeOf(draft);
  const met = condition.resolve(scope, draft.work);
  if ("fault" in met || typeof met.value !== "boolean") {
    const message = "fault" in met ? met.fault : "Expected if to be true or false.";
    return stop(draft, run, { code: "condition_error", message, isFinal: true });
  }
  if (!met.value) {
    run.status = "skipped";
    run.skippedReason = "condition_false";
    return;
  }
  if (!list) return make(draft, run, [{ index: 0, status: "queued" }]);
  const resolved = list.resolve(scope, draft.work);
  // The list may refer to a skipped step, whose output is null: then the list is empty.
  const items = "fault" in resolved ? null : (resolved.value ?? []);
  const message = "fault" in resolved ? resolved.fault : listFault(items);
  if (message !== undefined) return stop(draft, run, { code: "binding_unresolved", message, isFinal: true });
  run.list = items as readonly unknown[];
  const made = run.list.map((item, index): ItemRun => {
    // Work that an earlier attempt completed for the same item is not repeated.
    const done = earlier?.items[index];
    const isSame = done?.status === "succeeded" && Bun.deepEquals(earlier?.list?.[index], item, true);
    return isSame ? kept({ ...done, index }) : { index, status: "queued" };
  });
  make(draft, run, made);
}

/** Creates an attempt with its items. The step itself was counted as one when the run began. */
function make(draft: Draft, run: StepDraft, items: readonly ItemRun[]): void {
  const counted = run.attempt === 1 ? 1 : 0;
  if (!countWork(draft, Math.max(0, waiting(items) - counted))) return stop(draft, run, TOO_MUCH_WORK);
  draft.made += items.length;
  run.items = [...items];
}

function waiting(items: readonly ItemRun[]): number {
  return items.filter(({ status }) => status === "queued").length;
}

/**
 * Starts as many items as the capacity allows.
 * @param capacity number of further concurrent items of the run
 * @returns true if the step has ended
 */
export function startItems(draft: Draft, run: StepDraft, capacity: { left: number }): boolean {
  const { effects } = draft;
  if (run.isDelayed || (run.status !== "queued" && run.status !== "running")) return false;
  const { step } = stepOf(draft, run.stepId);
  const concurrency = run.list === undefined ? 1 : (step.concurrency ?? FOR_EACH_CONCURRENCY);
  const goesOn = (): boolean => step.on_error === "continue" || !run.items.some(({ status }) => status === "failed");
  let busy = run.items.filter(({ status }) => status === "running").length;
  for (const item of run.items) {
    if (busy >= concurrency || capacity.left <= 0 || !goesOn()) break;
    if (item.status !== "queued") continue;
    if (isSpent(draft)) break;
    const { params, input } = bindingsOf(draft, run, item.index);
    const fault = "fault" in params ? params.fault : "fault" in input ? input.fault : undefined;
    if (fault !== undefined || "fault" in params || "fault" in input) {
      item.status = "failed";
      item.endedSeq = nextEnd(draft);
      item.error = { code: "binding_unresolved", message: fault ?? "", isFinal: true };
      continue;
    }
    item.status = "running";
    busy += 1;
    capacity.left -= 1;
    const place = { stepId: run.stepId, attempt: run.attempt, index: item.index };
    effects.push({ kind: "start_work", place, params: params.value, input: input.value });
  }
  if (run.status === "queued" && (busy > 0 || capacity.left > 0)) run.status = "running";
  settle(draft, run);
  return run.status !== "running" && run.status !== "queued";
}

/** Evaluates the inputs of running work again. The result is the same, because everything that the expressions read has ended. */
export function resolveWork(
  compiled: CompiledDefinition,
  state: RunState,
  place: WorkPlace,
): { readonly place: WorkPlace; readonly params: unknown; readonly input: unknown } | undefined {
  const draft = newDraft(compiled, { ...state, stepRuns: [...state.stepRuns] as StepDraft[] });
  const run = findRun(draft, place);
  if (run?.items[place.index]?.status !== "running") return undefined;
  const { params, input } = bindingsOf(draft, run, place.index);
  return "fault" in params || "fault" in input ? undefined : { place, params: params.value, input: input.value };
}

function bindingsOf(
  draft: Draft,
  run: StepDraft,
  index: number,
): { readonly params: Resolved; readonly input: Resolved } {
  const { params, input } = stepOf(draft, run.stepId);
  const scope = scopeOf(draft);
  const within = run.list === undefined ? scope : { ...scope, item: run.list[index], index };
  return { params: params.resolve(within, draft.work), input: input.resolve(within, draft.work) };
}

/** Ends the attempt of a step if no work is left. */
export function settle(draft: Draft, run: StepDraft): void {
  if (run.status !== "running" || run.items.some(({ status }) => status === "running")) return;
  if (isEnded(draft.state.status)) {
    run.status = "cancelled";
    return;
  }
  const { step } = stepOf(draft, run.stepId);
  const failed = run.items
    .filter(({ status }) => status === "failed")
    .toSorted((one, other) => (one.endedSeq ?? 0) - (other.endedSeq ?? 0));
  const passesOver = run.list !== undefined && step.on_error === "continue";
  const isWaiting = run.items.some(({ status }) => status === "queued");
  if (passesOver && isWaiting) return;
  // Failures that would repeat are not retried.
  const error = failed.find((item) => !passesOver || item.error?.isFinal !== true)?.error;
  if (error && (!passesOver || isTriedAgain(draft, run, error))) {
    cancelQueued(run);
    fail(draft, run, error);
    return;
  }
  if (isWaiting) return;
  // Interrupted by the failure of another step: the next attempt of the run executes the remainder.
  if (run.items.some(({ status }) => status === "cancelled")) {
    run.status = "cancelled";
    return;
  }
  const outputs = run.items.map(({ status, output }) => (status === "succeeded" ? (output ?? null) : null));
  if (run.list !== undefined) {
    const bytes = Buffer.byteLength(JSON.stringify(outputs));
    if (bytes > STEP_OUTPUT_BYTES_MAX) {
      const message = `Expected the step to return at most ${STEP_OUTPUT_BYTES_MAX} bytes for all of its items, got ${bytes}.`;
      return fail(draft, run, { code: "output_too_large", message, isFinal: true });
    }
  }
  run.status = "succeeded";
  run.endedSeq = nextEnd(draft);
  run.output = run.list === undefined ? outputs[0] : outputs;
}

function isTriedAgain(draft: Draft, run: StepDraft, error: StepError): boolean {
  const { state } = draft;
  const { step } = stepOf(draft, run.stepId);
  const tries = state.stepRuns.filter((one) => one.stepId === run.stepId && one.runAttempt === state.attempt).length;
  if (error.isFinal === true || tries >= (step.retry?.max_attempts ?? 1) || isFailing(draft)) return false;
  return waiting(triedAgain(run)) <= draft.workLeft;
}

/** Returns the items of the next attempt: those that are not completed and may succeed. */
function triedAgain({ items }: StepDraft): readonly ItemRun[] {
  return items.map((item): ItemRun => {
    const { index, status } = item;
    if (status === "succeeded") return kept(item);
    if (item.error?.isFinal === true) return { index, status, error: item.error, isKept: true };
    return { index, status: "queued" };
  });
}

/** Ends an attempt as failed, and queues the next one if the step has attempts left. */
function fail(draft: Draft, run: StepDraft, error: StepError): void {
  const { state, effects } = draft;
  const { step } = stepOf(draft, run.stepId);
  const again = isTriedAgain(draft, run, error);
  run.status = "failed";
  run.error = error;
  run.endedSeq = nextEnd(draft);
  if (!again) return;
  const seconds = step.retry?.delay_seconds ?? 0;
  const attempt = run.attempt + 1;
  const next: StepDraft = {
    stepId: run.stepId,
    attempt,
    runAttempt: state.attempt,
    status: "queued",
    ...(run.list === undefined ? {} : { list: run.list }),
    items: [],
    ...(seconds > 0 ? { isDelayed: true as const } : {}),
  };
  state.stepRuns.push(next);
  make(draft, next, triedAgain(run));
  if (seconds > 0) effects.push({ kind: "step_timer", stepId: run.stepId, attempt, seconds });
}

/** Returns a completed item for a later attempt. */
function kept({ index, output, outputRef }: ItemRun): ItemRun {
  return { index, status: "succeeded", output, ...(outputRef === undefined ? {} : { outputRef }), isKept: true };
}

export function cancelItems({ effects }: Draft, run: StepDraft): void {
  for (const item of run.items) {
    if (item.status !== "running") continue;
    effects.push({ kind: "cancel_work", place: { stepId: run.stepId, attempt: run.attempt, index: item.index } });
  }
  cancelQueued(run);
}

export function cancelQueued(run: StepDraft): void {
  for (const item of run.items) if (item.status === "queued") item.status = "cancelled";
}

function stop(draft: Draft, run: StepDraft, error: StepError): void {
  run.endedSeq = nextEnd(draft);
  run.status = "failed";
  run.error = error;
}

function listFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "Expected for_each to be a list.";
  if (value.length <= FOR_EACH_ITEMS_MAX) return undefined;
  return `Expected for_each to have at most ${FOR_EACH_ITEMS_MAX} items, got ${value.length}.`;
}
