/** Lists ended calls one by one, with usage, charge and the run whose step made the call. A run's usage is the sum of its steps. */
import type { Queryable } from "./client.ts";
import type { UsageFilter } from "./usage-sums.ts";
import { hasBodies } from "./kept-bodies.ts";
import { type FailedAttempt, FAILURE } from "./usage-failures.ts";
import { PARTS, type UsageRow } from "./usage.ts";

export interface UsageRequestRow extends Omit<UsageRow, "model"> {
  /** Slug of the model; null for a run. */
  readonly model: string | null;
  /** Run whose step made the call. Available only while the job of the step is stored. */
  readonly run_id: string | null;
  readonly workflow_id: string | null;
  /** Error code of the call's job. Available only while the job is stored. */
  readonly job_error: string | null;
  /** Labels of the call, see shared/calls/labels.ts; null for none. */
  readonly labels: Readonly<Record<string, string>> | null;
  /** True if request and response of the call are kept. */
  readonly has_bodies: boolean;
  /** Kind of the call (shared/calls/usage-kind.ts); null if unknown, and for a run. */
  readonly kind: string | null;
  /** Milliseconds from the start to the last request to a provider; null if there was none or it is unknown. */
  readonly asked_ms: number | null;
  /** Milliseconds from the start to the first part of a streamed response; null for other calls. */
  readonly first_ms: number | null;
  /** Failed attempts of a call that succeeded after them; null without any. */
  readonly tries: readonly FailedAttempt[] | null;
}

/** Position in the list of usage records: a job and one of its attempts. Each redrive of a job creates a further attempt. */
export interface UsagePlace {
  readonly jobId: string;
  readonly attempt: number;
}

export interface UsageRequestQuery extends Omit<UsageFilter, "workflowId"> {
  /** Limits the list to calls of this run's steps, and of the runs that they started. */
  readonly runId: string | null;
  /** Kind of the calls; null for all. */
  readonly kind: string | null;
  readonly start: Date | null;
  readonly end: Date | null;
  /** Call behind which the page starts; null for the first page. */
  readonly after: UsagePlace | null;
  readonly limit: number;
}

const RECORD = `u.job_id, u.attempt, u.key_id, u.model, u.source, u.status, u.units, u.is_estimated, u.held, u.settled, u.uncollected,
            u.tokens, u.labels, u.started_at, u.ended_at, u.kind, u.asked_ms, u.first_ms, u.tries`;
const ORDER = "order by u.ended_at desc, u.job_id desc, u.attempt desc";

const withRun = (from: string): string =>
  `select ${RECORD}, ${PARTS}, ${FAILURE}, ${hasBodies("u.workspace_id", "u.job_id")}, j.run_id, r.workflow_id, case when j.attempt = u.attempt then j.error->>'code' end as job_error
     from (${from}) u
     left join job j on j.id = u.job_id
     left join run r on r.id = j.run_id
     ${ORDER}`;

/** Returns SQL for the ids of all jobs and runs that a run's steps started, including those of child runs. */
const workOf = (run: string): string => `
  with recursive work (id, is_run) as (
    select work_id, is_run from step_item where run_id = ${run} and work_id is not null
    union all
    select i.work_id, i.is_run from work w join step_item i on i.run_id = w.id where w.is_run and i.work_id is not null
  )
  select id from work where not is_run`;

/** Returns a page of ended calls, newest first. */
export async function pageUsageRequests(
  target: Queryable,
  workspaceId: string,
  query: UsageRequestQuery,
): Promise<UsageRequestRow[]> {
  const { memberId, keyId, model, status, runId, kind, start, end, after, limit } = query;
  const labels = Object.entries(query.labels);
  const isSummed = await hasSums(target, workspaceId, query);
  const source = isSummed
    ? fromSums(labels.length > 0)
    : memberId === null
      ? scanOf("$2::uuid is null", runId)
      : // One index search for each key of a member: the workspace's other calls may be many times as many.
        `select u.*
       from api_key k
       cross join lateral (${scanOf("u.key_id = k.id", runId)}) u
       where k.workspace_id = $1 and k.member_id = $2
       ${ORDER}
       limit $10`;
  const asJson = labels.length === 0 ? null : JSON.stringify(query.labels);
  const place = [after?.jobId ?? null, after?.attempt ?? null];
  const extra = isSummed ? labels.flat() : runId === null ? [] : [runId];
  return target.query<UsageRequestRow>(
    `with place as materialized (
       select ended_at from usage_record where workspace_id = $1 and job_id = $8 and attempt = $9
     )
     ${withRun(source)}`,
    [workspaceId, memberId, keyId, model, status, start, end, ...place, limit, asJson, kind, ...extra],
  );
}

/** Conditions for a usage record that follows the place $8 and matches all filters but the member's. */
const MATCHES = `u.workspace_id = $1
         and ($3::uuid is null or u.key_id = $3)
         and ($4::text is null or u.model = $4)
         and ($5::text is null or u.status = $5)
         and ($6::timestamptz is null or u.ended_at >= $6)
         and ($7::timestamptz is null or u.ended_at < $7)
         and ($11::jsonb is null or u.labels @> $11)
         and ($12::text is null or u.kind = $12)
         and ($8::uuid is null or (u.ended_at <= (select ended_at from place)
           and (u.ended_at, u.job_id, u.attempt) < ((select ended_at from place), $8, $9)))`;

/** Returns SQL for a page that is found by reading records until enough of them match. */
const scanOf = (keys: string, runId: string | null): string => `select u.*
       from ${runId === null ? "usage_record u" : `(${workOf("$13")}) w join usage_record u on u.job_id = w.id`}
       where ${MATCHES} and ${keys}
       ${ORDER}
       limit $10`;

