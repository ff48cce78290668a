/** One channel: its state, deliveries, subscriptions and settings. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation, useParams } from "wouter-preact";

import type { Channel, Delivery } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useCall } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { Button } from "../../parts/form.tsx";
import { relativeText, zonedText } from "../../parts/format.ts";
import { Callout, ConfirmButton, FaultCallout } from "../../parts/layers.tsx";
import { Page, Section, Tabs } from "../../parts/page.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { Loaded } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { Id, KeyValues, Status } from "../../parts/values.tsx";
import { ChannelDialog, stateOf, targetOf, TYPES } from "./channel-form.tsx";
import { DeliveryList, DeliverySheet, useDeliveries } from "./deliveries.tsx";
import { Subscriptions } from "./subscriptions.tsx";

const ONE = "/workspaces/{workspaceId}/notification-channels/{channelId}";

export function ChannelPage({ id }: { readonly id: string }): JSX.Element {
  const { part = "deliveries" } = useParams<{ part?: string }>();
  const query = useCall(`GET ${ONE}`, { path: { channelId: id } });
  const deliveries = useDeliveries(part === "deliveries" ? id : "");
  const { data: channel } = query;
  const test = useAction(async () => {
    const { deliveryId } = await call(`POST ${ONE}/test`, { path: { channelId: id } });
    await reportTest(id, deliveryId);
    deliveries.list.reload();
    query.reload();
  });
  const href = (name: string): string => `/notifications/${id}${name === "deliveries" ? "" : `/${name}`}`;
  return (
    <Page
      title={channel?.name ?? "Channel"}
      isWide={part === "deliveries"}
      crumb={<Link href="/notifications">Notifications</Link>}
      about={
        channel === undefined ? undefined : (
          <span class="row wrap">
            <Status of={stateOf(channel)} />
            <span>
              {TYPES[channel.type]} · <span class="mono">{targetOf(channel)}</span>
            </span>
          </span>
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
      <FaultCallout fault={test.fault} retry={() => test.run()} />
      {channel === undefined ? null : <Warning channel={channel} />}
      <Tabs
        label="Channel"
        current={href(part)}
        tabs={["Deliveries", "Subscriptions", "Settings"].map((text) => ({ text, href: href(text.toLowerCase()) }))}
      />
      <Loaded query={query}>
        {(channel) =>
          part === "subscriptions" ? (
            <Subscriptions channel={channel} />
          ) : part === "settings" ? (
            <Settings channel={channel} onChange={query.reload} />
          ) : (
            <DeliveryList channel={channel} {...deliveries} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Interval at which the delivery of a test event is read, in milliseconds, and maximum number of times. An attempt takes at most 15 s. */
const TEST_POLL_MS = 500;
const TEST_POLLS_MAX = 40;

/** Waits for the result of a test event, and shows it with a link to the delivery. */
async function reportTest(channelId: string, deliveryId: string): Promise<void> {
  const read = (): Promise<Delivery> =>
    call("GET /workspaces/{workspaceId}/deliveries/{deliveryId}", { path: { deliveryId } });
  let delivery = await read();
  for (let polls = 1; delivery.status === "pending" && polls < TEST_POLLS_MAX; polls++) {
    await new Promise((resolve) => setTimeout(resolve, TEST_POLL_MS));
    delivery = await read();
  }
  const { status, error } = delivery.attempts?.at(-1) ?? {};
  const text =
    delivery.status === "succeeded"
      ? "The test event is delivered."
      : delivery.status === "pending"
        ? "The test event is still being sent."
        : `The test event was not delivered: ${status == null ? (error ?? delivery.status) : `the receiver returned status ${status}`}.`;
  toast(
    <>
      {text} <Link href={`/notifications/${channelId}/deliveries/${deliveryId}`}>Show the delivery</Link>
    </>,
    delivery.status === "succeeded" || delivery.status === "pending" ? "ok" : "bad",
  );
}

/** Returns true if the member may change the channel: owners and admins any, developers their own. */
function canChange({ createdByUserId }: Channel): boolean {
  return hasRole("owner", "admin") || createdByUserId === session.value?.member.id;
}

const NOT_OWN = "Developers change only channels that they created.";

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

