/** /v1/conversations: manages stored conversations, which Responses calls can continue. */
import type { Conversation, ResponsesItem } from "#schemas/generated/types.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type KeptConversation, withOwnIds } from "#shared/responses/conversations.ts";
import { conversationId, uuidOfConversation } from "#shared/responses/ids.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";

import { json } from "../../core/answers.ts";
import { readBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { conversationNotFound, findConversation } from "./conversations.ts";
import { ITEMS_QUERY, itemsPageOf, listOfItems, pageOfItems } from "./items-page.ts";
import { readable, readKept, resolveItems } from "./history.ts";
import { readingItems } from "./items.ts";
import { checkFreeStorage } from "./free-storage.ts";
import { storedItems } from "./stored-items.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { withParam } from "../../core/with-param.ts";

const PATH = "/v1/conversations";
const ONE = `${PATH}/{conversation_id}`;
const ITEMS = `${ONE}/items`;
const FOUND = ["conversation_not_found", "service_unavailable"] as const;
const COMMON = { tags: ["Chat"], auth: "key" } as const;

export function conversations(context: IngressContext): KeyRoute[] {
  return [...wholeRoutes(context), ...itemRoutes(context)];
}

function wholeRoutes(context: IngressContext): KeyRoute[] {
  return [
    {
      ...COMMON,
      method: "POST",
      path: PATH,
      operationId: "createConversation",
      summary: "Create conversation",
      description:
        "Creates a conversation, which response calls use as `conversation`. It expires like stored responses, " +
        "counted from its last change. The member who created it, owners and admins can see it.",
      request: { schema: "ConversationRequest", example: { items: [{ role: "user", content: "Hello" }] } },
      responses: { 200: { description: "The conversation", schema: "Conversation" } },
      errors: errorsOf(["reads_json"], "response_not_found", "service_unavailable", "storage_limit_exceeded"),
      handle: (call) => create(context, call),
    },
    {
      ...COMMON,
      method: "GET",
      path: ONE,
      operationId: "getConversation",
      summary: "Retrieve conversation",
      responses: { 200: { description: "The conversation", schema: "Conversation" } },
      errors: errorsOf([], ...FOUND),
      handle: async (call) => json(present(await foundIn(context, call))),
    },
    {
      ...COMMON,
      method: "POST",
      path: ONE,
      operationId: "updateConversation",
      summary: "Update conversation",
      request: { schema: "ConversationChange", example: { metadata: { topic: "tea" } } },
      responses: { 200: { description: "The conversation", schema: "Conversation" } },
      errors: errorsOf(["reads_json"], ...FOUND, "conflict"),
      handle: async (call) => {
        const { metadata } = parse("ConversationChange", (await readBody(context, call)).value);
        return json(present(await change(context, call, ({ items }) => ({ metadata: metadata ?? {}, items }))));
      },
    },
    {
      ...COMMON,
      method: "DELETE",
      path: ONE,
      operationId: "deleteConversation",
      summary: "Delete conversation",
      description:
        "Deletes a conversation. Its stored responses remain. A call that is using it completes without appending " +
        "items.",
      responses: { 200: { description: "The confirmation", schema: "ConversationDeleted" } },
      errors: errorsOf([], ...FOUND),
      handle: (call) => remove(context, call),
    },
  ];
}

function itemRoutes(context: IngressContext): KeyRoute[] {
  return [
    {
      ...COMMON,
      method: "POST",
      path: ITEMS,
      operationId: "createConversationItems",
      summary: "Create conversation items",
      description: "Appends items to the conversation, before the items of a call that has not ended.",
      request: { schema: "ConversationItemsRequest", example: { items: [{ role: "user", content: "And one more" }] } },
      responses: { 200: { description: "The added items", schema: "ConversationItemList" } },
      errors: errorsOf(["reads_json"], ...FOUND, "response_not_found", "conflict", "storage_limit_exceeded"),
      handle: (call) => add(context, call),
    },
    {
      ...COMMON,
      method: "GET",
      path: ITEMS,
      operationId: "listConversationItems",
      summary: "List conversation items",
      query: ITEMS_QUERY,
      responses: { 200: { description: "A page of items", schema: "ConversationItemList" } },
      errors: errorsOf([], ...FOUND, "unsupported_value"),
      handle: async (call) => {
        const page = itemsPageOf(call);
        return json(pageOfItems(page, (await foundIn(context, call)).items));
      },
    },
    {
      ...COMMON,
      method: "GET",
      path: `${ITEMS}/{item_id}`,
      operationId: "getConversationItem",
      summary: "Retrieve conversation item",
      responses: { 200: { description: "The item", schema: "ResponsesItem" } },
      errors: errorsOf([], ...FOUND),
      handle: async (call) => json({ ...itemIn(await foundIn(context, call), call) }),
    },
    {
      ...COMMON,
      method: "DELETE",
      path: `${ITEMS}/{item_id}`,
      operationId: "deleteConversationItem",
      summary: "Delete conversation item",
      responses: { 200: { description: "The conversation", schema: "Conversation" } },
      errors: errorsOf([], ...FOUND, "conflict"),
      handle: async (call) => {
        const without = (kept: KeptConversation) => {
          const gone = itemIn(kept, call);
          return { ...kept, items: kept.items.filter((item) => item !== gone) };
        };
        return json(present(await change(context, call, without)));
      },
    },
  ];
}

function present({ id, createdAt, metadata }: KeptConversation): Conversation {
  const created = Math.floor(createdAt.getTime() / 1_000);
  return { id: conversationId(id), object: "conversation", created_at: created, metadata: { ...metadata } };
}

const nameIn = (call: RouteCall): string => call.params["conversation_id"] ?? "";

function foundIn(context: IngressContext, call: RouteCall): Promise<KeptConversation> {
  return findConversation(context, call, nameIn(call));
}

/** Returns the item named in the URL path. @throws ApiError `conversation_not_found` if the conversation has no such item */
function itemIn({ items }: KeptConversation, call: RouteCall): ResponsesItem {
  const item = items.find(({ id }) => id === call.params["item_id"]);
  if (!item) throw new ApiError("conversation_not_found", "There is no such item in the conversation.");
  return item;
}

/** Converts new items into their stored format. @throws ApiError that names the invalid item */
async function newItems(context: IngressContext, call: RouteCall, items: readonly object[]): Promise<ResponsesItem[]> {
  const slices = new TimeSlices();
  const read = await namedItems(() => slices.run(readingItems(items as readonly Record<string, unknown>[])));
  const resolved = await namedItems(() => resolveItems(context.responses, viewerOf(call.caller), read, slices));
  return storedItems(resolved, call.requestId);
}

/** Runs `work` and renames the parameter `input` in its errors to `items`, the name used by this endpoint. */
async function namedItems<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withParam(error, (param) => param.replace(/^input/, "items"));
  }
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const { items, metadata } = parse("ConversationRequest", (await readBody(context, call)).value);
  const first = withOwnIds([], await newItems(context, call, items ?? []));
  const { responseRetentionHours: hours } = context.config;
  const content = { metadata: metadata ?? {}, items: first };
  await readKept({ ...NOTHING, ...content, items: [] }, first, new TimeSlices(), "items");
  await checkFreeStorage(context, call.caller.workspaceId, () => lengthOf(first));
  return json(present(await readable(context.conversations.create(viewerOf(call.caller), content, hours))));
}

