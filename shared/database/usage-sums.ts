/**
 * Sums of usage. The table usage_hour contains sums by hour up to usage_rollup.until. Every reader adds the later records in the same
 * statement. A concurrent roll-up therefore never causes a record to be counted twice or not at all.
 */
import type { Database, Queryable } from "./client.ts";
import { latencyQuantile } from "./latency-histogram.ts";

/** Additional time that the driver waits after the server's statement timeout, in milliseconds. */
const CANCEL_MS = 2_000;

/** Prevents usage records from ending before the time of this call. The next roll-up can therefore include all records up to this time. */
export async function raiseUsageFloor(target: Queryable): Promise<void> {
  await target.query("select raise_usage_floor()");
}

/**
 * Adds the usage records of the next `stepMs` milliseconds to the sums, in one transaction. Returns the time span of records that are ready
 * but not yet added, in milliseconds. Returns null if another process is rolling up.
 * @param limitMs statement timeout in milliseconds, for a step that may exceed the usual timeout
 * @throws Error with the SQLSTATE of a statement timeout; nothing was changed
 */
export async function rollUpStep(database: Database, stepMs: number, limitMs?: number): Promise<bigint | null> {
  const step = async (target: Queryable): Promise<bigint | null> => {
    const [row] = await target.query<{ left_ms: bigint | null }>("select roll_up_usage($1) as left_ms", [stepMs]);
    return row?.left_ms ?? null;
  };
  if (limitMs === undefined) return step(database);
  return database.slowTransaction(limitMs + CANCEL_MS, async (tx) => {
    await tx.query("select set_config('statement_timeout', $1, true)", [String(limitMs)]);
    return step(tx);
  });
}

/** Returns how far the sums lag behind the usage records, in seconds. */
export async function usageBehindSeconds(target: Queryable): Promise<number> {
  const [row] = await target.query<{ seconds: number }>(
    "select extract(epoch from clock_timestamp() - until)::float8 as seconds from usage_rollup",
  );
  return Math.max(0, row?.seconds ?? 0);
}

/** Groups of a sum. `label` groups by the values of one label, which the query names. */
export type UsageGroup = "model" | "key" | "member" | "workflow" | "status" | "label";
export type UsageStatus = "succeeded" | "failed" | "cancelled" | "lost";

