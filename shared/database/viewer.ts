/** Readers of rows that belong to a member: the member sees them, and so do owners and admins. */

export interface Viewer {
  readonly workspaceId: string;
  /** Null for the service itself. */
  readonly memberId: string | null;
  /** True for owners and admins, who see what belongs to other members too. */
  readonly seesAll: boolean;
}

/** The reader that is the service itself, for a caller who was checked before. */
export const anyMember = (workspaceId: string): Viewer => ({ workspaceId, memberId: null, seesAll: true });

/** Values of `$1` workspace, `$2` member and `$3` whether all are seen, as conditions on visible rows read them. */
export const viewerValues = ({ workspaceId, memberId, seesAll }: Viewer) => [workspaceId, memberId, seesAll] as const;
