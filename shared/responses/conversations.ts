/**
 * Conversations: labels and items that are stored for a caller. Both are encrypted as one text, which each change rewrites. If another
 * change was written first, the text is read again and the change is repeated. No change is therefore lost, and all readers see the same
 * order.
 */
import type { ResponsesItem } from "#schemas/generated/types.ts";
import {
  changeConversation,
  type ConversationRow,
  type ConversationText,
  deleteConversation,
  findConversation,
  findHeldConversation,
  holdConversation,
  insertConversation,
  releaseConversation,
} from "#shared/database/conversations.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { KeptText } from "#shared/database/responses.ts";
import type { Viewer } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { JOB_TEXT_BYTES_MAX } from "#shared/jobs/result.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Insist } from "#shared/storage/outage.ts";
import { CONVERSATION_BYTES_MAX, type ReserveMemory } from "./store.ts";
import { keyIdOf, type Sealer } from "#shared/secrets/sealed.ts";
import { deleteClaim, readClaim, storeResponseText } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Maximum items of a conversation. Each item is checked whenever a call continues the conversation. */
const CONVERSATION_ITEMS_MAX = 5_000;
/**
 * Checks the size of a conversation.
 * @param param request parameter that the error names
 * @throws ApiError if the conversation exceeds the maximum number of items or bytes
 */
export function checkConversationSize(items: number, bytes: number, param?: string): void {
  if (items <= CONVERSATION_ITEMS_MAX && bytes <= CONVERSATION_BYTES_MAX) return;
  const bound = `${CONVERSATION_ITEMS_MAX} items and ${CONVERSATION_BYTES_MAX} bytes`;
  const message = `Expected a conversation of at most ${bound}, got more.`;
  throw new ApiError("invalid_request", message, param === undefined ? {} : { param });
}

/** Maximum attempts of a change that conflicts with other changes. */
const TRIES_MAX = 8;

interface Content {
  readonly metadata: Readonly<Record<string, string>>;
  /** Items of the conversation, oldest first, each with a unique id. */
  readonly items: readonly ResponsesItem[];
}

export interface KeptConversation extends Content {
  readonly id: string;
  readonly createdAt: Date;
  /** Length of the conversation's text, in bytes. */
  readonly bytes: number;
}

export interface ConversationStore {
  create(
    owner: Pick<Viewer, "workspaceId"> & { readonly memberId: string },
    content: Content,
    hours: number,
  ): Promise<KeptConversation>;
  find(viewer: Viewer, id: string, reserveMemory?: ReserveMemory): Promise<KeptConversation | undefined>;
  /** Locks a conversation for a call and returns it. `held`: another call has locked it. Undefined: no such conversation. */
  take(
    viewer: Viewer,
    id: string,
    callId: string,
    reserveMemory?: ReserveMemory,
  ): Promise<KeptConversation | "held" | undefined>;
  /**
   * Unlocks a conversation.
   * @param isOver true if the call makes no more changes; false unlocks only if the call has no open credit hold
   */
  release(id: string, callId: string, isOver: boolean): Promise<void>;
  /**
   * Changes a conversation and returns it; undefined if there is none.
   * @throws the error of `change`; ApiError `conflict` after repeated conflicts; ApiError `invalid_request` if the changed conversation
   * exceeds its size limits
   */
  change(
    viewer: Viewer,
    id: string,
    hours: number,
    change: (content: KeptConversation) => Content,
  ): Promise<KeptConversation | undefined>;
  /**
   * Adds input and output of the call that locked the conversation, and unlocks it. Does nothing if the call does not have the lock.
   * @throws the errors of `change`
   */
  append(id: string, callId: string, items: readonly ResponsesItem[], hours: number, insist: Insist): Promise<void>;
  /** Deletes a conversation. Returns false if there was none. */
  delete(viewer: Viewer, id: string): Promise<boolean>;
}

