/**
 * Content of a message or delta, in the members our contract publishes: text as `content`, thoughts as
 * `reasoning_content`. Groq, OpenRouter and vLLM call thoughts `reasoning`; Mistral sends both as blocks in `content`.
 */
import { type Members, objectOf } from "../json.ts";

/** Changes the message in place: it is fresh from the parser. */
export function unifyContent(message: Members): void {
  if (Array.isArray(message["content"])) splitBlocks(message, message["content"]);
  const { reasoning } = message;
  if (typeof reasoning !== "string") return;
  message["reasoning_content"] ??= reasoning;
  delete message["reasoning"];
}

function splitBlocks(message: Members, blocks: readonly unknown[]): void {
  const text = blocks.map((block) => textOf(block, "text")).join("");
  const thoughts = blocks
    .map((block) => objectOf(block)["thinking"])
    .flatMap((thinking) => (Array.isArray(thinking) ? (thinking as unknown[]) : []))
    .map((thought) => textOf(thought, "text"))
    .join("");
  message["content"] = text;
  if (thoughts !== "") message["reasoning_content"] ??= thoughts;
}

function textOf(block: unknown, member: string): string {
  if (typeof block === "string") return block;
  const text = objectOf(block)[member];
  return typeof text === "string" ? text : "";
}
