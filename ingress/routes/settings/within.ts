/** Helpers for routes that exist for members and for operators: base URL path, allowed callers, and the workspace of a call. */
import type { Database } from "#shared/database/client.ts";
import { findWorkspaceSummary, type WorkspaceSummary } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";

import type { RequestFacts, SettingsCall } from "../../core/call.ts";
import { pathId } from "./body.ts";
import type { Gate } from "./resource.ts";

export interface Within {
  /** Base URL path of a workspace. */
  readonly path: string;
  readonly readers: Gate;
  readonly writers: Gate;
  /** Word inside the operation ids of these routes, such as `listOperatorFallbackChains`; empty for members. */
  readonly operationInfix: "" | "Operator";
}

/**
 * Returns the id of the workspace: for a member, the workspace of the key; for an operator, the workspace in the URL path. @throws ApiError
 * `not_found`
 */
export async function workspaceIdOf(database: Database, call: SettingsCall): Promise<string> {
  return "operator" in call ? (await workspaceOf(database, call)).id : call.caller.workspaceId;
}

/** Returns the workspace that an operator names in the URL path. @throws ApiError `not_found` */
export async function workspaceOf(database: Database, call: RequestFacts): Promise<WorkspaceSummary> {
  const row = await findWorkspaceSummary(database, pathId(call, "id", noWorkspace));
  if (row === undefined) throw noWorkspace();
  return row;
}

export function noWorkspace(): ApiError {
  return new ApiError("not_found", "There is no such workspace.");
}
