/** Parts of an answer in OpenAI's form, of a delta or of a whole message, as renderings of other APIs read them. */
import { isMembers, type Members, membersOf, objectOf, textOf } from "../../providers/json.ts";

import type { BlocksByKind } from "../../providers/anthropic/order.ts";

/** Part of a tool call that one delta adds, or the whole call. */
export interface CallPiece {
  readonly kind: "call";
  /** Number of the call; all its pieces have the same. */
  readonly call: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
  /** Members that only the source of the call defines. */
  readonly extra: Members | undefined;
}

/** Returns the first choice: requests of the other APIs ask for one answer only. */
export function firstChoice(choices: readonly Members[]): Members {
  return choices.find((choice) => (choice["index"] ?? 0) === 0) ?? {};
}

/** Returns the tool calls of a delta or of a whole message; a whole message does not number its calls. */
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

/** Returns the reasoning text, which is beside the content, or among its blocks as Mistral's reasoning models send it. */
export function thoughtOf(message: Members): string {
  const inContent = membersOf(message["content"])
    .flatMap((block) => membersOf(block["thinking"]))
    .map((thought) => textOf(thought["text"]));
  return textOf(message["reasoning_content"] ?? message["reasoning"]) + inContent.join("");
}

/** Returns a thinking block in the form that its source accepts back, with its position (`after`); none for any other block. */
export function signedBlock({ type, data, thinking, signature, after }: Members): BlocksByKind["thinking"] {
  if (type === "redacted_thinking") return [{ block: { type, data: textOf(data) }, after }];
  if (type !== "thinking") return [];
  return [{ block: { type, thinking: textOf(thinking), signature: textOf(signature) }, after }];
}
