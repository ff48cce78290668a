/** Turns usage pages of the API into groups for tables and series for charts. */
import type { UsagePage } from "#schemas/generated/types.ts";
import { timeText } from "./format.ts";
import type { Series } from "./plot.tsx";

type Result = UsagePage["data"][number]["results"][number];

/** Sums of one group, such as a model. */
export interface Group {
  /** Value of the group: a slug, an id, a status or a label. `none` for calls without it. */
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  readonly credits: number;
  readonly tokens: number;
  /** 95th percentile of the latency of successful calls, in milliseconds; null if there is none. */
  readonly p95Ms: number | null;
  /** True for the sum of all groups that have no sum of their own. */
  readonly isRest?: true;
}

export type Metric = "credits" | "calls" | "failed" | "tokens";

/** Returns the value of a result's group. `by` is a value of `group_by`, such as `model` or `tag:project`. */
function nameOf(result: Result, by: string): string {
  const tag = /^tag:(.*)$/s.exec(by)?.[1];
  if (tag !== undefined) return result.tags?.[tag] ?? "none";
  const members: Readonly<Record<string, string | null | undefined>> = {
    model: result.model,
    key: result.key_id,
    member: result.member_id,
    workflow: result.workflow_id,
    status: result.status,
    user: result.user,
    chain: result.chain,
  };
  return members[by] ?? "none";
}

/** Returns the groups of a page with one bucket, those with the largest value of the metric first, and the sum of the rest last. */
export function topGroups({ data }: UsagePage, by: string, metric: Metric = "credits"): readonly Group[] {
  const others = data[0]?.others;
  const groups = (data[0]?.results ?? [])
    .map((result) => {
      const { calls, failed, credits, tokens, latency_p95_ms: p95Ms } = result;
      return { name: nameOf(result, by), calls, failed, credits, tokens, p95Ms };
    })
    .toSorted((a, b) => b[metric] - a[metric] || b.calls - a.calls);
  return others === undefined ? groups : [...groups, { name: "others", ...others, p95Ms: null, isRest: true }];
}

/**
 * Returns the buckets of a page as series: one for each of the `top` groups, and one for the sum of the others.
 * @param width width of the buckets, which decides their labels
 */
export function bucketsOf(
  { data }: UsagePage,
  by: string,
  top: readonly Pick<Group, "name">[],
  metric: Metric,
  width: "1h" | "1d" = "1d",
): { readonly labels: readonly string[]; readonly series: readonly Series[] } {
  const sums = new Map<string, number[]>(top.map(({ name }) => [name, data.map(() => 0)]));
  const others = data.map(() => 0);
  data.forEach(({ results, others: rest }, index) => {
    others[index] = rest?.[metric] ?? 0;
    for (const result of results) {
      const values = sums.get(nameOf(result, by)) ?? others;
      values[index] = (values[index] ?? 0) + result[metric];
    }
  });
  const series = [...sums].map(([name, values]) => ({ name, values }));
  const hasOthers = others.some((value) => value > 0);
  return {
    labels: data.map(({ start_time }) => (width === "1d" ? dayText(start_time) : timeText(start_time, "minute"))),
    series: hasOthers ? [...series, { name: "others", values: others }] : series,
  };
}

/** Returns the day of a bucket, which is a day in UTC. */
function dayText(time: string): string {
  return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }).format(new Date(time));
}
