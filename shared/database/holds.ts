/** SQL about open credit holds for operators and the janitor. Only admission opens holds, and only shared/ledger closes them. */
import type { Queryable } from "./client.ts";
import { freshAndDue } from "./sweep-retries.ts";

export interface HoldRow {
  readonly job_id: string;
  readonly attempt: number;
  readonly workspace_id: string;
  readonly workspace: string;
  readonly key_id: string;
  readonly model: string;
  /** Amount in nano-credits. */
  readonly amount: bigint;
  readonly created_at: Date;
  readonly deadline: Date;
  readonly is_overdue: boolean;
  /** Time since which the job's outcome at the provider is unknown; null if it is known. */
  readonly unknown_since: Date | null;
}

const OPEN = `select h.job_id, h.attempt, h.workspace_id, w.name as workspace, h.key_id, h.model, h.amount, h.created_at,
            h.deadline, h.deadline < now() as is_overdue, j.unknown_since
     from hold h
     join workspace w on w.id = h.workspace_id
     left join job j on j.id = h.job_id`;

export interface HoldQuery {
  readonly after: { readonly jobId: string; readonly attempt: number } | null;
  readonly limit: number;
  /** True to return only holds past their deadline, false to return only the others; null to return all. */
  readonly isOverdue: boolean | null;
  readonly isUnknown: boolean | null;
}

/**
 * Returns one page of the holds of all workspaces, newest job first. Each page starts after a hold and not at an offset, so that a hold
 * closed meanwhile shifts no other holds between pages.
 */
export function pageHolds(target: Queryable, query: HoldQuery): Promise<HoldRow[]> {
  return target.query<HoldRow>(
    `${OPEN}
     where ($1::uuid is null or (h.job_id, h.attempt) < ($1, $2::smallint))
       and ($3::boolean is null or (h.deadline < now()) = $3)
       and ($4::boolean is null or (j.unknown_since is not null) = $4)
     order by h.job_id desc, h.attempt desc
     limit $5`,
    [query.after?.jobId ?? null, query.after?.attempt ?? null, query.isOverdue, query.isUnknown, query.limit],
  );
}

/** Credits of a job, or of a workflow run with all its jobs, in nano-credits. */
export interface BilledWork {
  /** Nano-credits charged for ended jobs. */
  readonly billedNano: bigint;
  /** Nano-credits held for open jobs. */
  readonly heldNano: bigint;
}

export async function findBilledWork(target: Queryable, workspaceId: string, id: string): Promise<BilledWork> {
  const [row] = await target.query<BilledWork>(
    `with recursive work as (
       select $2::uuid as id
       union
       select begun.id from work cross join lateral (
         select id from run where parent_id = work.id union all select id from job where run_id = work.id) begun)
     select (select coalesce(sum(settled), 0)::bigint from usage_record where workspace_id = $1 and job_id in (select id from work)) as "billedNano",
            (select coalesce(sum(amount), 0)::bigint from hold where workspace_id = $1 and job_id in (select id from work)) as "heldNano"`,
    [workspaceId, id],
  );
  if (!row) throw new Error("a sum without a row");
  return row;
}

export interface ExpiredHold extends Pick<
  HoldRow,
  "job_id" | "attempt" | "workspace_id" | "key_id" | "model" | "amount" | "deadline"
> {
  readonly may_exceed: boolean;
  /** Id of the credit line that contains the amount; null if no credit line does. */
  readonly line_id: string | null;
  /** Labels of the call for usage reports, by name. */
  readonly labels: Readonly<Record<string, string>> | null;
}

/**
 * Returns holds past their deadline, earliest deadline first. Compares with now(), because an index cannot be searched by
 * clock_timestamp(). Returns none while the server has been up for less than `startedMs`, so that processes which could not settle during
 * an outage can do so first.
 */
export function expiredHolds(target: Queryable, max: number, startedMs: number): Promise<ExpiredHold[]> {
  return target.query<ExpiredHold>(
    freshAndDue(
      "expired holds",
      "h.job_id || '.' || h.attempt",
      (
        condition,
      ) => `select job_id, attempt, workspace_id, key_id, model, amount, deadline, may_exceed, line_id, labels from hold h
       where deadline < now() and pg_postmaster_start_time() < now() - $2 * interval '1 millisecond' and ${condition}
       order by deadline
       limit $1`,
    ),
    [max, startedMs],
  );
}

const COUNTED_MAX = 10_000;
const INSPECTED_MAX = 1_000;

/**
 * Returns the number of open holds, counted up to 10,000 and estimated by Postgres above. Also returns the age in seconds of the oldest
 * hold without a durable job, among the 1,000 holds with the earliest deadline. Holds of durable jobs are excluded: a job may wait for
 * hours, so their age does not indicate a lost call.
 */
export async function openHolds(
  target: Queryable,
): Promise<{ readonly count: number; readonly oldestSeconds: number }> {
  // A scalar subquery looks up each job; `not exists` would become a join that reads all jobs.
  const [row] = await target.query<{ count: bigint; estimate: number; oldest: number }>(
    `select (select count(*) from (select from hold order by deadline limit $1) counted) as count,
            (select reltuples::float8 from pg_class where oid = 'hold'::regclass) as estimate,
            (select coalesce(extract(epoch from now() - min(h.created_at)), 0)::float8
             from (select job_id, created_at from hold order by deadline limit $2) h
             where (select id from job where job.id = h.job_id) is null) as oldest`,
    [COUNTED_MAX, INSPECTED_MAX],
  );
  const counted = Number(row?.count ?? 0n);
  return {
    count: counted < COUNTED_MAX ? counted : Math.max(counted, row?.estimate ?? 0),
    oldestSeconds: row?.oldest ?? 0,
  };
}
