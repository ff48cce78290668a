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
  /** Measure that sorts the groups of a bucket and ranks the groups of `top`, the largest first. */
  readonly rankedBy: UsageMeasure | null;
  /** Number of groups with sums of their own, of a query with one group: those with the highest sum of the whole period. Null: all. */
  readonly top: number | null;
  readonly limit: number;
}

/** Sum by which groups are ranked. */
export const USAGE_MEASURES = ["credits", "calls", "failed", "tokens"] as const;
export type UsageMeasure = (typeof USAGE_MEASURES)[number];

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
  /** True for the sum of all groups that are not in the top, whose group is null. */
  readonly is_rest: boolean;
  readonly calls: bigint;
  readonly failed: bigint;
  /** Credits charged, in nano-credits. */
  readonly settled: bigint;
  readonly tokens: bigint;
  /**
   * Latency in milliseconds that 95 % of the succeeded calls did not exceed, see `latencyQuantile`; null if no call succeeded. With `top`
   * also null for sums that are not in the top.
   */
  readonly latency_p95_ms: number | null;
}

const NO_WORKFLOW = "'00000000-0000-0000-0000-000000000000'::uuid";

/** Columns that distinguish the rows of the sums, apart from the label's value. */
type Column = "key_id" | "model" | "workflow_id" | "status";

/** Column of the sums for each group but the label, and the column of the result. A member's is the member of the key. */
const GROUPS: Readonly<Record<Exclude<UsageGroup, "label">, readonly [column: Column, result: string]>> = {
  model: ["model", "model"],
  key: ["key_id", "key_id"],
  member: ["key_id", "member_id"],
  workflow: ["workflow_id", "workflow_id"],
  status: ["status", "status"],
};
const isPlain = (group: UsageGroup): group is keyof typeof GROUPS => group !== "label";

/** Returns SQL for the columns of a row by which a query groups. `textOf` returns SQL for a column. */
function groupedSql({ groups }: Pick<UsageQuery, "groups">, textOf: (column: Column) => string): string[] {
  return groups.filter(isPlain).map((group) => {
    const [column, result] = GROUPS[group];
    if (group === "member") return `(select k.member_id from api_key k where k.id = ${textOf(column)}) as ${result}`;
    return `${group === "workflow" ? `nullif(${textOf(column)}, ${NO_WORKFLOW})` : textOf(column)} as ${result}`;
  });
}

/** Tables of the sums by day with their columns, the smallest table first. The last table has all columns. */
const DAY_TABLES: readonly (readonly [table: string, columns: readonly Column[]])[] = [
  ["usage_model_by_day", ["model", "workflow_id", "status"]],
  ["usage_key_by_day", ["key_id", "status"]],
  ["usage_by_day", ["key_id", "model", "workflow_id", "status"]],
];
const LABEL_DAY_TABLES: typeof DAY_TABLES = [
  ["usage_value_by_day", ["status"]],
  ["usage_label_by_day", ["key_id", "model", "workflow_id", "status"]],
];

/** Start of the time bucket of the time `at`, for the period from $2 to $3. */
const startOf = (unit: UsageUnit, at: string): string =>
  unit === "period" ? "$2::timestamptz" : `date_trunc('${unit}', ${at}, 'UTC')`;

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

/**
 * SQL for the label's value of a later record. It counts like the next roll-up: once a day has the maximum number of values, further values
 * are counted as `other`.
 */
const LATER_VALUE = `case
  when u.labels->>$10::text is null then null
  when (u.ended_at at time zone 'utc')::date not in (select day from full_day) then u.labels->>$10::text
  when exists (select from usage_label_value v where v.day = (u.ended_at at time zone 'utc')::date and v.workspace_id = $1
                 and v.label = $10 and v.value = u.labels->>$10::text) then u.labels->>$10::text
  else 'other' end`;

/** SQL part with the days on which the label $10 has the maximum number of values. */
const FULL_DAYS = `full_day as materialized (
       select v.day from usage_label_value v
       where v.day >= (select (until at time zone 'utc')::date from usage_rollup) and v.workspace_id = $1 and v.label = $10
       group by 1 having count(*) >= usage_label_values_max()
     )`;

