/** Usage: a metric by group and bucket, the same period before, and exports. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { UsagePage } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { CSV, download, JSON_LINES } from "../parts/download.ts";
import { keyName } from "../api/names.ts";
import { useMemberNames, useWorkflowNames } from "../api/names-of.ts";
import { useCall, useQuery } from "../api/query.ts";
import { type Filter, FilterBar, keyFilter, type UrlQuery, useUrlQuery } from "../parts/filters.tsx";
import { type Choice, choicesOf } from "../parts/form.tsx";
import { countText, durationText, figureText, percentText } from "../parts/format.ts";
import { Menu } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Spark, StackedBars } from "../parts/plot.tsx";
import { Empty, Loaded, Table } from "../parts/table.tsx";
import { bucketsOf, type Group, type Metric, topGroups } from "../parts/usage-groups.ts";
import { Amount, statusChoices, statusText } from "../parts/values.tsx";

const USAGE = "GET /workspaces/{workspaceId}/usage";
const DAY_MS = 86_400_000;
/** Number of groups with a series of their own. */
const TOP = 5;
/** Number of groups with a row of their own. A week of hours then has fewer sums than the API's page. */
const ROWS_MAX = 50;

const METRICS: Readonly<Record<Metric, string>> = {
  credits: "Credits",
  calls: "Calls",
  failed: "Failed calls",
  tokens: "Tokens",
};

const WIDTHS = { "": "Day in UTC", "1h": "Hour, up to 7 days" };

const GROUPS: Readonly<Record<string, string>> = {
  model: "Model",
  key: "Key",
  member: "Member",
  workflow: "Workflow",
  status: "Status",
  user: "End user",
  chain: "Requested model",
};

export default function Usage(): JSX.Element {
  const query = useUrlQuery();
  const choice = choiceOf(query);
  const names = useNames(choice.by);
  const tags = useCall("GET /workspaces/{workspaceId}").data?.tags ?? [];
  const usage = useQuery(`usage ${query.text}`, (signal) => load(choice, signal));
  return (
    <Page title="Usage" actions={<Exports choice={choice} />}>
      <FilterBar filters={filtersOf(tags, choice.by)} query={query} />
      <Loaded query={usage} rows={10}>
        {(data) =>
          data.groups.length === 0 ? (
            <div class="panel empty">
              <Empty title="No usage in this time">
                <p>Calls are summed here as soon as they end. Choose a longer time, or remove a filter.</p>
              </Empty>
            </div>
          ) : (
            <Content data={data} choice={choice} nameOf={names} />
          )
        }
      </Loaded>
    </Page>
  );
}

interface UsageChoice {
  readonly metric: Metric;
  readonly by: string;
  readonly width: "1h" | "1d";
  readonly days: number;
  readonly filters: Readonly<Record<string, string>>;
}

/** Numbers of days to choose from; the first is the default. */
const DAYS: readonly Choice[] = [
  { value: "", text: "30 days" },
  { value: "1", text: "Today" },
  { value: "7", text: "7 days" },
  { value: "90", text: "90 days" },
];

function choiceOf(query: UrlQuery): UsageChoice {
  const [metric, by] = [query.get("metric"), query.get("by")];
  const days = Number(DAYS.find(({ value }) => value !== "" && value === query.get("days"))?.value ?? 30);
  return {
    metric: Object.hasOwn(METRICS, metric) ? (metric as Metric) : "credits",
    by: Object.hasOwn(GROUPS, by) || /^tag:./.test(by) ? by : "model",
    width: query.get("width") === "1h" && days <= 7 ? "1h" : "1d",
    days,
    filters: Object.fromEntries(["model", "key_id", "status", "user", "tag"].map((name) => [name, query.get(name)])),
  };
}

function filtersOf(tags: readonly string[], by: string): readonly Filter[] {
  // The tags of the workspace arrive later than the URL's.
  const shown = by.startsWith("tag:") ? [...new Set([by.slice(4), ...tags])] : tags;
  const byTag = Object.fromEntries(shown.map((tag) => [`tag:${tag}`, `Tag ${tag}`]));
  return [
    { name: "metric", label: "Metric", isFixed: true, choices: choicesOf(METRICS) },
    { name: "by", label: "By", isFixed: true, choices: choicesOf({ ...GROUPS, ...byTag }) },
    { name: "days", label: "Time", isFixed: true, choices: DAYS },
    { name: "width", label: "Bucket", isFixed: true, choices: choicesOf(WIDTHS) },
    { name: "model", label: "Model" },
    { name: "status", label: "Status", choices: statusChoices("succeeded", "failed", "cancelled", "lost") },
    keyFilter(),
    { name: "user", label: "End user" },
    ...(tags.length === 0 ? [] : [{ name: "tag", label: "Tag" }]),
  ];
}

