/**
 * Converts messages of Anthropic's API into chat messages. One message may become several, because each tool result is a chat message.
 * Pure.
 */
import type {
  AssistantMessage,
  ChatMessage,
  MessagesAssistantTurn,
  MessagesCacheControl,
  MessagesSystem,
  MessagesText,
  MessagesToolResult,
  MessagesTurn,
  MessagesUserTurn,
  TextBlock,
  ToolCall,
} from "#schemas/generated/types.ts";

import { compact, partsOf, type Placed, textPart } from "./blocks.ts";

/** Chat message, with the JSON paths of the original message and blocks in the caller's body. */
export interface PlacedMessage {
  readonly message: ChatMessage;
  readonly from: string;
  readonly parts: readonly string[];
}

export function systemMessage(system: MessagesSystem | undefined): PlacedMessage[] {
  if (system == null || system.length === 0) return [];
  const content = typeof system === "string" ? system : compact(system.map((block) => textOnly(block)));
  return [{ message: { role: "system", content }, from: "system", parts: placesIn("system", system) }];
}

/**
 * Converts a message of Anthropic's API into chat messages. Returns no chat message for an assistant message without content, as after a
 * refusal.
 */
export function messagesOf(turn: MessagesTurn, at: number): PlacedMessage[] {
  const from = `messages[${at}]`;
  switch (turn.role) {
    case "user":
      return userMessages(turn, from);
    case "assistant":
      return assistantMessage(turn, from);
    default: {
      const { content } = turn;
      const texts = typeof content === "string" ? content : compact(content.map((block) => textOnly(block)));
      return [{ message: { role: "system", content: texts }, from, parts: placesIn(`${from}.content`, content) }];
    }
  }
}

/** Converts a user message. Each tool result becomes a chat message; one more message with all other content follows. */
function userMessages({ content }: MessagesUserTurn, from: string): PlacedMessage[] {
  if (typeof content === "string") return [{ message: { role: "user", content }, from, parts: [] }];
  const results: PlacedMessage[] = [];
  const attached: Placed[] = [];
  const said: Placed[] = [];
  for (const [at, block] of content.entries()) {
    const place = `${from}.content[${at}]`;
    if (block.type === "tool_result") {
      const { message, media } = toolMessage(block, place);
      results.push(message);
      attached.push(...media);
    } else said.push(...partsOf(block, place));
  }
  const parts = [...attached, ...said];
  if (parts.length === 0) return results;
  const message: ChatMessage = { role: "user", content: compact(parts.map(({ part }) => part)) };
  return [...results, { message, from, parts: parts.map((part) => part.from) }];
}

function toolMessage(block: MessagesToolResult, from: string): ToolTurn {
  const { content, tool_use_id: id } = block;
  const found: string[] = [];
  const placed =
    typeof content === "string"
      ? [{ part: textPart(content, null), from }]
      : (content ?? []).flatMap((one, at) => {
          if (one.type !== "tool_reference") return partsOf(one, `${from}.content[${at}]`);
          found.push(one.tool_name);
          return [];
        });
  const turn = toolTurn(id, placed, from, { isError: block.is_error === true, cacheControl: block.cache_control });
  if (found.length > 0) Object.assign(turn.message.message, { tool_references: found });
  return turn;
}

/** Chat message of a tool result, and media content that the tool returned. */
interface ToolTurn {
  readonly message: PlacedMessage;
  readonly media: readonly Placed[];
}

/**
 * Converts a tool result into a tool message, which contains only text. Images and files follow in a user message, with the id of the tool
 * call.
 */
export function toolTurn(
  id: string,
  placed: readonly Placed[],
  from: string,
  { isError = false, cacheControl }: { isError?: boolean; cacheControl?: MessagesCacheControl | undefined } = {},
): ToolTurn {
  const texts: Placed<TextBlock>[] = [];
  const media: Placed[] = [];
  for (const { part, from: place } of placed) {
    if (part.type === "text") texts.push({ part, from: place });
    else media.push({ part, from: place });
  }
  if (media.length > 0) {
    texts.push({ part: textPart("What else it returned follows the results.", null), from });
    media.unshift({ part: textPart(`Returned by the tool call ${id}:`, null), from });
  }
  if (isError) {
    texts.unshift({ part: textPart(texts.length === 0 ? FAILED : `${FAILED.slice(0, -1)}:`, null), from });
  }
  if (texts.length === 0) texts.push({ part: textPart("", null), from });
  const last = texts.at(-1);
  if (last && cacheControl != null) Object.assign(last.part, { cache_control: cacheControl });
  const message: ChatMessage = { role: "tool", tool_call_id: id, content: compact(texts.map(({ part }) => part)) };
  return { message: { message, from, parts: texts.map((part) => part.from) }, media };
}

