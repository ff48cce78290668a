/** Converts a run to the form in which its callers receive it. */
import type { WorkflowRun, WorkflowRunSummary, WorkflowStepRun } from "#schemas/generated/types.ts";
import type { RunRow, StepRunRow } from "#shared/database/runs.ts";
import { creditsNumber } from "#shared/base/money.ts";

type Json = Exclude<WorkflowStepRun["output"], undefined>;

interface PresentOptions {
  /** True to sort by step id and attempt; false for the order in which the steps became ready. */
  readonly isSorted: boolean;
  readonly hasInput: boolean;
  /** Credits held for open calls of the run, in nano-credits. Absent: the run is shown without them. */
  readonly heldNano?: bigint | undefined;
}

export function presentRun(
  row: RunRow,
  steps: readonly StepRunRow[],
  { isSorted, hasInput, heldNano }: PresentOptions,
): WorkflowRun {
  const ordered = isSorted ? steps.toSorted(byStep) : steps;
  const isTerminal = row.status !== "queued" && row.status !== "running";
  return {
    ...presentRunHead(row),
    // The run's row may be older than its steps: the sum must match the returned steps.
    creditsUsed: creditsNumber(creditsOf(steps)),
    ...(heldNano === undefined ? {} : { creditsHeld: creditsNumber(heldNano) }),
    stepRuns: ordered.map((step) => presentStepRun(step, isTerminal)),
    ...(hasInput && row.input !== null ? { input: JSON.parse(row.input) as Record<string, unknown> } : {}),
    ...(row.output === null ? {} : { output: JSON.parse(row.output) as Record<string, unknown> }),
    ...(row.error === null || row.status !== "failed" ? {} : { error: pick(row.error) }),
  };
}

/** Returns the total cost of the steps' ended calls and runs, in nano-credits. */
export function creditsOf(steps: readonly StepRunRow[]): bigint {
  return steps.reduce((sum, { credits }) => sum + credits, 0n);
}

export function presentRunHead(row: RunRow): WorkflowRunSummary {
  return {
    id: row.id,
    status: row.status,
    ...(row.workflow_id === null ? {} : { workflowId: row.workflow_id }),
    ...(row.version === null ? {} : { version: row.version }),
    mode: row.mode,
    ...(row.parent_id === null ? {} : { parentRunId: row.parent_id }),
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    creditsUsed: creditsNumber(row.credits),
    ...(row.max_nano === null ? {} : { maxCredits: creditsNumber(row.max_nano) }),
    durationMs: between(row.started_at, row.ended_at),
    createdAt: row.created_at.toISOString(),
  };
}

/**
 * Converts a step run for callers.
 * @param hasRunEnded true if the run has ended. A step that is still queued or running, for example at a provider, is then shown as
 * cancelled
 */
export function presentStepRun(row: StepRunRow, hasRunEnded = false): WorkflowStepRun {
  const { outputs, output_refs: references } = row;
  const isLarge = references?.some((one) => one !== null) === true || (references !== null && outputs === null);
  const hasOutput = row.status === "succeeded" && !isLarge;
  return {
    id: row.step_id,
    type: row.type,
    status: hasRunEnded && (row.status === "queued" || row.status === "running") ? "cancelled" : row.status,
    attempt: row.attempt,
    ...(row.child_run_ids === null ? {} : { childRunIds: [...row.child_run_ids] }),
    creditsUsed: creditsNumber(row.credits),
    ...(row.started_at === null ? {} : { startedAt: row.started_at.toISOString() }),
    durationMs: between(row.started_at, row.ended_at),
    ...(hasOutput ? { output: outputOf(row.is_list, outputs ?? []) } : {}),
    ...(row.status === "succeeded" && isLarge
      ? { outputRef: `/v1/workflows/runs/${row.run_id}/steps/${row.step_id}/output?attempt=${row.attempt}` }
      : {}),
    ...(row.error === null ? {} : { error: { code: row.error.code, message: row.error.message } }),
    ...(row.skipped_reason === null ? {} : { skippedReason: row.skipped_reason }),
  };
}

/**
 * Returns the output of a step.
 * @param outputs JSON texts by item; null for an item without output
 */
export function outputOf(isList: boolean, outputs: readonly (string | null)[]): Json {
  const values = outputs.map((text) => (text === null ? null : (JSON.parse(text) as Json)));
  return isList ? values : (values[0] ?? null);
}

function pick({ code, message, stepId }: NonNullable<RunRow["error"]>): NonNullable<WorkflowRun["error"]> {
  return { code, message, stepId };
}

function byStep(one: StepRunRow, other: StepRunRow): number {
  if (one.step_id !== other.step_id) return one.step_id < other.step_id ? -1 : 1;
  return one.attempt - other.attempt;
}

/** Returns the time between two dates in milliseconds; 0 if either is missing. */
function between(from: Date | null, to: Date | null): number {
  return from === null || to === null ? 0 : Math.max(0, to.getTime() - from.getTime());
}
