/** GET /workspaces/{workspaceId}/usage: usage and spend per time bucket. */
import type { UsagePage } from "#schemas/generated/types.ts";
import {
  type RefusedSum,
  sumRefusedCalls,
  sumUsage,
  USAGE_MEASURES,
  type UsageFilter,
  type UsageGroup,
  type UsageQuery,
  type UsageSum,
  type UsageUnit,
} from "#shared/database/usage-sums.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { RequestFacts, RouteCall, SettingsCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { CSV_ROWS_MAX } from "./csv.ts";
import { TABLE_TYPES, type TableFormat, tableFormatOf, tableResponse } from "./tables.ts";
import { columnOfLabel, LABEL_QUERY, labelOfGroup, labelsIn } from "./usage-labels.ts";
import { idIn, numberIn, oneOf, queryOf, SPAN_QUERY, textIn, timeIn, unsupported } from "../../core/page.ts";

/** Maximum number of sums in a grouped response. A page ends before the time bucket that would exceed it. */
export const USAGE_SUMS_MAX = 10_000;

type Bucket = UsagePage["data"][number];

export function usage(context: IngressContext): KeyRoute {
  return {
    tags: ["Usage and billing"],
    auth: "key",
    method: "GET",
    path: "/workspaces/{workspaceId}/usage",
    operationId: "readUsage",
    summary: "Retrieve usage",
    description:
      "Returns usage and spend in time buckets of whole hours or days in UTC, or of the whole period, in order, including empty ones. A " +
      "call counts in the bucket of its end, immediately. A developer sees only calls of own keys. As CSV or JSON " +
      `lines, the whole period is one table of at most ${CSV_ROWS_MAX} rows without empty buckets.`,
    query: USAGE_QUERY,
    responses: { 200: { description: "A page of buckets", schema: "UsagePage", texts: TABLE_TYPES } },
    errors: ["not_found", "unsupported_value"],
    authorize: allow(...ANY_ROLE),
    handle: (call) => read(context, call),
  };
}

async function read(context: IngressContext, call: RouteCall): Promise<Response> {
  const { workspaceId } = call.caller;
  const [span, filter] = [spanOf(call, Date.now()), filterIn(call)];
  const grouping = groupsIn(call, filter);
  const format = tableFormatOf(call);
  const isTable = format !== undefined;
  const top = topIn(call, grouping);
  if (isTable && top !== null) throw unsupported("top", "no top in a table, which contains all groups", String(top));
  const pageEnd = Math.min(span.end, span.start + bucketsIn(call) * span.ms);
  const end = isTable ? span.end : pageEnd;
  const sums = await sumUsage(context.database, workspaceId, {
    ...filter,
    ...grouping,
    rankedBy: oneOf(call, "top_by", USAGE_MEASURES) ?? "credits",
    top,
    unit: span.unit,
    start: new Date(span.start),
    end: new Date(end),
    limit: isTable ? CSV_ROWS_MAX : USAGE_SUMS_MAX + 1,
  });
  if (format !== undefined) return table({ context, format }, sums, grouping, span);
  const whole = wholeEnd(sums, end);
  return json(
    pageOf(sums, await refusedIn(context, workspaceId, filter, { ...span, end: whole }), grouping, span, whole),
  );
}

/** Returns the refused calls in a period. They have no model, workflow, status and labels, so filters of these exclude all. */
function refusedIn(
  { database }: IngressContext,
  workspaceId: string,
  { memberId, keyId, model, workflowId, status, labels }: UsageFilter,
  { unit, start, end }: Span,
): Promise<RefusedSum[]> {
  const hasFilter = [model, workflowId, status, ...Object.keys(labels)].some((one) => one !== null);
  const period = { unit, start: new Date(start), end: new Date(end) };
  return hasFilter ? Promise.resolve([]) : sumRefusedCalls(database, workspaceId, { memberId, keyId, ...period });
}

/** Returns the end time of a page. The page ends before the time bucket that would exceed USAGE_SUMS_MAX. @throws ApiError */
function wholeEnd(sums: readonly UsageSum[], end: number): number {
  if (sums.length <= USAGE_SUMS_MAX) return end;
  const cutAt = sums.at(-1)?.start.getTime() ?? end;
  if (sums[0]?.start.getTime() !== cutAt) return cutAt;
  const message = `Expected at most ${USAGE_SUMS_MAX} sums in one bucket; group by less, or filter.`;
  throw new ApiError("unsupported_value", message, { param: "group_by" });
}

