/**
 * The order of an answer's blocks, which a chat message does not keep: it has its text, its calls and its thinking apart.
 * Signed thinking that comes back in another place is refused, so each block of it tells what came before it
 * (`after`), and a message from our Messages API names its blocks in order (`block_order`). Pure.
 */
import { isMembers, type Members, textOf } from "../json.ts";

/** Members that tell what stood before a block of thinking, to spread into it; empty if it came first. */
export function afterMembers(characters: number, toolCalls: number): Members {
  return characters === 0 && toolCalls === 0 ? {} : { after: { characters, tool_calls: toolCalls } };
}

/** A message's blocks by kind, each kind in its own order. */
export interface BlocksByKind {
  /** Each with the `after` it came with, which may be anything. */
  readonly thinking: readonly { readonly block: Members; readonly after: unknown }[];
  readonly texts: readonly Members[];
  readonly calls: readonly Members[];
}

/** @param order the message's `block_order`; one that does not fit its blocks says nothing */
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

/** Thinking without a place follows the thinking before it; what no place divides is text first, then calls. */
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

/** Texts from their beginning on, cut where thinking stood between their parts. */
class TextCutter {
  private readonly texts: readonly Members[];
  private next = 0;
  /** Characters of the next text that have been returned already. */
  private given = 0;
  private at = 0;

  constructor(texts: readonly Members[]) {
    this.texts = texts;
  }

  /** Returns the texts not yet returned, up to this many characters from the beginning of all texts. */
  until(characters: number): Members[] {
    const parts: Members[] = [];
    for (
      let block = this.texts[this.next];
      block !== undefined && this.at < characters;
      block = this.texts[this.next]
    ) {
      const text = textOf(block["text"]);
      const end = characterEnd(text, Math.min(text.length, this.given + characters - this.at));
      const isWhole = end === text.length;
      const { cache_control: mark, ...unmarked } = block;
      const part = { ...unmarked, text: text.slice(this.given, end) };
      // A mark covers all that comes before its end.
      if (part.text !== "") parts.push(isWhole && mark !== undefined ? { ...part, cache_control: mark } : part);
      this.at += end - this.given;
      this.given = isWhole ? 0 : end;
      if (isWhole) this.next += 1;
    }
    return parts;
  }
}

/** A client may have changed the text, so that the cut falls between the halves of a character. */
function characterEnd(text: string, end: number): number {
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff ? end + 1 : end;
}
