/** Readers of rows owned by a member: the owner, and owners and admins of the workspace. */

export interface Viewer {
  readonly workspaceId: string;
  /** Null for the service itself. */
  readonly memberId: string | null;
  /** True for owners and admins, who see rows of all members. */
  readonly seesAll: boolean;
}

/** Returns the reader for the service itself, on behalf of a caller that was checked before. */
export const anyMember = (workspaceId: string): Viewer => ({ workspaceId, memberId: null, seesAll: true });

/** Returns the values of `$1` workspace, `$2` member and `$3` (true if all rows are visible) for visibility conditions. */
export const viewerValues = ({ workspaceId, memberId, seesAll }: Viewer) => [workspaceId, memberId, seesAll] as const;
