/** Subscriptions of channels to events. One statement writes a change and its audit row. */

import { type Actor, actorJson, logged } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

export const SUBSCRIPTIONS_PER_CHANNEL_MAX = 100;

export interface SubscriptionRow {
  readonly id: string;
  readonly channel_id: string;
  readonly event: string;
  /** Workflow to which the events are limited; null for all workflows. */
  readonly workflow_id: string | null;
  readonly created_by: string | null;
  readonly created_at: Date;
}

const COLUMNS = "id, channel_id, event, workflow_id, created_by, created_at";

interface NewSubscription {
  readonly id: string;
  readonly channelId: string;
  readonly event: string;
  readonly workflowId: string | null;
  readonly createdBy: string;
  readonly actor: Actor;
}

/**
 * Creates a subscription. `known`: a subscription with this id exists in some workspace. `subscribed`: the channel already receives the
 * event with this scope.
 */
export async function insertSubscription(
  target: Queryable,
  workspaceId: string,
  subscription: NewSubscription,
): Promise<"made" | "known" | "subscribed" | "too_many"> {
  const rows = await target.query<{ made: number; held: number; known: number }>(
    `with held as (
       select count(*)::int as count from subscription where channel_id = $3
     ), changed as (
       insert into subscription (id, workspace_id, channel_id, event, workflow_id, created_by)
       select $2, c.workspace_id, c.id, $4, $5, $6::uuid
       from notification_channel c, held
       where c.workspace_id = $1 and c.id = $3 and held.count < $8
       on conflict do nothing
       returning workspace_id, id, channel_id, event, workflow_id
     ), ${logged("subscription.create", "$7", { after: "channel_id, event, workflow_id" })}
     select (select count(*)::int from changed) as made, (select count from held) as held,
            (select count(*)::int from subscription where id = $2) as known`,
    [
      workspaceId,
      subscription.id,
      subscription.channelId,
      subscription.event,
      subscription.workflowId,
      subscription.createdBy,
      actorJson(subscription.actor),
      SUBSCRIPTIONS_PER_CHANNEL_MAX,
    ],
  );
  const [row] = rows;
  if (row?.made === 1) return "made";
  if (row?.known === 1) return "known";
  return (row?.held ?? 0) >= SUBSCRIPTIONS_PER_CHANNEL_MAX ? "too_many" : "subscribed";
}

export async function findSubscription(
  target: Queryable,
  workspaceId: string,
  channelId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  const rows = await target.query<SubscriptionRow>(
    `select ${COLUMNS} from subscription where workspace_id = $1 and channel_id = $2 and id = $3`,
    [workspaceId, channelId, id],
  );
  return rows[0];
}

/** Returns a page of subscriptions, newest first, that starts behind the subscription `after`. */
export function pageSubscriptions(
  target: Queryable,
  workspaceId: string,
  channelId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<SubscriptionRow[]> {
  return target.query<SubscriptionRow>(
    `select ${COLUMNS} from subscription
     where workspace_id = $1 and channel_id = $2
       and ($3::uuid is null or (created_at, id) < (select created_at, id from subscription where workspace_id = $1 and id = $3))
     order by created_at desc, id desc
     limit $4`,
    [workspaceId, channelId, after, limit],
  );
}

/** Deletes a subscription. Returns false if there is no such subscription. */
export async function deleteSubscription(
  target: Queryable,
  workspaceId: string,
  change: { readonly channelId: string; readonly id: string; readonly actor: Actor },
): Promise<boolean> {
  const rows = await target.query(
    `with changed as (
       delete from subscription where workspace_id = $1 and channel_id = $2 and id = $3
       returning workspace_id, id, channel_id, event, workflow_id
     ), ${logged("subscription.delete", "$4", { before: "channel_id, event, workflow_id" })}
     select id from changed`,
    [workspaceId, change.channelId, change.id, actorJson(change.actor)],
  );
  return rows.length > 0;
}
