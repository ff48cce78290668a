/** Subscriptions of a channel: the events that are sent to it, of all workflows or of one. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Channel, EventTypeList, Subscription } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { nameIn, type Names, useWorkflowNames } from "../../api/names-of.ts";
import { useCall, useQuery } from "../../api/query.ts";
import { hasRole } from "../../api/session.ts";
import { Button, CheckField, SelectField } from "../../parts/form.tsx";
import { ConfirmButton, FormDialog } from "../../parts/layers.tsx";
import { Section } from "../../parts/page.tsx";
import { type Column, Empty, ListPanel } from "../../parts/table.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";
import { CodeText, Time } from "../../parts/values.tsx";

const LIST = "/workspaces/{workspaceId}/notification-channels/{channelId}/subscriptions";
const KEEPERS_ONLY = "Only owners and admins change subscriptions.";

type EventType = EventTypeList["data"][number];

/** Returns the event types by name; an empty map until they are read. */
export function useEventTypes(): ReadonlyMap<string, EventType> {
  const query = useQuery("event types", async (signal) => {
    const { data } = await call("GET /workspaces/{workspaceId}/event-types", { signal });
    return new Map(data.map((type) => [type.name as string, type]));
  });
  return query.data ?? new Map<string, EventType>();
}

export function Subscriptions({ channel }: { readonly channel: Channel }): JSX.Element {
  const path = { channelId: channel.id };
  // A channel has at most 100 subscriptions.
  const list = useCall(`GET ${LIST}`, { path, query: { limit: 100 } });
  const events = useEventTypes();
  const workflows = useWorkflowNames();
  const [isAdding, setAdding] = useState(false);
  const blocked = hasRole("owner", "admin") ? undefined : KEEPERS_ONLY;
  return (
    <Section
      title="Subscriptions"
      link={
        <Button small icon="plus" blocked={blocked} onClick={() => setAdding(true)}>
          Add subscriptions
        </Button>
      }
    >
      <ListPanel
        query={list}
        idOf={({ id }) => id}
        columns={columnsOf(channel, events, workflows, blocked, list.reload)}
        empty={
          <Empty title="No subscriptions yet">
            <p>The channel receives nothing until it is subscribed to an event, such as run.failed or balance.low.</p>
          </Empty>
        }
      />
      {isAdding ? (
        <AddDialog
          channel={channel}
          subscribed={list.data?.data ?? []}
          events={[...events.values()]}
          workflows={workflows}
          onClose={() => setAdding(false)}
          onSaved={list.reload}
        />
      ) : null}
    </Section>
  );
}

function columnsOf(
  channel: Channel,
  events: ReadonlyMap<string, EventType>,
  workflows: Names,
  blocked: string | undefined,
  onRemoved: () => void,
): readonly Column<Subscription>[] {
  return [
    {
      head: "Event",
      place: "main",
      cell: ({ event }) => event,
      sub: ({ event }) => <CodeText text={events.get(event)?.description} />,
    },
    {
      head: "Scope",
      place: "key",
      cut: "26%",
      title: ({ workflowId }) => workflowId ?? "",
      cell: ({ event, workflowId }) =>
        workflowId === null
          ? events.get(event)?.group === "runs"
            ? "all workflows"
            : "the workspace"
          : nameIn(workflows, workflowId),
    },
    { head: "Since", place: "low", cell: ({ createdAt }) => <Time at={createdAt} style="day" /> },
    {
      head: <span class="sr">Actions</span>,
      isNumber: true,
      cell: (row) => (
        <ConfirmButton
          kind="quiet"
          small
          only
          icon="x"
          label={`Remove the subscription to ${row.event}`}
          blocked={blocked}
          title={`Remove the subscription to ${row.event}?`}
          effect={`“${channel.name}” receives no further events of this type${row.workflowId === null ? "" : " of this workflow"}. Open deliveries continue.`}
          action="Remove subscription"
          run={async () => {
            await call(`DELETE ${LIST}/{subscriptionId}`, { path: { channelId: channel.id, subscriptionId: row.id } });
            onRemoved();
          }}
        />
      ),
    },
  ];
}

function AddDialog({
  channel,
  subscribed,
  events,
  workflows,
  ...dialog
}: DialogProps & {
  readonly channel: Channel;
  readonly subscribed: readonly Subscription[];
  readonly events: readonly EventType[];
  readonly workflows: Names;
}): JSX.Element {
  const form = useForm(
    { workflowId: "", chosen: [] as readonly EventType["name"][] },
    async ({ workflowId }) => {
      try {
        for (const { name } of wanted) {
          await call(`POST ${LIST}`, {
            path: { channelId: channel.id },
            body: { event: name, ...(workflowId === "" ? {} : { workflowId }) },
          });
        }
      } catch (error) {
        // The list shows the subscriptions that were added before the error.
        dialog.onSaved(undefined);
        throw error;
      }
    },
    dialog,
  );
  const { workflowId, chosen } = form.values;
  const has = (name: string): boolean =>
    subscribed.some((one) => one.event === name && (one.workflowId ?? "") === workflowId);
  const offered = events.filter(({ group, name }) => (workflowId === "" || group === "runs") && !has(name));
  const wanted = offered.filter(({ name }) => chosen.includes(name));
  const groups = Map.groupBy(offered, ({ group }) => group);
  return (
    <FormDialog
      title="Add subscriptions"
      hint={`Events that are sent to “${channel.name}” from now on.`}
      onClose={dialog.onClose}
      action="Add subscriptions"
      submit={form}
      blocked={wanted.length === 0 ? "Choose at least one event." : undefined}
    >
      <SelectField
        label="Scope"
        {...form.bind("workflowId")}
        choices={[
          { value: "", text: "The whole workspace" },
          ...[...workflows].map(([value, text]) => ({ value, text: `Workflow ${text}` })),
        ]}
      />
      {[...groups].map(([group, types]) => (
        <fieldset class="field" key={group}>
          <legend>{GROUPS[group]}</legend>
          {types.map(({ name, description }) => (
            <CheckField
              key={name}
              isChecked={chosen.includes(name)}
              onInput={(isOn) => form.set({ chosen: isOn ? [...chosen, name] : chosen.filter((one) => one !== name) })}
              label={
                <>
                  {name}{" "}
                  <span class="muted">
                    <CodeText text={description} />
                  </span>
                </>
              }
            />
          ))}
        </fieldset>
      ))}
      {offered.length === 0 ? <p class="soft">The channel is subscribed to every event of this scope.</p> : null}
    </FormDialog>
  );
}

const GROUPS: Readonly<Record<EventType["group"], string>> = {
  runs: "Runs",
  jobs: "Jobs",
  budgets: "Budgets",
  balance: "Balance",
  limits: "Limits",
  operator: "Operator",
};
