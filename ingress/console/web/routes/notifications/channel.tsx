/** One channel: its state, deliveries, subscriptions and settings. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation, useParams } from "wouter-preact";

import type { Channel } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useQuery } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { Button } from "../../parts/form.tsx";
import { relativeText, zonedText } from "../../parts/format.ts";
import { Callout, ConfirmDialog, FaultCallout } from "../../parts/layers.tsx";
import { Page, Section, Tabs } from "../../parts/page.tsx";
import { Skeleton } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { Id, KeyValues, Status } from "../../parts/values.tsx";
import { ChannelDialog, stateOf, targetOf, TYPES } from "./channel-form.tsx";
import { DeliveryList, DeliverySheet, useDeliveries } from "./deliveries.tsx";
import { SecretDialog } from "./secret.tsx";
import { Subscriptions } from "./subscriptions.tsx";

const ONE = "/workspaces/{workspaceId}/notification-channels/{channelId}";

export function ChannelPage({ id }: { readonly id: string }): JSX.Element {
  const { part = "deliveries" } = useParams<{ part?: string }>();
  const query = useQuery(`channel ${id}`, (signal) => call(`GET ${ONE}`, { path: { channelId: id }, signal }));
  const deliveries = useDeliveries(part === "deliveries" ? id : "");
  const { data: channel } = query;
  const test = useAction(async () => {
    await call(`POST ${ONE}/test`, { path: { channelId: id } });
    toast("The test event is being sent");
    deliveries.list.reload();
  });
  const href = (name: string): string => `/notifications/${id}${name === "deliveries" ? "" : `/${name}`}`;
  return (
    <Page
      title={channel?.name ?? "Channel"}
      isWide={part === "deliveries"}
      crumb={<Link href="/notifications">Notifications</Link>}
      about={
        channel === undefined ? undefined : (
          <>
            <Status of={stateOf(channel)} /> {TYPES[channel.type]} · <span class="mono">{targetOf(channel)}</span>
          </>
        )
      }
      actions={
        channel === undefined ? undefined : (
          <Button icon="send" isRunning={test.isRunning} blocked={testBlock(channel)} onClick={() => test.run()}>
            Send test event
          </Button>
        )
      }
      sheet={
        deliveries.open.id && (
          <DeliverySheet
            key={deliveries.open.id}
            id={deliveries.open.id}
            {...deliveries.open.sheet}
            onChange={deliveries.list.reload}
          />
        )
      }
    >
      {query.fault === undefined ? null : <FaultCallout fault={query.fault} retry={query.reload} />}
      {test.fault === undefined ? null : <FaultCallout fault={test.fault} retry={() => void test.run()} />}
      {channel === undefined ? null : <Warning channel={channel} />}
      <Tabs
        label="Channel"
        current={href(part)}
        tabs={["Deliveries", "Subscriptions", "Settings"].map((text) => ({ text, href: href(text.toLowerCase()) }))}
      />
      {channel === undefined ? (
        query.fault === undefined ? (
          <Skeleton />
        ) : null
      ) : part === "subscriptions" ? (
        <Subscriptions channel={channel} />
      ) : part === "settings" ? (
        <Settings channel={channel} onChange={query.reload} />
      ) : (
        <DeliveryList channel={channel} {...deliveries} />
      )}
    </Page>
  );
}

/** Returns true if the member may change the channel: owners and admins any, developers their own. */
function canChange({ createdByUserId }: Channel): boolean {
  return hasRole("owner", "admin") || createdByUserId === session.value?.member.id;
}

const NOT_OWN = "Developers change only channels that they created.";
const KEEPERS_ONLY = "Only owners and admins do this.";

function testBlock(channel: Channel): string | undefined {
  if (!channel.enabled) return "The channel is disabled. Enable it in its settings.";
  return canChange(channel) ? undefined : NOT_OWN;
}

function Warning({
  channel: { enabled, disabledReason, failingSince, hasSigningSecret, type },
}: {
  readonly channel: Channel;
}): JSX.Element | null {
  if (disabledReason !== null) {
    const why =
      disabledReason === "gone"
        ? "the receiver answered that it is gone for good"
        : "all attempts failed for five days";
    return (
      <Callout tone="bad">
        <b>The service disabled this channel, because {why}.</b> Its events are not sent. Repair the receiver, enable
        the channel in its settings, then recover the missed deliveries.
      </Callout>
    );
  }
  if (!enabled)
    return <Callout>The channel is disabled. Its events are recorded as skipped and can be recovered later.</Callout>;
  if (failingSince !== null) {
    return (
      <Callout tone="warn">
        <b>
          All attempts have failed since {zonedText(failingSince)} ({relativeText(failingSince)}).
        </b>{" "}
        Deliveries are repeated with growing delays. After five days without a success the channel is disabled.
      </Callout>
    );
  }
  if (type === "webhook" && !hasSigningSecret) {
    return (
      <Callout tone="warn">
        Requests are not signed, because the channel has no signing secret. Rotate the secret to create one.
      </Callout>
    );
  }
  return null;
}

type Open = "change" | "disable" | "reveal" | "rotate" | "delete" | undefined;