interface Data {
  readonly buckets: UsagePage;
  readonly groups: readonly Group[];
  readonly before: readonly Group[];
}

interface Span {
  readonly start_time: string;
  readonly end_time: string;
}

async function load(choice: UsageChoice, signal: AbortSignal): Promise<Data> {
  const { by, width, metric, filters } = choice;
  const { now, previous } = spansOf(choice);
  const read = (query: Readonly<Record<string, string>>): Promise<UsagePage> =>
    call(USAGE, { query: { ...filters, group_by: by, ...query }, signal });
  const top = { top: String(ROWS_MAX), top_by: metric };
  const [buckets, groups, before] = await Promise.all([
    read({ ...now, ...top, bucket_width: width, limit: "200" }),
    read({ ...now, ...top, bucket_width: "period" }),
    read({ ...previous, ...top, bucket_width: "period" }),
  ]);
  const [current, earlier] = [topGroups(groups, by, metric), topGroups(before, by, metric)];
  return { buckets, groups: [...current, ...endedGroups(current, earlier)], before: earlier };
}

/** Returns the groups that only the earlier period has, with zeros; none if the current period's rest may contain them. */
function endedGroups(current: readonly Group[], earlier: readonly Group[]): readonly Group[] {
  if ([...current, ...earlier].some(({ isRest }) => isRest)) return [];
  const names = new Set(current.map(({ name }) => name));
  return earlier
    .filter(({ name }) => !names.has(name))
    .map(({ name }) => ({ name, calls: 0, failed: 0, credits: 0, tokens: 0, p95Ms: null }));
}

/** Returns the chosen days, which end now, and the same number of days before them. */
function spansOf({ days }: UsageChoice): Readonly<Record<"now" | "previous", Span>> {
  const now = Date.now();
  const start = now - (now % DAY_MS) - (days - 1) * DAY_MS;
  const span = (from: number, until: number): Span => ({
    start_time: new Date(from).toISOString(),
    end_time: new Date(until).toISOString(),
  });
  return { now: span(start, now), previous: span(start - days * DAY_MS, now - days * DAY_MS) };
}

