/**
 * Computes the progress of a run. A pure function takes a state and events and returns the next state and its effects. Events may arrive
 * twice, late or in any order. An event that does not fit the state has no effect.
 */
import type { CompiledDefinition, CompiledStep } from "#shared/workflows/definition.ts";
import type { Scope } from "#shared/workflows/expressions/scope.ts";
import { Work } from "#shared/workflows/expressions/work.ts";
import { FOR_EACH_ITEMS_MAX, STEP_OUTPUT_BYTES_MAX, WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";

import {
  type Effect,
  isEnded,
  type ItemRun,
  type RunEvent,
  type RunState,
  type StepError,
  type StepRun,
  type WorkEnd,
  type WorkPlace,
} from "./state.ts";

/** Maximum number of concurrent calls of one run. */
const RUN_WORK_MAX = 200;
const RUN_OUTPUT_BYTES_MAX = 1_048_576;
export const FOR_EACH_CONCURRENCY = 4;

/** Number of new items in a pass after which no further list is prepared. A pass exceeds it by one list at most. */
export const PASS_ITEMS_MAX = 1_000;

/** Maximum number of evaluation steps of expressions in one pass, about 50 ms, so that other runs are executed meanwhile. */
const PASS_WORK_MAX = 4_000_000;

/** Budget of the counter that counts evaluation steps of a pass. It is never used up, because each binding has its own limit. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

export interface Advanced {
  readonly state: RunState;
  readonly effects: readonly Effect[];
  /** True if further jobs or runs could begin but wait for the next pass, so that other runs are executed meanwhile. */
  readonly isCut: boolean;
  /** Events that the next pass must handle. */
  readonly deferredEvents: readonly RunEvent[];
  /** Number of calls and sub-workflows that this pass added to the total of the root run. The total is limited. */
  readonly work: number;
}

/**
 * Advances a run.
 * @param events events in order; one pass starts all work that they make ready
 * @param remainingWork number of calls and runs that may still be created under the root of the run
 */
export function advance(
  compiled: CompiledDefinition,
  before: RunState,
  events: readonly RunEvent[],
  remainingWork?: number,
): Advanced {
  const stepRuns = before.stepRuns.map((one) => ({ ...one, items: one.items.map((item) => ({ ...item })) }));
  return new RunPass(compiled, { ...before, stepRuns }, remainingWork).advance(events);
}

/** Evaluates the inputs of running work again. The result is the same, because everything that the expressions read has ended. */
export function resolveWork(compiled: CompiledDefinition, state: RunState, place: WorkPlace): ResolvedWork | undefined {
  const stepRuns = [...state.stepRuns] as StepDraft[];
  return new RunPass(compiled, { ...state, stepRuns }).resolveWork(place);
}

interface Bindings {
  readonly params: unknown;
  readonly input: unknown;
}

type ResolvedWork = Bindings & { readonly place: WorkPlace };

type Writable<T> = { -readonly [M in keyof T]: T[M] };
type StepDraft = Omit<Writable<StepRun>, "items"> & { items: Writable<ItemRun>[] };
type RunDraft = Omit<Writable<RunState>, "stepRuns"> & { stepRuns: StepDraft[] };

/** One pass over a run. Changes its own copy of the run's state, and collects the effects to perform after the state is saved. */
class RunPass {
  private readonly compiled: CompiledDefinition;
  private readonly state: RunDraft;
  private readonly effects: Effect[] = [];
  /** Evaluation steps that expressions have used so far in this pass. */
  private readonly work = new Work(UNBOUNDED);
  /** True when the pass has reached its limits. Further calls and sub-workflows then wait for the next pass. */
  private isCut = false;
  private newItems = 0;
  /** Calls and runs that may still be created under the root of the run. */
  private remainingWork: number;
  /** Number of calls and sub-workflows that this pass added to the total of the root run. */
  private counted = 0;

  constructor(compiled: CompiledDefinition, state: RunDraft, remainingWork = UNBOUNDED) {
    this.compiled = compiled;
    this.state = state;
    this.remainingWork = remainingWork;
  }

