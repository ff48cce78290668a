/** Ends of runs and of attempts of steps, as metrics: counted by the worker that has written them. */
import type { Metrics } from "#shared/metrics.ts";

import { isEnded, type RunState, type StepStatus } from "./state.ts";
import type { StoredRun } from "./store.ts";

export function countEnds(
  { workflowRuns, workflowSteps }: Pick<Metrics, "workflowRuns" | "workflowSteps">,
  before: StoredRun,
  after: RunState,
): void {
  if (!isEnded(before.state.status) && isEnded(after.status)) workflowRuns.inc(after.status);
  const types = new Map(before.compiled.definition.steps.map(({ id, type }) => [id, type]));
  // Attempts of steps are only ever added, and keep their place.
  for (const [place, { stepId, status }] of after.stepRuns.entries()) {
    const was = before.state.stepRuns[place];
    if (!isOver(status) || (was && isOver(was.status))) continue;
    workflowSteps.inc(types.get(stepId) ?? "unknown", status);
  }
}

function isOver(status: StepStatus): boolean {
  return status !== "queued" && status !== "running";
}
