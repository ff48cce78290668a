/** SQL that reads the data of a job for operators, without its request and its result. */
import type { Lane, Pool } from "#shared/queue/subjects.ts";

import type { Queryable } from "./client.ts";
import type { JobState } from "./jobs.ts";

export interface JobFacts {
  readonly id: string;
  readonly workspace_id: string;
  readonly key_id: string | null;
  readonly pool: Pool;
  readonly lane: Lane;
  readonly kind: string;
  readonly modality: string;
  readonly model: string | null;
  readonly state: JobState;
  readonly progress: number;
  readonly attempt: number;
  readonly dispatch: number;
  readonly claims: number;
  readonly rests: number;
  readonly worker: string | null;
  readonly lease_until: Date | null;
  readonly is_at_provider: boolean;
  readonly is_cancel_requested: boolean;
  readonly unknown_since: Date | null;
  readonly error_code: string | null;
  /** Credits charged for the job, in nano-credits. */
  readonly credits: bigint | null;
  readonly run_id: string | null;
  readonly step_id: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly deadline: Date;
}

/** Returns the data of a job in any workspace; undefined if the job does not exist. */
export async function findJobFacts(target: Queryable, id: string): Promise<JobFacts | undefined> {
  const rows = await target.query<JobFacts>(
    `select id, workspace_id, key_id, pool, lane, kind, modality, model, state, progress, attempt, dispatch, claims, deferrals as rests, worker,
            lease_end(lease_until, worker) as lease_until, provider_job is not null as is_at_provider, cancel_requested as is_cancel_requested, unknown_since,
            error->>'code' as error_code, credits, run_id, step_id, created_at, started_at, ended_at, deadline
     from job
     where id = $1`,
    [id],
  );
  return rows[0];
}

/** Returns the open holds of a job. */
export function holdsOfJob(
  target: Queryable,
  { workspace_id: workspaceId, id }: Pick<JobFacts, "workspace_id" | "id">,
): Promise<{ readonly attempt: number; readonly amount: bigint; readonly deadline: Date }[]> {
  return target.query(
    "select attempt, amount, deadline from hold where workspace_id = $1 and job_id = $2 order by attempt",
    [workspaceId, id],
  );
}