  advance(events: readonly RunEvent[]): Advanced {
    const deferredEvents = [...events];
    // The end of an item may create the next attempt of a list.
    for (let event = deferredEvents.shift(); event; event = this.isSpent() ? undefined : deferredEvents.shift())
      this.apply(event);
    if (!isEnded(this.state.status)) this.progress();
    return { state: this.state, effects: this.effects, isCut: this.isCut, deferredEvents, work: this.counted };
  }

  /**
   * Evaluates the parameters and the input of a running call or sub-workflow again. Undefined if it is not running or its expressions fail.
   */
  resolveWork(place: WorkPlace): ResolvedWork | undefined {
    const run = this.findRun(place);
    if (run?.items[place.index]?.status !== "running") return undefined;
    const bindings = this.bindingsOf(run, place.index);
    return "fault" in bindings ? undefined : { place, ...bindings };
  }

  private apply(event: RunEvent): void {
    const { state } = this;
    switch (event.kind) {
      case "tick":
        // Only the first attempt; later attempts begin at their time.
        if (state.status === "queued" && state.attempt === 1) this.begin("run.started");
        return;
      case "run_due":
        if (state.status === "queued" && state.attempt === event.attempt) this.begin("run.retrying");
        return;
      case "work_ended":
        this.endWork(event.place, event.end, event.creditsNano);
        return;
      case "step_due": {
        const run = this.findRun(event);
        if (run?.status === "queued") delete run.isDelayed;
        return;
      }
      case "work_late":
        this.endLate(event.place);
        return;
      case "cancel":
        this.cancel();
        return;
    }
  }

  private begin(event: "run.started" | "run.retrying"): void {
    const { state, effects, compiled } = this;
    state.status = "running";
    effects.push({ kind: "event", event });
    // Each step counts as one; items of lists and retries are counted when they are created.
    if (event !== "run.started" || this.countWork(compiled.steps.length)) return;
    this.endFailed("", TOO_MUCH_WORK);
  }

  private endWork(place: WorkPlace, end: WorkEnd, creditsNano: bigint): void {
    const run = this.findRun(place);
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
    item.endedSeq = this.nextEnd();
    // A run that has ended takes no results.
    const isAwaited = run.status === "running" && !isEnded(this.state.status);
    if (!isAwaited) item.status = "cancelled";
    else if (end.status === "succeeded") Object.assign(item, { ...end });
    else Object.assign(item, { status: "failed", error: end.status === "failed" ? end.error : CANCELLED_ELSEWHERE });
    this.settle(run);
  }

  /**
   * Fails the item whose call or sub-workflow exceeded the timeout of its step, and requests the cancellation of that work. The run
   * continues without waiting for the work. The cost is added when the work ends.
   */
  private endLate(place: WorkPlace): void {
    const run = this.findRun(place);
    const item = run?.items[place.index];
    if (!run || item?.status !== "running" || run.status !== "running" || isEnded(this.state.status)) return;
    const message = "The step took longer than its timeout.";
    Object.assign(item, { status: "failed", error: { code: "step_timeout", message }, endedSeq: this.nextEnd() });
    this.effects.push({ kind: "cancel_work", place });
    this.settle(run);
  }

  /** Cancels the run immediately. Its running jobs and sub-workflows are requested to stop, and close their steps when they end. */
  private cancel(): void {
    const { state, effects } = this;
    if (isEnded(state.status)) return;
    state.status = "cancelled";
    effects.push({ kind: "event", event: "run.cancelled" });
    for (const run of state.stepRuns) {
      if (run.status === "running") this.cancelItems(run);
      if (run.status === "queued") run.status = "cancelled";
      this.settle(run);
    }
  }

