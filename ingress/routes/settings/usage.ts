/** GET /workspaces/{workspaceId}/usage: usage and spend per time bucket. */
import type { UsagePage } from "#schemas/generated/types.ts";
import { sumUsage, type UsageGroup, type UsageSum } from "#shared/database/usage-sums.ts";
import { ApiError } from "#shared/errors.ts";
import { creditsNumber, formatCredits } from "#shared/money.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../roles.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../route.ts";
import { csv, wantsCsv, CSV_ROWS_MAX } from "../../settings/csv.ts";
import { bucketsIn, filterIn, groupsIn, pageAt, type Span, spanOf, USAGE_QUERY } from "../../settings/usage-query.ts";

/** Most sums in a grouped response: a page ends before a bucket that would exceed it. */
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
      "Returns usage and spend in time buckets of whole hours or days in UTC, in order, including empty ones. A " +
      "call counts in the bucket of its end, immediately. A developer sees only calls of own keys. As CSV, the " +
      `whole period is one table of at most ${CSV_ROWS_MAX} rows without empty buckets.`,
    query: USAGE_QUERY,
    responses: { 200: { description: "A page of buckets", schema: "UsagePage", texts: ["text/csv"] } },
    errors: ["not_found", "unsupported_value"],
    authorize: allow(...ANY_ROLE),
    handle: (call) => read(context, call),
  };
}

async function read(context: IngressContext, call: RouteCall): Promise<Response> {
  const { workspaceId } = call.caller;
  const [span, groups, filter] = [spanOf(call, Date.now()), groupsIn(call), filterIn(call)];
  const isTable = wantsCsv(call);
  const pageEnd = Math.min(span.end, span.start + bucketsIn(call) * span.ms);
  const end = isTable ? span.end : pageEnd;
  const sums = await sumUsage(context.database, workspaceId, {
    ...filter,
    unit: span.unit,
    groups,
    start: new Date(span.start),
    end: new Date(end),
    limit: isTable ? CSV_ROWS_MAX : USAGE_SUMS_MAX + 1,
  });
  return isTable ? table(context, sums, groups, span) : json(pageOf(sums, groups, span, wholeEnd(sums, end)));
}

/** Returns the end of a page, before the bucket that would exceed the maximum of sums. @throws ApiError */
function wholeEnd(sums: readonly UsageSum[], end: number): number {
  if (sums.length <= USAGE_SUMS_MAX) return end;
  const cutAt = sums.at(-1)?.start.getTime() ?? end;
  if (sums[0]?.start.getTime() !== cutAt) return cutAt;
  const message = `Expected at most ${USAGE_SUMS_MAX} sums in one bucket; group by less, or filter.`;
  throw new ApiError("unsupported_value", message, { param: "group_by" });
}

function pageOf(sums: readonly UsageSum[], groups: readonly UsageGroup[], span: Span, end: number): UsagePage {
  const data = new Map<number, Bucket>();
  for (let at = span.start; at < end; at += span.ms) {
    data.set(at, { object: "bucket", ...timesOf(at, span), results: [] });
  }
  for (const sum of sums) {
    data.get(sum.start.getTime())?.results.push({
      ...groupOf(sum, groups),
      calls: Number(sum.calls),
      failed: Number(sum.failed),
      credits: creditsNumber(sum.settled),
      tokens: Number(sum.tokens),
    });
  }
  const hasMore = end < span.end;
  return { object: "page", data: [...data.values()], has_more: hasMore, next_page: hasMore ? pageAt(span, end) : null };
}

function table(
  context: IngressContext,
  sums: readonly UsageSum[],
  groups: readonly UsageGroup[],
  span: Span,
): Response {
  const rows = sums.map((sum) => ({
    ...timesOf(sum.start.getTime(), span),
    ...groupOf(sum, groups),
    calls: sum.calls,
    failed: sum.failed,
    credits: formatCredits(sum.settled),
    tokens: sum.tokens,
  }));
  const columns = ["start_time", "end_time", ...groups.map((group) => MEMBERS[group])];
  return csv(context, rows, [...columns, "calls", "failed", "credits", "tokens"], "usage");
}

const MEMBERS = {
  model: "model",
  key: "key_id",
  member: "member_id",
  workflow: "workflow_id",
  status: "status",
} as const satisfies Readonly<Record<UsageGroup, keyof UsageSum>>;

function groupOf(sum: UsageSum, groups: readonly UsageGroup[]): Partial<Bucket["results"][number]> {
  return Object.fromEntries(groups.map((group) => [MEMBERS[group], sum[MEMBERS[group]]]));
}

function timesOf(at: number, { ms }: Span): Pick<Bucket, "start_time" | "end_time"> {
  return { start_time: new Date(at).toISOString(), end_time: new Date(at + ms).toISOString() };
}
