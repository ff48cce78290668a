/**
 * Converts chunks of an answer to the content blocks of an Anthropic stream. Such a stream has one open block at a time and indexes without
 * gaps. OpenAI's deltas may interleave parallel tool calls and never mark the end of a call. A block that starts while a call is unfinished
 * is therefore deferred. Source: docs.claude.com/en/api/messages-streaming.
 */

import { ProviderError } from "../../providers/provider.ts";

import type { CallPiece } from "./answer-parts.ts";

/** Maximum characters of parallel tool calls that are deferred. No model writes a longer answer. */
export const BLOCKS_WAITING_CHARACTERS_MAX = 4 * 1_048_576;

/** Chunk of an answer that one delta adds. */
export type Piece =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  /** Ends a thinking block. `text` is the block's full text as reported by the provider; some or all of it may have been sent before. */
  | { readonly kind: "signature"; readonly text: string; readonly signature: string }
  | { readonly kind: "redacted"; readonly data: string }
  | CallPiece;

interface TextBlock {
  readonly kind: "text" | "thinking";
  /** Full text of a thinking block so far, for comparison with the text of its signed form. */
  whole: string;
  pending: string;
  signature: string | undefined;
  isStarted: boolean;
}

interface RedactedBlock {
  readonly kind: "redacted";
  readonly data: string;
}

interface CallBlock {
  readonly kind: "call";
  readonly json: JsonEnd;
  id: string | undefined;
  name: string | undefined;
  pending: string;
  isStarted: boolean;
  isOver: boolean;
}

type Block = TextBlock | RedactedBlock | CallBlock;

