/** Query of GET …/usage: buckets of whole hours or days in UTC, and a cursor that keeps the period of the first page. */
import type { UsageFilter, UsageGroup } from "#shared/database/usage-sums.ts";

import type { RequestFacts, SettingsCall } from "../core/call.ts";
import type { Route } from "../route.ts";
import { idIn, oneOf, queryOf, SPAN_QUERY, textIn, timeIn, unsupported } from "./page.ts";

/** Most buckets in a response: a month by the hour has 744. */
export const USAGE_BUCKETS_MAX = 400;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_SPAN_MS = 30 * DAY_MS;

const WIDTHS = {
  "1h": { unit: "hour", ms: HOUR_MS, pageDefault: 24 * 7 },
  "1d": { unit: "day", ms: DAY_MS, pageDefault: 31 },
} as const;
type BucketWidth = keyof typeof WIDTHS;
const WIDTH_NAMES = Object.keys(WIDTHS) as readonly BucketWidth[];

const GROUPS: readonly UsageGroup[] = ["model", "key", "member", "workflow", "status"];
const GROUPS_MAX = 2;
const STATUSES = ["succeeded", "failed", "cancelled", "lost"] as const;

export interface Span {
  readonly unit: "hour" | "day";
  /** Length of a bucket, in milliseconds. */
  readonly ms: number;
  /** Start and end of the period in Unix milliseconds, at edges of buckets. */
  readonly start: number;
  readonly end: number;
}

const TEXT = { type: "string" } as const;
const ID = { type: "string", format: "uuid" } as const;

export const FILTER_QUERY: NonNullable<Route["query"]> = [
  { name: "key_id", description: "Id of the API key of the calls. Default: all.", schema: ID },
  { name: "model", description: "Slug of the model that served or was requested. Default: all.", schema: TEXT },
  { name: "status", description: "Result of the calls. Default: all.", schema: { type: "string", enum: STATUSES } },
];

export const USAGE_QUERY: NonNullable<Route["query"]> = [
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
    description: "Length of a bucket: an hour or a day in UTC.",
    schema: { type: "string", enum: WIDTH_NAMES, default: "1d" },
  },
  {
    name: "group_by",
    description: "Up to two groupings, separated by a comma or as repeated parameters.",
    schema: { type: "array", items: { type: "string", enum: GROUPS }, maxItems: GROUPS_MAX },
  },
  ...FILTER_QUERY,
  { name: "workflow_id", description: "Id of the workflow whose runs made the calls. Default: all.", schema: ID },
  {
    name: "limit",
    description: "Number of buckets per page. Default: 31 days or 168 hours.",
    schema: { type: "integer", minimum: 1, maximum: USAGE_BUCKETS_MAX },
  },
  { name: "page", description: "`next_page` of the previous page.", schema: TEXT },
];

/** Returns the period of the query. @throws ApiError `unsupported_value` */
export function spanOf(call: RequestFacts, now: number): Span {
  const { unit, ms } = WIDTHS[oneOf(call, "bucket_width", WIDTH_NAMES) ?? "1d"];
  const page = queryOf(call).get("page") || null;
  if (page !== null) return { unit, ms, ...cursorOf(page, ms) };
  const end = timeIn(call, "end_time")?.getTime() ?? now;
  const start = timeIn(call, "start_time")?.getTime() ?? end - DEFAULT_SPAN_MS;
  if (start >= end) throw unsupported("end_time", "a time after start_time", new Date(end).toISOString());
  return { unit, ms, start: Math.floor(start / ms) * ms, end: Math.ceil(end / ms) * ms };
}

export function pageAt({ end }: Span, start: number): string {
  return Buffer.from(`${start}-${end}`).toString("base64url");
}

/** Parses a cursor. @throws ApiError `unsupported_value` */
function cursorOf(page: string, ms: number): { readonly start: number; readonly end: number } {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(Buffer.from(page, "base64url").toString());
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (match && start < end && start % ms === 0 && end % ms === 0 && end < 253_402_300_800_000) return { start, end };
  throw unsupported("page", "the next_page of an answer with the same bucket_width", page);
}

/** Returns the number of buckets per page. @throws ApiError `unsupported_value` */
export function bucketsIn(call: RequestFacts): number {
  const { pageDefault } = WIDTHS[oneOf(call, "bucket_width", WIDTH_NAMES) ?? "1d"];
  const text = queryOf(call).get("limit") || String(pageDefault);
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= USAGE_BUCKETS_MAX) return limit;
  throw unsupported("limit", `a whole number from 1 to ${USAGE_BUCKETS_MAX}`, text);
}

/** Returns the groupings of the query. @throws ApiError `unsupported_value` */
export function groupsIn(call: RequestFacts): readonly UsageGroup[] {
  const asked = queryOf(call)
    .getAll("group_by")
    .flatMap((text) => text.split(","))
    .filter((name) => name !== "");
  const groups = GROUPS.filter((group) => asked.includes(group));
  const unknown = asked.find((name) => !groups.some((group) => group === name));
  if (unknown !== undefined) throw unsupported("group_by", `of ${GROUPS.join(", ")}`, unknown);
  if (groups.length > GROUPS_MAX) throw unsupported("group_by", `at most ${GROUPS_MAX}`, asked.join(","));
  return groups;
}

/** Returns the filters of the query; a developer sees only its own keys. @throws ApiError `unsupported_value` */
export function filterIn(call: SettingsCall): UsageFilter {
  return {
    memberId: ownerIn(call),
    keyId: idIn(call, "key_id"),
    model: textIn(call, "model"),
    workflowId: idIn(call, "workflow_id"),
    status: oneOf(call, "status", STATUSES),
  };
}

/** Returns the only member whose calls the caller may see; null: calls of all members. */
export function ownerIn(call: SettingsCall): string | null {
  if ("operator" in call) return null;
  const { role, memberId } = call.caller;
  return role === "developer" ? memberId : null;
}
