/**
 * Converts choices of servers that follow OpenAI's format loosely to choices of our contract. Deviations found in recorded traffic: no
 * `finish_reason` before the last chunk (xAI), no `content` beside tool calls (Groq), tool calls that begin at index 1 (Anthropic's
 * compatible endpoint). Values are changed in place, because the parser has just created them.
 */
import { isMembers, type Members, membersOf, objectOf } from "../json.ts";
import { ProviderError } from "../provider.ts";

import { checkFilter, FilteredEnds } from "./filtered.ts";

/** Maximum number of choices of a stream. A stream with more is treated as a provider failure, because `n` is at most 128. */
const CHOICES_MAX = 128;
const TOOL_CALLS_MAX = 1_024;

/** Maps vendors' finish reasons to OpenAI's. Any other reason becomes `stop`. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  length: "length",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "function_call",
  content_filter: "content_filter",
  safety: "content_filter",
  refusal: "content_filter",
};

/** Finish reasons of an interrupted answer. DeepSeek lacks resources, vLLM and SGLang abort, and routers report their host's timeout. */
const BROKEN_OFF: ReadonlySet<string> = new Set([
  "error",
  "insufficient_system_resource",
  "abort",
  "aborted",
  "cancelled",
  "canceled",
  "timeout",
]);

/**
 * Returns the choices of a complete response.
 * @throws ProviderError `failed` without choices, or for a choice without a message or with an interrupted answer; `refused` when all
 * choices were filtered before any content
 */
export function wholeChoices(value: unknown): Members[] {
  const choices = membersOf(value);
  if (choices.length === 0) throw new ProviderError("failed", "the answer has no choices");
  for (const [at, choice] of choices.entries()) {
    const message = choice["message"];
    if (!isMembers(message)) throw new ProviderError("failed", "a choice has no message");
    message["role"] = "assistant";
    message["content"] ??= null;
    unifyContent(message);
    const calls = membersOf(message["tool_calls"]);
    if (calls.length === 0) delete message["tool_calls"];
    else message["tool_calls"] = calls;
    for (const call of calls) wholeCall(call);
    choice["index"] = indexOf(choice, at);
    // A complete response has ended, with or without a finish reason.
    choice["finish_reason"] = beside(calls.length, finishReason(choice["finish_reason"]) ?? "stop");
  }
  checkFilter(choices);
  return choices;
}

/** Converts the choices of one stream chunk by chunk. */
export class ChunkChoices {
  private readonly begun = new Map<number, { readonly calls: CallIndexes; isFinished: boolean }>();
  private readonly filtered = new FilteredEnds();

  /**
   * Returns the choices of the next chunk.
   * @throws ProviderError `failed` when a choice ended in an error, or for too many choices or tool calls
   */
  read(value: unknown): Members[] {
    const choices = membersOf(value);
    for (const [at, choice] of choices.entries()) {
      const index = indexOf(choice, at);
      let state = this.begun.get(index);
      if (!state) {
        if (this.begun.size >= CHOICES_MAX) throw new ProviderError("failed", "the stream opens too many choices");
        state = { calls: new CallIndexes(), isFinished: false };
        this.begun.set(index, state);
      }
      const reason = finishReason(choice["finish_reason"]);
      state.isFinished ||= reason !== null;
      choice["index"] = index;
      const delta = isMembers(choice["delta"]) ? choice["delta"] : {};
      choice["delta"] = delta;
      unifyContent(delta);
      const calls = membersOf(delta["tool_calls"]);
      for (const call of calls) state.calls.take(call);
      choice["finish_reason"] = beside(state.calls.count, reason);
      if (reason !== null) calls.push(...state.calls.withoutArguments());
      if (calls.length > 0) delta["tool_calls"] = calls;
      else delete delta["tool_calls"];
    }
    this.filtered.sift(choices);
    return choices;
  }

  /**
   * Returns final chunks with finish reasons, for choices that have none. Empty if the stream had no content: such a stream was cut, and
   * another source may serve the call.
   */
  finish(): Members[] {
    if (!this.filtered.hasOutput) return [];
    const open = [...this.begun].filter(([, state]) => !state.isFinished);
    return open.length === 0 ? [] : this.read(open.map(([index]) => ({ index, delta: {}, finish_reason: "stop" })));
  }

  /** True when every choice that began has a finish reason. */
  get isFinished(): boolean {
    for (const state of this.begun.values()) if (!state.isFinished) return false;
    return this.begun.size > 0;
  }

  /**
   * Returns true if at least `wanted` choices were filtered before any content. Default: all choices that have begun. The finish reasons of
   * these choices are still withheld.
   */
  isFiltered(wanted: number = this.begun.size): boolean {
    return this.filtered.count > 0 && this.filtered.count >= wanted;
  }
}

/** Tool calls of one choice, numbered from 0 in the order of their first chunks. */
class CallIndexes {
  /** Number of tool calls that have begun. */
  count = 0;
  private readonly byId = new Map<string, number>();
  /** Maps the vendor's index to our index of the latest call with that index. The key -1 means that the vendor sent no index. */
  private readonly latest = new Map<number, number>();
  /** Our indexes of calls that got an id from us, because their first chunk had none. */
  private readonly minted = new Set<number>();
  /** Our indexes of calls that have received no arguments so far. */
  private readonly silent = new Set<number>();
  /** Name and arguments received so far, by the vendor's index. Contains only the latest call of each index. */
  private readonly written = new Map<number, Written>();

