/** Open holds as an operator sees them. They are opened by admission and closed in shared/ledger, nowhere else. */
import type { Queryable } from "./client.ts";

export interface HoldRow {
  readonly job_id: string;
  readonly attempt: number;
  readonly workspace_id: string;
  readonly workspace: string;
  readonly key_id: string;
  readonly model: string;
  /** Nano-credits. */
  readonly amount: bigint;
  readonly created_at: Date;
  readonly deadline: Date;
  readonly is_overdue: boolean;
  /** Since when nobody can say what became of the job's paid work; null: that is no question. */
  readonly unknown_since: Date | null;
}

/** Across all workspaces, for operators: those whose deadline is nearest, or longest past, first. */
export function listHolds(target: Queryable, limit: number): Promise<HoldRow[]> {
  return target.query<HoldRow>(
    `select h.job_id, h.attempt, h.workspace_id, w.name as workspace, h.key_id, h.model, h.amount, h.created_at,
            h.deadline, h.deadline < now() as is_overdue, j.unknown_since
     from hold h
     join workspace w on w.id = h.workspace_id
     left join job j on j.id = h.job_id
     order by h.deadline
     limit $1`,
    [limit],
  );
}
