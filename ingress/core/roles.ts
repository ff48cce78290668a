/**
 * Checks that a caller's role may use a workspace's settings. Their URL paths start with /workspaces/{workspaceId}, where workspaceId is an
 * id or a name.
 */
import type { Role } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";

import type { RouteCall } from "./call.ts";

export const ANY_ROLE: readonly Role[] = ["owner", "admin", "developer", "billing"];

/** Ranks of roles: a member cannot act for, or change, a member of a higher rank. */
const RANKS: Readonly<Record<Role, number>> = { owner: 2, admin: 1, developer: 0, billing: 0 };

/** True if the first role may act for, or change, the second. */
export const isAbove = (role: Role, other: Role): boolean => RANKS[role] >= RANKS[other];

/**
 * Creates a check for `Route.authorize` that admits only these roles. Another workspace gets 404 whether or not it exists, without a
 * database query.
 * @throws ApiError `not_found` for another workspace, then `permission_denied` for another role
 */
export function allow(...roles: readonly Role[]): (call: RouteCall) => void {
  return (call) => {
    const { workspaceId, workspaceName, role } = call.caller;
    const asked = call.params["workspaceId"];
    if (asked?.toLowerCase() !== workspaceId && asked !== workspaceName) {
      throw new ApiError("not_found", "There is no such workspace.");
    }
    checkRole(role, roles);
  };
}

/**
 * Creates a role check for URL paths without a workspace, which refer to the workspace of the key. @throws ApiError `permission_denied` for
 * another role
 */
export function allowRoles(...roles: readonly Role[]): (call: RouteCall) => void {
  return (call) => checkRole(call.caller.role, roles);
}

function checkRole(role: Role, roles: readonly Role[]): void {
  if (roles.includes(role)) return;
  throw new ApiError("permission_denied", `Expected a key with the role ${roles.join(" or ")}, got ${role}.`);
}