/** Text that marks a failed tool result, because chat messages have no member for it. */
const FAILED = "The tool call failed.";

function assistantMessage({ content }: MessagesAssistantTurn, from: string): PlacedMessage[] {
  if (typeof content === "string") return [{ message: { role: "assistant", content }, from, parts: [] }];
  if (content.length === 0) return [];
  const draft = new AssistantDraft(from);
  for (const [at, block] of content.entries()) {
    switch (block.type) {
      case "text":
        draft.addText(textPart(block.text, block.cache_control), `${from}.content[${at}]`);
        break;
      case "tool_use":
        draft.addCall({
          id: block.id,
          type: "function",
          function: { name: block.name, arguments: JSON.stringify(block.input) },
        });
        break;
      case "thinking":
        draft.addThought(block.thinking);
        // Without its signature, no provider accepts the block back.
        if (block.signature != null && block.signature !== "") {
          draft.addSealed({ type: "thinking", thinking: block.thinking, signature: block.signature });
        }
        break;
      default:
        draft.addSealed({ type: "redacted_thinking", data: block.data });
    }
  }
  return [draft.end()];
}

/** Builds an assistant message from consecutive content blocks. */
export class AssistantDraft {
  readonly from: string;
  private readonly texts: Placed<TextBlock>[] = [];
  private readonly calls: ToolCall[] = [];
  private readonly thoughts: string[] = [];
  private readonly sealed: Record<string, unknown>[] = [];
  /** Kinds of the added parts, in order, so that a provider can receive them back in the same order. */
  private readonly order: string[] = [];

  constructor(from: string) {
    this.from = from;
  }

  /** True if the last part is text. */
  get endsInText(): boolean {
    return this.order.at(-1) === "text";
  }

  addText(part: TextBlock, from: string): void {
    this.texts.push({ part, from });
    if (part.text.trim() !== "") this.order.push("text");
  }

  addCall(call: ToolCall): void {
    this.calls.push(call);
    this.order.push("tool_use");
  }

  addThought(text: string): void {
    this.thoughts.push(text);
  }

  /** Adds a thinking block. @param block block as its provider sent it; the provider accepts it back only unchanged */
  addSealed(block: Record<string, unknown>): void {
    this.sealed.push(block);
    this.order.push("thinking");
  }

  end(): PlacedMessage {
    const { texts, calls, thoughts, sealed, order, from } = this;
    const empty = calls.length > 0 ? null : "";
    const message: AssistantMessage = {
      role: "assistant",
      content: texts.length === 0 ? empty : compact(texts.map(({ part }) => part)),
    };
    if (thoughts.length > 0) message.reasoning_content = thoughts.join("\n\n");
    if (sealed.length > 0) message["thinking_blocks"] = sealed;
    if (calls.length > 0) message.tool_calls = calls;
    if (!isUsualOrder(order)) message["block_order"] = order;
    return { message, from, parts: texts.map((part) => part.from) };
  }
}

const USUAL_ORDER = ["thinking", "text", "tool_use"];

/** True if parts are in the order that a chat message implies: thinking, text, calls. A different order is sent as `block_order`. */
function isUsualOrder(order: readonly string[]): boolean {
  const ranks = order.map((kind) => USUAL_ORDER.indexOf(kind));
  return ranks.every((rank, at) => rank >= (ranks[at - 1] ?? 0));
}

function textOnly({ text, cache_control: cacheControl }: MessagesText): TextBlock {
  return textPart(text, cacheControl);
}

function placesIn(path: string, content: string | readonly unknown[]): string[] {
  return typeof content === "string" ? [] : content.map((_block, at) => `${path}[${at}]`);
}
