/** Providers: a summary of each, and its models with their state, the reason of a disablement, a test and a reset. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { OperatorSource, OperatorSourceTest } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useCall } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button, FaultText } from "../parts/form.tsx";
import { durationText, relativeText } from "../parts/format.ts";
import { Callout, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Empty, ListPanel, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Ago, KeyValues, Status } from "../parts/values.tsx";
import { writeBlocked } from "./session.ts";

const REFRESH_MS = 10_000;
const STATES = { available: "available", disabled: "suspended", not_configured: "Not configured" } as const;

export default function Sources(): JSX.Element {
  const query = useUrlQuery();
  const [provider, state] = [query.get("provider"), query.get("state")];
  const isSummary = provider === "" && state === "";
  const sources = useCall("GET /operator/sources", {}, { everyMs: REFRESH_MS });
  const isChosen = (row: OperatorSource): boolean =>
    (provider === "" || row.provider === provider) && (state === "" || row.state === state);
  // Disabled sources come first.
  const rows = sources.data?.data
    .filter(isChosen)
    .toSorted((a, b) => Number(b.state === "disabled") - Number(a.state === "disabled"));
  const list = { ...sources, data: rows && { data: rows } };
  const open = useOpenRow("/operator/sources", list, ({ id }) => id);
  return (
    <Page
      title={provider === "" ? "Providers" : provider}
      isWide
      crumb={provider === "" ? undefined : <Link href="/operator/sources">Providers</Link>}
      about="A source is a model at a provider. After errors it is disabled for a time, and tried again by itself."
      sheet={open.row && <SourceSheet key={open.id} row={open.row} {...open.sheet} onChange={list.reload} />}
    >
      <FilterBar
        query={query}
        filters={[
          {
            name: "state",
            label: "Show",
            isFixed: true,
            choices: [
              { value: "", text: provider === "" ? "Providers" : "All" },
              { value: "disabled", text: "Disabled after errors" },
              { value: "available", text: "Available" },
              { value: "not_configured", text: "Not configured" },
            ],
          },
        ]}
      />
      {isSummary ? (
        <ListPanel
          query={{ ...sources, data: rows && { data: summaries(rows) } }}
          idOf={({ name }) => name}
          hrefOf={({ name }) => `/operator/sources?provider=${encodeURIComponent(name)}`}
          columns={SUMMARY_COLUMNS}
          empty={<Empty title="No sources">{EMPTY}</Empty>}
        />
      ) : (
        <ListPanel
          query={list}
          idOf={({ id }) => id}
          open={open}
          columns={[
            { head: "Source", place: "main", cut: "40%", title: ({ id }) => id, cell: ({ id }) => id },
            { head: "State", place: "key", cell: ({ state: name }) => <Status of={STATES[name]} /> },
            {
              head: "Reason",
              place: "mid",
              cut: "24%",
              title: ({ reason }) => reason ?? "",
              cell: ({ reason }) => reason ?? "—",
            },
            {
              head: "Next attempt",
              place: "low",
              cell: ({ next_attempt_seconds: seconds }) => (seconds === null ? "—" : waitText(seconds)),
            },
          ]}
          empty={<Empty title="No sources match">{EMPTY}</Empty>}
        />
      )}
    </Page>
  );
}

const EMPTY = <p>Sources come from the catalogue. Set the key of a provider to use its models.</p>;

/** Returns the time until a disabled source is tried again, such as `in 12 s`. */
const waitText = (seconds: number): string => relativeText(Math.max(1, seconds) * 1_000, 0);

interface ProviderSummary {
  readonly name: string;
  readonly models: number;
  readonly enabled: number;
  readonly disabled: number;
  readonly idle: number;
  /** Reason of the latest disablement, or the missing setting of a source that is not configured. */
  readonly reason: string | null;
  /** Seconds until the next attempt at one of the disabled sources; undefined if none is disabled. */
  readonly waitSeconds: number | undefined;
}

