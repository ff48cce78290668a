/** Requests: the log of calls, newest first, with a side sheet for one of them. */
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";

import type { UsageRequest } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { keyName } from "../api/names.ts";
import { CSV, download, JSON_LINES } from "../parts/download.ts";
import { type Query, useQuery } from "../api/query.ts";
import { countText, durationText, timeText, zoneText } from "../parts/format.ts";
import { type Filter, FilterBar, keyFilter, useUrlQuery, type UrlQuery } from "../parts/filters.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, type Cursor, Empty, ListPanel, type ListPage, useCursor, useOpenRow } from "../parts/table.tsx";
import { Amount, Status, statusChoices } from "../parts/values.tsx";
import { RequestSheet } from "./requests/sheet.tsx";

const LIST = "GET /workspaces/{workspaceId}/usage/requests";
const ROWS = 50;
/** Maximum number of refused calls in the time of one page. */
const REFUSED_MAX = 100;
/** Interval at which the newest page is read again, in milliseconds. */
const REFRESH_MS = 5_000;
const HOUR_MS = 3_600_000;

const SPANS: Readonly<Record<string, number>> = {
  "1h": HOUR_MS,
  "24h": 24 * HOUR_MS,
  "7d": 168 * HOUR_MS,
  "30d": 720 * HOUR_MS,
};

export default function Requests(): JSX.Element {
  const query = useUrlQuery();
  const cursor = useCursor(query.text);
  const list = useRequests(query, cursor);
  const open = useOpenRow("/requests", list, ({ request_id }) => request_id);
  return (
    <Page
      title="Requests"
      isWide
      actions={
        <Menu
          label="Export"
          text="Export"
          entries={[
            { text: "CSV", onClick: () => void exportAs(query, CSV, "requests.csv") },
            { text: "JSON lines", onClick: () => void exportAs(query, JSON_LINES, "requests.jsonl") },
          ]}
        />
      }
      sheet={open.id && <RequestSheet key={open.id} id={open.id} listed={open.row} {...open.sheet} />}
    >
      <div class="filters">
        <FindById show={open.show} />
        <FilterBar filters={filtersOf()} query={query} />
      </div>
      <ListPanel
        query={list}
        columns={columnsOf()}
        idOf={(row) => `${row.request_id}:${row.attempt}`}
        open={open}
        cursor={cursor}
        note={
          list.data?.isCut === true ? (
            <>
              Only {REFUSED_MAX} of the refused calls in this time are listed.{" "}
              <button type="button" class="link" onClick={() => query.set({ status: "refused" })}>
                Show all refused calls
              </button>
            </>
          ) : undefined
        }
        empty={
          query.text === "" ? (
            <Empty title="No calls yet">
              <p>
                Every call of the workspace is listed here with its cost. The overview shows the first call to make.
              </p>
            </Empty>
          ) : (
            <Empty title="No requests match">
              <p>Remove a filter, or choose a longer time.</p>
            </Empty>
          )
        }
      />
    </Page>
  );
}

function FindById({ show }: { readonly show: (id: string) => void }): JSX.Element {
  const [text, setText] = useState("");
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") show(text.trim());
      }}
    >
      <span class="affix lead">
        <Icon name="search" />
        <input
          class="input"
          aria-label="Find by request id, over all time"
          placeholder="Request id, over all time"
          pattern=".{36,}"
          title="The whole id, which has 36 characters"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </span>
    </form>
  );
}

function filtersOf(): readonly Filter[] {
  return [
    {
      name: "span",
      label: "Time",
      isFixed: true,
      choices: [
        { value: "", text: "All time" },
        { value: "1h", text: "Last hour" },
        { value: "24h", text: "Last 24 hours" },
        { value: "7d", text: "Last 7 days" },
        { value: "30d", text: "Last 30 days" },
      ],
    },
    { name: "status", label: "Status", choices: statusChoices("succeeded", "failed", "refused", "cancelled", "lost") },
    { name: "model", label: "Model" },
    keyFilter(),
    { name: "user", label: "End user" },
    { name: "tag", label: "Tag" },
    { name: "endpoint", label: "Endpoint" },
    { name: "run_id", label: "Run" },
    { name: "chain", label: "Requested model" },
    { name: "start_time", label: `From, ${zoneText()}`, isTime: true },
    { name: "end_time", label: `Until, ${zoneText()}`, isTime: true },
  ];
}

const FILTERS = [
  "status",
  "model",
  "endpoint",
  "key_id",
  "user",
  "tag",
  "run_id",
  "chain",
  "start_time",
  "end_time",
] as const;

