/** Side sheet of one call: result, attempts, money, facts, and kept request and response. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { KeptBody, UsageRequest } from "#schemas/generated/types.ts";
import { keyName } from "../../api/names.ts";
import { useCall } from "../../api/query.ts";
import { Code, prettyOf } from "../../parts/code.tsx";
import { countText, durationText, percentText, sizeText, timeText } from "../../parts/format.ts";
import { Callout, FaultCallout, Sheet, type SheetControls } from "../../parts/layers.tsx";
import { Timeline, type TimelineRow } from "../../parts/plot.tsx";
import { Loaded } from "../../parts/table.tsx";
import { Amount, CodeText, Id, KeyValues, Status } from "../../parts/values.tsx";

/** Interval at which a call is read again that is not stored yet, in milliseconds. */
const MISSING_MS = 2_000;

export function RequestSheet({
  id,
  listed,
  ...controls
}: SheetControls & {
  readonly id: string;
  /** Row of the list, which is shown until the details arrive. */
  readonly listed: UsageRequest | undefined;
}): JSX.Element {
  const query = useCall(
    "GET /workspaces/{workspaceId}/usage/requests/{request_id}",
    { path: { request_id: id } },
    // A call is stored after its response, and a person may open it earlier.
    { everyMs: ({ fault }) => (fault?.code === "not_found" ? MISSING_MS : undefined) },
  );
  const row = query.data ?? listed;
  return (
    <Sheet title={row?.model ?? row?.endpoint ?? "Request"} {...controls}>
      <Loaded query={{ ...query, data: row }}>{(one) => <Details row={one} />}</Loaded>
    </Sheet>
  );
}

function Details({ row }: { readonly row: UsageRequest }): JSX.Element {
  return (
    <>
      <section>
        <div class="row wrap">
          <Status of={row.status} />
          {row.http_status === null ? null : <code>HTTP {row.http_status}</code>}
          {row.error_code === null ? null : <code>{row.error_code}</code>}
          <span class="push soft">{durationText(durationOf(row))}</span>
        </div>
        {row.failure?.provider_text == null ? null : <Callout tone="bad">{row.failure.provider_text}</Callout>}
        {row.refusal === undefined ? null : (
          <>
            <Callout tone="warn">
              <CodeText text={row.refusal.message} />
            </Callout>
            <p class="soft">
              The call was refused before any provider was called. It cost nothing.
              {row.refusal.param === null ? null : (
                <>
                  {" "}
                  The error names the parameter <code>{row.refusal.param}</code>.
                  {row.refusal.param.startsWith("limits.") ? (
                    <>
                      {" "}
                      <Link href={`/keys/${row.key_id}`}>Show the limits of the key</Link>
                    </>
                  ) : null}
                </>
              )}
            </p>
          </>
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

function firstText({ started_at }: UsageRequest, firstAt: string): string {
  return `${durationText(Date.parse(firstAt) - Date.parse(started_at))} after the start`;
}

function durationOf({ started_at, ended_at }: UsageRequest): number {
  return new Date(ended_at).getTime() - new Date(started_at).getTime();
}

/** Maximum error of a rounded time, in milliseconds. */
const ROUNDING_MS = 1;

/** Attempts on the time scale of the call. Before the first one, the call waited for a worker. */
function Attempts({ row }: { readonly row: UsageRequest }): JSX.Element | null {
  const { provider_attempts: attempts, first_token_at: firstAt } = row;
  if (attempts.length === 0) return null;
  const began = Date.parse(row.started_at);
  // The next attempt may begin in the millisecond in which one failed. Times are rounded to milliseconds.
  const first = firstAt === null ? -Infinity : Date.parse(firstAt);
  const firstIndex = attempts.findLastIndex(({ started_at: at }) => Date.parse(at) <= first + ROUNDING_MS);
  const rows = attempts.map(({ source, error, status, started_at, duration_ms: lengthMs }, index): TimelineRow => {
    const startMs = Math.max(0, Date.parse(started_at) - began);
    const firstMs = index === firstIndex ? Math.min(lengthMs, Math.max(0, first - began - startMs)) : undefined;
    const text = error === null ? "served" : `${error}${status === null ? "" : ` ${status}`}`;
    return {
      id: `${index}`,
      name: source,
      note: `${text} · ${firstMs === undefined ? "" : `first token after ${durationText(firstMs)} · `}${durationText(lengthMs)}`,
      startMs,
      lengthMs,
      tone: error !== null ? "bad" : row.status === "succeeded" ? "" : "idle",
      firstMs,
    };
  });
  const end = Math.max(durationOf(row), ...rows.map(({ startMs, lengthMs }) => startMs + lengthMs));
  return (
    <section>
      <h3>{rows.length === 1 ? "Attempt" : `${rows.length} attempts`}</h3>
      <Timeline rows={rows} totalMs={end} scale={durationText} />
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
          ["First token", row.first_token_at === null ? null : firstText(row, row.first_token_at)],
          ["Ended", `${timeText(row.ended_at, "day")}, ${timeText(row.ended_at, "exact")}`],
          [
            "Endpoint",
            row.endpoint === null ? null : <Link href={filter("endpoint", row.endpoint)}>{row.endpoint}</Link>,
          ],
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
  const path = { request_id: id };
  const query = useCall("GET /workspaces/{workspaceId}/usage/requests/{request_id}/bodies", { path });
  return (
    <section>
      <h3>Request and response</h3>
      <FaultCallout fault={query.fault} retry={query.reload} />
      {query.data === undefined ? null : (
        <>
          <Body name="Request" body={query.data.request} />
          <Body name="Response" body={query.data.response} />
        </>
      )}
    </section>
  );
}

function Body({
  name,
  body: { media_type: type, bytes, text, is_cut: isCut },
}: {
  readonly name: string;
  readonly body: KeptBody;
}): JSX.Element {
  const title = [name, type, bytes === null ? null : sizeText(bytes), isCut ? "beginning only" : null]
    .filter((part) => part !== null)
    .join(" · ");
  return text === null ? (
    <p class="soft">{title}. The body is neither JSON nor text, and its content is not kept.</p>
  ) : (
    <Code isWrapped variants={{ [title]: prettyOf(text) }} />
  );
}
