/** Permissions of a member for workflows of the workspace. */
import type { Caller } from "#shared/access/authenticate.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import type { WorkflowReader, WorkflowRow } from "#shared/database/workflows.ts";

type Member = Pick<Caller, "workspaceId" | "memberId" | "role" | "tools">;

export function readerOf(member: Member): WorkflowReader {
  return { ...viewerOf(member), ...(member.tools ? { tools: member.tools } : {}) };
}

/** Returns true for a workflow's creator, and for owners and admins. */
export function isKeeper(row: WorkflowRow, member: Member): boolean {
  return row.created_by === member.memberId || readerOf(member).seesAll;
}

export function mayRun(row: WorkflowRow, member: Member): boolean {
  return isKeeper(row, member) || (row.sharing_scope === "workspace" && row.share_permission !== "read");
}
