/** Permissions of callers on a workflow. */
import type { Caller } from "#shared/access/authenticate.ts";
import { findWorkflow, type WorkflowRow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { isKeeper, readerOf } from "#shared/workflows/access.ts";

import type { IngressContext } from "../context.ts";
import { callerOf, type RouteCall } from "../serve.ts";

/** Returns the workflow of the path; one that the caller may not see counts as none. @throws ApiError `workflow_not_found` */
export async function shownWorkflow(
  { database }: Pick<IngressContext, "database">,
  call: RouteCall,
): Promise<WorkflowRow> {
  const id = (call.params["id"] ?? "").toLowerCase();
  const row = isUuid(id) ? await findWorkflow(database, readerOf(callerOf(call)), id) : undefined;
  if (!row) throw noWorkflow();
  return row;
}

/** @throws ApiError `permission_denied` */
export function checkEditor(row: WorkflowRow, caller: Caller): void {
  if (isKeeper(row, caller) || (row.sharing_scope === "workspace" && row.share_permission === "edit")) return;
  throw new ApiError(
    "permission_denied",
    "This workflow is shared to be read or run, and changed by its maker, owners and admins.",
  );
}

/** @throws ApiError `permission_denied` */
export function checkKeeper(row: WorkflowRow, caller: Caller, what: string): void {
  if (isKeeper(row, caller)) return;
  throw new ApiError("permission_denied", `Expected the maker of the workflow, an owner or an admin to ${what} it.`);
}

export function noWorkflow(message = "There is no such workflow in this workspace."): ApiError {
  return new ApiError("workflow_not_found", message);
}
