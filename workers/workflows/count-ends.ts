/** Ends of runs and of attempts of steps, as metrics and spans: told by the worker that has written them. */
import type { Metrics } from "#shared/metrics.ts";

import { runFacts } from "#shared/tracing/attributes.ts";
import { beginSpan, isTracing } from "#shared/tracing/tracing.ts";

import { isEnded, type RunState, type StepStatus } from "./state.ts";
import type { StoredRun } from "./store.ts";

export function countEnds(
  { workflowRuns, workflowSteps }: Pick<Metrics, "workflowRuns" | "workflowSteps">,
  before: StoredRun,
  after: RunState,
): void {
  if (!isEnded(before.state.status) && isEnded(after.status)) {
    workflowRuns.inc(after.status);
    recordRun(before, after);
  }
  const types = new Map(before.compiled.definition.steps.map(({ id, type }) => [id, type]));
  // Attempts of steps are only ever added, and keep their place.
  for (const [place, { stepId, status }] of after.stepRuns.entries()) {
    const was = before.state.stepRuns[place];
    if (!isOver(status) || (was && isOver(was.status))) continue;
    workflowSteps.inc(types.get(stepId) ?? "unknown", status);
  }
}

/** Records the run once it has ended: many workers may have carried it on. */
function recordRun({ facts }: StoredRun, { status, attempt, error }: RunState): void {
  if (!isTracing()) return;
  const { id: runId, workspaceId, traceparent, createdAtMs } = facts;
  const attributes = runFacts({ runId, workspaceId, status, attempt });
  const origin = { link: traceparent ?? undefined };
  beginSpan("invoke_workflow", "internal", origin, attributes, createdAtMs).end(error?.code);
}

function isOver(status: StepStatus): boolean {
  return status !== "queued" && status !== "running";
}
