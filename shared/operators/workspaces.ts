/** Creates and changes workspaces for operators, each in one transaction. */
import { findKey, insertKey, type KeySummary } from "#shared/database/api-keys.ts";
import type { Actor, AuditValues } from "#shared/database/audit-log.ts";
import type { Database, Queryable } from "#shared/database/client.ts";
import { findMemberById, insertMember, type MemberRow } from "#shared/database/members.ts";
import {
  findWorkspaceById,
  findWorkspaceSummary,
  insertWorkspace,
  renameWorkspace,
  setWorkspaceActive,
  type WorkspaceSummary,
} from "#shared/database/workspaces.ts";
import { newId } from "#shared/base/ids.ts";
import { isSameRequest } from "#shared/json/same-request.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

export interface WorkspaceRequest {
  readonly id: string;
  readonly name: string;
  readonly owner: { readonly name: string; readonly email: string | null };
  /** Preset of limits for the first key of the owner. */
  readonly preset: string;
  readonly actor: Actor;
}

export interface CreatedWorkspace {
  readonly workspace: WorkspaceSummary;
  readonly owner: MemberRow;
  readonly key: KeySummary;
}

/**
 * Result of creating a workspace. `made`: the workspace was created. `repeat`: an earlier, equal request created the workspace with this
 * id. The key is not returned again. `other`: a different request created the workspace with this id. `taken`: another workspace has the
 * name.
 */
export type WorkspaceCreation =
  | { readonly result: "made"; readonly created: CreatedWorkspace; readonly keyText: string }
  | { readonly result: "repeat"; readonly created: CreatedWorkspace }
  | { readonly result: "other" }
  | { readonly result: "taken" };

/** Creates a workspace, its owner and the owner's key, in one transaction. */
export async function makeWorkspace(database: Database, request: WorkspaceRequest): Promise<WorkspaceCreation> {
  const { id, name, owner, preset, actor } = request;
  const ids = { memberId: newId(), keyId: newId() };
  const keyText = mintKey();
  const isNew = await database.transaction(async (tx) => {
    if ((await insertWorkspace(tx, { id, name, actor })) === undefined) return false;
    await insertMember(tx, id, { id: ids.memberId, name: owner.name, email: owner.email, role: "owner", actor });
    await insertKey(tx, id, {
      id: ids.keyId,
      memberId: ids.memberId,
      name: owner.name,
      sha256: hashKey(keyText),
      hint: keyHint(keyText),
      preset,
      actor,
    });
    return true;
  });
  if (isNew) return { result: "made", keyText, created: await readCreated(database, id, ids) };
  if ((await findWorkspaceById(database, id)) === undefined) return { result: "taken" };
  const earlier = await findCreatedIds(database, request);
  return earlier ? { result: "repeat", created: await readCreated(database, id, earlier) } : { result: "other" };
}

type CreatedIds = { readonly memberId: string; readonly keyId: string };

async function readCreated(target: Queryable, id: string, { memberId, keyId }: CreatedIds): Promise<CreatedWorkspace> {
  const [workspace, owner, key] = await Promise.all([
    findWorkspaceSummary(target, id),
    findMemberById(target, id, memberId),
    findKey(target, id, keyId),
  ]);
  if (!workspace || !owner || !key) throw new Error(`the workspace ${id} lacks what it was made with`);
  return { workspace, owner, key };
}

/**
 * Returns the ids of the owner and the key that an earlier request with the same id created. Reads them from the first three audit log rows
 * of the workspace. Returns undefined if the earlier request differs from this request.
 */
async function findCreatedIds(target: Queryable, request: WorkspaceRequest): Promise<CreatedIds | undefined> {
  const [creation, owner, key] = await target.query<{ action: string; subject: string; after: AuditValues | null }>(
    "select action, subject, after from audit_log where workspace_id = $1 order by id limit 3",
    [request.id],
  );
  const { name, owner: wanted, preset } = request;
  const isSame =
    creation?.action === "workspace.create" &&
    isSameRequest(creation.after ?? {}, { name }) &&
    owner?.action === "member.add" &&
    isSameRequest(owner.after ?? {}, { name: wanted.name, role: "owner", email: wanted.email }) &&
    key?.action === "key.create" &&
    isSameRequest(key.after ?? {}, { preset });
  return isSame ? { memberId: owner.subject, keyId: key.subject } : undefined;
}

export interface WorkspaceChange {
  /** Changes of a workspace. Absent members stay unchanged. */
  readonly name?: string;
  readonly isActive?: boolean;
  readonly actor: Actor;
}

/**
 * Changes a workspace and returns it. Returns undefined if there is no such workspace. For `taken` and `often`, nothing changed:
 * `renameWorkspace` rejected the name, or the workspace has reached its maximum of renames.
 */
export async function changeWorkspace(
  database: Database,
  id: string,
  { name, isActive, actor }: WorkspaceChange,
): Promise<WorkspaceSummary | "taken" | "often" | undefined> {
  const renamed = await database.transaction(async (tx) => {
    const result = name === undefined ? "same" : await renameWorkspace(tx, id, { name, actor });
    const isRefused = result === "taken" || result === "often";
    if (isActive !== undefined && !isRefused) await setWorkspaceActive(tx, id, { isActive, actor });
    return result;
  });
  return renamed === "taken" || renamed === "often" ? renamed : findWorkspaceSummary(database, id);
}
