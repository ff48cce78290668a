/** Pools: queued and running jobs of each pool and lane, and the processes that it needs. */
import type { JSX } from "preact";

import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { countText, durationText } from "../parts/format.ts";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel } from "../parts/table.tsx";

/** Interval at which the pools are read again, in milliseconds. */
const POOLS_MS = 5_000;

export default function Pools(): JSX.Element {
  const list = useQuery(
    "operator pools",
    async (signal) => ({ ...(await call("GET /operator/pools", { signal })), has_more: false }),
    { everyMs: POOLS_MS },
  );
  return (
    <Page title="Pools" about="Queues and workers of the whole service.">
      <ListPanel
        query={list}
        idOf={({ pool, lane }) => `${pool} ${lane}`}
        columns={[
          { head: "Pool", place: "main", cell: ({ pool, lane }) => `${pool} ${lane}` },
          { head: "Queued", isNumber: true, label: "queued", cell: ({ queued }) => countText(queued) },
          { head: "Running", isNumber: true, label: "running", cell: (row) => `${row.running} of ${row.slots} slots` },
          {
            head: "Oldest queued",
            isNumber: true,
            place: "mid",
            cell: (row) => (row.queued === 0 ? "—" : durationText(row.oldest_waiting_seconds * 1_000)),
          },
          { head: "Processes", isNumber: true, place: "mid", cell: ({ processes }) => processes },
          { head: "Wanted", isNumber: true, place: "key", cell: (row) => row.wanted_processes },
        ]}
        empty={
          <Empty title="No pools">
            <p>Pools appear when their workers have started.</p>
          </Empty>
        }
      />
    </Page>
  );
}