/**
 * True if a page is found faster by the sums. A model, a status, a kind or a label may be rare among millions of records, whose indexes contain
 * none of them. The sums have no further values of a label after its maximum, and no combinations of a label with others or a kind.
 */
async function hasSums(
  target: Queryable,
  workspaceId: string,
  { model, status, labels, runId, kind }: UsageRequestQuery,
): Promise<boolean> {
  const [label, ...others] = Object.keys(labels);
  if (runId !== null || others.length > 0) return false;
  if (label === undefined) return model !== null || status !== null || kind !== null;
  if (kind !== null) return false;
  const rows = await target.query(
    "select from usage_label_hour where workspace_id = $1 and label = $2 and value = 'other' limit 1",
    [workspaceId, label],
  );
  return rows.length === 0;
}

/**
 * Returns SQL for a page that is found by the sums: they name the hours and keys of matching calls. Records that are not summed yet are read
 * one by one.
 * @param isOfLabel true if the page is filtered by the label $13 with the value $14
 */
function fromSums(isOfLabel: boolean): string {
  const sums = isOfLabel
    ? "usage_label_hour h where h.workspace_id = $1 and h.label = $13 and h.value = $14"
    : "usage_hour h where h.workspace_id = $1 and ($12::text is null or h.kind = $12)";
  const own = (of: string): string =>
    `($2::uuid is null or ${of}.key_id = any (array(select k.id from api_key k where k.workspace_id = $1 and k.member_id = $2)))`;
  const matching = `${sums} and ${own("h")}
           and ($3::uuid is null or h.key_id = $3)
           and ($4::text is null or h.model = $4)
           and ($5::text is null or h.status = $5)`;
  // The newest hour may contain calls before the page; each other hour has at least one call of the page.
  return `select u.* from (
       with hour as materialized (
         select h.hour, sum(h.calls) as calls
         from ${matching}
           and ($6::timestamptz is null or h.hour > $6::timestamptz - interval '1 hour')
           and ($7::timestamptz is null or h.hour < $7)
           and ($8::uuid is null or h.hour <= (select ended_at from place))
         group by h.hour order by h.hour desc limit $10 + 1
       ), needed as materialized (
         select o.hour from (
           select hour, sum(calls) over newer - first_value(calls) over newer - calls as before
           from hour window newer as (order by hour desc)) o
         where o.before < $10
       ), called as materialized (
         select distinct n.hour, h.key_id from needed n cross join lateral (select h.key_id from ${matching} and h.hour = n.hour) h
       )
       select u.* from called c
       cross join lateral (
         select u.* from usage_record u
         where ${MATCHES} and u.key_id = c.key_id and u.ended_at >= c.hour and u.ended_at < c.hour + interval '1 hour'
           and u.ended_at < (select until from usage_rollup)
         -- Otherwise the planner may read all records and look for each one's hour.
         offset 0) u
       union all
       (select u.* from usage_record u
        where ${MATCHES} and ${own("u")} and u.ended_at >= (select until from usage_rollup)
        ${ORDER}
        limit $10)
     ) u
     ${ORDER}
     limit $10`;
}

/**
 * Finds the usage record of a call: of the given attempt, or of the last one. Returns undefined if the call is open, does not exist, or
 * belongs to another workspace or member.
 */
export async function findUsageRequest(
  target: Queryable,
  workspaceId: string,
  asked: { readonly jobId: string; readonly attempt: number | null; readonly memberId: string | null },
): Promise<UsageRequestRow | undefined> {
  const rows = await target.query<UsageRequestRow>(
    withRun(
      `select u.*
       from usage_record u
       where u.workspace_id = $1 and u.job_id = $2
         and ($3::smallint is null or u.attempt = $3)
         and ($4::uuid is null or u.key_id in (select k.id from api_key k where k.workspace_id = $1 and k.member_id = $4))
       order by u.attempt desc
       limit 1`,
    ),
    [workspaceId, asked.jobId, asked.attempt, asked.memberId],
  );
  return rows[0];
}

/**
 * Returns the total usage of an ended run. Returns undefined if the run is open, does not exist, or belongs to another workspace or member.
 */
export async function findRunUsage(
  target: Queryable,
  workspaceId: string,
  asked: { readonly runId: string; readonly memberId: string | null },
): Promise<UsageRequestRow | undefined> {
  const rows = await target.query<UsageRequestRow>(
    `with run as materialized (
       select * from run where workspace_id = $1 and id = $2 and ended_at is not null and ($3::uuid is null or member_id = $3)
     ), record as materialized (
       select u.* from run cross join lateral (${workOf("run.id")}) w join usage_record u on u.workspace_id = $1 and u.job_id = w.id
     )
     select r.id as job_id, 1 as attempt, r.key_id, null as model, null as source, r.status, r.id as run_id, r.workflow_id,
            coalesce((select jsonb_object_agg(unit, amount)
              from (select unit, sum(amount::numeric) as amount from record, jsonb_each_text(units) e(unit, amount) group by unit) x),
              '{}') as units,
            r.labels, s.is_estimated, s.held, r.credits as settled, s.uncollected, s.tokens, coalesce(r.started_at, r.created_at) as started_at,
            r.ended_at, '[]'::jsonb as parts, null as failure, false as has_bodies, r.error->>'code' as job_error,
            null as kind, null as asked_ms, null as first_ms, null as tries
     from run r
     cross join (select coalesce(bool_or(is_estimated), false) as is_estimated, coalesce(sum(held), 0)::bigint as held,
                        coalesce(sum(uncollected), 0)::bigint as uncollected, coalesce(sum(tokens), 0)::bigint as tokens from record) s`,
    [workspaceId, asked.runId, asked.memberId],
  );
  return rows[0];
}
