/** SQL for the notification channels of a workspace. A change and its audit row are written in one statement or one transaction. */
import type { ChannelType } from "#shared/notifications/channel-config.ts";

import { type Actor, actorJson, type AuditValues, logged, recordAudit } from "./audit-log.ts";
import { constraintName, type Database, type Queryable } from "./client.ts";

export const CHANNELS_PER_WORKSPACE_MAX = 100;

export interface ChannelRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly type: ChannelType;
  readonly name: string;
  readonly enabled: boolean;
  /** Settings that may be displayed, with redacted URLs. `sealed` contains the secrets in encrypted form. */
  readonly config: Readonly<Record<string, string>>;
  readonly sealed: Readonly<Record<string, string>>;
  readonly previous_secret_until: Date | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly disabled_reason: "gone" | "failing" | null;
  readonly failing_since: Date | null;
}

const COLUMNS = `id, workspace_id, type, name, enabled, config, sealed, previous_secret_until, created_by, created_at, updated_at,
  disabled_reason, failing_since`;
/** Name of the constraint that makes names unique within a workspace. */
const NAME_ONCE = "notification_channel_workspace_id_name_key";

export interface NewChannel {
  readonly id: string;
  readonly type: ChannelType;
  readonly name: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, string>>;
  readonly sealed: Readonly<Record<string, string>>;
  readonly createdBy: string;
  readonly actor: Actor;
}

/**
 * Creates a channel. `known`: a channel with this id exists, in any workspace. `name_taken`: another channel has this name; the surrounding
 * transaction, if any, is then aborted.
 */
export async function insertChannel(
  target: Queryable,
  workspaceId: string,
  channel: NewChannel,
): Promise<"made" | "known" | "name_taken" | "too_many"> {
  try {
    const rows = await target.query<{ made: number; held: number; known: number }>(
      `with held as (
         select count(*)::int as count from notification_channel where workspace_id = $1
       ), changed as (
         insert into notification_channel (id, workspace_id, type, name, enabled, config, sealed, created_by)
         select $2, $1, $3, $4, $5, $6::jsonb, $7::jsonb, $8::uuid
         from held where held.count < $10
         on conflict (id) do nothing
         returning workspace_id, id, type, name, enabled, config
       ), ${logged("channel.create", "$9", { after: "type, name, enabled, config" })}
       select (select count(*)::int from changed) as made, (select count from held) as held,
              (select count(*)::int from notification_channel where id = $2) as known`,
      [
        workspaceId,
        channel.id,
        channel.type,
        channel.name,
        channel.enabled,
        JSON.stringify(channel.config),
        JSON.stringify(channel.sealed),
        channel.createdBy,
        actorJson(channel.actor),
        CHANNELS_PER_WORKSPACE_MAX,
      ],
    );
    const [row] = rows;
    if (row?.made === 1) return "made";
    // A concurrent insert of the same id counts as known, although this statement did not see it yet.
    return row?.known === 0 && row.held >= CHANNELS_PER_WORKSPACE_MAX ? "too_many" : "known";
  } catch (error) {
    if (constraintName(error) === NAME_ONCE) return "name_taken";
    throw error;
  }
}

