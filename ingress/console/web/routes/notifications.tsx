/** Notifications: the channels of the workspace, or one channel with its deliveries, subscriptions and settings. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation, useParams } from "wouter-preact";

import type { Channel } from "#schemas/generated/types.ts";
import { hasRole } from "../api/session.ts";
import { Button } from "../parts/form.tsx";
import { Page } from "../parts/page.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import { type Column, Empty, ListPanel, useList } from "../parts/table.tsx";
import { Ago, Status, Time } from "../parts/values.tsx";
import { ChannelPage } from "./notifications/channel.tsx";
import { ChannelDialog, stateOf, targetOf, TYPES } from "./notifications/channel-form.tsx";

const KEEPERS_ONLY = "Only owners and admins create channels.";

export default function Notifications(): JSX.Element {
  const { id } = useParams<{ id?: string }>();
  return id === undefined ? <Channels /> : <ChannelPage key={id} id={id} />;
}

function Channels(): JSX.Element {
  const [, navigate] = useLocation();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<Channel>();
  const list = useList("GET /workspaces/{workspaceId}/notification-channels");
  const open = (channel: Channel): void => navigate(`/notifications/${channel.id}/subscriptions`);
  const create = (
    <Button
      kind="primary"
      icon="plus"
      blocked={hasRole("owner", "admin") ? undefined : KEEPERS_ONLY}
      onClick={() => setCreating(true)}
    >
      Create channel
    </Button>
  );
  return (
    <Page
      title="Notifications"
      about="A channel sends the events of its subscriptions to a webhook, Slack, Telegram or an e-mail address. Failed deliveries are repeated for about 28 hours."
      actions={create}
    >
      <ListPanel
        query={list}
        columns={COLUMNS}
        idOf={({ id }) => id}
        hrefOf={({ id }) => `/notifications/${id}`}
        empty={
          <Empty title="No channels yet">
            <p>
              Channels are listed here with their state. Create the first one, then subscribe it to events of runs, jobs
              and budgets.
            </p>
          </Empty>
        }
      />
      {isCreating ? (
        <ChannelDialog
          onClose={() => setCreating(false)}
          onSaved={(channel) => {
            if (channel.signingSecret === undefined) open(channel);
            else setCreated(channel);
          }}
        />
      ) : null}
      {created === undefined ? null : (
        <SecretDialog
          title={`Signing secret of “${created.name}”`}
          hint="Every request carries a signature made with it. The secret can be revealed again on the page of the channel."
          variants={{ "Signing secret": created.signingSecret ?? "" }}
          onClose={() => open(created)}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Channel>[] = [
  {
    head: "Name",
    place: "main",
    cut: "40%",
    title: ({ name, id }) => `${name} (${id})`,
    cell: ({ name }) => name,
    sub: (channel) => (
      <>
        {TYPES[channel.type]} · <span class="mono">{targetOf(channel)}</span>
      </>
    ),
  },
  { head: "Status", place: "key", cell: (channel) => <Status of={stateOf(channel)} /> },
  { head: "Failing since", place: "mid", cell: ({ failingSince }) => <Ago at={failingSince} none="—" /> },
  { head: "Created", place: "low", cell: ({ createdAt }) => <Time at={createdAt} style="day" /> },
];