  /** Starts all calls and sub-workflows that can begin. Ends the run when none can begin and none is running. */
  private progress(): void {
    const { state } = this;
    if (state.status !== "running") return;
    const items = state.stepRuns.flatMap((run) => run.items);
    const capacity = { remaining: RUN_WORK_MAX - items.filter(({ status }) => status === "running").length };
    // A step that ends immediately may enable others.
    for (let hasMoved = true; hasMoved && !this.isCut && !this.isFailing();) {
      hasMoved = this.prepareReady();
      for (const run of state.stepRuns) {
        if (this.isCut || this.isFailing()) break;
        hasMoved = this.startItems(run, capacity) || hasMoved;
      }
    }
    if (this.isCut) return;
    if (this.isFailing()) {
      for (const run of state.stepRuns.filter(({ status }) => status === "running")) {
        cancelQueued(run);
        this.settle(run);
      }
    }
    const isBusy = state.stepRuns.some(
      (run) => run.status === "running" || run.items.some(({ status }) => status === "running"),
    );
    const isWaiting = !this.isFailing() && state.stepRuns.some(({ status }) => status === "queued");
    if (!isBusy && !isWaiting) this.end();
  }

  /** Evaluates all steps that can begin. Evaluation precedes every start, because a failing step prevents the others from starting. */
  private prepareReady(): boolean {
    let hasPrepared = false;
    for (let hasMoved = true; hasMoved && !this.isFailing();) {
      hasMoved = false;
      for (const one of this.compiled.steps) {
        if (this.latestOf(one.step.id) !== undefined || !this.isReady(one)) continue;
        if (this.isSpent()) return hasPrepared;
        this.prepare(one);
        hasMoved = true;
        hasPrepared = true;
      }
    }
    return hasPrepared;
  }

  private isReady({ waitsFor }: CompiledStep): boolean {
    return [...waitsFor].every((id) => {
      const run = this.latestOf(id);
      return run?.status === "succeeded" || run?.status === "skipped" || (run !== undefined && this.isPassedOver(run));
    });
  }

  private end(): void {
    const { state, effects, compiled } = this;
    const first = this.firstFailure();
    if (first?.error) {
      for (const run of state.stepRuns) if (run.status === "queued") run.status = "cancelled";
      this.skipBehind();
      if (first.error.isFinal !== true && state.attempt < state.maxAttempts) {
        state.status = "queued";
        state.attempt += 1;
        effects.push({ kind: "run_timer", attempt: state.attempt });
        return;
      }
      return this.endFailed(first.stepId, first.error);
    }
    const output = compiled.output.resolve(this.scopeOf());
    if ("fault" in output) {
      return this.endFailed("output", { code: "binding_unresolved", message: output.fault });
    }
    const bytes = Buffer.byteLength(JSON.stringify(output.value));
    if (bytes > RUN_OUTPUT_BYTES_MAX) {
      const message = `Expected an output of at most ${RUN_OUTPUT_BYTES_MAX} bytes, got ${bytes}; refer to files by their ids.`;
      return this.endFailed("output", { code: "output_too_large", message });
    }
    state.status = "succeeded";
    state.output = output.value;
    effects.push({ kind: "event", event: "run.succeeded" });
  }

  private endFailed(stepId: string, { code, message }: StepError): void {
    const { state, effects } = this;
    state.status = "failed";
    state.error = { code, message, stepId };
    effects.push({ kind: "event", event: "run.failed" });
  }

  /** Returns the step that was the first to fail permanently. */
  private firstFailure(): StepDraft | undefined {
    return this.state.stepRuns.filter((run) => this.isFailure(run)).toSorted(byEnd)[0];
  }

  /** Skips all steps that depend on a failed step, directly or through other skipped steps. */
  private skipBehind(): void {
    const { state, compiled } = this;
    for (let hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (const { step, waitsFor } of compiled.steps) {
        if (this.latestOf(step.id) !== undefined) continue;
        const isBehind = [...waitsFor].some((id) => {
          const run = this.latestOf(id);
          return run?.skippedReason === "dependency_failed" || (run?.status === "failed" && !this.isPassedOver(run));
        });
        if (!isBehind) continue;
        const attempt = (state.stepRuns.findLast((run) => run.stepId === step.id)?.attempt ?? 0) + 1;
        this.addAttempt(step.id, attempt, { status: "skipped", skippedReason: "dependency_failed" });
        hasMoved = true;
      }
    }
  }