export async function findChannel(target: Queryable, workspaceId: string, id: string): Promise<ChannelRow | undefined> {
  const rows = await target.query<ChannelRow>(
    `select ${COLUMNS} from notification_channel where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  return rows[0];
}

/** Returns one page of the workspace's channels, newest first. The page starts after the channel `after`. */
export function pageChannels(
  target: Queryable,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<ChannelRow[]> {
  return target.query<ChannelRow>(
    `select ${COLUMNS} from notification_channel
     where workspace_id = $1
       and ($2::uuid is null or (created_at, id) < (select created_at, id from notification_channel where workspace_id = $1 and id = $2))
     order by created_at desc, id desc
     limit $3`,
    [workspaceId, after, limit],
  );
}

export interface ChannelChange {
  readonly name: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, string>>;
  readonly sealed: Readonly<Record<string, string>>;
  readonly previousSecretUntil: Date | null;
}

/**
 * Changes a channel under a lock: reads it, applies `change` and writes the audit row. Enabling a channel again clears its recorded
 * failures.
 * @param change returns undefined to leave the channel unchanged; an exception rolls everything back
 * @returns undefined if the channel does not exist
 */
export async function changeChannel(
  database: Database,
  workspaceId: string,
  id: string,
  change: (row: ChannelRow) =>
    | {
        readonly to: ChannelChange;
        readonly actor: Actor;
        readonly action: string;
        /** Values for the audit row in addition to name, enabled and config. Never a secret. */
        readonly auditValues?: AuditValues;
        /**
         * True if the destination or the credentials of the channel have changed. The recorded failures of the old ones are then cleared.
         */
        readonly isAnew?: boolean;
      }
    | undefined,
): Promise<ChannelRow | "name_taken" | undefined> {
  try {
    return await database.transaction(async (tx) => {
      const [row] = await tx.query<ChannelRow>(
        `select ${COLUMNS} from notification_channel where workspace_id = $1 and id = $2 for no key update`,
        [workspaceId, id],
      );
      if (row === undefined) return undefined;
      const asked = change(row);
      if (asked === undefined) return row;
      const { to, actor, action, auditValues = {}, isAnew = false } = asked;
      const isFresh = isAnew || (to.enabled && !row.enabled);
      const [changed] = await tx.query<ChannelRow>(
        `update notification_channel
         set name = $3, config = $5::jsonb, sealed = $6::jsonb, previous_secret_until = $7, updated_at = now(),
             version = version + 1, enabled = $4, disabled_reason = case when $4 then null else disabled_reason end,
             failing_since = case when $8 then null else failing_since end,
             last_failed_at = case when $8 then null else last_failed_at end,
             recent_ok = case when $8 then 0 else recent_ok end, recent_failed = case when $8 then 0 else recent_failed end,
             opened = case when $8 then 0 else opened end, open_until = case when $8 then null else open_until end,
             paused_until = case when $8 then null else paused_until end
         where workspace_id = $1 and id = $2
         returning ${COLUMNS}`,
        [
          workspaceId,
          id,
          to.name,
          to.enabled,
          JSON.stringify(to.config),
          JSON.stringify(to.sealed),
          to.previousSecretUntil,
          isFresh,
        ],
      );
      await recordAudit(tx, workspaceId, {
        actor,
        action,
        subject: id,
        before: { name: row.name, enabled: row.enabled, config: row.config },
        after: { name: to.name, enabled: to.enabled, config: to.config, ...auditValues },
      });
      return changed;
    });
  } catch (error) {
    if (constraintName(error) === NAME_ONCE) return "name_taken";
    throw error;
  }
}

/**
 * Deletes a channel with its subscriptions, cancels its open deliveries and keeps the history. Returns false if the channel does not exist.
 */
export async function deleteChannel(
  target: Queryable,
  workspaceId: string,
  change: { readonly id: string; readonly actor: Actor },
): Promise<boolean> {
  const rows = await target.query(
    `with changed as (
       delete from notification_channel where workspace_id = $1 and id = $2 returning workspace_id, id, type, name, config
     ), stopped as (
       update delivery set status = 'cancelled', ended_at = clock_timestamp(), next_at = null
       from changed where delivery.channel_id = changed.id and delivery.status = 'pending'
     ), alerts as (
       update budget_alert set channel_ids = array_remove(channel_ids, $2), updated_at = now()
       where workspace_id = $1 and $2 = any (channel_ids) and exists (select from changed)
     ), balance_alerts as (
       update balance_alert set channel_ids = array_remove(channel_ids, $2), updated_at = now()
       where workspace_id = $1 and $2 = any (channel_ids) and exists (select from changed)
     ), ${logged("channel.delete", "$3", { before: "type, name, config" })}
     select id from changed`,
    [workspaceId, change.id, actorJson(change.actor)],
  );
  return rows.length > 0;
}
