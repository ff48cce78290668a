/** SQL with which workers of the pool webhook create, lease and complete deliveries. */
import { newId } from "#shared/base/ids.ts";
import { mailboxOf } from "#shared/base/mail-address.ts";
import type { ChannelType } from "#shared/notifications/channel-config.ts";
import { type Envelope, envelopeText } from "#shared/notifications/envelope.ts";

import { plainArray } from "./arrays.ts";
import type { Database, Queryable } from "./client.ts";

/**
 * Maximum number of waiting deliveries of one channel, equal to one every nine seconds for a day. The channel receives no further events.
 */
export const DELIVERIES_WAITING_MAX = 10_000;

interface EventRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly workflow_id: string | null;
  readonly type: string;
  readonly metadata: Envelope["metadata"];
  readonly occurred_at: Date;
}

/** Returns true if there are events for which no deliveries have been created yet. */
export async function hasWaitingEvents(target: Queryable): Promise<boolean> {
  const rows = await target.query<{ is_waiting: boolean }>(
    "select exists (select from event where fanned_out_at is null) as is_waiting",
    [],
    "has_waiting_events",
  );
  return rows[0]?.is_waiting === true;
}

/**
 * Creates the deliveries of the oldest waiting events, for at most `max` events. If an event names channels, these receive it; otherwise
 * all enabled and subscribed channels below their limit. The same transaction marks the events, so that each event is processed only once.
 * @returns the number of processed events
 */
export function fanOutEvents(database: Database, max: number): Promise<number> {
  return database.transaction(async (tx) => {
    const events = await tx.query<EventRow>(
      `select id, workspace_id, workflow_id, type, metadata, occurred_at
       from event where fanned_out_at is null
       order by occurred_at limit $1 for update skip locked`,
      [max],
    );
    if (events.length === 0) return 0;
    const ids = plainArray(events.map(({ id }) => id));
    const targets = await tx.query<{ event_id: string; channel_id: string }>(
      `with enabled as materialized (
         select c.id, c.workspace_id,
           exists (select from delivery d where d.channel_id = c.id and d.status = 'pending' offset $2 - 1 limit 1) as is_full
         from notification_channel c
         where c.enabled and c.workspace_id in (select workspace_id from event where id = any ($1::uuid[]))
       )
       select e.id as event_id, c.id as channel_id
       from event e
       join enabled c on c.workspace_id = e.workspace_id
       where e.id = any ($1::uuid[]) and case
         -- Those that it names may all be deleted by now.
         when exists (select from notification_channel own where own.workspace_id = e.workspace_id and own.id = any (e.channel_ids))
           then c.id = any (e.channel_ids)
         else not c.is_full and exists (select from subscription s where s.channel_id = c.id and s.event = e.type
                      and (s.workflow_id is null or s.workflow_id = e.workflow_id)) end`,
      [ids, DELIVERIES_WAITING_MAX],
    );
    const known = new Map(events.map((event) => [event.id, event]));
    const deliveries = targets.flatMap(({ event_id, channel_id }) => {
      const event = known.get(event_id);
      return event ? [{ deliveryId: newId(), channelId: channel_id, event }] : [];
    });
    if (deliveries.length > 0) {
      await tx.query(
        `insert into delivery (id, workspace_id, channel_id, event_id, event, workflow_id, body)
         select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::text[])
         on conflict do nothing`,
        [
          plainArray(deliveries.map(({ deliveryId }) => deliveryId)),
          plainArray(deliveries.map(({ event }) => event.workspace_id)),
          plainArray(deliveries.map(({ channelId }) => channelId)),
          plainArray(deliveries.map(({ event }) => event.id)),
          deliveries.map(({ event }) => event.type),
          plainArray(deliveries.map(({ event }) => event.workflow_id)),
          deliveries.map(({ deliveryId, event }) =>
            envelopeText({
              event: event.type,
              deliveryId,
              workspaceId: event.workspace_id,
              occurredAt: event.occurred_at,
              metadata: event.metadata,
            }),
          ),
        ],
      );
    }
    await tx.query("update event set fanned_out_at = clock_timestamp() where id = any ($1::uuid[])", [ids]);
    return events.length;
  });
}

/** Delivery that this worker has leased, with the current settings of its channel. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly epoch: number;
  /** Number of workers that crashed while they sent the delivery. */
  readonly deaths: number;
  readonly workspace_id: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly step: number;
  /** State of the channel: good, failing, or new (no attempt yet). */
  readonly health: "good" | "failing" | "new";
  /** Channel of the delivery; null for mail to a member. */
  readonly channel: {
    readonly id: string;
    /** Version number of the channel's settings. */
    readonly version: number;
    readonly type: ChannelType;
    readonly name: string;
    readonly config: Readonly<Record<string, string>>;
    readonly sealed: Readonly<Record<string, string>>;
    /** True while requests are also signed with the secret from before the last rotation. */
    readonly has_previous: boolean;
  } | null;
  /** Mail address of the member; null if the member no longer has one. */
  readonly recipient: string | null;
}

