/**
 * Instructions in the middle of a conversation. They keep their position at every source, as text of a user message where the source
 * accepts instructions only at the beginning. Moving them there would invalidate the provider's prompt cache of earlier turns. Pure.
 */
import type { ChatMessage } from "#schemas/generated/types.ts";

interface Placed {
  readonly message: ChatMessage;
  /** Index of the message in the caller's conversation. */
  readonly at: number;
  /** True for instructions after the first turn. */
  readonly isLate: boolean;
}

/** Returns messages in an order that sources accept: instructions between a tool call and its results move behind the results. */
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

/** Marks an instruction within a user message, with the tags that agents use and Claude models know. */
export function reminder(text: string): string {
  return text.trimStart().startsWith(OPENING) ? text : `${OPENING}\n${text}\n</system-reminder>`;
}
