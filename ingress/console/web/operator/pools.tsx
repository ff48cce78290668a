/** Pools: queued and running jobs of each pool and lane, the processes that it needs, and providers with errors. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { OperatorPoolList } from "#schemas/generated/types.ts";
import { useCall } from "../api/query.ts";
import { Button } from "../parts/form.tsx";
import { countText, durationText, percentText } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Callout } from "../parts/layers.tsx";
import { Page, Section, Stat } from "../parts/page.tsx";
import { Empty, ListPanel, Table } from "../parts/table.tsx";
import { Ago } from "../parts/values.tsx";

/** Interval at which the pools are read again, in milliseconds. */
const POOLS_MS = 5_000;

type Pool = OperatorPoolList["data"][number];

export default function Pools(): JSX.Element {
  const [isPaused, setPaused] = useState(false);
  const everyMs = isPaused ? undefined : POOLS_MS;
  const list = useCall("GET /operator/pools", {}, { everyMs });
  const rows = list.data?.data ?? [];
  const short = rows.filter((row) => missingOf(row) > 0);
  return (
    <Page
      title="Pools"
      about="Queues and workers of the whole service. The target is computed from the queued and running jobs of a lane and the slots of a process."
      actions={<Button onClick={() => setPaused(!isPaused)}>{isPaused ? "Resume updates" : "Pause updates"}</Button>}
    >
      {short.length === 0 ? null : (
        <Callout tone="warn">
          <b>{short.length === 1 ? "1 lane needs" : `${short.length} lanes need`} more processes.</b>{" "}
          {short.map((row) => `${row.pool} ${row.lane}: ${missingOf(row)} more`).join(", ")}.
        </Callout>
      )}
      <Figures rows={rows} everyMs={everyMs} />
      <ListPanel
        query={list}
        idOf={({ pool, lane }) => `${pool} ${lane}`}
        columns={[
          {
            head: "Pool",
            place: "main",
            cell: ({ pool, lane }) => (
              <>
                {pool} <span class="muted">{lane}</span>
              </>
            ),
          },
          { head: "Queued", isNumber: true, label: "queued", cell: ({ queued }) => countText(queued) },
          {
            head: "Running",
            place: "brk",
            cell: (row) => (
              <div class="budget">
                <span class="row">
                  <span>
                    <b>{row.running}</b> of {row.slots} slots
                  </span>
                  <span class="muted">{percentText(row.running, row.slots)}</span>
                </span>
                <SlotBar {...row} />
              </div>
            ),
          },
          {
            head: "Oldest queued",
            isNumber: true,
            label: "oldest",
            cell: (row) => (row.queued === 0 ? "—" : durationText(row.oldest_waiting_seconds * 1_000)),
          },
          { head: "Processes", isNumber: true, place: "mid", label: "processes", cell: ({ processes }) => processes },
          {
            head: "Target",
            isNumber: true,
            place: "key",
            cell: (row) => (
              <>
                <span class="narrow">target </span>
                {row.wanted_processes}
                {missingOf(row) > 0 ? (
                  <>
                    {" "}
                    <Icon name="up" small tone="warn" />+{missingOf(row)}
                  </>
                ) : null}
              </>
            ),
          },
        ]}
        empty={
          <Empty title="No pools">
            <p>Pools appear when their workers have started.</p>
          </Empty>
        }
      />
      <BrokenSources everyMs={everyMs} />
    </Page>
  );
}

interface Repeated {
  /** Interval at which the data is read again, in milliseconds; undefined while updates are paused. */
  readonly everyMs: number | undefined;
}

function Figures({ rows, everyMs }: Repeated & { readonly rows: readonly Pool[] }): JSX.Element {
  const { data } = useCall("GET /operator/status", {}, { everyMs });
  const sum = (read: (row: Pool) => number): number => rows.reduce((all, row) => all + read(row), 0);
  const [running, slots] = [sum((row) => row.running), sum((row) => row.slots)];
  const figure = (count: number | undefined): string => (count === undefined ? "—" : countText(count));
  return (
    <div class="stats">
      <Stat
        name="Queued"
        figure={countText(sum(({ queued }) => queued))}
        note={`${countText(sum(({ lane, queued }) => (lane === "batch" ? queued : 0)))} of them in batch lanes`}
      />
      <Stat
        name="Running"
        figure={countText(running)}
        unit={`of ${countText(slots)} slots`}
        note={<SlotBar running={running} slots={slots} />}
      />
      <Stat name="Open holds" figure={figure(data?.counts?.open_holds)} href="/console/operator/holds" />
      <Stat name="Dead letters" figure={figure(data?.counts?.dead_letters)} href="/console/operator/dead-letters" />
    </div>
  );
}

function BrokenSources({ everyMs }: Repeated): JSX.Element | null {
  const { data } = useCall("GET /operator/sources", {}, { everyMs });
  const rows = data?.data.filter(({ state }) => state === "disabled") ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title="Providers with errors" link={<Link href="/operator/sources">All providers</Link>}>
      <div class="panel">
        <Table
          rows={rows}
          idOf={({ id }) => id}
          columns={[
            { head: "Source", place: "main", cell: ({ id }) => id },
            { head: "Reason", cut: "40%", title: ({ reason }) => reason ?? "", cell: ({ reason }) => reason },
            { head: "Disabled", place: "key", cell: (row) => <Ago at={row.disabled_since} /> },
          ]}
        />
      </div>
    </Section>
  );
}

/** Number of processes that a lane lacks; 0 or less if it has enough. */
const missingOf = (row: Pool): number => row.wanted_processes - row.processes;

function SlotBar({ running, slots }: { readonly running: number; readonly slots: number }): JSX.Element {
  const share = slots === 0 ? 0 : Math.min(100, (running / slots) * 100);
  return (
    <span class={share >= 100 ? "bar warn" : "bar"} style={{ "--v": `${share}%` }}>
      <i />
    </span>
  );
}
