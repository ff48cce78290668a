/** Workflows that run workflows: none runs itself, and none goes too deep. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findDefinition, findWorkflow, type WorkflowReader } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";

interface Named {
  readonly workflowId: string;
  readonly version: number | undefined;
  /** The step of the definition that is written through which it is run. */
  readonly param: string;
}

/**
 * @param id of the workflow whose definition it is; undefined for a new one
 * @throws ApiError `invalid_workflow_definition` naming the step
 */
export async function checkNesting(
  target: Queryable,
  reader: WorkflowReader,
  id: string | undefined,
  definition: WorkflowDefinition,
): Promise<void> {
  const known = new Set<string>();
  let level: Named[] = definition.steps.flatMap((step, at) => namedBy(step, `definition.steps[${at}].workflow_id`));
  for (let depth = 1; level.length > 0; depth += 1) {
    const next: Named[] = [];
    for (const named of level) {
      if (named.workflowId === id) throw refused(named, "Expected no workflow that runs itself.");
      if (depth > LIMITS.workflowDepthMax) {
        throw refused(named, `Expected workflows that run others to a depth of at most ${LIMITS.workflowDepthMax}.`);
      }
      const key = `${depth} ${named.workflowId} ${named.version ?? ""}`;
      if (known.has(key)) continue;
      known.add(key);
      if (known.size > LIMITS.workflowNestedMax) {
        throw refused(named, `Expected at most ${LIMITS.workflowNestedMax} workflows to be run in all.`);
      }
      const nested = await load(target, reader, named);
      next.push(...nested.steps.flatMap((step) => namedBy(step, named.param)));
    }
    level = next;
  }
}

function namedBy(step: WorkflowDefinition["steps"][number], param: string): readonly Named[] {
  return step.workflow_id === undefined
    ? []
    : [{ workflowId: step.workflow_id.toLowerCase(), version: step.version, param }];
}

async function load(target: Queryable, reader: WorkflowReader, named: Named): Promise<WorkflowDefinition> {
  const row = await findWorkflow(target, reader, named.workflowId);
  if (!row) throw refused(named, `Expected a workflow of this workspace, got ${named.workflowId}.`);
  const found = await findDefinition(target, row.id, named.version ?? row.latest_version);
  if (found === undefined) {
    throw refused(named, `Expected a version from 1 to ${row.latest_version} of ${row.id}, got ${named.version}.`);
  }
  return found as WorkflowDefinition;
}

function refused({ param }: Named, message: string): ApiError {
  return new ApiError("invalid_workflow_definition", message, { param });
}
