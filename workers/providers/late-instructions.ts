/**
 * Instructions in the middle of a conversation. They keep their position at every source, as text of a user's message where the source
 * takes instructions at the beginning only: moved there, they would change what a provider's prompt cache has of the earlier turns. Pure.
 */
import type { ChatMessage } from "#schemas/generated/types.ts";

interface Placed {
  readonly message: ChatMessage;
  /** Index of the message in the caller's conversation. */
  readonly at: number;
  /** True for instructions that come after the first turn. */
  readonly isLate: boolean;
}

/** Messages in the order in which sources take them: instructions between a call and its results come after the results. */
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

/** Marks an instruction that stands among what a user says, with the tags that agents use and Claude models know. */
export function reminder(text: string): string {
  return text.trimStart().startsWith(OPENING) ? text : `${OPENING}\n${text}\n</system-reminder>`;
}
