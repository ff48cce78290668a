/** Overview: what needs attention, the figures of today, and the spend of 30 days by model. Without any call: the way to the first one. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { UsagePage } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { countText, daysText, durationText, figureText, percentText, timeText } from "../parts/format.ts";
import { CreditStat, Page, Section, Stat } from "../parts/page.tsx";
import { StackedBars } from "../parts/plot.tsx";
import { Loaded, Table } from "../parts/table.tsx";
import { Amount } from "../parts/values.tsx";
import { bucketsOf, topGroups, type Group } from "../parts/usage-groups.ts";
import { Attention } from "./overview/attention.tsx";
import { FirstRun } from "./overview/first-run.tsx";

const USAGE = "GET /workspaces/{workspaceId}/usage";
const DAY_MS = 86_400_000;
/** Interval of the figures, in milliseconds. */
const REFRESH_MS = 30_000;

export default function Overview(): JSX.Element {
  const query = useQuery("overview", loadOverview, { everyMs: REFRESH_MS });
  const { data, reload } = query;
  // The result of a call that was made on the page stays until the person opens the overview.
  const [hasCalled, setCalled] = useState(false);
  if (hasCalled || (data !== undefined && data.models.length === 0 && data.today.refused === 0)) {
    return (
      <FirstRun
        onCall={() => setCalled(true)}
        onEnd={() => {
          setCalled(false);
          reload();
        }}
      />
    );
  }
  return (
    <Page
      title="Overview"
      about={<span class="wide-only">{`${timeText(Date.now(), "day")}; days are in UTC`}</span>}
      actions={
        <>
          <Link href="/usage" class="btn wide-only">
            Usage
          </Link>
          <Link href="/playground" class="btn primary">
            Playground
          </Link>
        </>
      }
    >
      <Attention />
      <Loaded query={query} rows={8}>
        {(data) => (
          <>
            <Figures data={data} />
            <Spend data={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface Sum {
  readonly calls: number;
  readonly failed: number;
  readonly refused: number;
  readonly credits: number;
}

interface Data {
  readonly balance: Awaited<ReturnType<typeof loadBalance>>;
  /** Begin of the day in UTC, in milliseconds. */
  readonly start: number;
  readonly today: Sum;
  /** Sum of the same hours a week ago. */
  readonly before: Sum;
  readonly days: UsagePage;
  readonly models: readonly Group[];
}

async function loadOverview(signal: AbortSignal): Promise<Data> {
  const now = Date.now();
  const start = now - (now % DAY_MS);
  const weekAgo = { start_time: iso(start - 7 * DAY_MS), end_time: iso(now - 7 * DAY_MS) };
  // The same days as on the usage page.
  const days30 = { group_by: "model", start_time: iso(start - 29 * DAY_MS) };
  const read = (query: Readonly<Record<string, string>>): Promise<UsagePage> => call(USAGE, { query, signal });
  const [balance, todayPage, beforePage, days, models] = await Promise.all([
    loadBalance(signal),
    read({ bucket_width: "period", start_time: iso(start) }),
    read({ bucket_width: "period", ...weekAgo }),
    read(days30),
    read({ ...days30, bucket_width: "period" }),
  ]);
  return {
    balance,
    start,
    today: sumOf(todayPage),
    before: sumOf(beforePage),
    days,
    models: topGroups(models, "model"),
  };
}

const loadBalance = (signal: AbortSignal) => call("GET /workspaces/{workspaceId}/credits", { signal });

function iso(time: number): string {
  return new Date(time).toISOString();
}

function sumOf({ data }: UsagePage): Sum {
  const sum = { calls: 0, failed: 0, refused: 0, credits: 0 };
  for (const { results, refused } of data) {
    sum.refused += refused;
    for (const result of results) {
      sum.calls += result.calls;
      sum.failed += result.failed;
      sum.credits += result.credits;
    }
  }
  return sum;
}

function Figures({ data: { balance, start, today, before } }: { readonly data: Data }): JSX.Element {
  const { credits, held, days_left: daysLeft, credits_per_day: perDay } = balance;
  return (
    <section class="section" aria-label="Figures">
      <div class="stats">
        <CreditStat
          name="Balance"
          credits={credits}
          href="/console/credits"
          note={
            daysLeft === null ? "no spend in the last week" : `${daysText(daysLeft)} at ${figureText(perDay)} a day`
          }
        />
        <CreditStat
          name="Spent today"
          credits={today.credits}
          href="/console/usage"
          note={
            before.credits === 0 ? (
              "nothing at this time a week ago"
            ) : (
              <>
                <span class="delta">{changeText(today.credits, before.credits)}</span> against a week ago, same time
              </>
            )
          }
        />
        <Stat
          name="Calls today"
          figure={countText(today.calls)}
          href={`/console/requests?${new URLSearchParams({ start_time: iso(start) })}`}
          note={
            <>
              <span class={today.failed > 0 ? "delta bad" : "delta"}>{countText(today.failed)} failed</span> ·{" "}
              {countText(today.refused)} refused, not counted
            </>
          }
        />
        <CreditStat
          name="Held now"
          credits={held}
          href="/console/requests"
          note={held === 0 ? "no call in progress" : "for calls and runs in progress"}
        />
      </div>
    </section>
  );
}

function changeText(now: number, before: number): string {
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent)} %`;
}

/** Number of models with a series of their own. The others are summed. */
const TOP = 5;

function Spend({ data: { days, models } }: { readonly data: Data }): JSX.Element {
  const total = models.reduce((sum, { credits }) => sum + credits, 0);
  const { labels, series } = bucketsOf(days, "model", models.slice(0, TOP), "credits");
  const others = models.slice(TOP);
  const rows: readonly (Group & { readonly place: number; readonly isOther?: true })[] = [
    ...models.slice(0, TOP).map((group, place) => ({ ...group, place })),
    ...(others.length === 0 ? [] : [{ ...sumGroups(others), place: TOP, isOther: true as const }]),
  ];
  return (
    <Section
      title="Spend"
      note={`30 days, ${figureText(total)} credits`}
      link={<Link href="/usage">Explore usage</Link>}
    >
      <div class="panel">
        <div class="pad">
          <StackedBars
            buckets={labels}
            series={series}
            format={figureText}
            height={180}
            label="Credits per day in UTC by model"
          />
        </div>
        <Table
          rows={rows}
          idOf={({ name }) => name}
          columns={[
            {
              head: "Model",
              place: "main",
              cell: ({ name, place, isOther }) => (
                <span class="row">
                  <span class={`swatch f${place + 1}`} />
                  {isOther === true ? (
                    name
                  ) : (
                    <Link href={`/requests?${new URLSearchParams({ model: name })}`} class="cut" title={name}>
                      {name}
                    </Link>
                  )}
                </span>
              ),
            },
            { head: "Calls", place: "mid", isNumber: true, label: "calls", cell: ({ calls }) => countText(calls) },
            {
              head: "Errors",
              place: "mid",
              isNumber: true,
              label: "errors",
              cell: ({ calls, failed }) => percentText(failed, calls),
            },
            {
              head: "p95",
              place: "low",
              isNumber: true,
              cell: ({ p95Ms }) => (p95Ms === null ? "—" : durationText(p95Ms)),
            },
            { head: "Share", place: "low", isNumber: true, cell: ({ credits }) => percentText(credits, total) },
            { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
          ]}
        />
      </div>
    </Section>
  );
}

function sumGroups(groups: readonly Group[]): Group {
  const sum = (member: "calls" | "failed" | "credits" | "tokens"): number =>
    groups.reduce((total, group) => total + group[member], 0);
  return {
    name: `${groups.length} others`,
    calls: sum("calls"),
    failed: sum("failed"),
    credits: sum("credits"),
    tokens: sum("tokens"),
    p95Ms: null,
  };
}