/** Returns usage sums, sorted by time, by `rankedBy` unless it is null, and then by group. Periods without usage are omitted. */
export function sumUsage(database: Database, workspaceId: string, query: UsageQuery): Promise<UsageSum[]> {
  const { start, end, memberId, keyId, model, workflowId, status, limit, label } = query;
  const filters = [memberId, keyId, model, workflowId, status];
  const labelValues = [label, valueOf(query)].filter((one) => one != null);
  return database.transaction(async (tx) => {
    // The planner overestimates a large workspace's month as a third of the table and would choose a full scan: 280 ms instead of 90.
    // Sums of histograms need more memory than the default, or they are sorted on disk.
    await tx.query("select set_config('enable_seqscan', 'off', true), set_config('work_mem', '32MB', true)");
    const values = [workspaceId, start, end, ...filters, limit, ...labelValues];
    const rows = await tx.query<SummedRow>(sumSql(query), values);
    return rows.map(({ latencies, succeeded, ...sum }) => ({
      ...sum,
      latency_p95_ms: latencies === null ? null : latencyQuantile(latencies, Number(succeeded), 0.95),
    }));
  });
}

/** Returns the value of the label by which the sums are filtered; undefined if they are grouped by the label. */
const valueOf = ({ label, labels }: UsageQuery): string | undefined =>
  label !== null && Object.hasOwn(labels, label) ? labels[label] : undefined;

function sumSql(query: UsageQuery): string {
  const { groups, label, top } = query;
  const measure = query.rankedBy === null || query.rankedBy === "credits" ? "settled" : query.rankedBy;
  const plain = ["start", ...groups.filter(isPlain).map((group) => GROUPS[group][1])];
  const isByLabel = groups.includes("label");
  const isSplit = label !== null && valueOf(query) === undefined;
  const group = isByLabel ? "label_value" : plain[1];
  const ranked = top !== null && group !== undefined ? { count: top, group } : undefined;
  const summed = (rows: string, names: string, having = ""): string => `
       select ${names}, sum(calls)::bigint as calls, sum(failed)::bigint as failed, sum(succeeded)::bigint as succeeded,
              sum(settled)::bigint as settled, sum(tokens)::bigint as tokens, sum_latencies(latencies) as latencies
       from (${rows}) s
       group by ${names} ${having}`;
  const rowsOf = (isLabelled: boolean): string =>
    `${summedSql(query, isLabelled)} union all select * from later${isLabelled && isSplit ? " where label_value is not null" : ""}`;
  // Calls without a group, such as calls outside of workflows, are not ranked and have a sum of their own.
  const rankedRowsOf = (isLabelled: boolean): string =>
    ranked === undefined
      ? `select *, false as is_rest from (${rowsOf(isLabelled)}) s`
      : `select s.start, t.${ranked.group}, s.calls, s.failed, s.succeeded, s.settled, s.tokens,
                case when t.${ranked.group} is not null then s.latencies end as latencies,
                s.${ranked.group} is not null and t.${ranked.group} is null as is_rest
         from (${rowsOf(isLabelled)}) s left join top t using (${ranked.group})`;
  const listed = [...plain, ...(isByLabel ? ["label_value"] : []), "is_rest"].join(", ");
  const order = `start, is_rest, ${query.rankedBy === null ? "" : `${measure} desc, `}${listed}`;
  const measures = "calls, failed, succeeded, settled, tokens, latencies";
  const parts = [
    ...(label === null ? [] : [FULL_DAYS]),
    `later as materialized (${laterSql(query)})`,
    ...(ranked === undefined
      ? []
      : [
          `top as materialized (
             select ${ranked.group} from (${summedSql({ ...query, unit: "period" }, label !== null)} union all select * from later) s
             where ${ranked.group} is not null
             group by 1 order by sum(${measure}) desc, 1 limit ${ranked.count})`,
        ]),
    // Calls without the label are the difference to all calls. The sums of the label are made once, and then subtracted.
    ...(isSplit
      ? [
          `labelled as materialized (${summed(rankedRowsOf(true), listed)})`,
          `unlabelled as (${summed(
            `select ${plain.join(", ")}, ${measures} from (${rowsOf(false)}) a
             union all
             select ${plain.join(", ")}, -calls, -failed, -succeeded, -settled, -tokens, -latencies from labelled`,
            plain.join(", "),
            "having sum(calls) <> 0",
          )})`,
          `summed as (
             select * from labelled
             union all
             select ${plain.join(", ")}, null, false, calls, failed, succeeded, settled, tokens, ${ranked === undefined ? "latencies" : "null"} from unlabelled)`,
        ]
      : [`summed as (${summed(rankedRowsOf(label !== null), listed)})`]),
  ];
  return `with ${parts.join(", ")}
     select ${listed}, calls, failed, succeeded, settled, tokens, latencies::text as latencies
     from (select * from summed order by ${order} limit $9) s
     order by ${order}`;
}

