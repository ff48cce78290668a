/** Events about the installation, delivered in the operator's workspace. */
import { jobIdOf } from "#shared/base/ids.ts";

import type { Queryable } from "./client.ts";

/**
 * Reports that a stored workflow could not run a step, because the step's model or capability is no longer available. Reports at most once
 * a day for each workflow, step and target; the event id enforces this. Does nothing if the workspace is gone.
 */
export async function noteTemplateUnavailable(
  target: Queryable,
  adminWorkspaceId: string,
  what: { readonly workflowId: string; readonly stepId: string; readonly missing: string },
): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  await target.query(
    `insert into event (id, workspace_id, type, metadata)
     select $2, id, 'template.unavailable', $3::jsonb from workspace where id = $1
     on conflict do nothing`,
    [
      adminWorkspaceId,
      jobIdOf(what.workflowId, `template.unavailable ${what.stepId} ${what.missing} ${day}`),
      JSON.stringify(what),
    ],
  );
}
