/** Credits: the balance and the ledger, whose entries add up to the balance. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import { call } from "../api/client.ts";
import { CSV, download } from "../parts/download.ts";
import { useQuery } from "../api/query.ts";
import { daysText, figureText, timeText, zoneText } from "../parts/format.ts";
import { Button } from "../parts/form.tsx";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { FaultCallout } from "../parts/layers.tsx";
import { Page, Stat } from "../parts/page.tsx";
import { Empty, ListPanel, Skeleton, useCursor } from "../parts/table.tsx";
import { Amount, ENTRY_KINDS } from "../parts/values.tsx";
import { hasRole } from "../api/session.ts";

const LEDGER = "GET /workspaces/{workspaceId}/credits/ledger";

export default function Credits(): JSX.Element {
  return (
    <Page
      title="Credits"
      about="Every movement of the balance is an entry of the ledger. The sum of all entries is the balance."
      actions={
        hasRole("owner", "admin", "billing") ? (
          <Button icon="dl" onClick={() => download(LEDGER, {}, { accept: CSV, name: "ledger.csv" })}>
            Export CSV
          </Button>
        ) : undefined
      }
    >
      <Balance />
      {hasRole("owner", "admin", "billing") ? <Ledger /> : null}
    </Page>
  );
}

function Balance(): JSX.Element {
  const query = useQuery("credits", (signal) => call("GET /workspaces/{workspaceId}/credits", { signal }));
  const { data, fault, reload } = query;
  if (data === undefined) return fault === undefined ? <Skeleton /> : <FaultCallout fault={fault} retry={reload} />;
  const { credits, held, available, days_left: daysLeft, credits_per_day: perDay } = data;
  return (
    <section class="section" aria-label="Balance">
      <div class="stats">
        <Stat
          name="Balance"
          figure={figureText(credits)}
          unit="credits"
          title={`${credits} credits`}
          href="/console/usage"
          note="held credits included"
        />
        <Stat
          name="Available"
          figure={figureText(available)}
          unit="credits"
          title={`${available} credits`}
          href="/console/usage"
          note="for new calls"
        />
        <Stat
          name="Held"
          figure={figureText(held)}
          unit="credits"
          title={`${held} credits`}
          href="/console/requests"
          note="for calls in progress"
        />
        <Stat
          name="Spend a day"
          figure={figureText(perDay)}
          unit="credits"
          href="/console/usage"
          note={daysLeft === null ? "no spend in the last week" : daysText(daysLeft)}
        />
      </div>
    </section>
  );
}

function Ledger(): JSX.Element {
  const query = useUrlQuery();
  const cursor = useCursor(query.text);
  const list = useQuery(`ledger ${query.text} ${cursor.after ?? ""}`, (signal) =>
    call(LEDGER, {
      query: { limit: 50, after: cursor.after, start_time: query.get("start_time"), end_time: query.get("end_time") },
      signal,
    }),
  );
  return (
    <>
      <FilterBar
        query={query}
        filters={[
          { name: "start_time", label: `From, ${zoneText()}`, isTime: true },
          { name: "end_time", label: `Until, ${zoneText()}`, isTime: true },
        ]}
      />
      <ListPanel
        query={list}
        cursor={cursor}
        idOf={({ id }) => id}
        columns={[
          {
            head: `Time, ${zoneText()}`,
            cell: ({ at }) => <span class="mono nw">{timeText(at, "minute")}</span>,
            title: ({ at }) => timeText(at, "exact"),
          },
          {
            head: "Entry",
            place: "main",
            cell: ({ kind }) => ENTRY_KINDS[kind],
            sub: ({ note }) => note,
          },
          {
            head: "Source",
            place: "mid",
            cut: "40%",
            title: ({ source_id }) => source_id,
            cell: ({ kind, source_id }) =>
              kind === "settle" ? (
                <Link href={`/requests/${source_id}`} class="mono">
                  {source_id}
                </Link>
              ) : (
                <span class="mono">{source_id}</span>
              ),
          },
          { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
        ]}
        empty={
          <Empty title="No entries">
            <p>Top-ups and charges of calls are listed here.</p>
          </Empty>
        }
      />
    </>
  );
}