export interface UsageFilter {
  /** Limits the sum to keys of this member. */
  readonly memberId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly workflowId: string | null;
  readonly status: UsageStatus | null;
  /** Limits the result to calls with these labels. Sums allow one label. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Length of a sum's time bucket. `period`: one bucket for the whole period. */
export type UsageUnit = "hour" | "day" | "period";

export interface UsageQuery extends UsageFilter {
  /** Start and end of the period. Both are at the start of an hour, or of a UTC day if `unit` is `day`. */
  readonly start: Date;
  readonly end: Date;
  readonly unit: UsageUnit;
  readonly groups: readonly UsageGroup[];
  /** Name of the label by which the sums are grouped or filtered; null for none. */
  readonly label: string | null;
  readonly limit: number;
}

export interface UsageSum {
  readonly start: Date;
  readonly model?: string;
  readonly key_id?: string;
  readonly member_id?: string;
  /** Workflow of the calls; null for calls without a stored workflow. */
  readonly workflow_id?: string | null;
  readonly status?: UsageStatus;
  /** Value of the label; null for calls without it. */
  readonly label_value?: string | null;
  readonly calls: bigint;
  readonly failed: bigint;
  /** Credits charged, in nano-credits. */
  readonly settled: bigint;
  readonly tokens: bigint;
  /** Latency in milliseconds that 95 % of the succeeded calls did not exceed, see `latencyQuantile`; null if no call succeeded. */
  readonly latency_p95_ms: number | null;
}

const NO_WORKFLOW = "'00000000-0000-0000-0000-000000000000'::uuid";

const COLUMNS: Readonly<Record<UsageGroup, string>> = {
  model: "s.model",
  key: "s.key_id",
  member: "k.member_id",
  workflow: `nullif(s.workflow_id, ${NO_WORKFLOW}) as workflow_id`,
  status: "s.status",
  label: "s.label_value",
};

/** Start of a sum's time bucket, for the period from $2 to $3 with the unit $4. */
const START = `case when $4::text = 'period' then $2::timestamptz else date_trunc($4::text, s.hour, 'UTC') end as start`;

const summedOf = ({ by }: SummedPeriod): string => `h.${by} as hour, h.key_id, h.model, h.workflow_id, h.status`;

/** Period that is read from the sums by day or by hour, as SQL. */
interface SummedPeriod {
  readonly by: "day" | "hour";
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;

/** Splits a period: whole UTC days are read from the sums by day, and the rest of it by hour. */
function summedPeriods({ unit, start, end }: Pick<UsageQuery, "unit" | "start" | "end">): readonly SummedPeriod[] {
  const [from, to] = [start.getTime(), end.getTime()];
  const [firstDay, lastDay] = [Math.ceil(from / DAY_MS) * DAY_MS, Math.floor(to / DAY_MS) * DAY_MS];
  if (unit === "hour" || firstDay >= lastDay) return [{ by: "hour", from: "$2", to: "$3" }];
  const at = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`;
  return [
    { by: "day", from: at(firstDay), to: at(lastDay) },
    ...(from < firstDay ? [{ by: "hour", from: "$2", to: at(firstDay) } as const] : []),
    ...(lastDay < to ? [{ by: "hour", from: at(lastDay), to: "$3" } as const] : []),
  ];
}

const isIn = ({ by, from, to }: SummedPeriod): string => `h.${by} >= ${from} and h.${by} < ${to}`;

/** Returns SQL for the sums of all calls in the period. */
const allSummed = (
  period: SummedPeriod,
): string => `select ${summedOf(period)}, h.calls, h.settled, h.tokens, h.latencies, null::text as label_value
  from ${period.by === "day" ? "usage_by_day" : "usage_hour"} h
  where h.workspace_id = $1 and ${isIn(period)}`;

/** Returns SQL for the sums of calls with the label $11. With the sign `-` and no value, they are subtracted from the sums of all calls. */
const labelSummed = (
  sign: "" | "-",
  period: SummedPeriod,
): string => `select ${summedOf(period)}, ${sign}h.calls, ${sign}h.settled, ${sign}h.tokens, ${sign}h.latencies, ${sign === "" ? "h.value" : "null::text"} as label_value
  from ${period.by === "day" ? "usage_label_by_day" : "usage_label_hour"} h
  where h.workspace_id = $1 and h.label = $11 and ${isIn(period)}`;

/**
 * SQL for the label's value of a later record. It counts like the next roll-up: once a day has the maximum number of values, further values
 * are counted as `other`.
 */
const LATER_VALUE = `case
  when u.labels->>$11::text is null then null
  when (u.ended_at at time zone 'utc')::date not in (select day from full_day) then u.labels->>$11::text
  when exists (select from usage_label_value v where v.day = (u.ended_at at time zone 'utc')::date and v.workspace_id = $1
                 and v.label = $11 and v.value = u.labels->>$11::text) then u.labels->>$11::text
  else 'other' end`;

/** SQL part with the days on which the label $11 has the maximum number of values. */
const FULL_DAYS = `with full_day as materialized (
       select v.day from usage_label_value v
       where v.day >= (select (until at time zone 'utc')::date from usage_rollup) and v.workspace_id = $1 and v.label = $11
       group by 1 having count(*) >= usage_label_values_max()
     )`;

/** Returns usage sums, sorted by time and then by group. Periods without usage are omitted. */
export function sumUsage(database: Database, workspaceId: string, query: UsageQuery): Promise<UsageSum[]> {
  const { groups, unit } = query;
  const asksWorkflow = groups.includes("workflow") || query.workflowId !== null;
  const places = groups.map((_group, index) => String(index + 2));
  const { label } = query;
  const value = label !== null && Object.hasOwn(query.labels, label) ? query.labels[label] : undefined;
  const sums = summedPeriods(query).flatMap((period) => {
    if (label === null) return [allSummed(period)];
    if (value !== undefined) return [`${labelSummed("", period)} and h.value = $12`];
    return [labelSummed("", period), allSummed(period), labelSummed("-", period)];
  });
  const text = `${label === null ? "" : FULL_DAYS}
     select ${[START, ...groups.map((group) => COLUMNS[group])].join(", ")},
            sum(s.calls)::bigint as calls, coalesce(sum(s.calls) filter (where s.status in ('failed', 'lost')), 0)::bigint as failed,
            sum(s.settled)::bigint as settled, sum(s.tokens)::bigint as tokens, sum(s.latencies)::text as latencies
     from (
       ${sums.join("\n       union all\n       ")}
       union all
       select date_trunc('hour', u.ended_at, 'UTC'), u.key_id, u.model,
              ${asksWorkflow ? `coalesce(r.workflow_id, ${NO_WORKFLOW})` : NO_WORKFLOW}, u.status, 1, u.settled, u.tokens,
              latency_count(u.status, u.started_at, u.ended_at), ${label === null ? "null" : LATER_VALUE}
       from usage_record u
       ${asksWorkflow ? "left join job j on j.id = u.job_id left join run r on r.id = j.run_id" : ""}
       where u.workspace_id = $1 and u.ended_at >= greatest($2, (select until from usage_rollup)) and u.ended_at < $3
     ) s
     ${groups.includes("member") ? "join api_key k on k.id = s.key_id" : ""}
     where ($5::uuid is null or s.key_id = any (array(select o.id from api_key o where o.workspace_id = $1 and o.member_id = $5)))
       and ($6::uuid is null or s.key_id = $6)
       and ($7::text is null or s.model = $7)
       and ($8::uuid is null or s.workflow_id = $8)
       and ($9::text is null or s.status = $9)
       ${value === undefined ? "" : "and s.label_value = $12::text"}
     group by ${["1", ...places].join(", ")}
     ${label === null ? "" : "having sum(s.calls) <> 0"}
     order by ${["1", ...places].join(", ")}
     limit $10`;
  const { start, end, memberId, keyId, model, workflowId, status, limit } = query;
  return database.transaction(async (tx) => {
    // The planner overestimates a large workspace's month as a third of the table and would choose a full scan: 280 ms instead of 90.
    // Sums of histograms need more memory than the default, or they are sorted on disk.
    await tx.query("select set_config('enable_seqscan', 'off', true), set_config('work_mem', '32MB', true)");
    const labelValues = [label, value].filter((one) => one != null);
    const values = [workspaceId, start, end, unit, memberId, keyId, model, workflowId, status, limit, ...labelValues];
    const rows = await tx.query<Omit<UsageSum, "latency_p95_ms"> & { readonly latencies: string | null }>(text, values);
    return rows.map(({ latencies, ...sum }) => ({
      ...sum,
      latency_p95_ms: latencies === null ? null : latencyQuantile(latencies, 0.95),
    }));
  });
}

export interface RefusedSum {
  readonly start: Date;
  readonly calls: bigint;
}

/** Returns the number of refused calls by time. Periods without refused calls are omitted. */
export function sumRefusedCalls(
  target: Queryable,
  workspaceId: string,
  { memberId, keyId, start, end, unit }: Pick<UsageQuery, "memberId" | "keyId" | "start" | "end" | "unit">,
): Promise<RefusedSum[]> {
  return target.query<RefusedSum>(
    `select ${START}, sum(s.calls)::bigint as calls
     from refused_hour s
     where s.workspace_id = $1 and s.hour >= $2 and s.hour < $3
       and ($5::uuid is null or s.key_id in (select k.id from api_key k where k.workspace_id = $1 and k.member_id = $5))
       and ($6::uuid is null or s.key_id = $6)
     group by 1`,
    [workspaceId, start, end, unit, memberId, keyId],
  );
}
