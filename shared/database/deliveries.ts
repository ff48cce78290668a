/** SQL for a workspace's requests about deliveries: list, read, retry. workers/webhook sends them. */
import { type Actor, actorJson, loggedUpdate } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

export const DELIVERY_STATUSES = ["pending", "succeeded", "failed", "skipped", "cancelled"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryRow {
  readonly id: string;
  readonly channel_id: string | null;
  readonly event: string;
  readonly body: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /**
   * Time of the next attempt. It is later than scheduled while the channel's circuit breaker is open or after its receiver has requested a
   * pause.
   */
  readonly next_at: Date | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

export interface AttemptRow {
  readonly number: number;
  readonly at: Date;
  readonly ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response_start: string | null;
}

const COLUMNS = `d.id, d.channel_id, d.event, d.body, d.status, d.attempts, d.created_at, d.ended_at,
  case when d.status = 'pending' then greatest(d.next_at, c.open_until, c.paused_until) end as next_at`;
const FROM = "delivery d left join notification_channel c on c.id = d.channel_id";

export interface DeliveryFilter {
  readonly after: string | null;
  readonly limit: number;
  readonly channelId: string | null;
  readonly event: string | null;
  readonly status: DeliveryStatus | null;
  /** Limits the list to deliveries that ended at this time or later. */
  readonly endedSince: Date | null;
}

/** Returns one page of the workspace's deliveries, newest first. The page starts after the delivery `after`. Ids sort by time. */
export function pageDeliveries(
  target: Queryable,
  workspaceId: string,
  { after, limit, channelId, event, status, endedSince }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  return target.query<DeliveryRow>(
    `select ${COLUMNS} from ${FROM}
     where d.workspace_id = $1 and ($2::uuid is null or d.id < $2) and ($4::uuid is null or d.channel_id = $4)
       and ($5::text is null or d.event = $5) and ($6::text is null or d.status = $6)
       and ($7::timestamptz is null or d.ended_at >= $7)
     order by d.id desc
     limit $3`,
    [workspaceId, after, limit, channelId, event, status, endedSince],
  );
}

export async function findDelivery(
  target: Queryable,
  workspaceId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const rows = await target.query<DeliveryRow>(
    `select ${COLUMNS} from ${FROM} where d.workspace_id = $1 and d.id = $2`,
    [workspaceId, id],
  );
  return rows[0];
}

/** Returns the attempts of a delivery in chronological order. */
export function listAttempts(target: Queryable, deliveryId: string): Promise<AttemptRow[]> {
  return target.query<AttemptRow>(
    "select number, at, ms, status, error, response_start from delivery_attempt where delivery_id = $1 order by number",
    [deliveryId],
  );
}

/**
 * Counts the deliveries of all workspaces, for metrics. `due` is the number of due deliveries, `oldestSeconds` the age of the oldest one,
 * including events without deliveries. `failed` is the number that used up their attempts in the last day. A delivery that waits after a
 * failure or for a requested pause is not due.
 */
export async function countDeliveries(
  target: Queryable,
): Promise<{ readonly due: number; readonly oldestSeconds: number; readonly failed: number }> {
  const [row] = await target.query<{ due: number; oldest: number; failed: number }>(
    `with due as (
       select d.next_at as since from delivery d left join notification_channel c on c.id = d.channel_id
       where d.status = 'pending' and d.next_at <= now() and not coalesce(greatest(c.open_until, c.paused_until) > now(), false)
     )
     select count(*)::int as due,
            coalesce(extract(epoch from now() - least(min(since), (select min(occurred_at) from event where fanned_out_at is null))), 0)::float8
              as oldest,
            (select count(*)::int from delivery where status = 'failed' and ended_at > now() - interval '1 day') as failed
     from due`,
  );
  return { due: row?.due ?? 0, oldestSeconds: row?.oldest ?? 0, failed: row?.failed ?? 0 };
}

/**
 * Deletes the oldest ended deliveries of each workspace that has more than `keptMax`, at most `max` per workspace. Checks only workspaces
 * with a delivery that ended within the last hour. Other workspaces cannot have grown since the last check.
 */
export async function dropExcessDeliveries(target: Queryable, keptMax: number, max: number): Promise<number> {
  const active = await target.query<{ workspace_id: string }>(
    "select distinct workspace_id from delivery where ended_at > now() - interval '1 hour'",
  );
  let dropped = 0;
  for (const { workspace_id: workspaceId } of active) {
    const rows = await target.query(
      `delete from delivery where id in (
         select id from delivery where workspace_id = $1 and ended_at is not null order by id desc offset $2 limit $3)
       returning id`,
      [workspaceId, keptMax, max],
    );
    dropped += rows.length;
  }
  return dropped;
}

/** Creates a test delivery for one channel, without an event. @returns false if the channel has reached its hourly limit */
export async function insertDelivery(
  target: Queryable,
  workspaceId: string,
  delivery: {
    readonly id: string;
    readonly channelId: string;
    readonly event: string;
    readonly body: string;
    readonly step: number;
    /** Maximum number of test deliveries of the channel per hour; null if unlimited. */
    readonly perHourMax: number | null;
    readonly actor: Actor;
  },
): Promise<boolean> {
  const rows = await target.query(
    `with changed as (
       insert into delivery (id, workspace_id, channel_id, event, body, step)
       select $2, $1, $3, $4, $5, $6
       where $8::int is null or $8 > (
         select count(*) from delivery where channel_id = $3 and event = $4 and created_at > now() - interval '1 hour')
       returning id, workspace_id, channel_id, event
     )
     insert into audit_log (workspace_id, actor, action, subject, after)
     select workspace_id, $7, 'delivery.create', id::text, jsonb_build_object('channel_id', channel_id, 'event', event)
     from changed
     returning id`,
    [
      workspaceId,
      delivery.id,
      delivery.channelId,
      delivery.event,
      delivery.body,
      delivery.step,
      actorJson(delivery.actor),
      delivery.perHourMax,
    ],
  );
  return rows.length > 0;
}

/**
 * Schedules a manual attempt of a delivery for now. If the delivery is open, its schedule continues afterwards.
 * @param lastStep last step of the schedule; it gives an ended delivery no further attempts after the manual one
 * @returns false if the channel was deleted or is disabled
 */
export async function retryDelivery(
  target: Queryable,
  workspaceId: string,
  { id, lastStep, actor }: { readonly id: string; readonly lastStep: number; readonly actor: Actor },
): Promise<boolean> {
  const rows = await target.query(
    `with old as (
       select id, status from delivery where workspace_id = $1 and id = $2 for update
     ), changed as (
       update delivery d
       set step = case when d.status = 'pending' then d.step else $3 end, status = 'pending', next_at = now(), ended_at = null,
           is_asked = coalesce(d.lease_until > now(), false), forgiven = d.epoch - d.attempts - coalesce(d.lease_until > now(), false)::int
       from notification_channel c
       where d.workspace_id = $1 and d.id = (select id from old) and c.id = d.channel_id and c.enabled
       returning d.id, d.workspace_id, d.status
     ), ${loggedUpdate("'delivery.retry'", "$4", "status")}
     select id from changed`,
    [workspaceId, id, lastStep, actorJson(actor)],
  );
  return rows.length > 0;
}

/**
 * Schedules an attempt for each failed, skipped or cancelled delivery of a channel that was created in the given period.
 * @returns the number of these deliveries
 */
export async function recoverDeliveries(
  target: Queryable,
  workspaceId: string,
  span: {
    readonly channelId: string;
    readonly since: Date;
    readonly until: Date | null;
    readonly lastStep: number;
    readonly max: number;
    readonly actor: Actor;
  },
): Promise<number> {
  const [row] = await target.query<{ count: number }>(
    `with changed as (
       update delivery set status = 'pending', step = $5, next_at = now(), ended_at = null,
         is_asked = coalesce(lease_until > now(), false), forgiven = epoch - attempts - coalesce(lease_until > now(), false)::int
       where id in (
         select id from delivery
         where workspace_id = $1 and channel_id = $2 and status in ('failed', 'skipped', 'cancelled')
           and created_at >= $3 and created_at < coalesce($4, now())
         order by id limit $6 for update skip locked)
       returning id
     ), counted as (
       select count(*)::int as count from changed
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, after)
       select $1, $7, 'channel.recover', $2::uuid::text, jsonb_build_object('since', $3::timestamptz, 'until', $4::timestamptz, 'count', count)
       from counted
     )
     select count from counted`,
    [workspaceId, span.channelId, span.since, span.until, span.lastStep, span.max, actorJson(span.actor)],
  );
  return row?.count ?? 0;
}