/** Filters of a query by the column that they need. The later records are always filtered by all of them, so that each parameter occurs. */
const filtersOf = ({ memberId, keyId, model, workflowId, status }: UsageQuery) =>
  [
    {
      column: "key_id",
      value: memberId,
      text: (of) =>
        `($4::uuid is null or ${of} = any (array(select o.id from api_key o where o.workspace_id = $1 and o.member_id = $4)))`,
    },
    { column: "key_id", value: keyId, text: (of) => `($5::uuid is null or ${of} = $5)` },
    { column: "model", value: model, text: (of) => `($6::text is null or ${of} = $6)` },
    { column: "workflow_id", value: workflowId, text: (of) => `($7::uuid is null or ${of} = $7)` },
    { column: "status", value: status, text: (of) => `($8::text is null or ${of} = $8)` },
  ] as const satisfies readonly { column: Column; value: string | null; text: (of: string) => string }[];

/** Returns SQL for rows of the sums in the period: of all calls, or of the calls with the label $10. */
function summedSql(query: UsageQuery, isByLabel: boolean): string {
  const filters = filtersOf(query).filter(({ value }) => value !== null);
  const needed: readonly Column[] = [
    ...query.groups.filter(isPlain).map((group) => GROUPS[group][0]),
    ...filters.map(({ column }) => column),
  ];
  const byDay = (isByLabel ? LABEL_DAY_TABLES : DAY_TABLES).find(([, has]) => needed.every((one) => has.includes(one)));
  const byHour = isByLabel ? "usage_label_hour" : "usage_hour";
  const conditions = [
    ...filters.map(({ column, text }) => text(`h.${column}`)),
    ...(isByLabel ? ["h.label = $10"] : []),
    ...(valueOf(query) === undefined ? [] : ["h.value = $11"]),
  ];
  return summedPeriods(query)
    .map(
      ({ by, from, to }) => `
       select ${[`${startOf(query.unit, `h.${by}`)} as start`, ...groupedSql(query, (column) => `h.${column}`)].join(", ")},
              ${isByLabel ? "h.value" : "null::text"} as label_value, h.calls,
              case when h.status in ('failed', 'lost') then h.calls else 0 end as failed,
              case when h.status = 'succeeded' then h.calls else 0 end as succeeded, h.settled, h.tokens, h.latencies
       from ${by === "day" ? byDay?.[0] : byHour} h
       where ${["h.workspace_id = $1", `h.${by} >= ${from}`, `h.${by} < ${to}`, ...conditions].join(" and ")}`,
    )
    .join("\n       union all ");
}

/** Returns SQL for the records of the period that are not in the sums yet, as rows of the sums. */
function laterSql(query: UsageQuery): string {
  const asksWorkflow = query.groups.includes("workflow") || query.workflowId !== null;
  const textOf = (column: Column): string => {
    if (column !== "workflow_id") return `u.${column}`;
    return asksWorkflow ? `coalesce(r.workflow_id, ${NO_WORKFLOW})` : NO_WORKFLOW;
  };
  const conditions = [
    "u.workspace_id = $1",
    "u.ended_at >= greatest($2, (select until from usage_rollup))",
    "u.ended_at < $3",
    ...filtersOf(query).map(({ column, text }) => text(textOf(column))),
    ...(valueOf(query) === undefined ? [] : [`${LATER_VALUE} = $11`]),
  ];
  return `
       select ${[`${startOf(query.unit, "u.ended_at")} as start`, ...groupedSql(query, textOf)].join(", ")},
              ${query.label === null ? "null::text" : LATER_VALUE} as label_value, 1::bigint as calls,
              (u.status in ('failed', 'lost'))::int::bigint as failed, (u.status = 'succeeded')::int::bigint as succeeded,
              u.settled, u.tokens, latency_count(u.status, u.started_at, u.ended_at) as latencies
       from usage_record u
       ${asksWorkflow ? "left join job j on j.id = u.job_id left join run r on r.id = j.run_id" : ""}
       where ${conditions.join("\n         and ")}`;
}

interface SummedRow extends Omit<UsageSum, "latency_p95_ms"> {
  readonly succeeded: bigint;
  /** Histogram of the latencies of succeeded calls; null without them. */
  readonly latencies: string | null;
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
    `select ${startOf(unit, "s.hour")} as start, sum(s.calls)::bigint as calls
     from refused_hour s
     where s.workspace_id = $1 and s.hour >= $2 and s.hour < $3
       and ($4::uuid is null or s.key_id in (select k.id from api_key k where k.workspace_id = $1 and k.member_id = $4))
       and ($5::uuid is null or s.key_id = $5)
     group by 1`,
    [workspaceId, start, end, memberId, keyId],
  );
}
