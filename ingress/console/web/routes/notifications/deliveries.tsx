/** Deliveries of a channel: list, and a side sheet with the attempts of one delivery, the response and the sent body. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { Channel, Delivery } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useCall } from "../../api/query.ts";
import { hasRole } from "../../api/session.ts";
import { Code, prettyOf } from "../../parts/code.tsx";
import { FilterBar, useUrlQuery, type UrlQuery } from "../../parts/filters.tsx";
import { Button, FaultText, TextField } from "../../parts/form.tsx";
import { durationText, relativeText, sizeText, timeText, zone, zonedTime, zoneText } from "../../parts/format.ts";
import { FormDialog, Sheet, type SheetControls } from "../../parts/layers.tsx";
import { Section } from "../../parts/page.tsx";
import {
  type Column,
  Empty,
  type List,
  ListPanel,
  Loaded,
  type OpenRow,
  Table,
  useList,
  useOpenRow,
} from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";
import { Id, KeyValues, Status, statusChoices, Time } from "../../parts/values.tsx";
import { useEventTypes } from "./subscriptions.tsx";

/** Interval at which deliveries are read again, in milliseconds. */
const REFRESH_MS = 5_000;
/** Days for which failed deliveries can be recovered. */
const RECOVER_DAYS = 14;
const DAY_MS = 86_400_000;

const STATUSES = [
  { value: "pending", text: "Queued or retrying" },
  { value: "succeeded", text: "Delivered" },
  ...statusChoices("failed", "skipped", "cancelled"),
];

interface Deliveries {
  readonly query: UrlQuery;
  readonly list: List<Delivery>;
  readonly open: OpenRow<Delivery>;
}

/** Reads the deliveries of a channel that match the filters in the URL. An empty id reads nothing. */
export function useDeliveries(channelId: string): Deliveries {
  const query = useUrlQuery();
  const filters = { channelId, status: query.get("status"), event: query.get("event") };
  const list = useList("GET /workspaces/{workspaceId}/deliveries", channelId === "" ? null : { query: filters }, {
    everyMs: REFRESH_MS,
  });
  const open = useOpenRow(`/notifications/${channelId}/deliveries`, list, ({ id }) => id);
  return { query, list, open };
}

export function DeliveryList({ channel, query, list, open }: Deliveries & { readonly channel: Channel }): JSX.Element {
  const [isRecovering, setRecovering] = useState(false);
  const events = useEventTypes();
  const isFiltered = query.get("status") !== "" || query.get("event") !== "";
  return (
    <Section title="Deliveries" link={<RecoverButton channel={channel} onClick={() => setRecovering(true)} />}>
      <FilterBar
        query={query}
        filters={[
          { name: "status", label: "Status", choices: STATUSES },
          { name: "event", label: "Event", choices: [...events.keys()].map((value) => ({ value, text: value })) },
        ]}
      />
      <ListPanel
        query={list}
        columns={columnsOf()}
        idOf={({ id }) => id}
        open={open}
        empty={
          isFiltered ? (
            <Empty title="No deliveries match">
              <p>Remove a filter.</p>
            </Empty>
          ) : (
            <Empty title="No deliveries yet">
              <p>
                Each event that the channel receives is listed here with its attempts. Subscribe to an event, or send a
                test event.
              </p>
            </Empty>
          )
        }
      />
      {isRecovering ? (
        <RecoverDialog channel={channel} onClose={() => setRecovering(false)} onSaved={list.reload} />
      ) : null}
    </Section>
  );
}

function RecoverButton({ channel, onClick }: { readonly channel: Channel; readonly onClick: () => void }): JSX.Element {
  const blocked = !channel.enabled
    ? "The channel is disabled. Enable it first."
    : hasRole("owner", "admin")
      ? undefined
      : "Only owners and admins recover deliveries.";
  return (
    <Button small blocked={blocked} onClick={onClick}>
      Recover since…
    </Button>
  );
}

