/** Credits: the balance and the ledger, whose entries add up to the balance. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import { CSV, download } from "../parts/download.ts";
import { shortId } from "../api/names-of.ts";
import { useCall } from "../api/query.ts";
import { daysText, timeText, zoneText } from "../parts/format.ts";
import { Button } from "../parts/form.tsx";
import { FilterBar, type UrlQuery, useUrlQuery } from "../parts/filters.tsx";
import { FaultCallout } from "../parts/layers.tsx";
import { CreditStat, Page } from "../parts/page.tsx";
import { Empty, ListPanel, Skeleton, useList } from "../parts/table.tsx";
import { Amount, ENTRY_KINDS } from "../parts/values.tsx";
import { hasRole } from "../api/session.ts";

const LEDGER = "GET /workspaces/{workspaceId}/credits/ledger";

export default function Credits(): JSX.Element {
  const query = useUrlQuery();
  return (
    <Page
      title="Credits"
      about="Every movement of the balance is an entry of the ledger. The sum of all entries is the balance."
      actions={
        hasRole("owner", "admin", "billing") ? (
          <Button icon="dl" onClick={() => download(LEDGER, spanOf(query), { accept: CSV, name: "ledger.csv" })}>
            Export CSV
          </Button>
        ) : undefined
      }
    >
      <Balance />
      {hasRole("owner", "admin", "billing") ? <Ledger query={query} /> : null}
    </Page>
  );
}

function spanOf({ get }: UrlQuery): { readonly query: Readonly<Record<"start_time" | "end_time", string>> } {
  return { query: { start_time: get("start_time"), end_time: get("end_time") } };
}

function Balance(): JSX.Element {
  const { data, fault, reload } = useCall("GET /workspaces/{workspaceId}/credits");
  if (data === undefined) return fault === undefined ? <Skeleton /> : <FaultCallout fault={fault} retry={reload} />;
  const { credits, held, available, days_left: daysLeft, credits_per_day: perDay } = data;
  return (
    <section class="section" aria-label="Balance">
      <div class="stats">
        <CreditStat name="Balance" credits={credits} href="/console/usage" note="held credits included" />
        <CreditStat name="Available" credits={available} href="/console/usage" note="for new calls" />
        <CreditStat name="Held" credits={held} href="/console/requests" note="for calls and runs in progress" />
        <CreditStat
          name="Spend a day"
          credits={perDay}
          href="/console/usage"
          note={daysLeft === null ? "no spend in the last week" : daysText(daysLeft)}
        />
      </div>
    </section>
  );
}

function Ledger({ query }: { readonly query: UrlQuery }): JSX.Element {
  const list = useList(LEDGER, spanOf(query));
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
        idOf={({ id }) => id}
        columns={[
          {
            head: `Time, ${zoneText()}`,
            cell: ({ at }) => <span class="mono nw">{timeText(at, "second")}</span>,
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
            place: "brk",
            title: ({ source_id }) => source_id,
            cell: ({ kind, source_id }) =>
              kind === "settle" ? (
                <Link href={`/requests/${source_id}`}>
                  Request <code>{shortId(source_id)}</code>
                </Link>
              ) : (
                <span class="none">—</span>
              ),
          },
          {
            head: "Credits",
            place: "key",
            isNumber: true,
            cell: ({ credits }) => <Amount credits={credits} isMovement />,
          },
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
