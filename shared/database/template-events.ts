/** Events of the installation itself, told in the operator's own workspace. */
import { jobIdOf } from "#shared/ids.ts";

import type { Queryable } from "./client.ts";

/**
 * A stored workflow could not run a step, since what it calls is not offered any more. Once a day for each workflow, step and missing
 * thing: the id says so. Nothing happens where the workspace is gone.
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