/** Returns a row for each provider: first those with disabled sources, then those that calls can use. */
function summaries(sources: readonly OperatorSource[]): readonly ProviderSummary[] {
  const rankOf = ({ disabled, enabled }: ProviderSummary): number => (disabled > 0 ? 0 : enabled > 0 ? 1 : 2);
  return Array.from(
    Map.groupBy(sources, ({ provider }) => provider),
    ([name, rows]): ProviderSummary => {
      const { available = [], disabled = [], not_configured: idle = [] } = Object.groupBy(rows, ({ state }) => state);
      const newest = disabled.toSorted((a, b) => ((a.disabled_since ?? "") < (b.disabled_since ?? "") ? 1 : -1))[0];
      return {
        name,
        models: rows.length,
        enabled: available.length,
        disabled: disabled.length,
        idle: idle.length,
        reason: (newest ?? idle[0])?.reason ?? null,
        waitSeconds: disabled.flatMap((row) => row.next_attempt_seconds ?? []).toSorted((a, b) => a - b)[0],
      };
    },
  ).toSorted((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1));
}

/** Column with a number of sources. A stacked row omits 0. */
const countColumn = (head: string, count: (row: ProviderSummary) => number): Column<ProviderSummary> => ({
  head,
  isNumber: true,
  label: head.toLowerCase(),
  cell: (row) => <span class={count(row) === 0 ? "none muted" : ""}>{count(row)}</span>,
});

const SUMMARY_COLUMNS: readonly Column<ProviderSummary>[] = [
  {
    head: "Provider",
    place: "main",
    cell: ({ name }) => name,
  },
  {
    head: "State",
    place: "key",
    cell: ({ enabled, disabled }) => (
      <Status
        of={
          disabled > 0
            ? enabled > 0
              ? "failing"
              : STATES.disabled
            : STATES[enabled > 0 ? "available" : "not_configured"]
        }
      />
    ),
  },
  countColumn("Models", ({ models }) => models),
  countColumn("Enabled", ({ enabled }) => enabled),
  countColumn("Disabled", ({ disabled }) => disabled),
  countColumn("Not configured", ({ idle }) => idle),
  {
    head: "Reason",
    place: "brk",
    cut: "28%",
    title: ({ reason }) => reason ?? "",
    cell: ({ reason }) => reason ?? <span class="none">—</span>,
  },
  {
    head: "Next attempt",
    label: "next attempt",
    cell: ({ waitSeconds: seconds }) => (seconds === undefined ? <span class="none">—</span> : waitText(seconds)),
  },
];

function SourceSheet({
  row,
  onChange,
  ...controls
}: SheetControls & { readonly row: OperatorSource; readonly onChange: () => void }): JSX.Element {
  const [result, setResult] = useState<OperatorSourceTest>();
  const path = { source: row.id };
  const test = useAction(async () => setResult(await call("POST /operator/sources/{source}/test", { path })));
  const reset = useAction(async () => {
    await call("POST /operator/sources/{source}/reset", { path });
    toast("The source is tried again by the next call");
    onChange();
  });
  return (
    <Sheet title={row.id} {...controls}>
      <section>
        <div class="row wrap">
          <Status of={STATES[row.state]} />
          <span class="push row">
            <Button small blocked={writeBlocked.value} isRunning={test.isRunning} onClick={() => test.run()}>
              Test source
            </Button>
            <Button small blocked={writeBlocked.value} isRunning={reset.isRunning} onClick={() => reset.run()}>
              Reset source
            </Button>
          </span>
        </div>
        <FaultText fault={test.fault ?? reset.fault} />
        {result === undefined ? null : (
          <Callout tone={result.is_working ? "ok" : "bad"}>
            {result.is_working
              ? `${result.model} answered in ${durationText(result.duration_ms)}.`
              : `${result.model} failed: ${result.error}${result.provider_status === null ? "" : `, status ${result.provider_status}`}. ${result.provider_text ?? ""}`}
          </Callout>
        )}
        <KeyValues
          of={[
            ["Provider", row.provider],
            ["Models", row.models.join(", ")],
            ["Setting of its key", row.setting],
            ["Reason", row.reason],
            ["Provider’s status", row.provider_status],
            ["Disabled", row.disabled_since === null ? null : <Ago at={row.disabled_since} />],
            ["Next attempt", row.next_attempt_seconds === null ? null : waitText(row.next_attempt_seconds)],
          ]}
        />
        <p class="hint">A test sends one small request to the provider, which the provider may charge.</p>
      </section>
    </Sheet>
  );
}