function pageOf(
  sums: readonly UsageSum[],
  refused: readonly RefusedSum[],
  grouping: Grouping,
  span: Span,
  end: number,
): UsagePage {
  const data = new Map<number, Bucket>();
  const refusedAt = new Map(refused.map(({ start, calls }) => [start.getTime(), Number(calls)]));
  for (let at = span.start; at < end; at += span.ms) {
    data.set(at, { object: "bucket", ...timesOf(at, span), refused: refusedAt.get(at) ?? 0, results: [] });
  }
  for (const sum of sums) {
    const bucket = data.get(sum.start.getTime());
    if (sum.is_rest && bucket !== undefined) bucket.others = measuresOf(sum);
    else bucket?.results.push({ ...groupOf(sum, grouping), ...measuresOf(sum), latency_p95_ms: sum.latency_p95_ms });
  }
  const hasMore = end < span.end;
  return { object: "page", data: [...data.values()], has_more: hasMore, next_page: hasMore ? pageAt(span, end) : null };
}

function measuresOf({ calls, failed, settled, tokens }: UsageSum): NonNullable<Bucket["others"]> {
  return { calls: Number(calls), failed: Number(failed), credits: creditsNumber(settled), tokens: Number(tokens) };
}

function table(
  { context, format }: { readonly context: IngressContext; readonly format: TableFormat },
  sums: readonly UsageSum[],
  { groups, label }: Grouping,
  span: Span,
): Response {
  const columns = groups.map((group) => [nameOf(group, label), MEMBERS[group]] as const);
  const present = (sum: UsageSum): Readonly<Record<string, unknown>> => ({
    ...timesOf(sum.start.getTime(), span),
    ...Object.fromEntries(columns.map(([name, member]) => [name, sum[member]])),
    calls: sum.calls,
    failed: sum.failed,
    credits: formatCredits(sum.settled),
    tokens: sum.tokens,
    latency_p95_ms: sum.latency_p95_ms,
  });
  const names = ["start_time", "end_time", ...columns.map(([name]) => name), ...MEASURES];
  return tableResponse(context, format, { rows: sums, present, columns: names, name: "usage" });
}

const MEASURES = ["calls", "failed", "credits", "tokens", "latency_p95_ms"] as const;

const MEMBERS = {
  model: "model",
  key: "key_id",
  member: "member_id",
  workflow: "workflow_id",
  status: "status",
  label: "label_value",
} as const satisfies Readonly<Record<UsageGroup, keyof UsageSum>>;

/** Returns the name of a group's column in a table. */
function nameOf(group: UsageGroup, label: string | null): string {
  return group === "label" && label !== null ? columnOfLabel(label) : MEMBERS[group];
}

function groupOf(sum: UsageSum, { groups, label }: Grouping): Partial<Bucket["results"][number]> {
  const members = groups.map((group) => {
    if (group !== "label" || label === null) return [MEMBERS[group], sum[MEMBERS[group]]];
    const value = sum.label_value ?? null;
    const isTag = columnOfLabel(label) !== label;
    return isTag ? ["tags", { [label]: value }] : [label, value];
  });
  return Object.fromEntries(members) as Partial<Bucket["results"][number]>;
}

function timesOf(at: number, { ms }: Span): Pick<Bucket, "start_time" | "end_time"> {
  return { start_time: new Date(at).toISOString(), end_time: new Date(at + ms).toISOString() };
}

// Query of GET …/usage: buckets of whole hours or days in UTC, or of the whole period, and a cursor that keeps the period of the first page.

/** Maximum number of time buckets per response. A month by the hour has 744 and needs several pages. */
export const USAGE_BUCKETS_MAX = 400;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_SPAN_MS = 30 * DAY_MS;

const WIDTHS = {
  "1h": { unit: "hour", ms: HOUR_MS, pageDefault: 24 * 7 },
  "1d": { unit: "day", ms: DAY_MS, pageDefault: 31 },
  // Rounded to hours. The only bucket is as long as the period.
  period: { unit: "period", ms: HOUR_MS, pageDefault: 1 },
} as const satisfies Readonly<Record<string, { unit: UsageUnit; ms: number; pageDefault: number }>>;
type BucketWidth = keyof typeof WIDTHS;
const WIDTH_NAMES = Object.keys(WIDTHS) as readonly BucketWidth[];