/** State of a delivery: a pending delivery with failed attempts is `retrying`. */
function stateOf({ status, attemptCount }: Delivery): string {
  if (status === "pending") return attemptCount === 0 ? "queued" : "retrying";
  return status === "succeeded" ? "delivered" : status;
}

function columnsOf(): readonly Column<Delivery>[] {
  return [
    {
      head: "Event",
      place: "main",
      cut: "40%",
      title: ({ event, id }) => `${event} (${id})`,
      cell: ({ event }) => event,
      sub: ({ createdAt }) => timeText(createdAt, "minute"),
    },
    { head: "Status", place: "key", cell: (row) => <Status of={stateOf(row)} /> },
    { head: "Attempts", place: "low", isNumber: true, cell: ({ attemptCount }) => attemptCount },
    {
      head: "Next attempt",
      label: "next",
      isNumber: true,
      title: ({ nextAttemptAt }) => (nextAttemptAt === null ? "" : timeText(nextAttemptAt, "exact")),
      cell: ({ nextAttemptAt }) =>
        nextAttemptAt === null ? <span class="muted none">—</span> : dueText(nextAttemptAt),
    },
    {
      head: `Ended, ${zoneText()}`,
      place: "low",
      cell: ({ endedAt }) => (endedAt === null ? <span class="muted">—</span> : <Time at={endedAt} style="minute" />),
    },
  ];
}

function dueText(at: string): string {
  return new Date(at).getTime() <= Date.now() ? "now" : relativeText(at);
}

export function DeliverySheet({
  id,
  onChange,
  ...controls
}: SheetControls & { readonly id: string; readonly onChange: () => void }): JSX.Element {
  const path = { deliveryId: id };
  const delivery = useCall("GET /workspaces/{workspaceId}/deliveries/{deliveryId}", { path }, { everyMs: REFRESH_MS });
  const resend = useAction(async () => {
    await call("POST /workspaces/{workspaceId}/deliveries/{deliveryId}/retry", { path });
    toast("The delivery is being sent again");
    delivery.reload();
    onChange();
  });
  return (
    <Sheet title={delivery.data?.event ?? "Delivery"} {...controls}>
      <Loaded query={delivery}>
        {(row) => (
          <>
            <section>
              <KeyValues
                of={[
                  ["Status", <Status of={stateOf(row)} />],
                  [
                    "Next attempt",
                    row.nextAttemptAt === null
                      ? null
                      : `${dueText(row.nextAttemptAt)}, ${timeText(row.nextAttemptAt, "exact")}`,
                  ],
                  ["Created", `${timeText(row.createdAt, "day")}, ${timeText(row.createdAt, "exact")}`],
                  [
                    "Ended",
                    row.endedAt === null ? null : `${timeText(row.endedAt, "day")}, ${timeText(row.endedAt, "exact")}`,
                  ],
                  ["Delivery id", <Id value={row.id} label="delivery id" />],
                ]}
              />
              <div class="row wrap">
                <Button kind="primary" small icon="send" isRunning={resend.isRunning} onClick={() => resend.run()}>
                  Resend now
                </Button>
                <span class="hint">
                  One attempt with the same <code>webhook-id</code>.
                </span>
              </div>
              <FaultText fault={resend.fault} />
            </section>
            <Attempts row={row} />
            <section>
              <h3>Sent</h3>
              {row.body === undefined ? (
                <p class="soft">The delivery is about the run of another member. Its content is not shown.</p>
              ) : (
                <>
                  <Subject body={row.body} />
                  <Code
                    isWrapped
                    variants={{ [`application/json · ${sizeText(new Blob([row.body]).size)}`]: prettyOf(row.body) }}
                  />
                </>
              )}
            </section>
          </>
        )}
      </Loaded>
    </Sheet>
  );
}

type Attempt = NonNullable<Delivery["attempts"]>[number];

