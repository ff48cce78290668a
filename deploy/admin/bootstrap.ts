/** The first workspace and its key, so that a new installation can be called at once. */
import { findKeyByHash, insertKey, listMemberKeys, revokeKey } from "#shared/database/api-keys.ts";
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import type { Database, Queryable } from "#shared/database/client.ts";
import { ensureMember } from "#shared/database/members.ts";
import { BOOTSTRAP_WORKSPACE, ensureWorkspace, lockWorkspace, type WorkspaceRow } from "#shared/database/workspaces.ts";
import { newId } from "#shared/ids.ts";
import { moveCredits } from "#shared/ledger/move.ts";
import { NANO_PER_CREDIT } from "#shared/money.ts";
import { hashKey, keyHint } from "#shared/secrets/api-keys.ts";

const ACTOR: Actor = { type: "operator", id: "bootstrap" };
const OWNER = "bootstrap";
const CREDITS = 1_000_000n;
/** Fixed, so that the first credits of a database are given once however often this runs. */
const TOP_UP_ID = "00000000-0000-7000-8000-0000b0075ea1";

/**
 * Makes workspace `default`, which may be called otherwise later, with an owner `bootstrap`, this key under the preset `unlimited`, and 1,000,000 credits.
 * Any number of times, also at once. Another key than last time replaces the earlier ones. A key that was revoked stays
 * revoked and nothing changes then: the answer is false, for the caller to tell.
 */
export function ensureBootstrap(database: Database, key: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    // Locks the workspace, so a second process waits here and then finds everything done.
    const { id: workspaceId } = (await findMade(tx)) ?? (await makeFirst(tx));
    const member = await ensureMember(tx, workspaceId, { id: newId(), name: OWNER, role: "owner", actor: ACTOR });
    const isNew = await moveCredits(tx, {
      workspaceId,
      kind: "top_up",
      amountNano: CREDITS * NANO_PER_CREDIT,
      sourceId: TOP_UP_ID,
      note: "bootstrap",
    });
    if (isNew) {
      await recordAudit(tx, workspaceId, {
        actor: ACTOR,
        action: "credits.top_up",
        subject: TOP_UP_ID,
        after: { credits: String(CREDITS) },
      });
    }
    const sha256 = hashKey(key);
    const known = await findKeyByHash(tx, workspaceId, sha256);
    if (known !== undefined) return known.revoked_at === null;
    const earlier = await listMemberKeys(tx, workspaceId, member.id);
    await insertKey(tx, workspaceId, {
      id: newId(),
      memberId: member.id,
      name: "bootstrap",
      sha256,
      hint: keyHint(key),
      preset: "unlimited",
      actor: ACTOR,
    });
    for (const { id, hint, revoked_at } of earlier) {
      // Keys minted for this member by command are not ours to revoke; a bootstrap key never has their prefix.
      if (!hint.startsWith("slk_") && revoked_at === null) await revokeKey(tx, workspaceId, { id, actor: ACTOR });
    }
    return true;
  });
}

/** Known by its first credits: its owners may have given it another name. */
async function findMade(tx: Queryable): Promise<WorkspaceRow | undefined> {
  const [entry] = await tx.query<{ workspace_id: string }>(
    "select workspace_id from ledger_entry where kind <> 'settle' and kind = 'top_up' and source_id = $1",
    [TOP_UP_ID],
  );
  return entry && lockWorkspace(tx, "id", entry.workspace_id);
}

/** @throws Error when the name is that of a workspace with members of its own */
async function makeFirst(tx: Queryable): Promise<WorkspaceRow> {
  const workspace = await ensureWorkspace(tx, { id: newId(), name: BOOTSTRAP_WORKSPACE, actor: ACTOR });
  const [others] = await tx.query<{ count: number }>(
    "select count(*)::int as count from member where workspace_id = $1 and name <> $2",
    [workspace.id, OWNER],
  );
  if (others?.count === 0 || (await findMade(tx)) !== undefined) return workspace;
  throw new Error(
    `SLUICE_BOOTSTRAP_KEY is for a workspace ${BOOTSTRAP_WORKSPACE} of its own, and the one of that name has other members; rename that one`,
  );
}