function Content({
  data: { buckets, groups, before },
  choice: { metric, by, width },
  nameOf,
}: {
  readonly data: Data;
  readonly choice: UsageChoice;
  readonly nameOf: (id: string) => string;
}): JSX.Element {
  const format = metric === "credits" ? figureText : countText;
  const [total, totalBefore] = [groups, before].map((all) => all.reduce((sum, group) => sum + group[metric], 0)) as [
    number,
    number,
  ];
  const top = groups.filter(({ calls, isRest }) => calls > 0 && !isRest).slice(0, TOP);
  const { labels, series } = bucketsOf(buckets, by, top, metric, width);
  const shown = series.map(({ name, values }) => ({ name: name === "others" ? name : nameOf(name), values }));
  const earlier = new Map(before.map((group) => [idOf(group), group[metric]]));
  const hasRest = before.some(({ isRest }) => isRest);
  const changeOf = (group: Group): string => {
    const value = earlier.get(idOf(group));
    return value === undefined && hasRest ? "—" : changeText(group[metric], value ?? 0);
  };
  const swatch = (name: string): number => {
    const place = top.findIndex((group) => group.name === name);
    return place === -1 ? TOP + 1 : place + 1;
  };
  return (
    <div class="panel">
      <div class="pad stack">
        <div class="row wrap">
          <span class="big" title={String(total)}>
            {format(total)}
          </span>
          <span class="soft">{METRICS[metric].toLowerCase()}</span>
          {totalBefore === 0 ? (
            <span class="muted">nothing in the period before</span>
          ) : (
            <>
              <span class="delta">{changeText(total, totalBefore)}</span>
              <span class="muted">against {format(totalBefore)} in the period before</span>
            </>
          )}
        </div>
        <StackedBars
          buckets={labels}
          series={shown}
          format={format}
          height={260}
          label={`${METRICS[metric]} per ${width === "1h" ? "hour" : "day in UTC"} by ${(GROUPS[by] ?? by).toLowerCase()}`}
        />
      </div>
      <Table
        rows={groups}
        idOf={idOf}
        columns={[
          {
            head: GROUPS[by] ?? by.replace("tag:", "Tag "),
            place: "main",
            cell: ({ name, isRest }) => (
              <span class="row">
                <span class={`swatch f${isRest ? TOP + 1 : swatch(name)}`} />
                {isRest ? <span class="muted">others</span> : <GroupLink by={by} name={name} text={nameOf(name)} />}
              </span>
            ),
          },
          {
            head: "Trend",
            place: "low",
            cell: ({ name, isRest }) =>
              isRest ? null : <Spark values={bucketsOf(buckets, by, [{ name }], metric).series[0]?.values ?? []} />,
          },
          { head: "Calls", place: "mid", isNumber: true, label: "calls", cell: ({ calls }) => countText(calls) },
          { head: "Errors", place: "low", isNumber: true, cell: ({ failed, calls }) => percentText(failed, calls) },
          {
            head: "Tokens",
            place: "low",
            isNumber: true,
            cell: ({ tokens }) => (tokens === 0 ? "—" : countText(tokens)),
          },
          {
            head: "p95",
            place: "low",
            isNumber: true,
            cell: ({ p95Ms }) => (p95Ms === null ? "—" : durationText(p95Ms)),
          },
          { head: "Share", place: "mid", isNumber: true, cell: (group) => percentText(group[metric], total) },
          {
            head: "Change",
            place: "mid",
            isNumber: true,
            label: "change",
            cell: changeOf,
          },
          { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
        ]}
      />
      {groups.at(-1)?.isRest ? (
        <div class="pager">
          <span>The {ROWS_MAX} largest, and the sum of the others. The export has all of them.</span>
        </div>
      ) : null}
    </div>
  );
}

/** Key of a group's row. No group has the name of the rest's key, because names have no control characters. */
const idOf = ({ name, isRest }: Group): string => (isRest ? "\n" : name);

/** Filter of the requests page for each grouping that it can filter by. */
const FILTER_OF: Readonly<Record<string, string>> = {
  model: "model",
  key: "key_id",
  status: "status",
  user: "user",
  chain: "chain",
};

function GroupLink({
  by,
  name,
  text,
}: {
  readonly by: string;
  readonly name: string;
  readonly text: string;
}): JSX.Element {
  const tag = /^tag:(.*)$/s.exec(by)?.[1];
  const [filter, value] = tag === undefined ? [FILTER_OF[by], name] : ["tag", `${tag}:${name}`];
  if (filter === undefined || name === "none") return <span class="cut">{text}</span>;
  return (
    <Link
      href={`/requests?${new URLSearchParams({ [filter]: value })}`}
      class="cut"
      title={`Show the requests of ${text}`}
    >
      {text}
    </Link>
  );
}

function changeText(now: number, before: number): string {
  if (before === 0) return now === 0 ? "—" : "new";
  const percent = ((now - before) / before) * 100;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(1)} %`;
}

/** Returns the function that names a group: keys, members and statuses have names, all other groups are their own name. */
function useNames(by: string): (id: string) => string {
  const members = useMemberNames(by === "member");
  const workflows = useWorkflowNames(by === "workflow");
  return (id) => {
    if (by === "key") return keyName(id);
    if (by === "status") return statusText(id);
    return members.get(id) ?? workflows.get(id) ?? id;
  };
}

function Exports({ choice }: { readonly choice: UsageChoice }): JSX.Element {
  const { metric, by, width, filters } = choice;
  const save = (accept: string, name: string, bucket: string = width): void => {
    const query = { ...filters, ...spansOf(choice).now, group_by: by, top_by: metric, bucket_width: bucket };
    void download(USAGE, { query }, { accept, name });
  };
  return (
    <Menu
      label="Export"
      text="Export"
      entries={[
        { text: "CSV of the table", onClick: () => save(CSV, "usage.csv", "period") },
        { text: width === "1h" ? "CSV by hour" : "CSV by day", onClick: () => save(CSV, "usage.csv") },
        { text: "JSON lines", onClick: () => save(JSON_LINES, "usage.jsonl") },
        {
          text: "FOCUS 1.2",
          onClick: () =>
            void download(
              "GET /workspaces/{workspaceId}/usage/focus",
              { query: spansOf(choice).now },
              { name: "usage-focus.csv" },
            ),
        },
      ]}
    />
  );
}
