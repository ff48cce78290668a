/** Readers of rows that belong to a member. A row is visible to its member, and to owners and admins of the workspace. */

export interface Viewer {
  readonly workspaceId: string;
  /** Id of the reading member; null for the service itself. */
  readonly memberId: string | null;
  /** True for owners and admins, who see rows of all members. */
  readonly seesAll: boolean;
}

/**
 * Returns a reader who sees all rows of the workspace, for the service itself. Use it only for a caller whose permission was checked
 * before.
 */
export const anyMember = (workspaceId: string): Viewer => ({ workspaceId, memberId: null, seesAll: true });

/** Returns the SQL parameters of visibility conditions: `$1` workspace, `$2` member, `$3` true if all rows are visible. */
export const viewerValues = ({ workspaceId, memberId, seesAll }: Viewer) => [workspaceId, memberId, seesAll] as const;
