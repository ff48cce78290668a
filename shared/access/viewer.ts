/** Decides which rows owned by members a caller may see. */
import type { Viewer } from "#shared/database/viewer.ts";

import type { Caller } from "./authenticate.ts";

export function viewerOf({
  workspaceId,
  memberId,
  role,
}: Pick<Caller, "workspaceId" | "memberId" | "role">): Viewer & { readonly memberId: string } {
  return { workspaceId, memberId, seesAll: role === "owner" || role === "admin" };
}
