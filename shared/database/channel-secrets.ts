/**
 * Reads and replaces the encrypted values of notification channels in all workspaces. Used at the start of a process and for the rotation
 * of master keys.
 */
import type { Queryable } from "./client.ts";

interface SealedRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly sealed: Readonly<Record<string, string>>;
}

/** Returns the names of the keys with which stored values are encrypted, in channels, responses, conversations and keys of kept bodies. */
export async function sealingKeysInUse(target: Queryable): Promise<readonly string[]> {
  const rows = await target.query<{ id: string }>(
    `select distinct split_part(field.value, '.', 2) as id
     from notification_channel c, jsonb_each_text(c.sealed) field
     union
     select sealed_by from response
     union
     select sealed_by from conversation
     union
     select split_part(left(sealed, 16), '.', 2) from response_event
     union
     select split_part(left(sealed_key, 16), '.', 2) from kept_body`,
  );
  return rows.map(({ id }) => id);
}

/** Returns channels with their encrypted values, sorted by id. The page starts after `afterId`. */
export function listSealed(target: Queryable, afterId: string, limit: number): Promise<SealedRow[]> {
  return target.query<SealedRow>(
    `select id, workspace_id, sealed
     from notification_channel
     where id > $1 and sealed <> '{}'
     order by id
     limit $2`,
    [afterId, limit],
  );
}

/**
 * Replaces the encrypted values of a channel. Returns false if they have changed since they were read; the caller must then read them
 * again.
 */
export async function replaceSealed(
  target: Queryable,
  row: SealedRow,
  sealed: Readonly<Record<string, string>>,
): Promise<boolean> {
  const rows = await target.query(
    `update notification_channel
     set sealed = $3
     where id = $1 and sealed = $2::jsonb
     returning id`,
    [row.id, JSON.stringify(row.sealed), JSON.stringify(sealed)],
  );
  return rows.length > 0;
}