  /** Evaluates a step whose dependencies have ended, and creates the step's attempt. */
  private prepare({ step, condition, list }: CompiledStep): void {
    const earlier = this.state.stepRuns.findLast((run) => run.stepId === step.id);
    const run = this.addAttempt(step.id, (earlier?.attempt ?? 0) + 1);
    const scope = this.scopeOf();
    const met = condition.resolve(scope, this.work);
    if ("fault" in met || typeof met.value !== "boolean") {
      const message = "fault" in met ? met.fault : "Expected if to be true or false.";
      return this.markFailed(run, { code: "condition_error", message, isFinal: true });
    }
    if (!met.value) {
      run.status = "skipped";
      run.skippedReason = "condition_false";
      return;
    }
    if (!list) return this.createItems(run, [{ index: 0, status: "queued" }]);
    const resolved = list.resolve(scope, this.work);
    // The list may refer to a skipped step, whose output is null: then the list is empty.
    const items = "fault" in resolved ? null : (resolved.value ?? []);
    const message = "fault" in resolved ? resolved.fault : listFault(items);
    if (message !== undefined) return this.markFailed(run, { code: "binding_unresolved", message, isFinal: true });
    run.list = items as readonly unknown[];
    const made = run.list.map((item, index): ItemRun => {
      // Work that an earlier attempt completed for the same item is not repeated.
      const done = earlier?.items[index];
      const isSame = done?.status === "succeeded" && Bun.deepEquals(earlier?.list?.[index], item, true);
      return isSame ? kept({ ...done, index }) : { index, status: "queued" };
    });
    this.createItems(run, made);
  }

  private addAttempt(stepId: string, attempt: number, more: Partial<StepDraft> = {}): StepDraft {
    const run: StepDraft = { stepId, attempt, runAttempt: this.state.attempt, status: "queued", items: [], ...more };
    this.state.stepRuns.push(run);
    return run;
  }

  /**
   * Creates the items of an attempt and adds them to the limited total of the root run. A first attempt has one item fewer to add, because
   * each step was counted as one when the run began.
   */
  private createItems(run: StepDraft, items: readonly ItemRun[]): void {
    const counted = run.attempt === 1 ? 1 : 0;
    if (!this.countWork(Math.max(0, waiting(items) - counted))) return this.markFailed(run, TOO_MUCH_WORK);
    this.newItems += items.length;
    run.items = [...items];
  }

  /**
   * Starts as many items as the capacity allows.
   * @param capacity number of further concurrent items of the run
   * @returns true if the step has ended
   */
  private startItems(run: StepDraft, capacity: { remaining: number }): boolean {
    if (run.isDelayed || (run.status !== "queued" && run.status !== "running")) return false;
    const { step } = this.stepOf(run.stepId);
    const concurrency = run.list === undefined ? 1 : (step.concurrency ?? FOR_EACH_CONCURRENCY);
    const canContinue = (): boolean =>
      step.on_error === "continue" || !run.items.some(({ status }) => status === "failed");
    let busy = run.items.filter(({ status }) => status === "running").length;
    for (const item of run.items) {
      if (busy >= concurrency || capacity.remaining <= 0 || !canContinue()) break;
      if (item.status !== "queued") continue;
      if (this.isSpent()) break;
      const bindings = this.bindingsOf(run, item.index);
      if ("fault" in bindings) {
        item.status = "failed";
        item.endedSeq = this.nextEnd();
        item.error = { code: "binding_unresolved", message: bindings.fault, isFinal: true };
        continue;
      }
      item.status = "running";
      busy += 1;
      capacity.remaining -= 1;
      const place = { stepId: run.stepId, attempt: run.attempt, index: item.index };
      this.effects.push({ kind: "start_work", place, ...bindings });
    }
    if (run.status === "queued" && (busy > 0 || capacity.remaining > 0)) run.status = "running";
    this.settle(run);
    return run.status !== "running" && run.status !== "queued";
  }

