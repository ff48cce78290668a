/**
 * Places instructions that occur in the middle of a conversation. Instructions keep their position at every source. Some sources accept
 * instructions only at the beginning; there they become text of a user message. Moving them to the beginning would invalidate the
 * provider's prompt cache of earlier turns.
 */
import type { ChatMessage } from "#schemas/generated/types.ts";

interface Placed {
  readonly message: ChatMessage;
  /** Index of the message in the caller's conversation. */
  readonly at: number;
  /** True for an instruction that follows the first user or assistant message. */
  readonly isLate: boolean;
}

/** Returns the messages in an order that sources accept. Instructions between a tool call and its results move behind the results. */
export function placeInstructions(messages: readonly ChatMessage[]): Placed[] {
  const placed: Placed[] = [];
  let waiting: Placed[] = [];
  let hasBegun = false;
  for (const [at, message] of messages.entries()) {
    const { role } = message;
    if (hasBegun && (role === "system" || role === "developer")) {
      waiting.push({ message, at, isLate: true });
      continue;
    }
    hasBegun ||= role !== "system" && role !== "developer";
    if (role !== "tool" && role !== "function") {
      placed.push(...waiting);
      waiting = [];
    }
    placed.push({ message, at, isLate: false });
  }
  return [...placed, ...waiting];
}

const OPENING = "<system-reminder>";

/** Marks a text as an instruction within a user message. The tags are those that agents use and Claude models know. */
export function reminder(text: string): string {
  return text.trimStart().startsWith(OPENING) ? text : `${OPENING}\n${text}\n</system-reminder>`;
}