  /** Sets the index of a chunk, and an id on the first chunk of a call if the vendor sent none. */
  take(call: Members): void {
    const theirs = indexOf(call, -1);
    const id = idOf(call);
    delete call["id"];
    const fn = isMembers(call["function"]) ? call["function"] : undefined;
    const isSilent = fn !== undefined && !textArguments(fn);
    const known = this.known(theirs, id, fn);
    const ours = known ?? this.open();
    this.latest.set(theirs, ours);
    call["index"] = ours;
    if (known === undefined) {
      call["id"] = id ?? mintId();
      if (id === undefined) this.minted.add(ours);
      if (fn) call["type"] ??= "function";
    } else if (id !== undefined && !this.minted.has(ours)) call["id"] = id;
    if (id !== undefined) this.byId.set(id, ours);
    this.note(theirs, known === undefined, fn);
    if (!isSilent) this.silent.delete(ours);
  }

  /** Returns chunks that add `{}` as the arguments of calls that ended without any. */
  withoutArguments(): Members[] {
    const pieces = [...this.silent].map((index) => ({ index, function: { arguments: "{}" } }));
    this.silent.clear();
    return pieces;
  }

  private note(theirs: number, isNew: boolean, fn: Members | undefined): void {
    const before = isNew ? undefined : this.written.get(theirs);
    const written = before ?? { name: "", pieces: [], isRepeated: false };
    if (!before) this.written.set(theirs, written);
    written.name ||= textOf(fn, "name");
    const text = textOf(fn, "arguments");
    if (text !== "") written.pieces.push(text);
  }

  private known(theirs: number, id: string | undefined, fn: Members | undefined): number | undefined {
    const latest = this.latest.get(theirs);
    if (id === undefined) return latest !== undefined && this.isNext(theirs, fn) ? undefined : latest;
    // Some vendors send one index for all calls. Another id means another call, unless the latest call has no id yet.
    return this.byId.get(id) ?? (latest !== undefined && this.isNameless(latest) ? latest : undefined);
  }

  /**
   * Returns true when a chunk without an id begins another call under the latest call's index. The chunk must have a name, and the latest
   * call's arguments must be complete. Some servers repeat the name in every chunk, so a repeated name counts only once arguments follow.
   */
  private isNext(theirs: number, fn: Members | undefined): boolean {
    const name = textOf(fn, "name");
    const latest = this.written.get(theirs);
    if (!fn || !latest || latest.name === "") return false;
    const hasArguments = textOf(fn, "arguments").trim() !== "";
    if (name === "") {
      if (!latest.isRepeated || !hasArguments) return false;
      fn["name"] = latest.name;
      return true;
    }
    const text = latest.pieces.join("");
    if (text === "") return name !== latest.name;
    if (!isJson(text)) return false;
    if (name !== latest.name || hasArguments) return true;
    latest.isRepeated = true;
    delete fn["name"];
    return false;
  }

  private isNameless(index: number): boolean {
    return this.minted.has(index) && ![...this.byId.values()].includes(index);
  }

  private open(): number {
    if (this.count >= TOOL_CALLS_MAX) throw new ProviderError("failed", "the stream opens too many tool calls");
    this.silent.add(this.count);
    return this.count++;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Written {
  name: string;
  readonly pieces: string[];
  /** True when the name was repeated after complete arguments. Further arguments then belong to another call. */
  isRepeated: boolean;
}

/** Returns OpenAI's finish reason; null while the choice has not ended. Some vendors send an empty text until then. */
function finishReason(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  if (BROKEN_OFF.has(value)) throw new ProviderError("failed", `the answer ended with finish reason ${value}`);
  return FINISH_REASONS[value] ?? "stop";
}

/** Returns the finish reason of an answer with tool calls. `stop` becomes `tool_calls`, because clients run tools only for `tool_calls`. */
function beside<Reason extends string | null>(calls: number, reason: Reason): Reason | "tool_calls" {
  return reason === "stop" && calls > 0 ? "tool_calls" : reason;
}

/** Completes a tool call. A call without arguments gets `{}`, so that clients can parse its arguments as JSON. */
function wholeCall(call: Members): void {
  call["id"] = idOf(call) ?? mintId();
  if (!isMembers(call["function"])) return;
  call["type"] ??= "function";
  textArguments(call["function"]);
  call["function"]["arguments"] ||= "{}";
}

/** Converts the arguments of a chunk to text. Returns true if the chunk has arguments. */
function textArguments(fn: Members): boolean {
  const value = fn["arguments"];
  if (value === null) delete fn["arguments"];
  else if (value !== undefined && typeof value !== "string") fn["arguments"] = JSON.stringify(value);
  return typeof fn["arguments"] === "string" && fn["arguments"] !== "";
}

function idOf(call: Members): string | undefined {
  return typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : undefined;
}

/** Creates an id for a tool call of a server that sends none. The tool result must contain the id of its call. */
function mintId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

function indexOf(value: Members, fallback: number): number {
  const index = value["index"];
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : fallback;
}

// Content of a message or delta, in the members of our contract: text as `content`, reasoning as `reasoning_content`. Groq, OpenRouter and
// vLLM name it `reasoning`; Mistral sends both as blocks in `content`.

/**
 * Renames the content members of a message to those of our API. The message is changed in place, because the parser has just created it.
 */
function unifyContent(message: Members): void {
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