const GROUPS = ["model", "key", "member", "workflow", "status"] as const;
const GROUP_NAMES = [...GROUPS, "user", "tag:<name>", "chain"];
const GROUPS_MAX = 2;
const TOP_MAX = 100;

/** Groups of the sums, in the order of their columns, and the label of the group `label` or of a filter. */
type Grouping = Pick<UsageQuery, "groups" | "label">;
export const STATUSES = ["succeeded", "failed", "cancelled", "lost"] as const;

export interface Span {
  readonly unit: UsageUnit;
  /** Length of a bucket, in milliseconds. */
  readonly ms: number;
  /** Start and end of the period in Unix milliseconds. Both lie on bucket boundaries. */
  readonly start: number;
  readonly end: number;
}

const TEXT = { type: "string" } as const;
const ID = { type: "string", format: "uuid" } as const;

export const FILTER_QUERY: NonNullable<KeyRoute["query"]> = [
  { name: "key_id", description: "Id of the API key of the calls. Default: all.", schema: ID },
  { name: "model", description: "Slug of the model that served or was requested. Default: all.", schema: TEXT },
  { name: "status", description: "Result of the calls. Default: all.", schema: { type: "string", enum: STATUSES } },
  ...LABEL_QUERY,
];

const PERIOD_QUERY: NonNullable<KeyRoute["query"]> = [
  ...SPAN_QUERY.map(({ name, schema }) => ({
    name,
    description:
      name === "start_time"
        ? "Time in the first bucket. Default: 30 days before the end."
        : "Time in the last bucket. Default: now.",
    schema,
  })),
  {
    name: "bucket_width",
    description: "Length of a bucket: an hour or a day in UTC, or the whole period, rounded to hours.",
    schema: { type: "string", enum: WIDTH_NAMES, default: "1d" },
  },
];

const WORKFLOW_QUERY = {
  name: "workflow_id",
  description: "Id of the workflow whose runs made the calls. Default: all.",
  schema: ID,
} as const;

/** Query of the export in FOCUS. */
export const FOCUS_QUERY: NonNullable<KeyRoute["query"]> = [
  ...PERIOD_QUERY,
  {
    name: "label",
    description: "Label whose values the column `Tags` contains: `user`, `chain` or `tag:<name>`. Default: none.",
    schema: TEXT,
  },
  ...FILTER_QUERY,
  WORKFLOW_QUERY,
];

