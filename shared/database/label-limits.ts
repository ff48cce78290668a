/** Spend limits of end users and tags: finds and lists them for the settings. `shared/ledger/spend-limits.ts` changes and counts them. */
import type { Queryable } from "./client.ts";

/** Maximum number of end users and values of tags with a limit in a workspace, together. */
export const LABEL_LIMITS_MAX = 10_000;

/** Subject of a spend limit whose calls have a label of one value. */
export type LabelSubject = "end_user" | "tag";

/** Label of a call: `user` or the name of a tag, and its value. */
export interface Label {
  readonly name: string;
  readonly value: string;
}

export interface LabelLimit extends Label {
  readonly id: string;
  /** Percentages of each limit at which the workspace is notified. */
  readonly warn_at: readonly number[];
}

const ROWS = "select id, label as name, name as value, warn_at from spend_limit where workspace_id = $1";

/** Returns labels with a limit, sorted by name and value, starting behind the label `after`. @param page `name`: null lists all names */
export function pageLabelLimits(
  target: Queryable,
  workspaceId: string,
  page: {
    readonly kind: LabelSubject;
    readonly name: string | null;
    readonly after: Label | null;
    readonly limit: number;
  },
): Promise<LabelLimit[]> {
  const { kind, name, after, limit } = page;
  return target.query<LabelLimit>(
    `${ROWS} and label is not null and kind = $2 and ($3::text is null or label = $3)
       and ($4::text is null or (label, spend_limit.name) > ($4, $5))
     order by label, spend_limit.name
     limit $6`,
    [workspaceId, kind, name, after?.name ?? null, after?.value ?? null, limit],
  );
}

/** Returns the limit of a label; undefined if there is none. */
export async function findLabelLimit(
  target: Queryable,
  workspaceId: string,
  { name, value }: Label,
): Promise<LabelLimit | undefined> {
  const rows = await target.query<LabelLimit>(`${ROWS} and label = $2 and name = $3`, [workspaceId, name, value]);
  return rows[0];
}

/** Returns the number of labels with a limit in a workspace. */
export async function countLabelLimits(target: Queryable, workspaceId: string): Promise<number> {
  const [row] = await target.query<{ count: number }>(
    "select count(*)::int as count from spend_limit where workspace_id = $1 and label is not null",
    [workspaceId],
  );
  return row?.count ?? 0;
}