export function createConversationStore(options: {
  readonly database: Queryable;
  readonly storage: Storage;
  readonly sealer: Pick<Sealer, "open" | "seal">;
  readonly log: Pick<Logger, "warn">;
}): ConversationStore {
  const { database, storage, sealer, log } = options;
  const place = (workspaceId: string, id: string) => ({ workspaceId, table: "conversation", row: id, field: "text" });
  const open = async (row: ConversationRow, reserveMemory?: ReserveMemory): Promise<KeptConversation> => {
    await reserveMemory?.(row.bytes);
    const sealed = row.reference === null ? row.sealed : await readClaim(storage, row.reference);
    const content = JSON.parse(sealer.open(place(row.workspace_id, row.id), sealed)) as Content;
    return { ...content, id: row.id, createdAt: row.created_at, bytes: row.bytes };
  };
  /** Finds and decrypts a conversation. If a concurrent change has deleted its text from the object store, reads the database row again. */
  const opened = async (
    find: () => Promise<ConversationRow | undefined>,
    reserveMemory?: ReserveMemory,
  ): Promise<{ readonly row: ConversationRow; readonly kept: KeptConversation } | undefined> => {
    let row = await find();
    for (let tries = 1; row !== undefined; tries += 1) {
      try {
        return { row, kept: await open(row, reserveMemory) };
      } catch (error) {
        const { version } = row;
        row = await find();
        if (row?.version === version || tries >= TRIES_MAX) throw error;
      }
    }
    return undefined;
  };
  /**
   * Encrypts the text of a conversation. A large text is written to the object store.
   * @param before previous size in bytes: a conversation that does not grow may still exceed the limit
   */
  const seal = async (
    workspaceId: string,
    id: string,
    content: Content,
    hours: number,
    before = 0,
  ): Promise<ConversationText> => {
    const plain = JSON.stringify({ metadata: content.metadata, items: content.items });
    const bytes = Buffer.byteLength(plain);
    if (bytes > before) checkConversationSize(content.items.length, bytes);
    const sealed = sealer.seal(place(workspaceId, id), plain);
    const isSmall = sealed.length <= JOB_TEXT_BYTES_MAX;
    const text: KeptText = isSmall
      ? { sealed, reference: null }
      : { sealed: null, reference: await storeResponseText(storage, id, newId(), sealed) };
    return { bytes, text, sealedBy: keyIdOf(sealed), hours };
  };
  const discard = (id: string, reference: string | null): void => {
    if (reference === null) return;
    deleteClaim(storage, reference).catch((error: unknown) =>
      log.warn(
        { err: error, conversation: id },
        "an old text of a conversation could not be deleted; the janitor retries",
      ),
    );
  };
  const changeBy = async (
    find: () => Promise<ConversationRow | undefined>,
    hours: number,
    change: (content: KeptConversation) => Content,
    callId: string | null,
  ): Promise<KeptConversation | undefined> => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const found = await opened(find);
      if (!found) return undefined;
      const { row, kept } = found;
      const { id, workspace_id: workspaceId } = row;
      const content = change(kept);
      const text = await seal(workspaceId, id, content, hours, row.bytes);
      const changed = await changeConversation(database, row, text, callId);
      discard(id, changed ? row.reference : text.text.reference);
      if (changed) return { ...content, id, createdAt: changed.created_at, bytes: changed.bytes };
    }
    throw new ApiError("conflict", "Another request is changing the conversation; try again shortly.");
  };
  return {
    async create({ workspaceId, memberId }, content, hours) {
      const id = newId();
      const text = await seal(workspaceId, id, content, hours);
      const row = await insertConversation(database, { ...text, id, workspaceId, memberId });
      return { ...content, id, createdAt: row.created_at, bytes: row.bytes };
    },
    async find(viewer, id, reserveMemory) {
      return (await opened(() => findConversation(database, viewer, id), reserveMemory))?.kept;
    },
    async take(viewer, id, callId, reserveMemory) {
      const taken = await opened(() => holdConversation(database, viewer, id, callId), reserveMemory);
      if (taken) return taken.kept;
      return (await findConversation(database, viewer, id)) === undefined ? undefined : "held";
    },
    release: (id, callId, isOver) => releaseConversation(database, id, callId, isOver),
    change: (viewer, id, hours, change) => changeBy(() => findConversation(database, viewer, id), hours, change, null),
    async append(id, callId, items, hours, insist) {
      const add = (kept: KeptConversation): Content => ({
        ...kept,
        items: [...kept.items, ...withOwnIds(kept.items, items)],
      });
      // Repeats the whole change: a change whose response was lost is detected.
      await insist(() => changeBy(() => findHeldConversation(database, id, callId), hours, add, callId));
    },
    async delete(viewer, id) {
      const gone = await deleteConversation(database, viewer, id);
      if (gone) discard(id, gone.reference);
      return gone !== undefined;
    },
  };
}

/**
 * Returns the items. An item gets a new id if it has none, or if the conversation already contains its id. This happens because callers
 * send back items that they received, including their ids.
 */
export function withOwnIds(taken: readonly ResponsesItem[], items: readonly ResponsesItem[]): ResponsesItem[] {
  const ids = new Set(taken.map(({ id }) => id));
  const part = newId().replaceAll("-", "");
  return items.map((item, at): ResponsesItem => {
    const prefix = /^[a-z]{2,5}(?=_)/.exec(item.id ?? "")?.[0] ?? "item";
    const id = item.id != null && !ids.has(item.id) ? item.id : `${prefix}_${part}_i${at}`;
    ids.add(id);
    return { ...item, id };
  });
}
