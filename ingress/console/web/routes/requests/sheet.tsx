/** Side sheet of one call: result, attempts, money, facts, and kept request and response. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { UsageRequest } from "../../../../../schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { keyName } from "../../api/names.ts";
import { useQuery } from "../../api/query.ts";
import { Code, Json } from "../../parts/code.tsx";
import { countText, durationText, percentText, timeText } from "../../parts/format.ts";
import { Callout, FaultCallout, Sheet } from "../../parts/layers.tsx";
import { Timeline, type TimelineRow } from "../../parts/plot.tsx";
import { Skeleton } from "../../parts/table.tsx";
import { Amount, Id, KeyValues, Status } from "../../parts/values.tsx";

export function RequestSheet({
  id,
  listed,
  onClose,
  onMove,
}: {
  readonly id: string;
  /** Row of the list, which is shown until the details arrive. */
  readonly listed: UsageRequest | undefined;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}): JSX.Element {
  const query = useQuery(`request ${id}`, (signal) =>
    call("GET /workspaces/{workspaceId}/usage/requests/{request_id}", { path: { request_id: id }, signal }),
  );
  const row = query.data ?? listed;
  return (
    <Sheet title={row?.model ?? row?.refusal?.endpoint ?? "Request"} onClose={onClose} onMove={onMove}>
      {query.fault === undefined ? null : (
        <section>
          <FaultCallout fault={query.fault} retry={query.reload} />
        </section>
      )}
      {row === undefined ? query.fault === undefined ? <Skeleton /> : null : <Details row={row} />}
    </Sheet>
  );
}

function Details({ row }: { readonly row: UsageRequest }): JSX.Element {
  return (
    <>
      <section>
        <div class="row wrap">
          <Status of={row.status} />
          {row.error_code === null ? null : <code>{row.error_code}</code>}
          <span class="push soft">{durationText(durationOf(row))}</span>
        </div>
        {row.failure?.provider_text == null ? null : <Callout tone="bad">{row.failure.provider_text}</Callout>}
        {row.refusal === undefined ? null : (
          <p class="soft">
            {row.refusal.endpoint} was refused before any provider was called. It cost nothing.
            {row.refusal.param === null ? "" : ` The reason concerns ${row.refusal.param}.`}
          </p>
        )}
      </section>
      {row.refusal === undefined ? (
        <>
          <Attempts row={row} />
          <Money row={row} />
        </>
      ) : null}
      <Facts row={row} />
      {row.has_bodies ? <Bodies id={row.request_id} /> : null}
    </>
  );
}

function durationOf({ started_at, ended_at }: UsageRequest): number {
  return new Date(ended_at).getTime() - new Date(started_at).getTime();
}

/** Attempts in order. The time that the failed attempts leave belongs to the last one. */
function Attempts({ row }: { readonly row: UsageRequest }): JSX.Element | null {
  const failed = row.failure?.attempts ?? [];
  if (failed.length === 0 && row.source === null) return null;
  const total = durationOf(row);
  let start = 0;
  const rows: TimelineRow[] = failed.map(({ source, error, status, duration_ms }, index) => {
    const startMs = start;
    start += duration_ms;
    return {
      id: `${index}`,
      name: source,
      note: `${error}${status === null ? "" : ` ${status}`} · ${durationText(duration_ms)}`,
      startMs,
      lengthMs: duration_ms,
      tone: "bad",
    };
  });
  if (row.source !== null && row.status !== "failed") {
    const lengthMs = Math.max(0, total - start);
    const tone = row.status === "succeeded" ? "" : "idle";
    rows.push({
      id: "last",
      name: row.source,
      note: `served · ${durationText(lengthMs)}`,
      startMs: start,
      lengthMs,
      tone,
    });
  }
  return (
    <section>
      <h3>{rows.length === 1 ? "Attempt" : `${rows.length} attempts`}</h3>
      <Timeline rows={rows} totalMs={Math.max(total, start)} scale={durationText} />
    </section>
  );
}

function Money({ row: { held, credits, uncollected } }: { readonly row: UsageRequest }): JSX.Element {
  const returned = Math.max(0, held - credits);
  return (
    <section>
      <h3>Credits</h3>
      {held > 0 ? (
        <div class="split-bar" role="img" aria-label={`${percentText(credits, held)} of the hold was charged`}>
          <i style={{ width: `${Math.min(100, (credits / held) * 100)}%` }} />
          <i class="rest" />
        </div>
      ) : null}
      <KeyValues
        of={[
          ["Held", <Amount credits={held} />],
          [
            "Charged",
            <b>
              <Amount credits={credits} />
            </b>,
          ],
          ["Returned", <Amount credits={returned} />],
          ["Not charged", uncollected > 0 ? <Amount credits={uncollected} /> : null],
        ]}
      />
    </section>
  );
}

function Facts({ row }: { readonly row: UsageRequest }): JSX.Element {
  const units = Object.entries(row.units).map(([unit, amount]) => `${countText(amount)} ${unit.replaceAll("_", " ")}`);
  const filter = (name: string, value: string): string => `/requests?${new URLSearchParams({ [name]: value })}`;
  return (
    <section>
      <h3>Details</h3>
      <KeyValues
        of={[
          ["Request", <Id value={row.request_id} label="request id" />],
          ["Started", `${timeText(row.started_at, "day")}, ${timeText(row.started_at, "exact")}`],
          ["Ended", `${timeText(row.ended_at, "day")}, ${timeText(row.ended_at, "exact")}`],
          [
            "Key",
            <Link href={filter("key_id", row.key_id)} title={row.key_id}>
              {keyName(row.key_id)}
            </Link>,
          ],
          ["Provider", row.source],
          ["Requested", row.chain === null || row.chain === row.model ? null : row.chain],
          [
            "Measured",
            units.length === 0 ? null : units.join(", ") + (row.is_estimated ? " (measured by Sluice)" : ""),
          ],
          ["End user", row.user === null ? null : <Link href={filter("user", row.user)}>{row.user}</Link>],
          ...Object.entries(row.tags).map(
            ([name, value]) => [name, <Link href={filter("tag", `${name}:${value}`)}>{value}</Link>] as const,
          ),
          ["Run", row.run_id === null ? null : <Link href={`/runs/${row.run_id}`}>{row.run_id}</Link>],
          ["Attempt", row.attempt === 1 ? null : row.attempt],
        ]}
      />
      <Code
        title="Look up with curl"
        variants={{
          curl: `curl -H "Authorization: Bearer $SLUICE_KEY" ${location.origin}/workspaces/$WORKSPACE/usage/requests/${row.request_id}`,
        }}
        isWrapped
      />
    </section>
  );
}

/** Kept request and response of the call, which are read only when they are shown. */
function Bodies({ id }: { readonly id: string }): JSX.Element {
  const query = useQuery(`bodies ${id}`, (signal) =>
    call("GET /workspaces/{workspaceId}/usage/requests/{request_id}/bodies", { path: { request_id: id }, signal }),
  );
  return (
    <section>
      <h3>Request and response</h3>
      {query.fault === undefined ? null : <FaultCallout fault={query.fault} retry={query.reload} />}
      {query.data === undefined ? null : (
        <>
          <Json value={query.data.request} />
          <Json value={query.data.response} />
        </>
      )}
    </section>
  );
}