function Settings({ channel, onChange }: { readonly channel: Channel; readonly onChange: () => void }): JSX.Element {
  const [open, setOpen] = useState<Open>();
  const path = { channelId: channel.id };
  const setEnabled = async (enabled: boolean): Promise<void> => {
    await call(`PATCH ${ONE}`, { path, body: { enabled } });
    toast(enabled ? "The channel is enabled" : "The channel is disabled");
    onChange();
  };
  const enable = useAction(() => setEnabled(true));
  const [notOwn, notKeeper] = [
    canChange(channel) ? undefined : NOT_OWN,
    hasRole("owner", "admin") ? undefined : KEEPERS_ONLY,
  ];
  return (
    <Section title="Settings">
      <div class="panel">
        <div class="pad stack">
          <KeyValues
            of={[
              ["Type", TYPES[channel.type]],
              ["Receiver", <span class="mono">{targetOf(channel)}</span>],
              ["Authentication", channel.config["authType"]],
              ["Stored credentials", channel.credentials.length === 0 ? null : channel.credentials.join(", ")],
              ["Signature", channel.type === "webhook" ? (channel.hasSigningSecret ? "signed" : "not signed") : null],
              ["Channel id", <Id value={channel.id} label="channel id" />],
              ["Created", zonedText(channel.createdAt)],
              ["Changed", zonedText(channel.updatedAt)],
            ]}
          />
          {enable.fault === undefined ? null : <FaultCallout fault={enable.fault} retry={() => void enable.run()} />}
          <div class="row wrap">
            <Button blocked={notOwn} onClick={() => setOpen("change")}>
              Change channel
            </Button>
            {channel.type === "webhook" ? (
              <>
                <Button blocked={notKeeper} onClick={() => setOpen("reveal")}>
                  Reveal secret
                </Button>
                <Button blocked={notKeeper} onClick={() => setOpen("rotate")}>
                  Rotate secret
                </Button>
              </>
            ) : null}
            {channel.enabled ? (
              <Button blocked={notOwn} onClick={() => setOpen("disable")}>
                Disable channel
              </Button>
            ) : (
              <Button kind="primary" blocked={notOwn} isRunning={enable.isRunning} onClick={() => enable.run()}>
                Enable channel
              </Button>
            )}
            <Button kind="danger" blocked={notKeeper} onClick={() => setOpen("delete")}>
              Delete channel
            </Button>
          </div>
        </div>
      </div>
      <SettingsDialog
        channel={channel}
        open={open}
        onClose={() => setOpen(undefined)}
        onChange={onChange}
        setEnabled={setEnabled}
      />
    </Section>
  );
}

/** Dialog of the chosen action, and the secret that it returned. */
function SettingsDialog({
  channel,
  open,
  onClose: close,
  onChange,
  setEnabled,
}: {
  readonly channel: Channel;
  readonly open: Open;
  readonly onClose: () => void;
  readonly onChange: () => void;
  readonly setEnabled: (enabled: boolean) => Promise<void>;
}): JSX.Element {
  const [secret, setSecret] = useState<{ readonly text: string; readonly note: string }>();
  const [, navigate] = useLocation();
  const path = { channelId: channel.id };
  const name = `“${channel.name}”`;
  return (
    <>
      {open === "change" ? (
        <ChannelDialog
          channel={channel}
          onClose={close}
          onSaved={() => {
            close();
            onChange();
          }}
        />
      ) : null}
      {open === "disable" ? (
        <ConfirmDialog
          title={`Disable ${name}?`}
          effect="Nothing is sent until the channel is enabled again. Events of this time are recorded as skipped; “Recover since…” sends them later."
          action={`Disable ${name}`}
          onClose={close}
          run={() => setEnabled(false)}
        />
      ) : null}
      {open === "reveal" ? (
        <ConfirmDialog
          title={`Reveal the signing secret of ${name}?`}
          effect="Whoever reads the secret can forge requests to your receiver. The audit log records that you revealed it."
          action="Reveal secret"
          onClose={close}
          run={async () => {
            const { signingSecret } = await call(`POST ${ONE}/signing-secret/reveal`, { path });
            setSecret({ text: signingSecret, note: "Your receiver verifies x-webhook-signature with this secret." });
          }}
        />
      ) : null}
      {open === "rotate" ? (
        <ConfirmDialog
          title={`Rotate the signing secret of ${name}?`}
          effect="The next attempt is signed with a new secret: a receiver that checks x-webhook-signature rejects it until it knows the new secret. webhook-signature contains both signatures for a day."
          action="Rotate secret"
          onClose={close}
          run={async () => {
            const { signingSecret, previousUntil } = await call(`POST ${ONE}/signing-secret/rotate`, { path });
            const until =
              previousUntil === undefined ? "" : ` The old secret also signs until ${zonedText(previousUntil)}.`;
            setSecret({ text: signingSecret, note: `Store the new secret in your receiver now.${until}` });
            onChange();
          }}
        />
      ) : null}
      {open === "delete" ? (
        <ConfirmDialog
          title={`Delete ${name}?`}
          effect="Its subscriptions are deleted and its open deliveries are cancelled. Past deliveries stay in the API's list. This cannot be undone."
          action={`Delete ${name}`}
          onClose={close}
          run={async () => {
            await call(`DELETE ${ONE}`, { path });
            toast(`Channel ${name} is deleted`);
            navigate("/notifications");
          }}
        />
      ) : null}
      {secret === undefined ? null : (
        <SecretDialog
          title={`Signing secret of ${name}`}
          secret={secret.text}
          note={secret.note}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}
