/** Usage records, which contain the totals of each ended call. Written in shared/ledger and read here. */
import type { Queryable } from "./client.ts";
import { FAILURE, type FailureFacts } from "./usage-failures.ts";

export interface UsageRow {
  /** Id of the job. For a call over HTTP, this is its x-request-id. */
  readonly job_id: string;
  readonly attempt: number;
  readonly key_id: string;
  readonly model: string;
  readonly source: string | null;
  readonly status: "succeeded" | "failed" | "cancelled" | "lost";
  readonly units: Readonly<Record<string, number>>;
  readonly is_estimated: boolean;
  /** Credits held for the call, in nano-credits. `settled` and `uncollected` have the same unit. */
  readonly held: bigint;
  readonly settled: bigint;
  readonly uncollected: bigint;
  readonly tokens: bigint;
  readonly started_at: Date;
  readonly ended_at: Date;
  /** Usage of each model whose stream was interrupted and continued by another model, in order. */
  readonly parts: readonly UsagePart[];
  /** Reason of a failed call; null if none is recorded. */
  readonly failure: FailureFacts | null;
}

interface UsagePart {
  readonly model: string;
  /** Source that was called, as `provider/model`. */
  readonly source: string;
  readonly units: Readonly<Record<string, number>>;
  readonly is_estimated: boolean;
  /** Cost in nano-credits, as digits. */
  readonly amount: string;
  /** Class of the failure that interrupted the stream. */
  readonly fault: string;
}

export const PARTS = `coalesce((
  select jsonb_agg(jsonb_build_object('model', p.model, 'source', p.source, 'units', p.units,
                                      'is_estimated', p.is_estimated, 'amount', p.amount::text, 'fault', p.fault) order by p.part)
  from usage_part p
  where p.workspace_id = u.workspace_id and p.job_id = u.job_id and p.attempt = u.attempt), '[]') as parts`;

/**
 * Returns the usage records of all attempts of one call, in order. Returns an empty list if the call is open, does not exist, or belongs to
 * another workspace.
 */
export function findUsage(target: Queryable, workspaceId: string, jobId: string): Promise<UsageRow[]> {
  return target.query<UsageRow>(
    `select job_id, attempt, key_id, model, source, status, units, is_estimated, held, settled, uncollected, tokens,
            started_at, ended_at, ${PARTS}, ${FAILURE}
     from usage_record u
     where workspace_id = $1 and job_id = $2
     order by attempt`,
    [workspaceId, jobId],
  );
}
