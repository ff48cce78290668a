/** Creates the first workspace and its key, so that a new installation can be called at once. */
import { findKeyByHash, insertKey, listMemberKeys, revokeKey } from "#shared/database/api-keys.ts";
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import { constraintName, type Database, type Queryable } from "#shared/database/client.ts";
import { ensureMember } from "#shared/database/members.ts";
import { BOOTSTRAP_WORKSPACE, ensureWorkspace } from "#shared/database/workspaces.ts";
import { newId } from "#shared/base/ids.ts";
import { moveCredits } from "#shared/ledger/move.ts";
import { NANO_PER_CREDIT } from "#shared/base/money.ts";
import { hashKey, keyHint } from "#shared/secrets/api-keys.ts";

const ACTOR: Actor = { type: "operator", id: "bootstrap" };
const OWNER = "first owner";
const CREDITS = 1_000_000n;
/** Fixed id of the first top-up. A repeated run uses the same id, so that a database receives its first credits only once. */
const TOP_UP_ID = "00000000-0000-7000-8000-0000b0075ea1";

export interface Bootstrapped {
  /** Current name of the first workspace. */
  readonly workspace: string;
  /** True when the key had already been revoked. The key then stays revoked, and nothing was changed. */
  readonly isRevoked: boolean;
}

/**
 * Creates the first workspace `default` with an owner `first owner`, this key as `first key` with the preset `unlimited`, and 1,000,000
 * credits. Idempotent, also when two processes run it at once or the workspace was renamed. A new key replaces the keys of earlier runs.
 * @throws Error when the key belongs to another workspace
 */
export function ensureBootstrap(database: Database, key: string): Promise<Bootstrapped> {
  return database.transaction(async (tx) => {
    const { workspaceId, memberId, name } = (await findBootstrap(tx)) ?? (await makeBootstrap(tx));
    const isNew = await moveCredits(tx, {
      workspaceId,
      kind: "top_up",
      amountNano: CREDITS * NANO_PER_CREDIT,
      sourceId: TOP_UP_ID,
      note: "first start",
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
    if (known !== undefined) return { workspace: name, isRevoked: known.revoked_at !== null };
    const earlier = await listMemberKeys(tx, workspaceId, memberId);
    await insertKey(tx, workspaceId, {
      id: newId(),
      memberId,
      name: "first key",
      sha256,
      hint: keyHint(key),
      preset: "unlimited",
      actor: ACTOR,
    }).catch((error: unknown) => {
      if (constraintName(error) !== "api_key_sha256_key") throw error;
      throw new Error(`SLUICE_BOOTSTRAP_KEY is the key of another workspace than ${name}; set another key`, {
        cause: error,
      });
    });
    for (const { id, hint, revoked_at } of earlier) {
      // Keys that a command created for this member stay; a bootstrap key never has their prefix.
      if (!hint.startsWith("slk_") && revoked_at === null) await revokeKey(tx, workspaceId, { id, actor: ACTOR });
    }
    return { workspace: name, isRevoked: false };
  });
}

interface Bootstrap {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly name: string;
}

/**
 * Locks the table `bootstrap` until the transaction ends, and returns the first workspace that the table records; undefined if none. A
 * second process waits for the lock, and then finds everything created.
 */
async function findBootstrap(tx: Queryable): Promise<Bootstrap | undefined> {
  await tx.query("lock table bootstrap in exclusive mode");
  const rows = await tx.query<Bootstrap>(
    `select b.workspace_id as "workspaceId", b.member_id as "memberId", w.name
     from bootstrap b
     join workspace w on w.id = b.workspace_id`,
  );
  return rows[0];
}

/** Creates the first workspace and its owner. @throws Error when a workspace of that name already has other members */
async function makeBootstrap(tx: Queryable): Promise<Bootstrap> {
  const { id: workspaceId, name } = await ensureWorkspace(tx, { id: newId(), name: BOOTSTRAP_WORKSPACE, actor: ACTOR });
  const others = await tx.query("select from member where workspace_id = $1 and name <> $2 limit 1", [
    workspaceId,
    OWNER,
  ]);
  if (others.length > 0) {
    throw new Error(
      `SLUICE_BOOTSTRAP_KEY needs its own workspace ${BOOTSTRAP_WORKSPACE}, but that workspace has other members; rename it`,
    );
  }
  const member = await ensureMember(tx, workspaceId, { id: newId(), name: OWNER, role: "owner", actor: ACTOR });
  await tx.query("insert into bootstrap (workspace_id, member_id) values ($1, $2)", [workspaceId, member.id]);
  return { workspaceId, memberId: member.id, name };
}
