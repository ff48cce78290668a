/** Saves the changes of a pass of `advance` in one statement: rows, frames for readers of the stream, and the event. */
import { isDataFault, type Queryable, SQL, sqlState, type SqlValue } from "#shared/database/client.ts";
import { SINGLE_CALL_WAIT_MS } from "#shared/database/grouped.ts";
import { CONTENDED_WAIT_MS, retryStatement } from "#shared/database/retry.ts";
import { courseText } from "#shared/ledger/settle.ts";
import { STEP_ROW_BYTES, RUN_ROW_BYTES } from "#shared/database/runs.ts";
import { type JobRequest, toAdmissionRequest } from "#shared/jobs/admission.ts";
import type { JobEnd } from "#shared/jobs/end.ts";
import { WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";

import { type Effect, isEnded, type ItemRun, type RunState, type StepRun, type WorkPlace } from "./state.ts";
import { placeKey, type StoredRun } from "./store.ts";

/** Call or sub-workflow that starts: the id of its job or run, and its timeout. */
export interface WorkStart {
  readonly workId: string;
  readonly isRun: boolean;
  readonly timeoutMs: number;
}

export interface Change {
  readonly before: StoredRun;
  readonly after: RunState;
  readonly effects: readonly Effect[];
  /** Starting calls and sub-workflows; the key is their place in the run. */
  readonly starts: ReadonlyMap<string, WorkStart>;
  /** Time until the next attempt of the run, in milliseconds; null if there is none. */
  readonly nextAttemptMs: number | null;
  /** Number of calls and runs that the pass has counted for the root run. */
  readonly work: number;
  /** Storage limit of the workspace, in bytes. */
  readonly storageBytesMax: number;
}

export interface Saved {
  readonly rev: number;
  /** Sequence number of the last frame. */
  readonly frames: number;
  /** Approximate size of the changed rows in memory, in bytes. */
  readonly bytes: number;
}

/**
 * Saves a pass. Returns `overtaken` if the run has changed since it was read, was cancelled, or its root has counted more calls and runs
 * meanwhile. Returns `full` if the storage limit of the workspace is exceeded. In both cases nothing is written.
 */
export async function saveRun(target: Queryable, change: Change): Promise<Saved | "overtaken" | "full"> {
  const { saved, values } = recordOf(change);
  try {
    const [row] = await target.query<{ is_saved: boolean }>(SAVE, values, "save_run");
    return row?.is_saved === true ? saved : "overtaken";
  } catch (error) {
    if (sqlState(error) === SQL.storageFull) return "full";
    throw error;
  }
}

/** Final state of a succeeded job of a step, and the call that the next pass of the run begins. */
export interface StepEnd {
  readonly end: JobEnd;
  /** Charge of the call, in nano-credits. */
  readonly usedNano: bigint;
  readonly resultText: string;
  /** Next job of the run; null if the run has ended. */
  readonly next: JobRequest | null;
  /** Worker that owns the next job, and the duration of its lease. */
  readonly owner: { readonly worker: string; readonly leaseMs: number };
}

/**
 * Saves a pass and admits the only call that it begins, in one statement (see advance_run).
 * @returns the saved state, and the dispatch number of the queue message to publish. The number is 0 if the call waits for capacity of the
 * queue. Undefined if nothing was written; the caller must then save and admit separately
 */
export async function beginStep(
  target: Queryable,
  first: JobRequest,
  change: Change,
): Promise<{ readonly saved: Saved; readonly dispatch: number } | undefined> {
  const { saved, values } = recordOf(change);
  // The statement locks the rows of its run meanwhile, so it waits only briefly; grouped admissions may wait longer.
  const all = [
    ...values,
    ...NO_END,
    JSON.stringify(toAdmissionRequest(first, 0)),
    null,
    null,
    SINGLE_CALL_WAIT_MS,
    null,
  ];
  try {
    const dispatch = await advanceRun(target, all);
    return dispatch === null ? undefined : { saved, dispatch };
  } catch (error) {
    if (isDataFault(error) || isApart(error) || isLockedAway(error)) return undefined;
    throw error;
  }
}

/**
 * Ends the job of a step, saves the next pass and admits the next job, in one statement (see advance_run).
 * @returns undefined if nothing was written; the caller must then end, save and admit separately
 * @throws Error if the database is unavailable for longer than `retryMs`
 */
export async function endStep(
  target: Queryable,
  { end, usedNano, resultText, next, owner }: StepEnd,
  change: Change,
  { retryMs, onRetry }: { readonly retryMs: number; readonly onRetry: (error: unknown, attempts: number) => void },
): Promise<Saved | undefined> {
  const { saved, values } = recordOf(change);
  const { id, epoch, usage } = end;
  const ending = [id, epoch, usedNano, usage.source, JSON.stringify(usage.units), usage.isEstimated, usage.tokens];
  const following = next === null ? null : JSON.stringify(toAdmissionRequest(next, 0));
  const all = [
    ...values,
    ...ending,
    resultText,
    following,
    owner.worker,
    owner.leaseMs,
    CONTENDED_WAIT_MS,
    courseText(usage),
  ];
  let mayBeDone = false;
  // A statement that waits for a lock may already have been executed by a try whose response was lost; only the database knows.
  const isFinal = (error: unknown): boolean =>
    isDataFault(error) || isApart(error) || (!mayBeDone && isLockedAway(error));
  try {
    const done = await retryStatement(() => advanceRun(target, all), {
      forMs: retryMs,
      isFinal,
      onRetry(error, attempts) {
        mayBeDone = true;
        onRetry(error, attempts);
      },
    });
    return done === null ? undefined : saved;
  } catch (error) {
    // If the database refuses the combined statement, each separate one reports its own reason.
    if (isFinal(error)) return undefined;
    throw error;
  }
}

async function advanceRun(target: Queryable, values: readonly SqlValue[]): Promise<number | null> {
  const [row] = await target.query<{ number: number | null }>(ADVANCE, [...values], "advance_run");
  return row?.number ?? null;
}

/**
 * Returns true for the error of a combined statement that was rolled back, because its parts conflict or capacity is missing. The parts
 * must then be executed separately.
 */
function isApart(error: unknown): boolean {
  const state = sqlState(error);
  return state === SQL.notTogether || state === SQL.storageFull;
}

/** Returns true for the error of a statement that timed out while waiting for a lock. */
function isLockedAway(error: unknown): boolean {
  const state = sqlState(error);
  return state === SQL.lockTimeout || state === SQL.deadlock;
}

function recordOf(change: Change): { readonly saved: Saved; readonly values: SqlValue[] } {
  const { before, after, effects } = change;
  const rev = before.facts.rev + 1;
  const known = new Map(before.state.stepRuns.map((run) => [`${run.stepId}/${run.attempt}`, run]));
  const steps: object[] = [];
  const items: object[] = [];
  const frames: Frame[] = [];
  let grown = 0;
  let large = 0;
  if (effects.some((effect) => effect.kind === "event" && effect.event === "run.started")) {
    frames.push({ type: "run.started" });
  }
  for (const [seq, run] of after.stepRuns.entries()) {
    const was = known.get(`${run.stepId}/${run.attempt}`);
    if (!was || isChanged(was, run)) {
      const record = stepRecord(change, run, seq);
      steps.push(record);
      if (!was) grown += STEP_ROW_BYTES + bytesOf(record.list) + bytesOf(record.error);
    }
    frames.push(...framesOf(was, run));
    for (const item of run.items) {
      const old = was?.items[item.index];
      if (old && !isItemChanged(old, item)) continue;
      const record = itemRecord(change, run, item);
      items.push(record);
      grown += grownBy(old, item, record);
      large += largeBytes(old, item);
    }
  }
  if (isEnded(after.status) && !isEnded(before.state.status)) frames.push({ type: "run.finished" });
  const last = before.facts.frames + frames.length;
  const stepsText = JSON.stringify(steps);
  const itemsText = JSON.stringify(items);
  const events = effects.flatMap((effect) => (effect.kind === "event" ? [effect.event] : []));
  const output = after.output === undefined ? null : JSON.stringify(after.output);
  grown += bytesOf(output);
  const values = [
    before.facts.id,
    rev,
    after.status,
    after.attempt,
    after.ends,
    output,
    after.error === undefined ? null : JSON.stringify(after.error),
    creditsOf(after),
    change.nextAttemptMs,
    before.facts.frames,
    last,
    stepsText,
    itemsText,
    JSON.stringify(frames),
    events,
    before.facts.isCancelRequested,
    change.work,
    before.facts.rootId,
    WORKFLOW_WORK_MAX,
    grown,
    change.storageBytesMax,
  ];
  return { saved: { rev, frames: last, bytes: stepsText.length + itemsText.length + large }, values };
}

/** SQL expression for a value of the type run_save, with its members in order. */
const RUN_SAVE = `row(${Array.from({ length: 21 }, (_, at) => `$${at + 1}`).join(", ")})::run_save`;
const SAVE = `select save_run(${RUN_SAVE}) as is_saved`;
/**
 * Null values for the parameters of `advance_run` about the end of a job, used for a pass that ends no job. In the parameter list, they are
 * between the pass and the call that it begins.
 */
const NO_END = Array.from({ length: 8 }, () => null);
const ADVANCE = `select advance_run(${RUN_SAVE}, ${Array.from({ length: NO_END.length + 5 }, (_, at) => `$${at + 22}`).join(", ")}) as number`;

interface Frame {
  readonly type: string;
  readonly step_id?: string;
  readonly attempt?: number;
}

function* framesOf(was: StepRun | undefined, { stepId, attempt, status }: StepRun): Generator<Frame> {
  const place = { step_id: stepId, attempt };
  if (status === was?.status || status === "queued") return;
  if (was === undefined || was.status === "queued") {
    if (status !== "skipped" && status !== "cancelled") yield { type: "step.started", ...place };
  }
  if (status !== "running") yield { type: "step.finished", ...place };
}

function isChanged(was: StepRun, run: StepRun): boolean {
  return was.status !== run.status || was.isDelayed !== run.isDelayed;
}

/** Returns true if an item must be written. Items that never began are not written when their step ends, because they follow the step. */
function isItemChanged(was: ItemRun, item: ItemRun): boolean {
  if (was.status === "queued" && item.status === "cancelled") return false;
  return was.status !== item.status || was.creditsNano !== item.creditsNano;
}

function bytesOf(value: unknown): number {
  if (value === null || value === undefined) return 0;
  return Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
}

/** Returns the number of bytes that an item adds: its row, its output in the row or object store, and the row of its run. */
function grownBy(was: ItemRun | undefined, item: ItemRun, record: ReturnType<typeof itemRecord>): number {
  let bytes = was ? 0 : STEP_ROW_BYTES;
  if (record.is_run) bytes += RUN_ROW_BYTES;
  if (was?.status !== item.status) bytes += bytesOf(record.output) + bytesOf(record.error);
  return bytes + largeBytes(was, item);
}

/** Returns the number of bytes that an output adds to the object store. Outputs of earlier attempts stay stored. */
function largeBytes(was: ItemRun | undefined, item: ItemRun): number {
  return was?.status !== item.status && item.outputRef !== undefined && !item.isKept ? bytesOf(item.output) : 0;
}

function stepRecord({ before, effects }: Change, run: StepRun, seq: number) {
  const { stepId, attempt } = run;
  const timer = effects.find(
    (effect) => effect.kind === "step_timer" && effect.stepId === stepId && effect.attempt === attempt,
  );
  return {
    step_id: stepId,
    attempt,
    seq,
    run_attempt: run.runAttempt,
    type: before.compiled.definition.steps.find(({ id }) => id === stepId)?.type ?? "",
    status: run.status,
    skipped_reason: run.skippedReason ?? null,
    list: run.list === undefined ? null : JSON.stringify(run.list),
    error: run.error ?? null,
    ended_seq: run.endedSeq ?? null,
    due_ms: timer?.kind === "step_timer" ? timer.seconds * 1_000 : null,
    has_started: run.status !== "queued" && run.status !== "skipped",
    has_ended: run.status !== "queued" && run.status !== "running",
  };
}

function itemRecord({ starts }: Change, { stepId, attempt }: StepRun, item: ItemRun) {
  const place: WorkPlace = { stepId, attempt, index: item.index };
  const start = item.status === "running" ? starts.get(placeKey(place)) : undefined;
  return {
    step_id: stepId,
    attempt,
    item: item.index,
    status: item.status,
    work_id: start?.workId ?? null,
    is_run: start?.isRun ?? false,
    output: item.output === undefined || item.outputRef !== undefined ? null : JSON.stringify(item.output),
    output_ref: item.outputRef ?? null,
    error: item.error ?? null,
    credits: item.creditsNano === undefined ? null : item.creditsNano.toString(),
    ended_seq: item.endedSeq ?? null,
    is_kept: item.isKept ?? false,
    timeout_ms: start?.timeoutMs ?? null,
    has_ended: item.status !== "queued" && item.status !== "running",
  };
}

/** Returns the charges of all ended jobs and sub-workflows of a run, in nano-credits. */
function creditsOf({ stepRuns }: RunState): bigint {
  let sum = 0n;
  for (const { items } of stepRuns) for (const { creditsNano } of items) sum += creditsNano ?? 0n;
  return sum;
}