  /** Evaluates the parameters and the input of an item. */
  private bindingsOf(run: StepDraft, index: number): Bindings | { readonly fault: string } {
    const step = this.stepOf(run.stepId);
    const scope = this.scopeOf();
    const within = run.list === undefined ? scope : { ...scope, item: run.list[index], index };
    const params = step.params.resolve(within, this.work);
    const input = step.input.resolve(within, this.work);
    if ("fault" in params) return params;
    return "fault" in input ? input : { params: params.value, input: input.value };
  }

  /** Ends the attempt of a step if none of its items is left to run. */
  private settle(run: StepDraft): void {
    if (run.status !== "running" || run.items.some(({ status }) => status === "running")) return;
    if (isEnded(this.state.status)) {
      run.status = "cancelled";
      return;
    }
    const { step } = this.stepOf(run.stepId);
    const failed = run.items.filter(({ status }) => status === "failed").toSorted(byEnd);
    const passesOver = run.list !== undefined && step.on_error === "continue";
    const isWaiting = run.items.some(({ status }) => status === "queued");
    if (passesOver && isWaiting) return;
    // Failures that would repeat are not retried.
    const error = failed.find((item) => !passesOver || item.error?.isFinal !== true)?.error;
    if (error && (!passesOver || this.isTriedAgain(run, error))) {
      cancelQueued(run);
      this.fail(run, error);
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
        return this.fail(run, { code: "output_too_large", message, isFinal: true });
      }
    }
    run.status = "succeeded";
    run.endedSeq = this.nextEnd();
    run.output = run.list === undefined ? outputs[0] : outputs;
  }

  private isTriedAgain(run: StepDraft, error: StepError): boolean {
    const { state } = this;
    const { step } = this.stepOf(run.stepId);
    const tries = state.stepRuns.filter((one) => one.stepId === run.stepId && one.runAttempt === state.attempt).length;
    if (error.isFinal === true || tries >= (step.retry?.max_attempts ?? 1) || this.isFailing()) return false;
    return waiting(triedAgain(run)) <= this.remainingWork;
  }

  /** Ends an attempt as failed. Queues the next attempt if the step has attempts left. */
  private fail(run: StepDraft, error: StepError): void {
    const { step } = this.stepOf(run.stepId);
    const again = this.isTriedAgain(run, error);
    this.markFailed(run, error);
    if (!again) return;
    const seconds = step.retry?.delay_seconds ?? 0;
    const attempt = run.attempt + 1;
    const next = this.addAttempt(run.stepId, attempt, {
      ...(run.list === undefined ? {} : { list: run.list }),
      ...(seconds > 0 ? { isDelayed: true as const } : {}),
    });
    this.createItems(next, triedAgain(run));
    if (seconds > 0) this.effects.push({ kind: "step_timer", stepId: run.stepId, attempt, seconds });
  }

  private markFailed(run: StepDraft, error: StepError): void {
    run.endedSeq = this.nextEnd();
    run.status = "failed";
    run.error = error;
  }

  private cancelItems(run: StepDraft): void {
    for (const item of run.items) {
      if (item.status !== "running") continue;
      const place = { stepId: run.stepId, attempt: run.attempt, index: item.index };
      this.effects.push({ kind: "cancel_work", place });
    }
    cancelQueued(run);
  }

  /** Adds work to the total of the root run before it begins. Returns false and adds nothing if the limit would be exceeded. */
  private countWork(count: number): boolean {
    if (count > this.remainingWork) return false;
    this.remainingWork -= count;
    this.counted += count;
    return true;
  }

  /** Returns true if no further work may begin in this pass. False at the beginning, so that a run always progresses. */
  private isSpent(): boolean {
    this.isCut ||= UNBOUNDED - this.work.remaining > PASS_WORK_MAX || this.newItems >= PASS_ITEMS_MAX;
    return this.isCut;
  }

  /** Returns the next sequence number for a step or item that ends in the run. */
  private nextEnd(): number {
    this.state.ends += 1;
    return this.state.ends;
  }

  /**
   * Returns the current attempt of a step. Results that other steps may have read are kept through all attempts of a run: outputs, skips by
   * `if`, and failures that `on_error` ignores.
   */
  private latestOf(stepId: string): StepDraft | undefined {
    const { state } = this;
    const latest = state.stepRuns.findLast((run) => run.stepId === stepId);
    if (!latest) return undefined;
    const isKept =
      latest.status === "succeeded" || latest.skippedReason === "condition_false" || this.isPassedOver(latest);
    return isKept || latest.runAttempt === state.attempt ? latest : undefined;
  }

  /** Returns true if the step failed and the run continues despite the failure. */
  private isPassedOver(run: StepDraft): boolean {
    return run.status === "failed" && this.stepOf(run.stepId).step.on_error === "continue";
  }

  /** Returns true if a step has failed permanently. */
  private isFailing(): boolean {
    return this.state.stepRuns.some((run) => this.isFailure(run));
  }

  private isFailure(run: StepDraft): boolean {
    return run.status === "failed" && this.latestOf(run.stepId) === run && !this.isPassedOver(run);
  }

  private scopeOf(): Scope {
    const { state, compiled } = this;
    const steps: Record<string, { status: string; output: unknown }> = {};
    for (const { step } of compiled.steps) {
      const run = this.latestOf(step.id);
      const output = run?.status === "succeeded" ? (run.output ?? null) : null;
      if (run) steps[step.id] = { status: run.status, output };
    }
    return { inputs: state.inputs, steps, run: { id: state.id, attempt: state.attempt } };
  }

  private findRun({ stepId, attempt }: { readonly stepId: string; readonly attempt: number }): StepDraft | undefined {
    return this.state.stepRuns.find((run) => run.stepId === stepId && run.attempt === attempt);
  }

  private stepOf(id: string): CompiledStep {
    const found = this.compiled.steps.find(({ step }) => step.id === id);
    if (!found) throw new Error(`the definition has no step ${id}`);
    return found;
  }
}