function lengthOf(items: readonly ResponsesItem[]): number {
  return JSON.stringify(items).length;
}

const NOTHING = { id: "", createdAt: new Date(0), bytes: 0 } as const;

async function add(context: IngressContext, call: RouteCall): Promise<Response> {
  const { items } = parse("ConversationItemsRequest", (await readBody(context, call)).value);
  const asked = await newItems(context, call, items);
  const before = await foundIn(context, call);
  await readKept(before, asked, new TimeSlices(), "items");
  await checkFreeStorage(context, call.caller.workspaceId, () => lengthOf(asked));
  let added: ResponsesItem[] = [];
  await change(context, call, (kept) => {
    added = withOwnIds(kept.items, asked);
    return { ...kept, items: [...kept.items, ...added] };
  });
  return json(listOfItems(added));
}

async function change(
  { conversations: store, config }: IngressContext,
  call: RouteCall,
  by: Parameters<IngressContext["conversations"]["change"]>[3],
): Promise<KeptConversation> {
  const id = uuidOfConversation(nameIn(call));
  const viewer = viewerOf(call.caller);
  const { responseRetentionHours: hours } = config;
  const changed = id === undefined ? undefined : await readable(store.change(viewer, id, hours, by));
  if (!changed) throw conversationNotFound();
  return changed;
}

async function remove({ conversations: store }: IngressContext, call: RouteCall): Promise<Response> {
  const id = uuidOfConversation(nameIn(call));
  const isGone = id !== undefined && (await readable(store.delete(viewerOf(call.caller), id)));
  if (!isGone) throw conversationNotFound();
  return json({ id: conversationId(id), object: "conversation.deleted", deleted: true });
}
