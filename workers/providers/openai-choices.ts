/**
 * Choices of servers that follow OpenAI's format more or less → choices as our contract publishes them. Found in
 * recorded traffic: no `finish_reason` before the last chunk (xAI), no `content` beside tool calls (Groq), tool calls
 * that begin at index 1 (Anthropic's compatible endpoint). Values are changed in place: they are fresh from the parser.
 */
import { ProviderError } from "./provider.ts";

type Members = Record<string, unknown>;

/** A stream that opens more than this never means it; `n` ends at 128. */
const CHOICES_MAX = 128;
const TOOL_CALLS_MAX = 1_024;

/** What vendors say beside OpenAI's own words; anything else that ends an answer reads as `stop`. */
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

/** The choices of a whole answer. @throws ProviderError `failed` when there is none, or one without a message */
export function wholeChoices(value: unknown): Members[] {
  const choices = membersOf(value);
  if (choices.length === 0) throw new ProviderError("failed", "the answer has no choices");
  for (const [at, choice] of choices.entries()) {
    const message = choice["message"];
    if (!isMembers(message)) throw new ProviderError("failed", "a choice has no message");
    message["role"] = "assistant";
    message["content"] ??= null;
    const calls = membersOf(message["tool_calls"]);
    if (calls.length === 0) delete message["tool_calls"];
    else message["tool_calls"] = calls;
    for (const call of calls) wholeArguments(call);
    choice["index"] = indexOf(choice, at);
    // A whole answer has ended, whether it says so or not.
    choice["finish_reason"] = finishReason(choice["finish_reason"]) ?? (calls.length > 0 ? "tool_calls" : "stop");
  }
  return choices;
}

/** The choices of one stream, chunk by chunk. */
export class ChunkChoices {
  private readonly begun = new Map<number, { readonly calls: CallIndexes; isFinished: boolean }>();

  /** @throws ProviderError `failed` when a choice ended in an error, or choices or tool calls come without end */
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
      choice["finish_reason"] = reason;
      const delta = isMembers(choice["delta"]) ? choice["delta"] : {};
      choice["delta"] = delta;
      if ("tool_calls" in delta) {
        const calls = membersOf(delta["tool_calls"]);
        if (calls.length === 0) delete delta["tool_calls"];
        else delta["tool_calls"] = calls;
        for (const call of calls) {
          call["index"] = state.calls.of(call);
          if (isMembers(call["function"])) textArguments(call["function"]);
        }
      }
    }
    return choices;
  }

  /** True when every choice that began has said why it ended. */
  get isFinished(): boolean {
    for (const state of this.begun.values()) if (!state.isFinished) return false;
    return this.begun.size > 0;
  }
}

/** Tool calls of one choice, numbered from 0 in the order of their first pieces (lesson TOOL-1). */
class CallIndexes {
  /** Ids by our number; undefined while a call has none. */
  private readonly ids: (string | undefined)[] = [];
  private readonly byId = new Map<string, number>();
  /** The vendor's number → ours, of the latest call under it; -1 stands for no number. */
  private readonly latest = new Map<number, number>();

  of(call: Members): number {
    const theirs = indexOf(call, -1);
    const id = typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : undefined;
    if (id === undefined) delete call["id"];
    const ours = this.known(theirs, id) ?? this.open();
    this.latest.set(theirs, ours);
    if (id !== undefined && this.ids[ours] === undefined) {
      this.ids[ours] = id;
      this.byId.set(id, ours);
    }
    return ours;
  }

  private known(theirs: number, id: string | undefined): number | undefined {
    const latest = this.latest.get(theirs);
    if (id === undefined) return latest;
    // Some give all calls the same number: another id is another call.
    return this.byId.get(id) ?? (latest !== undefined && this.ids[latest] === undefined ? latest : undefined);
  }

  private open(): number {
    if (this.ids.length >= TOOL_CALLS_MAX) throw new ProviderError("failed", "the stream opens too many tool calls");
    return this.ids.push(undefined) - 1;
  }
}

/** null while it has not ended; some send an empty text until then. */
function finishReason(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  if (value === "error") throw new ProviderError("failed", "the answer ended with finish reason error");
  return FINISH_REASONS[value] ?? "stop";
}

/** A call without arguments has `{}`, so that whoever parses them finds JSON (lesson TOOL-2). */
function wholeArguments(call: Members): void {
  if (!isMembers(call["function"])) return;
  textArguments(call["function"]);
  call["function"]["arguments"] ||= "{}";
}

function textArguments(fn: Members): void {
  const value = fn["arguments"];
  if (value === null) delete fn["arguments"];
  else if (value !== undefined && typeof value !== "string") fn["arguments"] = JSON.stringify(value);
}

function indexOf(value: Members, fallback: number): number {
  const index = value["index"];
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : fallback;
}

function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
