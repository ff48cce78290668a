/** Collects the items of a Responses call: items in its body, referenced items, and the conversation that it continues. */
import type { ResponsesItem, ResponsesRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import type { Viewer } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { checkConversationSize, type KeptConversation } from "#shared/responses/conversations.ts";
import { callOfItem, callOfResponse } from "#shared/responses/ids.ts";
import {
  CONVERSATION_BYTES_MAX,
  CONVERSATION_RESPONSES_MAX,
  type ReserveMemory,
  type ResponseStore,
  type StoredResponse,
} from "#shared/responses/store.ts";

import { inputPlace, type PlacedItem, readingItems } from "./items.ts";

export interface Conversation {
  /** All items, oldest first, each with its JSON path in the caller's body. */
  readonly items: readonly PlacedItem[];
  /** Items in the body of the call, without items of earlier responses. */
  readonly own: readonly ResponsesItem[];
  /** Id of the first response of the conversation, or of the stored conversation. Absent if the conversation begins with this call. */
  readonly root?: string;
}

interface Opening {
  readonly open?: (id: string) => Promise<KeptConversation>;
  readonly reserveMemory?: ReserveMemory | undefined;
}

type Store = Pick<ResponseStore, "find" | "findChain">;

/**
 * Collects the items of a call and of the conversation that it continues. In the last parameter, `open` opens a stored conversation; if
 * absent, the call may not name one. `reserveMemory` is awaited before stored content is read.
 * @throws ApiError that names the invalid item; `previous_response_not_found`, `response_not_found`, `service_unavailable`; errors of
 * `open`
 */
export async function readConversation(
  store: Store,
  caller: Caller,
  asked: Pick<ResponsesRequest, "input" | "previous_response_id" | "conversation">,
  { open, reserveMemory }: Opening = {},
): Promise<Conversation> {
  const { input, previous_response_id: previous } = asked;
  const viewer = viewerOf(caller);
  const slices = new TimeSlices();
  const named = conversationOf(asked);
  if (named !== undefined && previous != null) {
    const message = "Expected conversation or previous_response_id, got both.";
    throw new ApiError("unsupported_value", message, { param: IN_CONVERSATION });
  }
  const items = await slices.run(readingItems(input));
  const kept = named === undefined ? undefined : await open?.(named);
  const before = kept ? await readKept(kept, items, slices) : [];
  const own = await resolveItems(store, viewer, items, slices, { before, reserveMemory });
  const placed = own.map((item, at) => ({ item, from: inputPlace(at) }));
  if (kept && named !== undefined)
    return { items: [...before.map((item) => ({ item, from: IN_CONVERSATION })), ...placed], own, root: named };
  if (previous == null) return { items: placed, own };
  const chain = await earlierResponses(store, viewer, previous, reserveMemory);
  const earlier: ResponsesItem[][] = [];
  for (const stored of chain) earlier.push(await slices.run(readingStored(stored)));
  const whole = [...earlier.flat().map((item) => ({ item, from: PREVIOUS })), ...placed];
  return { items: whole, own, root: chain[0]?.response.id ?? previous };
}

/** Returns a stored response. @throws ApiError `response_not_found`, `service_unavailable` */
export async function findResponse(store: Store, caller: Caller, id: string): Promise<StoredResponse> {
  const callId = callOfResponse(id);
  const found = callId === undefined ? undefined : await readable(store.find(viewerOf(caller), [callId]));
  const stored = found?.get(callId ?? "");
  if (!stored) throw responseNotFound();
  return stored;
}

export function responseNotFound(): ApiError {
  return new ApiError("response_not_found", "There is no such stored response.");
}

const PREVIOUS = "previous_response_id";
const IN_CONVERSATION = "conversation";

/** Returns the id of the conversation that a call names; undefined if it names none. */
function conversationOf({ conversation }: Pick<ResponsesRequest, "conversation">): string | undefined {
  return typeof conversation === "string" ? conversation : conversation?.id;
}

/**
 * Returns the stored items of a conversation, after checking that the new items fit into it.
 * @param added new items, which the call will append
 * @throws ApiError if the conversation would exceed its limits
 */
export async function readKept(
  { items, bytes }: KeptConversation,
  added: readonly ResponsesItem[],
  slices: TimeSlices,
  param = IN_CONVERSATION,
): Promise<KnownItem[]> {
  checkConversationSize(items.length + added.length, bytes + Buffer.byteLength(JSON.stringify(added)), param);
  return knownItems(await slices.run(readingItems(items)));
}

async function earlierResponses(
  store: Store,
  viewer: Viewer,
  id: string,
  reserveMemory: ReserveMemory | undefined,
): Promise<readonly StoredResponse[]> {
  const callId = callOfResponse(id);
  const chain = callId === undefined ? "gone" : await readable(store.findChain(viewer, callId, reserveMemory));
  if (chain === "gone") {
    throw new ApiError(
      "previous_response_not_found",
      "The previous response, or one before it, is not stored. Send the whole conversation as input.",
      { param: PREVIOUS },
    );
  }
  if (chain === "long") {
    const bound = `${CONVERSATION_RESPONSES_MAX} responses and ${CONVERSATION_BYTES_MAX} bytes`;
    throw new ApiError("invalid_request", `Expected a stored conversation of at most ${bound}, got more.`, {
      param: PREVIOUS,
    });
  }
  return chain;
}

/**
 * Replaces references in a list of items by the referenced items. In the last parameter, `before` contains the items of the continued
 * conversation. `reserveMemory` is awaited before stored content is read.
 * @throws ApiError that names the invalid reference
 */
export async function resolveItems(
  store: Store,
  viewer: Viewer,
  items: readonly ResponsesItem[],
  slices: TimeSlices,
  {
    before = [],
    reserveMemory,
  }: { readonly before?: readonly KnownItem[]; readonly reserveMemory?: ReserveMemory | undefined } = {},
): Promise<KnownItem[]> {
  const calls = items.flatMap((item) => (item.type === "item_reference" ? (callOfItem(item.id) ?? []) : []));
  const wanted = [...new Set(calls)];
  if (wanted.length > CONVERSATION_RESPONSES_MAX) {
    throw new ApiError("invalid_request", `Expected references to at most ${CONVERSATION_RESPONSES_MAX} responses.`, {
      param: "input",
    });
  }
  const found =
    wanted.length === 0 ? new Map<string, StoredResponse>() : await readable(store.find(viewer, wanted, reserveMemory));
  // The input of a response may contain items with the ids of another response's items.
  const byId = new Map<string | undefined, KnownItem>(before.map((item) => [item.id ?? undefined, item]));
  for (const [id, stored] of found) {
    const known = await slices.run(readingStored(stored));
    for (const item of known) if (callOfItem(item.id ?? "") === id) byId.set(item.id ?? undefined, item);
  }
  let bytes = 0;
  return items.map((item, at) => {
    if (item.type !== "item_reference") return item;
    const param = `${inputPlace(at)}.id`;
    const target = byId.get(item.id);
    if (!target) {
      throw new ApiError("response_not_found", "There is no such item in the stored responses.", { param });
    }
    // Many references to one large item would otherwise exceed the memory.
    bytes += Buffer.byteLength(JSON.stringify(target));
    if (bytes <= CONVERSATION_BYTES_MAX) return target;
    const message = `Expected references to at most ${CONVERSATION_BYTES_MAX} bytes of items, got more.`;
    throw new ApiError("invalid_request", message, { param });
  });
}

export type KnownItem = Exclude<ResponsesItem, { readonly type: "item_reference" }>;

function knownItems(items: readonly ResponsesItem[]): KnownItem[] {
  return items.filter((item) => item.type !== "item_reference");
}

/** Returns the items of a stored response: those of its request, then those of its output. */
function* readingStored({ input, response }: StoredResponse): Generator<void, KnownItem[]> {
  return knownItems(yield* readingItems([...input, ...response.output]));
}

/** Awaits a read of stored content. @throws ApiError `service_unavailable` in place of errors that are no ApiError */
export async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("service_unavailable", "Stored responses cannot be read right now; try again shortly.", {
      cause: error,
    });
  }
}