/** Returns the query of the API for the filters in the URL. */
function apiQuery(query: UrlQuery, now: number): Readonly<Record<(typeof FILTERS)[number], string>> {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)])) as Record<
    (typeof FILTERS)[number],
    string
  >;
  const name = query.get("span");
  const span = Object.hasOwn(SPANS, name) ? SPANS[name] : undefined;
  if (span !== undefined && filters.start_time === "") filters.start_time = new Date(now - span).toISOString();
  return filters;
}

function exportAs(query: UrlQuery, accept: string, name: string): Promise<void> {
  return download(LIST, { query: apiQuery(query, Date.now()) }, { accept, name });
}

interface RequestPage extends ListPage<UsageRequest> {
  /** True if more calls were refused in the time of the page than are listed. */
  readonly isCut?: boolean;
}

/** Lists the calls of a page, and between them the refused calls of the same time. The API lists refused calls separately. */
function useRequests(query: UrlQuery, cursor: Cursor): Query<RequestPage> {
  // The start of a relative time stays the same while pages are turned.
  const now = useMemo(() => Date.now(), [query.text]);
  const ends = useRef(new Map<string, string>());
  const filters = apiQuery(query, now);
  const load = async (signal: AbortSignal): Promise<RequestPage> => {
    const calls = await call(LIST, { query: { ...filters, limit: ROWS, after: cursor.after }, signal });
    const isNarrowed = ["status", "user", "tag", "run_id", "chain"].some((name) => query.get(name) !== "");
    if (isNarrowed) return calls;
    const last = calls.has_more ? calls.data.at(-1) : undefined;
    if (last !== undefined) ends.current.set(calls.last_id ?? "", last.ended_at);
    const newerEnd = ends.current.get(cursor.after ?? "");
    const refused = await call(LIST, {
      query: {
        ...filters,
        status: "refused",
        limit: REFUSED_MAX,
        // From the last call of the page up to the last call of the newer page, so that each refused call is in one page.
        ...(newerEnd === undefined ? {} : { end_time: newerEnd }),
        ...(last === undefined ? {} : { start_time: last.ended_at }),
      },
      signal,
    });
    const data = [...calls.data, ...refused.data].toSorted((a, b) => b.ended_at.localeCompare(a.ended_at));
    return { ...calls, data, isCut: refused.has_more };
  };
  // Only the newest page changes.
  return useQuery(`requests ${query.text} ${cursor.after ?? ""}`, load, {
    everyMs: cursor.isFirst ? REFRESH_MS : undefined,
  });
}

function columnsOf(): readonly Column<UsageRequest>[] {
  return [
    {
      head: `Time, ${zoneText()}`,
      title: (row) => `${timeText(row.ended_at, "day")} ${timeText(row.ended_at, "exact")}, ${row.request_id}`,
      cell: ({ ended_at: at }) => <span class="mono nw">{timeText(at, isToday(at) ? "time" : "minute")}</span>,
    },
    { head: "Status", cell: (row) => <Status of={row.status} /> },
    {
      head: "Model",
      place: "main",
      cut: "30%",
      title: (row) => row.model ?? row.endpoint ?? "",
      cell: (row) => row.model ?? row.endpoint ?? "—",
      sub: reasonOf,
    },
    {
      head: "Endpoint",
      place: "low",
      cut: "18%",
      title: (row) => row.endpoint ?? "",
      cell: (row) => row.endpoint ?? "—",
    },
    { head: "Key", place: "mid", cut: "18%", title: (row) => keyName(row.key_id), cell: (row) => keyName(row.key_id) },
    { head: "Tokens", place: "low", isNumber: true, cell: (row) => (row.tokens === 0 ? "—" : countText(row.tokens)) },
    {
      head: "Duration",
      place: "mid",
      isNumber: true,
      cell: (row) => durationText(new Date(row.ended_at).getTime() - new Date(row.started_at).getTime()),
    },
    { head: "Credits", place: "key", isNumber: true, cell: (row) => <Amount credits={row.credits} /> },
  ];
}

function isToday(time: string): boolean {
  return timeText(time, "day") === timeText(Date.now(), "day");
}

/** Returns why a row differs from a call that the requested model served at once; "" if it does not. */
function reasonOf({ error_code, provider_attempts: attempts, chain, model }: UsageRequest): string {
  if (error_code !== null) return error_code;
  if (chain !== null && chain !== model) return `instead of ${chain}`;
  return attempts.length > 1 ? `${attempts.length} attempts` : "";
}