const TOO_MUCH_WORK: StepError = {
  code: "run_too_large",
  message: `Expected at most ${WORKFLOW_WORK_MAX} calls and runs in a run with its nested runs and retries.`,
  isFinal: true,
};

const CANCELLED_ELSEWHERE = {
  code: "step_cancelled",
  message: "The step's job was cancelled while its run continued.",
  isFinal: true,
} as const;

function byEnd(one: StepDraft | ItemRun, other: StepDraft | ItemRun): number {
  return (one.endedSeq ?? 0) - (other.endedSeq ?? 0);
}

function waiting(items: readonly ItemRun[]): number {
  return items.filter(({ status }) => status === "queued").length;
}

/** Returns the items of the next attempt. Completed items and items with a final error are kept; all others are queued again. */
function triedAgain({ items }: StepDraft): readonly ItemRun[] {
  return items.map((item): ItemRun => {
    const { index, status } = item;
    if (status === "succeeded") return kept(item);
    if (item.error?.isFinal === true) return { index, status, error: item.error, isKept: true };
    return { index, status: "queued" };
  });
}

/** Returns a completed item in the form in which a later attempt keeps it. */
function kept({ index, output, outputRef }: ItemRun): ItemRun {
  return { index, status: "succeeded", output, ...(outputRef === undefined ? {} : { outputRef }), isKept: true };
}

function cancelQueued(run: StepDraft): void {
  for (const item of run.items) if (item.status === "queued") item.status = "cancelled";
}

function listFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "Expected for_each to be a list.";
  if (value.length <= FOR_EACH_ITEMS_MAX) return undefined;
  return `Expected for_each to have at most ${FOR_EACH_ITEMS_MAX} items, got ${value.length}.`;
}
