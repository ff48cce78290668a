/** Parts of an answer in OpenAI's shape, as the renderings of other APIs read them: of a delta or of a whole message. */
import { isMembers, type Members, membersOf, objectOf, textOf } from "../../providers/json.ts";

import type { BlocksByKind } from "../../providers/anthropic/order.ts";

/** Part of a tool call that one delta adds, or all of it. */
export interface CallPiece {
  readonly kind: "call";
  /** Pieces of one call share it. */
  readonly call: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
  /** Members of its source's own. */
  readonly extra: Members | undefined;
}

/** The requests of the other APIs ask for one answer. */
export function firstChoice(choices: readonly Members[]): Members {
  return choices.find((choice) => (choice["index"] ?? 0) === 0) ?? {};
}

/** Calls of a delta or of a whole message, which numbers none of them. */
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

/** Thoughts stand beside the content, or among its blocks as Mistral's reasoning models send them. */
export function thoughtOf(message: Members): string {
  const inContent = membersOf(message["content"])
    .flatMap((block) => membersOf(block["thinking"]))
    .map((thought) => textOf(thought["text"]));
  return textOf(message["reasoning_content"] ?? message["reasoning"]) + inContent.join("");
}

/** A block of thinking that its source takes back, and what stood before it; none where it is no such block. */
export function signedBlock({ type, data, thinking, signature, after }: Members): BlocksByKind["thinking"] {
  if (type === "redacted_thinking") return [{ block: { type, data: textOf(data) }, after }];
  if (type !== "thinking") return [];
  return [{ block: { type, thinking: textOf(thinking), signature: textOf(signature) }, after }];
}