export interface Claim {
  readonly max: number;
  /** Maximum number of deliveries to lease for failing channels. `newMax` is the maximum for channels without an attempt yet. */
  readonly failingMax: number;
  readonly newMax: number;
  /**
   * Number of slots for further concurrent attempts to channels that already have one. The first attempt to a channel needs none of these
   * slots.
   */
  readonly spareMax: number;
  /** Id of the channel after which the round robin continues. */
  readonly from: string;
  /** Maximum number of concurrent deliveries to one channel. */
  readonly eachMax: number;
  readonly leaseMs: number;
}

export function claimDeliveries(
  target: Queryable,
  { max, failingMax, newMax, spareMax, eachMax, leaseMs, from }: Claim,
): Promise<ClaimedDelivery[]> {
  return target.query<ClaimedDelivery>(
    `select id, epoch, deaths, health, workspace_id, event, body, attempts, step, channel, null as recipient
     from claim_deliveries($1, $2, $3, $4, $5, $6, $7)`,
    [max, failingMax, newMax, spareMax, eachMax, leaseMs, from],
    "claim_deliveries",
  );
}

/** Leases deliveries that are mail to members and therefore have no channel. */
export function claimMail(
  target: Queryable,
  { max, leaseMs }: Pick<Claim, "max" | "leaseMs">,
): Promise<ClaimedDelivery[]> {
  return target.query<ClaimedDelivery>(
    `with due as (
       select id from delivery
       where status = 'pending' and channel_id is null and next_at <= now() and (lease_until is null or lease_until < now())
       order by next_at limit $1 for update skip locked
     ), taken as (
       update delivery d set epoch = d.epoch + 1, lease_until = clock_timestamp() + $2 * interval '1 millisecond'
       from due where d.id = due.id
       returning d.id, d.epoch, d.epoch - d.attempts - d.forgiven - 1 as deaths, d.workspace_id, d.member_id, d.event, d.body, d.attempts, d.step
     )
     select t.id, t.epoch, t.deaths, t.workspace_id, t.event, t.body, t.attempts, t.step, 'good' as health, m.email as recipient, null as channel
     from taken t
     left join member m on m.id = t.member_id and m.is_active`,
    [max, leaseMs],
    "claim_mail",
  );
}

export interface AttemptEnd {
  readonly verdict: "ok" | "again" | "final" | "gone";
  readonly status: number | null;
  readonly error: string | null;
  readonly responseStart: string;
  readonly ms: number;
  /** Delay until the next attempt, in milliseconds; null if no attempt follows. */
  readonly nextMs: number | null;
  /** Time for which the channel is paused, in milliseconds; null for no pause. */
  readonly pauseMs: number | null;
  /** New chat id, if Telegram has moved the chat; otherwise null. */
  readonly chatId: string | null;
  /** True if this service caused the failure. The failure then does not affect the state of the channel. */
  readonly isOurs: boolean;
  readonly failingMs: number;
  readonly gapMs: number;
  readonly openMs: number;
}

/**
 * Records the result of an attempt.
 * @returns the reason why the channel was disabled, or an empty text if it was not; undefined if another worker has taken over the delivery
 */
export async function endAttempt(
  target: Queryable,
  { id, epoch, channel }: Pick<ClaimedDelivery, "id" | "epoch" | "channel">,
  end: AttemptEnd,
): Promise<"" | "gone" | "failing" | undefined> {
  const rows = await target.query<{ ended: "" | "gone" | "failing" | null }>(
    "select end_attempt($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) as ended",
    [
      id,
      channel?.id ?? null,
      end.isOurs ? null : (channel?.version ?? null),
      epoch,
      end.verdict,
      end.status,
      end.error,
      end.responseStart,
      end.ms,
      end.nextMs,
      end.pauseMs,
      end.chatId,
      end.failingMs,
      end.gapMs,
      end.openMs,
    ],
    "end_attempt",
  );
  return rows[0]?.ended ?? undefined;
}

// Counts of the mail that channels sent today, by address and by workspace.

/** Maximum number of mails per unverified address and UTC day. Each workspace has its own count, so that none uses another's quota. */
export const MAIL_PER_ADDRESS_DAY_MAX = 100;
export const MAIL_PER_WORKSPACE_DAY_MAX = 1_000;

/** Gives back the quota of a mail that was not sent. */
type TakenMail = () => Promise<void>;

/**
 * Deducts one mail from the daily quotas (UTC) of the address and of the workspace. Returns the function that gives the mail back, or
 * undefined if one of the quotas is used up.
 */
export async function takeMail(
  target: Queryable,
  workspaceId: string,
  address: string,
): Promise<TakenMail | undefined> {
  const mailbox = mailboxOf(address);
  const [row] = await target.query<{ day: string | null }>("select take_mail($1, $2, $3, $4)::text as day", [
    workspaceId,
    mailbox,
    MAIL_PER_ADDRESS_DAY_MAX,
    MAIL_PER_WORKSPACE_DAY_MAX,
  ]);
  const day = row?.day ?? null;
  if (day === null) return undefined;
  return async () => {
    await target.query(
      `update mail_sent set sent = sent - 1
       where (workspace_id, mailbox, day) in (
         select workspace_id, mailbox, day from mail_sent
         where workspace_id = $1 and mailbox in ('', $2) and day = $3::date and sent > 0 order by mailbox for update)`,
      [workspaceId, mailbox, day],
    );
  };
}
