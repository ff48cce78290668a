/** Conversations as their callers find, take and leave them. */
import { viewerOf } from "#shared/access/viewer.ts";
import { ApiError } from "#shared/errors.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { uuidOfConversation } from "#shared/responses/ids.ts";

import type { IngressContext } from "../context.ts";
import { readable } from "../responses/history.ts";
import { callerOf, type RouteCall } from "../serve.ts";

type Context = Pick<IngressContext, "conversations" | "log">;

/** @throws ApiError `conversation_not_found`, `service_unavailable` */
export async function findConversation(
  { conversations }: Context,
  call: RouteCall,
  id: string,
): Promise<KeptConversation> {
  const uuid = uuidOfConversation(id);
  const viewer = viewerOf(callerOf(call));
  const found = uuid === undefined ? undefined : await readable(conversations.find(viewer, uuid, call.makeRoom));
  if (!found) throw conversationNotFound();
  return found;
}

/** The same for a call that goes on from it, and is alone in that. @throws ApiError `conversation_locked` */
export async function takeConversation(context: Context, call: RouteCall, id: string): Promise<KeptConversation> {
  const uuid = uuidOfConversation(id);
  const taken = uuid === undefined ? undefined : await takeReadable(context, call, uuid);
  if (!taken) throw conversationNotFound("conversation");
  if (taken !== "held") return taken;
  throw new ApiError("conversation_locked", "Another call is using the conversation; try again when it has ended.", {
    param: "conversation",
  });
}

/** Takes it, and leaves it again where it cannot be read. */
async function takeReadable(
  context: Context,
  call: RouteCall,
  id: string,
): Promise<KeptConversation | "held" | undefined> {
  const viewer = viewerOf(callerOf(call));
  try {
    return await readable(context.conversations.take(viewer, id, call.requestId, call.makeRoom));
  } catch (error) {
    await leaveConversation(context, call, id);
    throw error;
  }
}

/** A call that was refused, or failed, keeps others from it no longer. What cannot be written now is so when its hold is closed. */
export async function leaveConversation({ conversations, log }: Context, call: RouteCall, id: string): Promise<void> {
  await conversations
    .release(id, call.requestId, false)
    .catch((error: unknown) => log.warn({ err: error }, "a conversation stays taken for a minute"));
}

export function conversationNotFound(param?: string): ApiError {
  return new ApiError("conversation_not_found", "There is no such conversation.", param === undefined ? {} : { param });
}