const USAGE_QUERY: NonNullable<KeyRoute["query"]> = [
  ...PERIOD_QUERY,
  {
    name: "group_by",
    description:
      `Up to two of ${GROUP_NAMES.map((name) => `\`${name}\``).join(", ")}, separated by a comma or as repeated parameters. ` +
      "At most one of them is a label: `user`, `chain` or a tag.",
    schema: {
      type: "array",
      items: { type: "string", pattern: `^(${[...GROUPS, "user", "chain"].join("|")}|tag:.+)$` },
      maxItems: GROUPS_MAX,
    },
  },
  ...FILTER_QUERY,
  WORKFLOW_QUERY,
  {
    name: "top",
    description:
      "Number of groups with results of their own: those with the highest sum of the period by `top_by`. `others` of a bucket contains the " +
      "sum of the rest. Needs one group in `group_by`, and cannot be used in a table. Default: all groups.",
    schema: { type: "integer", minimum: 1, maximum: TOP_MAX },
  },
  {
    name: "top_by",
    description: "Sum that sorts the groups of a bucket, the largest first, and ranks the groups of `top`.",
    schema: { type: "string", enum: USAGE_MEASURES, default: "credits" },
  },
  {
    name: "limit",
    description: "Number of buckets per page. Default: 31 days or 168 hours.",
    schema: { type: "integer", minimum: 1, maximum: USAGE_BUCKETS_MAX },
  },
  { name: "page", description: "`next_page` of the previous page.", schema: TEXT },
];

/** Returns the period of a usage query. @param now Unix milliseconds. @throws ApiError `unsupported_value` */
export function spanOf(call: RequestFacts, now: number): Span {
  const { unit, ms } = WIDTHS[oneOf(call, "bucket_width", WIDTH_NAMES) ?? "1d"];
  const page = queryOf(call).get("page") || null;
  if (page !== null && unit !== "period") return { unit, ms, ...cursorOf(page, ms) };
  if (page !== null) throw unsupported("page", "no page, because a whole period has only one", page);
  const end = timeIn(call, "end_time")?.getTime() ?? now;
  const start = timeIn(call, "start_time")?.getTime() ?? end - DEFAULT_SPAN_MS;
  if (start >= end) throw unsupported("end_time", "a time after start_time", new Date(end).toISOString());
  const bounds = { start: Math.floor(start / ms) * ms, end: Math.ceil(end / ms) * ms };
  return { unit, ms: unit === "period" ? bounds.end - bounds.start : ms, ...bounds };
}

function pageAt({ end }: Span, start: number): string {
  return Buffer.from(`${start}-${end}`).toString("base64url");
}

/** Parses a cursor into the remaining period, in Unix milliseconds. @throws ApiError `unsupported_value` */
function cursorOf(page: string, ms: number): { readonly start: number; readonly end: number } {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(Buffer.from(page, "base64url").toString());
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (match && start < end && start % ms === 0 && end % ms === 0 && end < 253_402_300_800_000) return { start, end };
  throw unsupported("page", "the next_page of an answer with the same bucket_width", page);
}

/** Returns the number of buckets per page. @throws ApiError `unsupported_value` */
function bucketsIn(call: RequestFacts): number {
  const { pageDefault } = WIDTHS[oneOf(call, "bucket_width", WIDTH_NAMES) ?? "1d"];
  return numberIn(call, "limit", USAGE_BUCKETS_MAX) ?? pageDefault;
}

/** Returns the number of top groups; null for all groups. @throws ApiError `unsupported_value` */
function topIn(call: RequestFacts, { groups }: Grouping): UsageQuery["top"] {
  const count = numberIn(call, "top", TOP_MAX);
  if (count === undefined) return null;
  if (groups.length !== 1) throw unsupported("top", "one group in group_by", String(count));
  return count;
}

/**
 * Returns the groups of the query. The hourly sums have a row for each label of a call, so only one label can be used at a time.
 * @throws ApiError `unsupported_value`
 */
function groupsIn(call: RequestFacts, { labels }: Pick<UsageFilter, "labels">): Grouping {
  const asked = queryOf(call)
    .getAll("group_by")
    .flatMap((text) => text.split(","))
    .filter((name) => name !== "");
  const byLabel = asked.map(labelOfGroup).filter((name) => name !== undefined);
  const plain = GROUPS.filter((group) => asked.includes(group));
  const unknown = asked.find((name) => labelOfGroup(name) === undefined && !plain.some((group) => group === name));
  if (unknown !== undefined) throw unsupported("group_by", `of ${GROUP_NAMES.join(", ")}`, unknown);
  const groups: readonly UsageGroup[] = byLabel.length === 0 ? plain : [...plain, "label"];
  if (groups.length > GROUPS_MAX) throw unsupported("group_by", `at most ${GROUPS_MAX}`, asked.join(","));
  const [label = null, ...others] = new Set([...byLabel, ...Object.keys(labels)]);
  if (others.length === 0) return { groups, label };
  const message =
    "Expected at most one label in group_by and the filters user, tag and chain; list the calls to combine several.";
  throw new ApiError("unsupported_value", message, { param: "group_by" });
}

/**
 * Returns the filters in the query string. A developer sees only the usage of that developer's keys. @throws ApiError `unsupported_value`
 */
export function filterIn(call: SettingsCall): UsageFilter {
  return {
    memberId: ownerIn(call),
    keyId: idIn(call, "key_id"),
    model: textIn(call, "model"),
    workflowId: idIn(call, "workflow_id"),
    status: oneOf(call, "status", STATUSES),
    labels: labelsIn(call),
  };
}

/** Returns the id of the only member whose calls the caller may see. Null means that the caller may see the calls of all members. */
export function ownerIn(call: SettingsCall): string | null {
  if ("operator" in call) return null;
  const { role, memberId } = call.caller;
  return role === "developer" ? memberId : null;
}
