/**
 * Reads the parts of an answer in OpenAI's format, from a stream delta or a complete message. The renderers of other API formats use it.
 */
import { isMembers, type Members, membersOf, objectOf, textOf } from "../../providers/json.ts";

import type { BlocksByKind } from "../../providers/anthropic/order.ts";

/** Chunk of a tool call that one delta adds, or the complete call. */
export interface CallPiece {
  readonly kind: "call";
  /** Index of the tool call. All chunks of a call have the same index. */
  readonly call: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
  /** Further members of the tool call that only its provider defines. */
  readonly extra: Members | undefined;
}

/** Returns the first choice of an answer, because requests of the other API formats ask for one choice only. */
export function firstChoice(choices: readonly Members[]): Members {
  return choices.find((choice) => (choice["index"] ?? 0) === 0) ?? {};
}

/** Returns the tool calls of a delta or of a complete message. A complete message does not number its calls, so their position is used. */
export function callsOf(message: Members): CallPiece[] {
  return membersOf(message["tool_calls"]).map((call, at) => {
    const target = objectOf(call["function"]);
    const id = textOf(call["id"]);
    const name = textOf(target["name"]);
    const extra = call["extra_content"];
    return {
      kind: "call",
      call: typeof call["index"] === "number" ? call["index"] : at,
      id: id === "" ? undefined : id,
      name: name === "" ? undefined : name,
      text: textOf(target["arguments"]),
      extra: isMembers(extra) ? extra : undefined,
    };
  });
}

/**
 * Returns the reasoning text of a message. It is a member beside the content, or, for Mistral's reasoning models, a block within the
 * content.
 */
export function thoughtOf(message: Members): string {
  const inContent = membersOf(message["content"])
    .flatMap((block) => membersOf(block["thinking"]))
    .map((thought) => textOf(thought["text"]));
  return textOf(message["reasoning_content"] ?? message["reasoning"]) + inContent.join("");
}

/**
 * Converts a thinking block to the form that its provider requires in later requests. `after` is the position of the block in the message.
 * Returns an empty list for any other block.
 */
export function signedBlock({ type, data, thinking, signature, after }: Members): BlocksByKind["thinking"] {
  if (type === "redacted_thinking") return [{ block: { type, data: textOf(data) }, after }];
  if (type !== "thinking") return [];
  return [{ block: { type, thinking: textOf(thinking), signature: textOf(signature) }, after }];
}
