/** Checks the permissions of a caller on a workflow. */
import type { Caller } from "#shared/access/authenticate.ts";
import { mayUseTool } from "#shared/access/tools.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findWorkflow, type WorkflowRow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { isKeeper, readerOf } from "#shared/workflows/access.ts";

import type { IngressContext } from "../../context.ts";
import type { RouteCall } from "../../core/call.ts";

/**
 * Returns the workflow named in the URL path. A workflow that the caller may not see counts as missing. @throws ApiError
 * `workflow_not_found`
 */
export async function requireVisibleWorkflow(
  context: Pick<IngressContext, "database">,
  call: RouteCall,
): Promise<WorkflowRow> {
  const row = await findVisibleWorkflow(context.database, call.caller, call.params["id"] ?? "");
  if (!row) throw noWorkflow();
  return row;
}

/** Returns the workflow with this id. Undefined if the caller may not see it, or if the key's list of tools does not contain it. */
export async function findVisibleWorkflow(
  target: Queryable,
  caller: Caller,
  rawId: string,
): Promise<WorkflowRow | undefined> {
  const id = rawId.toLowerCase();
  return isUuid(id) && mayUseTool(caller, id) ? findWorkflow(target, readerOf(caller), id) : undefined;
}

/** Checks that the caller may edit the workflow. @throws ApiError `permission_denied` */
export function checkEditor(row: WorkflowRow, caller: Caller): void {
  if (isKeeper(row, caller) || (row.sharing_scope === "workspace" && row.share_permission === "edit")) return;
  throw new ApiError(
    "permission_denied",
    "This workflow is shared for reading or running. Only its creator, owners and admins can change it.",
  );
}

/** Checks that the caller may manage the workflow. @throws ApiError `permission_denied` */
export function checkKeeper(row: WorkflowRow, caller: Caller, what: string): void {
  if (isKeeper(row, caller)) return;
  throw new ApiError("permission_denied", `Only the creator of the workflow, an owner or an admin can ${what} it.`);
}

export function noWorkflow(message = "There is no such workflow in this workspace."): ApiError {
  return new ApiError("workflow_not_found", message);
}
