/** Finds, locks and unlocks conversations for calls. */
import { viewerOf } from "#shared/access/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { uuidOfConversation } from "#shared/responses/ids.ts";

import type { IngressContext } from "../../context.ts";
import { readable } from "./history.ts";
import type { RouteCall } from "../../core/call.ts";

type Context = Pick<IngressContext, "conversations" | "log">;

/** Returns the conversation. @throws ApiError `conversation_not_found`, `service_unavailable` */
export async function findConversation(
  { conversations }: Context,
  call: RouteCall,
  id: string,
): Promise<KeptConversation> {
  const uuid = uuidOfConversation(id);
  const viewer = viewerOf(call.caller);
  const found =
    uuid === undefined ? undefined : await readable(conversations.find(viewer, uuid, call.meter.reserveMemory));
  if (!found) throw conversationNotFound();
  return found;
}

/** Locks the conversation for the call that continues it. @throws ApiError as above; `conversation_locked` */
export async function takeConversation(context: Context, call: RouteCall, id: string): Promise<KeptConversation> {
  const uuid = uuidOfConversation(id);
  const taken = uuid === undefined ? undefined : await takeReadable(context, call, uuid);
  if (!taken) throw conversationNotFound("conversation");
  if (taken !== "held") return taken;
  throw new ApiError("conversation_locked", "Another call is using the conversation; try again when it has ended.", {
    param: "conversation",
  });
}

/** Locks the conversation, and unlocks it if it cannot be read. */
async function takeReadable(
  context: Context,
  call: RouteCall,
  id: string,
): Promise<KeptConversation | "held" | undefined> {
  const viewer = viewerOf(call.caller);
  try {
    return await readable(context.conversations.take(viewer, id, call.requestId, call.meter.reserveMemory));
  } catch (error) {
    await releaseConversation(context, call, id);
    throw error;
  }
}

/** Unlocks the conversation after a refused or failed call. If that fails, the end of the call's hold unlocks it. */
export async function releaseConversation({ conversations, log }: Context, call: RouteCall, id: string): Promise<void> {
  await conversations
    .release(id, call.requestId, false)
    .catch((error: unknown) =>
      log.warn({ err: error }, "a conversation could not be unlocked; its lock expires in a minute"),
    );
}

export function conversationNotFound(param?: string): ApiError {
  return new ApiError("conversation_not_found", "There is no such conversation.", param === undefined ? {} : { param });
}
