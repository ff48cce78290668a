/** Changes by operators to a key that they name by its id alone. */
import { findKeyOwner, type KeyRow, revokeKey, updateKey } from "#shared/database/api-keys.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";

export interface OperatorKeyChange {
  readonly id: string;
  /** One of the catalogue. */
  readonly preset?: string;
  readonly isRevoked?: true;
  readonly actor: Actor;
}

/** The key as it is then; `isNew` is false when it was so before. */
export interface KeyChanged {
  readonly workspaceId: string;
  readonly key: KeyRow;
  readonly isNew: boolean;
}

/** Undefined when there is no such key; `revoked`: a revoked key gets no other preset, and nothing was changed. */
export function changeKey(database: Database, change: OperatorKeyChange): Promise<KeyChanged | "revoked" | undefined> {
  const { id, preset, isRevoked, actor } = change;
  return database.transaction(async (tx) => {
    const found = await findKeyOwner(tx, id);
    if (found === undefined) return undefined;
    const { workspace_id: workspaceId } = found;
    const changed = preset === undefined ? undefined : await updateKey(tx, workspaceId, { id, preset, actor });
    if (preset !== undefined && changed === undefined) {
      // It has that preset already, or it is revoked, perhaps just now.
      const now = (await findKeyOwner(tx, id)) ?? found;
      if (now.revoked_at !== null && now.preset !== preset) return "revoked";
    }
    const revoked = isRevoked === true ? await revokeKey(tx, workspaceId, { id, actor }) : undefined;
    const key = revoked ?? changed ?? (await findKeyOwner(tx, id)) ?? found;
    return { workspaceId, key, isNew: revoked !== undefined || changed !== undefined };
  });
}
