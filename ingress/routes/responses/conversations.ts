/** Finds conversations, and locks and unlocks them for the calls that continue them. */
import { viewerOf } from "#shared/access/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { uuidOfConversation } from "#shared/responses/ids.ts";

import type { IngressContext } from "../../context.ts";
import { readable } from "./history.ts";
import type { RouteCall } from "../../core/call.ts";

type Context = Pick<IngressContext, "conversations" | "log">;

/** Returns a conversation that the caller may read. @throws ApiError `conversation_not_found`, `service_unavailable` */
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

/**
 * Locks a conversation for the call that continues it, and returns its content.
 * @throws ApiError `conversation_not_found`, `service_unavailable`; `conversation_locked` if another call has locked it
 */
export async function takeConversation(context: Context, call: RouteCall, id: string): Promise<KeptConversation> {
  const uuid = uuidOfConversation(id);
  const taken = uuid === undefined ? undefined : await takeReadable(context, call, uuid);
  if (!taken) throw conversationNotFound("conversation");
  if (taken !== "held") return taken;
  throw new ApiError("conversation_locked", "Another call is using the conversation; try again when it has ended.", {
    param: "conversation",
  });
}

/** Locks a conversation and reads it. Unlocks it again if it cannot be read. */
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

/**
 * Unlocks the conversation after a refused or failed call. If unlocking fails, the lock expires after a minute, but not before the call's
 * credit hold has ended.
 */
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
