/**
 * Restores the original order of an answer's blocks. A chat message loses it, because text, calls and thinking are separate members.
 * Anthropic rejects signed thinking at another position. Each thinking block therefore states how much text and how many calls preceded it
 * (`after`). A message from our Messages API also lists the order of all blocks (`block_order`). Pure.
 */
import { isMembers, type Members, textOf } from "../json.ts";

/** Returns an object with the position of a thinking block (`after`), to spread into the block; empty if nothing precedes the block. */
export function afterMembers(characters: number, toolCalls: number): Members {
  return characters === 0 && toolCalls === 0 ? {} : { after: { characters, tool_calls: toolCalls } };
}

/** Blocks of a message by kind. The blocks of one kind are in order. */
export interface BlocksByKind {
  /** Thinking blocks. Each has its position `after` as received from the caller, which may be any value. */
  readonly thinking: readonly { readonly block: Members; readonly after: unknown }[];
  readonly texts: readonly Members[];
  readonly calls: readonly Members[];
}

/** Returns all blocks in their original order. @param order the message's `block_order`; ignored if it does not match the blocks */
export function arrange(blocks: BlocksByKind, order: unknown): Members[] {
  return byOrder(blocks, order) ?? byPlace(blocks);
}

function byOrder({ thinking, texts, calls }: BlocksByKind, order: unknown): Members[] | undefined {
  if (!Array.isArray(order) || order.length !== thinking.length + texts.length + calls.length) return undefined;
  const queues = new Map<unknown, Iterator<Members>>([
    ["thinking", thinking.map(({ block }) => block).values()],
    ["text", texts.values()],
    ["tool_use", calls.values()],
  ]);
  const arranged: Members[] = [];
  for (const kind of order as unknown[]) {
    const next = queues.get(kind)?.next();
    if (next === undefined || next.done === true) return undefined;
    arranged.push(next.value);
  }
  return arranged;
}

/**
 * Orders blocks by the positions of the thinking blocks. A thinking block without a position directly follows the previous one. Between two
 * thinking blocks, text precedes calls.
 */
function byPlace({ thinking, texts, calls }: BlocksByKind): Members[] {
  const arranged: Members[] = [];
  const text = new TextCutter(texts);
  let called = 0;
  for (const { block, after } of thinking) {
    const place = isMembers(after) ? after : {};
    arranged.push(...text.until(countOf(place["characters"])));
    const until = Math.max(called, Math.min(calls.length, countOf(place["tool_calls"])));
    arranged.push(...calls.slice(called, until), block);
    called = until;
  }
  return [...arranged, ...text.until(Infinity), ...calls.slice(called)];
}

function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(value) : 0;
}

/** Returns the texts of a message part by part. A text is split where a thinking block occurred within it. */
class TextCutter {
  private readonly texts: readonly Members[];
  private next = 0;
  /** Number of characters of the next text that were already returned. */
  private returnedCharacters = 0;
  private at = 0;

  constructor(texts: readonly Members[]) {
    this.texts = texts;
  }

  /** Returns the remaining texts up to a position, which is a number of characters from the beginning of all texts. */
  until(characters: number): Members[] {
    const parts: Members[] = [];
    for (
      let block = this.texts[this.next];
      block !== undefined && this.at < characters;
      block = this.texts[this.next]
    ) {
      const text = textOf(block["text"]);
      const end = characterEnd(text, Math.min(text.length, this.returnedCharacters + characters - this.at));
      const isWhole = end === text.length;
      const { cache_control: mark, ...unmarked } = block;
      const part = { ...unmarked, text: text.slice(this.returnedCharacters, end) };
      // A cache mark covers everything before its end.
      if (part.text !== "") parts.push(isWhole && mark !== undefined ? { ...part, cache_control: mark } : part);
      this.at += end - this.returnedCharacters;
      this.returnedCharacters = isWhole ? 0 : end;
      if (isWhole) this.next += 1;
    }
    return parts;
  }
}

/** Moves a position out of the middle of a surrogate pair. A position can be there if a client changed the text. */
function characterEnd(text: string, end: number): number {
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff ? end + 1 : end;
}
