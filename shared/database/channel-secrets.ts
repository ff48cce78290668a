/** Encrypted texts of notification channels of all workspaces: for the start of a process and for the rotation of master keys. */
import type { Queryable } from "./client.ts";

interface SealedRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly sealed: Readonly<Record<string, string>>;
}

/** Returns the names of the keys that encrypted stored values, in channels, responses and conversations. */
export async function sealingKeysInUse(target: Queryable): Promise<readonly string[]> {
  const rows = await target.query<{ id: string }>(
    `select distinct split_part(field.value, '.', 2) as id
     from notification_channel c, jsonb_each_text(c.sealed) field
     union
     select sealed_by from response
     union
     select sealed_by from conversation
     union
     select split_part(left(sealed, 16), '.', 2) from response_event`,
  );
  return rows.map(({ id }) => id);
}

/** Returns channels after this id, sorted by id, with their encrypted values. */
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

/** Returns false if the channel's secrets changed since they were read; the caller reads them again. */
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
