/** Deliveries as workers of the pool webhook make, take and end them. */
import type { ChannelType } from "#shared/notifications/channel-config.ts";
import { type Envelope, envelopeText } from "#shared/notifications/envelope.ts";
import { newId } from "#shared/ids.ts";

import { plainArray } from "./arrays.ts";
import type { Database, Queryable } from "./client.ts";

/** Waiting deliveries of one channel: one each nine seconds for a day. It is not told of events beyond that. */
export const DELIVERIES_WAITING_MAX = 10_000;

interface EventRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly workflow_id: string | null;
  readonly type: string;
  readonly metadata: Envelope["metadata"];
  readonly occurred_at: Date;
}

/** Returns true if events wait to be fanned out. */
export async function hasWaitingEvents(target: Queryable): Promise<boolean> {
  const rows = await target.query<{ is_waiting: boolean }>(
    "select exists (select from event where fanned_out_at is null) as is_waiting",
    [],
    "has_waiting_events",
  );
  return rows[0]?.is_waiting === true;
}

/**
 * Makes the deliveries of the oldest events that wait, at most `max` events: to channels of their own where they name some, else to
 * enabled channels that subscribe and have not too many deliveries waiting. One transaction marks the events, so each is fanned out once.
 * @returns how many events it took
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
    const made = targets.flatMap(({ event_id, channel_id }) => {
      const event = known.get(event_id);
      return event ? [{ deliveryId: newId(), channelId: channel_id, event }] : [];
    });
    if (made.length > 0) {
      await tx.query(
        `insert into delivery (id, workspace_id, channel_id, event_id, event, workflow_id, body)
         select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::text[])
         on conflict do nothing`,
        [
          plainArray(made.map(({ deliveryId }) => deliveryId)),
          plainArray(made.map(({ event }) => event.workspace_id)),
          plainArray(made.map(({ channelId }) => channelId)),
          plainArray(made.map(({ event }) => event.id)),
          made.map(({ event }) => event.type),
          plainArray(made.map(({ event }) => event.workflow_id)),
          made.map(({ deliveryId, event }) =>
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

/** A delivery that is ours until its lease ends, with its channel as it is now. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly epoch: number;
  /** Owners of it that were lost. */
  readonly deaths: number;
  readonly workspace_id: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly step: number;
  /** Health of its channel: good, failing, or new (not tried yet). */
  readonly health: "good" | "failing" | "new";
  /** Null: mail to a member. */
  readonly channel: {
    readonly id: string;
    /** Version of its settings. */
    readonly version: number;
    readonly type: ChannelType;
    readonly name: string;
    readonly config: Readonly<Record<string, string>>;
    readonly sealed: Readonly<Record<string, string>>;
    /** True if the secret before the last rotation still signs too. */
    readonly has_previous: boolean;
  } | null;
  /** Address of the member for such mail; null when the member has none any more. */
  readonly recipient: string | null;
}

export interface Claim {
  readonly max: number;
  /** Most of those for failing channels, and for channels that have not been tried. */
  readonly failingMax: number;
  readonly newMax: number;
  /** Most of those for second and further concurrent attempts to a channel. */
  readonly spareMax: number;
  /** Channels behind this one come first. */
  readonly from: string;
  /** At once for one channel. */
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

/** Mail to members, which has no channel. */
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
  /** Null: no attempt follows. */
  readonly nextMs: number | null;
  /** Nothing goes to the channel for so long. */
  readonly pauseMs: number | null;
  /** Telegram has moved the chat. */
  readonly chatId: string | null;
  /** The fault is ours, and says nothing of the channel. */
  readonly isOurs: boolean;
  readonly failingMs: number;
  readonly gapMs: number;
  readonly openMs: number;
}

/** @returns why the channel was disabled by it, or the empty text; undefined when the attempt is another worker's by now */
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