/** Attempts of a delivery, newest first, and the response of the selected one. */
function Attempts({ row: { attempts = [] } }: { readonly row: Delivery }): JSX.Element {
  const [chosen, setChosen] = useState<number>();
  const newest = attempts.toReversed();
  const selected = newest.find(({ number }) => number === chosen) ?? newest[0];
  const columns: readonly Column<Attempt>[] = [
    {
      head: "Attempt",
      place: "main",
      cell: ({ number }) => (
        <button type="button" class="link" onClick={() => setChosen(number)}>
          {number}
        </button>
      ),
    },
    { head: `Time, ${zoneText()}`, cell: ({ at }) => <Time at={at} /> },
    {
      head: "Result",
      place: "key",
      cell: ({ status, error }) => (
        <Status of={error === null ? "delivered" : "failed"} code={status ?? "no response"} />
      ),
    },
    { head: "Duration", isNumber: true, cell: ({ ms }) => durationText(ms) },
  ];
  return (
    <section>
      <h3>Attempts</h3>
      {selected === undefined ? (
        <p class="soft">There was no attempt yet.</p>
      ) : (
        <>
          <Table
            columns={columns}
            rows={newest}
            idOf={({ number }) => String(number)}
            selected={String(selected.number)}
          />
          {selected.error === null || selected.error === "status" ? null : (
            <p class="soft">
              Error: <code>{selected.error}</code>
            </p>
          )}
          {selected.responseStart === null || selected.responseStart === "" ? (
            <p class="soft">Attempt {selected.number} received no response body.</p>
          ) : (
            <Code
              isWrapped
              variants={{ [`Response of attempt ${selected.number} · first 1 kB`]: selected.responseStart }}
            />
          )}
        </>
      )}
    </section>
  );
}

/** Link to the run that a notification is about. */
function Subject({ body }: { readonly body: string }): JSX.Element | null {
  const { metadata } = JSON.parse(body) as { readonly metadata?: { readonly runId?: unknown } };
  return typeof metadata?.runId === "string" ? (
    <p>
      <Link href={`/runs/${metadata.runId}`}>Open the run</Link>
    </p>
  ) : null;
}

function RecoverDialog({ channel, ...dialog }: DialogProps & { readonly channel: Channel }): JSX.Element {
  const yesterday = new Intl.DateTimeFormat("en-CA", { timeZone: zone.value }).format(Date.now() - DAY_MS);
  const form = useForm(
    { since: `${yesterday}T00:00`, until: "" },
    async ({ since, until }) => {
      const { count } = await call("POST /workspaces/{workspaceId}/notification-channels/{channelId}/recover", {
        path: { channelId: channel.id },
        body: { since: instantOf(since), ...(until === "" ? {} : { until: instantOf(until) }) },
      });
      toast(count === 0 ? "No delivery of this time has failed" : `${count} deliveries are being sent again`);
    },
    dialog,
  );
  return (
    <FormDialog
      title={`Recover deliveries of “${channel.name}”`}
      hint="Sends every failed, skipped or cancelled delivery of the period once more, at most 10,000 at a time. Each keeps its webhook-id."
      onClose={dialog.onClose}
      action="Recover deliveries"
      submit={form}
    >
      <div class="grid2">
        <TextField
          label={`Since, ${zoneText()}`}
          type="datetime-local"
          {...form.bind("since")}
          hint={`At most ${RECOVER_DAYS} days ago.`}
        />
        <TextField
          label={`Until, ${zoneText()}`}
          type="datetime-local"
          {...form.bind("until")}
          isOptional
          hint="Default: now."
        />
      </div>
    </FormDialog>
  );
}

/** Returns the instant of a local time in the chosen zone; the text itself if it is no time, so that the API explains the fault. */
function instantOf(local: string): string {
  const time = zonedTime(local.length === 16 ? `${local}:00` : local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
}