/** Formats one server-sent event. */
export function event(type: string, members: Readonly<Record<string, unknown>> = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

export class BlockStream {
  /**
   * Blocks in the order of the stream. The first block is being sent or is the next to be sent. All others wait until the first block is
   * closed.
   */
  private readonly queue: Block[] = [];
  private readonly calls = new Map<number, CallBlock>();
  private readonly newId: (call: number) => string;
  private index = 0;
  private waiting = 0;

  /** @param newId returns an id for a tool call whose provider sent none */
  constructor(newId: (call: number) => string) {
    this.newId = newId;
  }

  get hasCalls(): boolean {
    return this.calls.size > 0;
  }

  /**
   * Adds a chunk of the answer. Returns the events that can be sent now. Only one block is open at a time. Chunks of later blocks are
   * deferred until it is closed.
   * @throws ProviderError `failed` if the chunk continues a closed tool call, or too many characters would be deferred
   */
  add(piece: Piece): string {
    this.place(piece);
    let events = "";
    for (;;) {
      const [head] = this.queue;
      if (!head) break;
      events += this.write(head);
      if (!this.mayClose(head)) break;
      events += this.close(head);
    }
    return events;
  }

  /**
   * Closes all blocks and returns the remaining events. @throws ProviderError `failed` if a tool call has no name, because no client could
   * execute it
   */
  end(): string {
    let events = "";
    for (let head = this.queue[0]; head !== undefined; head = this.queue[0]) {
      if (head.kind === "call" && head.name === undefined) {
        throw new ProviderError("failed", "the stream holds a tool call without a name");
      }
      events += this.write(head) + this.close(head);
    }
    return events;
  }

  private place(piece: Piece): void {
    const last = this.queue.at(-1);
    switch (piece.kind) {
      case "text":
      case "thinking": {
        if (piece.text === "") return;
        const block = last?.kind === piece.kind && last.signature === undefined ? last : this.open(piece.kind);
        this.append(block, piece.text);
        if (block.kind === "thinking") block.whole += piece.text;
        return;
      }
      case "signature":
        this.sign(last, piece.text, piece.signature);
        return;
      case "redacted":
        this.queue.push({ kind: "redacted", data: piece.data });
        return;
      case "call":
        this.placeCall(piece);
        return;
      default:
        piece satisfies never;
    }
  }

  private open(kind: TextBlock["kind"]): TextBlock {
    const block: TextBlock = { kind, whole: "", pending: "", signature: undefined, isStarted: false };
    this.queue.push(block);
    return block;
  }

  /**
   * Ends a thinking block with its signature. The signed form may repeat text that earlier chunks contained, or contain the text for the
   * first time.
   */
  private sign(last: Block | undefined, text: string, signature: string): void {
    const isOpen = last?.kind === "thinking" && last.signature === undefined;
    const isKnown = isOpen && (text.startsWith(last.whole) || last.whole.endsWith(text));
    const block = isKnown ? last : this.open("thinking");
    this.append(block, block.whole.endsWith(text) ? "" : text.slice(block.whole.length));
    block.signature = signature;
  }

  private placeCall(piece: CallPiece): void {
    let block = this.calls.get(piece.call);
    if (!block) {
      block = {
        kind: "call",
        json: new JsonEnd(),
        id: undefined,
        name: undefined,
        pending: "",
        isStarted: false,
        isOver: false,
      };
      this.calls.set(piece.call, block);
      this.queue.push(block);
    }
    if (block.isOver) {
      if (piece.text.trim() === "") return;
      throw new ProviderError("failed", "a tool call went on behind the end of its arguments");
    }
    block.id ??= piece.id;
    block.name ??= piece.name;
    block.json.read(piece.text);
    this.append(block, piece.text);
  }

  private append(block: TextBlock | CallBlock, text: string): void {
    block.pending += text;
    if (block === this.queue[0]) return;
    this.waiting += text.length;
    if (this.waiting > BLOCKS_WAITING_CHARACTERS_MAX) {
      throw new ProviderError("failed", "the stream mixes more of its tool calls than can wait");
    }
  }

  /**
   * Marks the pending text of the first block as sent. Returns its events: the start event of the block if it was not sent before, then the
   * pending text.
   */
  private write(head: Block): string {
    if (head.kind === "redacted") return this.start({ type: "redacted_thinking", data: head.data });
    let events = "";
    if (!head.isStarted) {
      if (head.kind === "call" && head.name === undefined) return "";
      events += this.start(emptyBlock(head, () => this.newId(this.index)));
      head.isStarted = true;
    }
    if (head.pending !== "") events += this.delta(pieceOf(head.kind, head.pending));
    head.pending = "";
    return events;
  }

  private mayClose(head: Block): boolean {
    switch (head.kind) {
      case "redacted":
        return true;
      case "call":
        return head.isStarted && head.json.isWhole && this.queue.length > 1;
      default:
        return head.signature !== undefined || this.queue.length > 1;
    }
  }

  private close(head: Block): string {
    let events = "";
    if (head.kind === "thinking" && head.signature !== undefined) {
      events += this.delta({ type: "signature_delta", signature: head.signature });
    }
    if (head.kind === "call") head.isOver = true;
    events += event("content_block_stop", { index: this.index });
    this.index += 1;
    this.queue.shift();
    const [next] = this.queue;
    if (next !== undefined && next.kind !== "redacted") this.waiting -= next.pending.length;
    return events;
  }

  private start(block: Readonly<Record<string, unknown>>): string {
    return event("content_block_start", { index: this.index, content_block: block });
  }

  private delta(delta: Readonly<Record<string, unknown>>): string {
    return event("content_block_delta", { index: this.index, delta });
  }
}

function emptyBlock(block: TextBlock | CallBlock, newId: () => string): Record<string, unknown> {
  switch (block.kind) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    default:
      return { type: "tool_use", id: block.id ?? newId(), name: block.name, input: {} };
  }
}

function pieceOf(kind: Exclude<Block["kind"], "redacted">, text: string): Record<string, unknown> {
  switch (kind) {
    case "text":
      return { type: "text_delta", text };
    case "thinking":
      return { type: "thinking_delta", thinking: text };
    default:
      return { type: "input_json_delta", partial_json: text };
  }
}

/** Detects the end of a JSON object that arrives in chunks, and reads each character only once. */
export class JsonEnd {
  private depth = 0;
  private isBegun = false;
  private isString = false;
  private isEscaped = false;

  get isWhole(): boolean {
    return this.isBegun && this.depth === 0;
  }

  read(text: string): void {
    for (const character of text) {
      if (this.isEscaped) this.isEscaped = false;
      else if (this.isString) {
        if (character === "\\") this.isEscaped = true;
        else if (character === '"') this.isString = false;
      } else if (character === '"') this.isString = true;
      else if (character === "{" || character === "[") {
        this.isBegun = true;
        this.depth += 1;
      } else if (this.isBegun && (character === "}" || character === "]")) this.depth -= 1;
    }
  }
}
