/** SQL for conversations. Every query contains the condition that decides what a caller may see, as for stored responses. */
import type { Queryable } from "./client.ts";
import type { Gone, KeptText } from "./responses.ts";
import type { Viewer } from "./viewer.ts";

export type ConversationRow = KeptText & {
  readonly id: string;
  readonly workspace_id: string;
  /** Number that increases with each change of the conversation's text. */
  readonly version: number;
  readonly bytes: number;
  readonly created_at: Date;
};

export interface ConversationText {
  readonly bytes: number;
  readonly text: KeptText;
  readonly sealedBy: string;
  readonly hours: number;
}

const COLUMNS = "id, workspace_id, version, bytes, created_at, sealed, reference";
const SEEN = "workspace_id = $1 and (member_id = $2 or $3) and expires_at > now() and id = $4";

function seenBy({ workspaceId, memberId, seesAll }: Viewer, id: string) {
  return [workspaceId, memberId, seesAll, id] as const;
}

export async function insertConversation(
  database: Queryable,
  row: ConversationText & { readonly id: string; readonly workspaceId: string; readonly memberId: string },
): Promise<ConversationRow> {
  const [created] = await database.query<ConversationRow>(
    `insert into conversation (id, workspace_id, member_id, bytes, sealed, reference, sealed_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 hour') returning ${COLUMNS}`,
    [row.id, row.workspaceId, row.memberId, row.bytes, row.text.sealed, row.text.reference, row.sealedBy, row.hours],
    "insert_conversation",
  );
  if (!created) throw new Error("a conversation was not inserted");
  return created;
}

export async function findConversation(
  database: Queryable,
  viewer: Viewer,
  id: string,
): Promise<ConversationRow | undefined> {
  const rows = await database.query<ConversationRow>(
    `select ${COLUMNS} from conversation where ${SEEN}`,
    seenBy(viewer, id),
    "find_conversation",
  );
  return rows[0];
}

/** Finds a conversation without checking the caller. Only for the worker of a call that has locked the conversation. */
export async function findHeldConversation(
  database: Queryable,
  id: string,
  callId: string,
): Promise<ConversationRow | undefined> {
  const rows = await database.query<ConversationRow>(
    `select ${COLUMNS} from conversation where id = $1 and held_by = $2`,
    [id, callId],
    "find_held_conversation",
  );
  return rows[0];
}

/**
 * Locks a conversation for a call until the call's credit hold is closed. The call must place the hold within a minute. Returns undefined
 * if the conversation does not exist or another call has locked it.
 */
export async function holdConversation(
  database: Queryable,
  viewer: Viewer,
  id: string,
  callId: string,
): Promise<ConversationRow | undefined> {
  const rows = await database.query<ConversationRow>(
    `update conversation c set held_by = $5, held_until = now() + interval '1 minute'
     where ${SEEN} and (held_by is null or held_by = $5 or (held_until <= now() and not exists (
       select from hold h where h.workspace_id = c.workspace_id and h.job_id = c.held_by)))
     returning ${COLUMNS}`,
    [...seenBy(viewer, id), callId],
    "hold_conversation",
  );
  return rows[0];
}

/**
 * Unlocks a conversation.
 * @param isOver true if the call makes no more changes; false unlocks only if the call has no open credit hold
 */
export async function releaseConversation(
  database: Queryable,
  id: string,
  callId: string,
  isOver: boolean,
): Promise<void> {
  await database.query(
    `update conversation c set held_by = null where id = $1 and held_by = $2
       and ($3 or not exists (select from hold h where h.workspace_id = c.workspace_id and h.job_id = c.held_by))`,
    [id, callId, isOver],
    "release_conversation",
  );
}

/**
 * Changes the text of a conversation. Returns undefined, without a change, if the conversation was deleted, has changed, or is not locked
 * by the call.
 * @param callId the ended call; null if the change belongs to no call
 */
export async function changeConversation(
  database: Queryable,
  { id, version }: Pick<ConversationRow, "id" | "version">,
  { bytes, text, sealedBy, hours }: ConversationText,
  callId: string | null,
): Promise<ConversationRow | undefined> {
  const rows = await database.query<ConversationRow>(
    `update conversation set version = version + 1, bytes = $3, sealed = $4, reference = $5, sealed_by = $6,
       expires_at = now() + $7 * interval '1 hour', held_by = case when held_by = $8 then null else held_by end
     where id = $1 and version = $2 and ($8::uuid is null or held_by = $8) returning ${COLUMNS}`,
    [id, version, bytes, text.sealed, text.reference, sealedBy, hours, callId],
    "change_conversation",
  );
  return rows[0];
}

/** Deletes a conversation. Returns the location of its text in the object store; undefined if the conversation did not exist. */
export async function deleteConversation(database: Queryable, viewer: Viewer, id: string): Promise<Gone | undefined> {
  const rows = await database.query<Gone>(`delete from conversation where ${SEEN} returning reference`, [
    ...seenBy(viewer, id),
  ]);
  return rows[0];
}