function Settings({ channel, onChange }: { readonly channel: Channel; readonly onChange: () => void }): JSX.Element {
  const [isChanging, setChanging] = useState(false);
  const setEnabled = async (enabled: boolean): Promise<void> => {
    await call(`PATCH ${ONE}`, { path: { channelId: channel.id }, body: { enabled } });
    toast(enabled ? "The channel is enabled" : "The channel is disabled");
    onChange();
  };
  const enable = useAction(() => setEnabled(true));
  const name = `“${channel.name}”`;
  const notOwn = canChange(channel) ? undefined : NOT_OWN;
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
          <FaultCallout fault={enable.fault} retry={() => enable.run()} />
          <div class="row wrap">
            <Button blocked={notOwn} onClick={() => setChanging(true)}>
              Change channel
            </Button>
            {channel.type === "webhook" ? <SecretButtons channel={channel} onChange={onChange} /> : null}
            {channel.enabled ? (
              <ConfirmButton
                blocked={notOwn}
                title={`Disable ${name}?`}
                effect="Nothing is sent until the channel is enabled again. Events of this time are recorded as skipped; “Recover since…” sends them later."
                action={`Disable ${name}`}
                run={() => setEnabled(false)}
              >
                Disable channel
              </ConfirmButton>
            ) : (
              <Button kind="primary" blocked={notOwn} isRunning={enable.isRunning} onClick={() => enable.run()}>
                Enable channel
              </Button>
            )}
            <DeleteButton channel={channel} />
          </div>
        </div>
      </div>
      {isChanging ? <ChannelDialog channel={channel} onClose={() => setChanging(false)} onSaved={onChange} /> : null}
    </Section>
  );
}

/** Returns why the member may not do what only owners and admins do. */
function keeperBlock(): string | undefined {
  return hasRole("owner", "admin") ? undefined : "Only owners and admins do this.";
}

function DeleteButton({ channel }: { readonly channel: Channel }): JSX.Element {
  const [, navigate] = useLocation();
  const name = `“${channel.name}”`;
  return (
    <ConfirmButton
      kind="danger"
      blocked={keeperBlock()}
      title={`Delete ${name}?`}
      effect="Its subscriptions are deleted and its open deliveries are cancelled. Past deliveries stay in the API's list. This cannot be undone."
      action={`Delete ${name}`}
      run={async () => {
        await call(`DELETE ${ONE}`, { path: { channelId: channel.id } });
        toast(`Channel ${name} is deleted`);
        navigate("/notifications");
      }}
    >
      Delete channel
    </ConfirmButton>
  );
}

/** Buttons that reveal and rotate the signing secret, and the dialog that shows it. */
function SecretButtons({
  channel,
  onChange,
}: {
  readonly channel: Channel;
  readonly onChange: () => void;
}): JSX.Element {
  const [secret, setSecret] = useState<{ readonly text: string; readonly note: string }>();
  const path = { channelId: channel.id };
  const name = `“${channel.name}”`;
  return (
    <>
      <ConfirmButton
        blocked={keeperBlock()}
        title={`Reveal the signing secret of ${name}?`}
        effect="Whoever reads the secret can forge requests to your receiver. The audit log records that you revealed it."
        action="Reveal secret"
        run={async () => {
          const { signingSecret } = await call(`POST ${ONE}/signing-secret/reveal`, { path });
          setSecret({ text: signingSecret, note: "Your receiver verifies x-webhook-signature with this secret." });
        }}
      />
      <ConfirmButton
        blocked={keeperBlock()}
        title={`Rotate the signing secret of ${name}?`}
        effect="The next attempt is signed with a new secret: a receiver that checks x-webhook-signature rejects it until it knows the new secret. webhook-signature contains both signatures for a day."
        action="Rotate secret"
        run={async () => {
          const { signingSecret, previousUntil } = await call(`POST ${ONE}/signing-secret/rotate`, { path });
          const until =
            previousUntil === undefined ? "" : ` The old secret also signs until ${zonedText(previousUntil)}.`;
          setSecret({ text: signingSecret, note: `Store the new secret in your receiver now.${until}` });
          onChange();
        }}
      />
      {secret === undefined ? null : (
        <SecretDialog
          title={`Signing secret of ${name}`}
          hint={secret.note}
          variants={{ "Signing secret": secret.text }}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}
