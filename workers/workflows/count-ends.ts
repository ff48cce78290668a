/** Reports metrics and spans of ended runs and step attempts. The worker that wrote the end reports them. */
import type { Metrics } from "#shared/metrics/metrics.ts";

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
  // Attempts of steps are only appended, so their positions are stable.
  for (const [place, { stepId, status }] of after.stepRuns.entries()) {
    const was = before.state.stepRuns[place];
    if (!isOver(status) || (was && isOver(was.status))) continue;
    workflowSteps.inc(types.get(stepId) ?? "unknown", status);
  }
}

/** Records the span of a run when the run ends, because many workers may have executed the run. */
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
