/**
 * Renders answers for clients of OpenAI's Responses API, for models of every provider. The result is a response object or its stream
 * events.
 */
import type { ModelResponse, ResponseItem, ResponseLogprob, ResponsePart } from "#schemas/generated/types.ts";
import { completionTokens, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { sealThought } from "#shared/responses/sealed.ts";
import type { RenamedTool } from "#shared/responses/tool-names.ts";

import { arrange } from "../../providers/anthropic/order.ts";
import { isMembers, type Members, membersOf, objectOf, parseObject, textOf } from "../../providers/json.ts";
import { ProviderError } from "../../providers/provider.ts";
import { CREDITS_PLACE } from "../credits-place.ts";
import { type CallPiece, callsOf, firstChoice, signedBlock, thoughtOf } from "./answer-parts.ts";
import { JsonEnd } from "./anthropic-blocks.ts";
import type { TextRendering } from "./render.ts";
import { contentText } from "./stream-so-far.ts";

/**
 * Creates the renderer for one attempt.
 * @param call `response`: response object without output items; `renamed`: tools with another name for the client; `logprobs`: true if
 * requested; `firstEvent`: number of the first event if the creation event was already sent; `onWhole`: called with the complete response
 */
export function createResponsesRendering(call: {
  readonly response: ModelResponse;
  readonly renamed?: readonly RenamedTool[];
  readonly model: string;
  readonly logprobs: boolean;
  readonly firstEvent?: number;
  readonly onWhole?: (response: ModelResponse) => void;
}): TextRendering {
  const begun: ModelResponse = { ...call.response, model: call.model };
  const facts = {
    id: begun.id.slice(begun.id.indexOf("_") + 1),
    summarises: begun.reasoning.summary !== null,
    renamed: new Map((call.renamed ?? []).map((tool) => [tool.shown, tool])),
  };
  const { firstEvent = 0 } = call;
  let sequence = firstEvent;
  const write: WriteEvent = (type, members) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...members })}\n\n`;
  const items = new ItemStream(facts, write);
  let reason: unknown = null;
  let tier: Pick<ModelResponse, "service_tier"> | undefined;
  const begin = (): string => {
    if (sequence > firstEvent) return "";
    const created = firstEvent === 0 ? write("response.created", { response: begun }) : "";
    return created + write("response.in_progress", { response: begun });
  };
  return {
    completion(result, usage) {
      const choice = firstChoice(result.choices);
      const whole = new ItemStream(facts, () => "");
      for (const piece of wholePieces(choice, call.logprobs)) whole.add(piece);
      const ending = endingOf(choice["finish_reason"]);
      whole.end(ending.status === "incomplete");
      const output = { output: whole.output, usage: usageOf(usage) };
      const response: ModelResponse = { ...begun, ...servedTier(result.extra), ...ending, ...output };
      call.onWhole?.(response);
      return JSON.stringify(response);
    },
    chunk(delta) {
      let events = begin();
      const choice = firstChoice(delta.choices);
      tier = servedTier(delta.extra) ?? tier;
      if (typeof choice["finish_reason"] === "string") reason = choice["finish_reason"];
      for (const piece of piecesOf(choice, call.logprobs)) events += items.add(piece);
      return events;
    },
    end(usage) {
      const ending = endingOf(reason);
      const lastItemEvents = begin() + items.end(ending.status === "incomplete");
      const output = { output: items.output, usage: usageOf(usage) };
      const response: ModelResponse = { ...begun, ...tier, ...ending, ...output };
      call.onWhole?.(response);
      return `${lastItemEvents}${write(`response.${ending.status}`, { response })}data: [DONE]\n\n`;
    },
  };
}

/** Returns the service tier that the provider reported; undefined if it reported none. */
function servedTier(extra: Members | undefined): Pick<ModelResponse, "service_tier"> | undefined {
  const tier = extra?.["service_tier"];
  return typeof tier === "string" && tier !== "auto" ? { service_tier: tier } : undefined;
}

function endingOf(
  reason: unknown,
): Pick<ModelResponse, "completed_at" | "incomplete_details"> & { readonly status: "completed" | "incomplete" } {
  const limit = reason === "length" ? "max_output_tokens" : reason === "content_filter" ? "content_filter" : undefined;
  if (limit !== undefined) return { status: "incomplete", completed_at: null, incomplete_details: { reason: limit } };
  return { status: "completed", completed_at: Math.floor(Date.now() / 1_000), incomplete_details: null };
}

function usageOf(usage: TokenUsage): ModelResponse["usage"] {
  const input = promptTokens(usage);
  const output = completionTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
    credits: CREDITS_PLACE,
  };
}

/** Yields the chunks of one delta in the order of a Responses stream. */
function* piecesOf(choice: Members, logprobs: boolean): Generator<ItemPiece> {
  const delta = objectOf(choice["delta"]);
  const thought = thoughtOf(delta);
  yield { kind: "thought", text: thought };
  for (const { block } of membersOf(delta["thinking_blocks"]).flatMap(signedBlock)) {
    const piece = pieceOfBlock(block);
    // Without a signature, the block only repeats the text beside it.
    if (piece.kind === "sealed" || thought === "") yield piece;
  }
  yield* textPieces(choice, delta, logprobs);
  yield* callsOf(delta);
}

/** Yields the chunks of a complete message. Thinking comes first if the provider does not report its position. */
function* wholePieces(choice: Members, logprobs: boolean): Generator<ItemPiece> {
  const message = objectOf(choice["message"]);
  const thinking = membersOf(message["thinking_blocks"]).flatMap(signedBlock);
  const calls = callsOf(message);
  if (!thinking.some(({ block }) => block["type"] === "thinking")) yield { kind: "thought", text: thoughtOf(message) };
  if (!thinking.some(({ after }) => after !== undefined)) {
    for (const { block } of thinking) yield pieceOfBlock(block);
    yield* textPieces(choice, message, logprobs);
    yield* calls;
    return;
  }
  const texts = [{ type: "text", text: contentText(message["content"]) }].filter(({ text }) => text !== "");
  for (const block of arrange({ thinking, texts, calls: calls.map((call) => ({ ...call })) }, undefined)) {
    const call = calls.find((one) => one.call === block["call"]);
    if (call) yield call;
    else if (block["type"] === "text") yield { kind: "text", text: textOf(block["text"]), logprobs: [] };
    else yield pieceOfBlock(block);
  }
  yield { kind: "refusal", text: textOf(message["refusal"]) };
}

function pieceOfBlock(block: Members): ItemPiece {
  const text = textOf(block["thinking"]);
  if (block["type"] === "redacted_thinking" || block["signature"] !== "") return { kind: "sealed", block, text };
  return { kind: "thought", text };
}

function* textPieces(choice: Members, message: Members, asked: boolean): Generator<ItemPiece> {
  yield { kind: "text", text: contentText(message["content"]), logprobs: asked ? logprobsOf(choice) : [] };
  yield { kind: "refusal", text: textOf(message["refusal"]) };
  const list = membersOf(message["annotations"]).map(annotationOf);
  if (list.length > 0) yield { kind: "annotations", list };
}

function logprobsOf(choice: Members): ResponseLogprob[] {
  return membersOf(objectOf(choice["logprobs"])["content"]).map((one) => ({
    ...logprobOf(one),
    top_logprobs: membersOf(one["top_logprobs"]).map(logprobOf),
  }));
}

function logprobOf({ token, logprob, bytes }: Members): { token: string; logprob: number; bytes: number[] } {
  return {
    token: textOf(token),
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === "number") : [],
  };
}

/** Flattens an annotation. The Chat API nests the members of a citation under the name of its type; the Responses API does not. */
function annotationOf(annotation: Members): Members {
  const { type } = annotation;
  const inner = typeof type === "string" ? annotation[type] : undefined;
  return isMembers(inner) ? { type, ...inner } : annotation;
}

// Pieces of an answer → items of a Responses answer and their events. One message or reasoning item is open at a time. A call is closed at
// the end, or when another item begins and its arguments are complete, since OpenAI's deltas may interleave parallel calls.

type ItemPiece =
  | { readonly kind: "thought"; readonly text: string }
  /** Ends a reasoning item. `text` is the full text of the item, of which some or all may have been sent before. */
  | { readonly kind: "sealed"; readonly block: Members; readonly text: string }
  | { readonly kind: "text"; readonly text: string; readonly logprobs: readonly ResponseLogprob[] }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "annotations"; readonly list: readonly Members[] }
  | CallPiece;

/** Formats one server-sent event. */
type WriteEvent = (type: string, members: Readonly<Record<string, unknown>>) => string;

interface Facts {
  /** 32 hexadecimal digits that are part of the ids of all items. */
  readonly id: string;
  /** True when reasoning is sent as a summary. */
  readonly summarises: boolean;
  /** Tools that have another name or form for the client, by the names that the model received. */
  readonly renamed: ReadonlyMap<string, RenamedTool>;
}

interface Reasoning {
  readonly kind: "reasoning";
  readonly index: number;
  text: string;
  sealed: string | null;
}

interface Message {
  readonly kind: "message";
  readonly index: number;
  readonly parts: ResponsePart[];
}

interface Call {
  readonly kind: "call";
  readonly json: JsonEnd;
  /** Index of the output item; undefined until the name of the tool call has arrived. */
  index: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  extra: Members | undefined;
  isOver: boolean;
}

/** Maximum number of items of an answer, which limits the length of their ids. No real answer has more. */
const ITEMS_MAX = 10_000;

class ItemStream {
  /** Output items in order, as they are so far. */
  readonly output: ResponseItem[] = [];
  private readonly facts: Facts;
  private readonly write: WriteEvent;
  private readonly calls = new Map<number, Call>();
  private open: Reasoning | Message | undefined;

  constructor(facts: Facts, write: WriteEvent) {
    this.facts = facts;
    this.write = write;
  }

  /**
   * Adds a chunk of the answer and returns its events.
   * @throws ProviderError `failed` if the chunk continues a closed tool call, or the answer has more than `ITEMS_MAX` items
   */
  add(piece: ItemPiece): string {
    switch (piece.kind) {
      case "thought":
        return piece.text === "" ? "" : this.think(piece.text);
      case "sealed":
        return this.seal(piece.block, piece.text);
      case "text":
        return piece.text === "" ? "" : this.say("output_text", piece.text, piece.logprobs);
      case "refusal":
        return piece.text === "" ? "" : this.say("refusal", piece.text, []);
      case "annotations":
        return this.annotate(piece.list);
      default:
        return this.call(piece);
    }
  }

  /**
   * Closes all items and returns the last events. @param isCut true if a limit ended the answer, so that open items are marked incomplete.
   * @throws ProviderError `failed` for a tool call without a name
   */
  end(isCut: boolean): string {
    let events = this.closeOpen(isCut ? "incomplete" : "completed");
    for (const call of this.calls.values()) {
      if (call.index === undefined) throw new ProviderError("failed", "the answer holds a tool call without a name");
      if (!call.isOver) events += this.closeCall(call, isCut && !call.json.isWhole ? "incomplete" : "completed");
    }
    return events;
  }

  private think(text: string): string {
    const [item, opened] = this.openReasoning();
    const events = opened + (item.text === "" ? this.partEvent(item, "added", "") : "");
    item.text += text;
    return events + this.reasoningEvent(item, "text.delta", { delta: text });
  }

  private openReasoning(): [Reasoning, string] {
    if (this.open?.kind === "reasoning") return [this.open, ""];
    const closed = this.beforeNext();
    const item: Reasoning = { kind: "reasoning", index: this.nextIndex(), text: "", sealed: null };
    this.open = item;
    return [item, closed + this.added(item.index, this.reasoningItem(item, "in_progress"))];
  }

  private seal(block: Members, text: string): string {
    const begun = this.open?.kind === "reasoning" ? this.open.text : "";
    // The signed block may repeat the text of the pieces, or contain it for the first time.
    const isKnown = begun !== "" && block["type"] === "thinking" && (text.startsWith(begun) || begun.endsWith(text));
    let events = begun === "" || isKnown ? "" : this.closeOpen("completed");
    const fresh = isKnown && begun.endsWith(text) ? "" : text.slice(isKnown ? begun.length : 0);
    if (fresh !== "") events += this.think(fresh);
    const [item, opened] = this.openReasoning();
    item.sealed = sealThought(block);
    return events + opened + this.closeOpen("completed");
  }

  /**
   * Returns an event of a reasoning item. The event's name and index depend on whether reasoning is sent as content or as a summary.
   * @param what end of the event's name, for a part or its text
   */
  private reasoningEvent({ index }: Reasoning, what: string, members: Members): string {
    const place = this.facts.summarises ? { summary_index: 0 } : { content_index: 0 };
    const name = this.facts.summarises ? "reasoning_summary" : "reasoning";
    const at = { item_id: this.idOf(index, "rs"), output_index: index, ...place };
    return this.write(`response.${name}_${what}`, { ...at, ...members });
  }

  private partEvent(item: Reasoning, what: "added" | "done", text: string): string {
    const { summarises } = this.facts;
    const part = { type: summarises ? "summary_text" : "reasoning_text", text };
    if (summarises) return this.reasoningEvent(item, `part.${what}`, { part });
    const at = { item_id: this.idOf(item.index, "rs"), output_index: item.index, content_index: 0 };
    return this.write(`response.content_part.${what}`, { ...at, part });
  }

  private reasoningItem(
    { index, text, sealed }: Reasoning,
    status: "in_progress" | "completed" | "incomplete",
  ): ResponseItem {
    const { summarises } = this.facts;
    const texts = text === "" ? [] : [text];
    return {
      id: this.idOf(index, "rs"),
      type: "reasoning",
      status,
      summary: summarises ? texts.map((one) => ({ type: "summary_text", text: one })) : [],
      content: summarises ? [] : texts.map((one) => ({ type: "reasoning_text", text: one })),
      ...(sealed === null ? {} : { encrypted_content: sealed }),
    };
  }

  private say(type: ResponsePart["type"], text: string, logprobs: readonly ResponseLogprob[]): string {
    let events = this.openMessage();
    const message = this.open as Message;
    if (message.parts.at(-1)?.type !== type) {
      events += this.closePart(message);
      message.parts.push(
        type === "refusal" ? { type, refusal: "" } : { type: "output_text", text: "", annotations: [], logprobs: [] },
      );
      // Serialized at once, since parts change as text arrives.
      events += this.write("response.content_part.added", { ...this.partPlace(message), part: message.parts.at(-1) });
    }
    const part = message.parts.at(-1);
    if (part?.type === "refusal") {
      part.refusal += text;
      return events + this.write("response.refusal.delta", { ...this.partPlace(message), delta: text });
    }
    if (part) {
      part.text += text;
      part.logprobs.push(...logprobs);
    }
    return events + this.write("response.output_text.delta", { ...this.partPlace(message), delta: text, logprobs });
  }

  private openMessage(): string {
    if (this.open?.kind === "message") return "";
    const closed = this.beforeNext();
    const index = this.nextIndex();
    this.open = { kind: "message", index, parts: [] };
    return closed + this.added(index, this.messageItem(this.open, "in_progress"));
  }

  private messageItem(
    { index, parts }: Message,
    status: "in_progress" | "completed" | "incomplete",
  ): Extract<ResponseItem, { type: "message" }> {
    return { id: this.idOf(index, "msg"), type: "message", role: "assistant", status, content: [...parts] };
  }

  private annotate(list: readonly Members[]): string {
    const message = this.open;
    const part = message?.kind === "message" ? message.parts.at(-1) : undefined;
    // Only texts have citations.
    if (message?.kind !== "message" || part?.type !== "output_text") return "";
    return list
      .map((annotation) => {
        const at = { ...this.partPlace(message), annotation_index: part.annotations.length };
        part.annotations.push(annotation);
        return this.write("response.output_text.annotation.added", { ...at, annotation });
      })
      .join("");
  }

  private partPlace({ index, parts }: Message): Members {
    return { item_id: this.idOf(index, "msg"), output_index: index, content_index: Math.max(0, parts.length - 1) };
  }

  private closePart(message: Message): string {
    const part = message.parts.at(-1);
    if (!part) return "";
    const at = this.partPlace(message);
    const done =
      part.type === "refusal"
        ? this.write("response.refusal.done", { ...at, refusal: part.refusal })
        : this.write("response.output_text.done", { ...at, text: part.text, logprobs: part.logprobs });
    return done + this.write("response.content_part.done", { ...at, part });
  }

  private closeOpen(status: "completed" | "incomplete"): string {
    const { open } = this;
    this.open = undefined;
    if (!open) return "";
    if (open.kind === "message") return this.closePart(open) + this.done(open.index, this.messageItem(open, status));
    const { text } = open;
    const hasPart = text !== "";
    const part = hasPart ? this.reasoningEvent(open, "text.done", { text }) + this.partEvent(open, "done", text) : "";
    return part + this.done(open.index, this.reasoningItem(open, status));
  }

  /** Closes all complete items before the next item begins. */
  private beforeNext(): string {
    let events = this.closeOpen("completed");
    for (const call of this.calls.values()) {
      if (!call.isOver && call.index !== undefined && call.json.isWhole) events += this.closeCall(call, "completed");
    }
    return events;
  }

  private call(piece: CallPiece): string {
    let call = this.calls.get(piece.call);
    if (!call) {
      call = {
        kind: "call",
        json: new JsonEnd(),
        index: undefined,
        id: undefined,
        name: "",
        text: "",
        extra: undefined,
        isOver: false,
      };
      this.calls.set(piece.call, call);
    }
    if (call.isOver) {
      if (piece.text.trim() === "") return "";
      throw new ProviderError("failed", "a tool call went on behind the end of its arguments");
    }
    call.id ??= piece.id;
    call.extra ??= piece.extra;
    call.json.read(piece.text);
    call.text += piece.text;
    if (call.index !== undefined) return this.argue(call, piece.text);
    if (piece.name === undefined) return "";
    call.name = piece.name;
    const closed = this.beforeNext();
    call.index = this.nextIndex();
    call.id ??= `call_${this.facts.id}_${call.index}`;
    return (
      closed + this.added(call.index, this.callItem(call, call.index, "in_progress", "")) + this.argue(call, call.text)
    );
  }

  /**
   * Returns the delta event for the arguments of a function call. Custom tools and searches have no delta events, because the input of a
   * custom tool is JSON until it ends.
   */
  private argue({ index, name }: Call, text: string): string {
    if (text === "" || index === undefined || this.formOf(name) !== "function") return "";
    const at = { item_id: this.idOf(index, "fc"), output_index: index };
    return this.write("response.function_call_arguments.delta", { ...at, delta: text });
  }

  private closeCall(call: Call, status: "completed" | "incomplete"): string {
    const { index = 0, name, text } = call;
    call.isOver = true;
    const form = this.formOf(name);
    if (form === "tool_search") return this.done(index, this.callItem(call, index, status, text));
    if (form === "function") {
      const at = { item_id: this.idOf(index, "fc"), output_index: index };
      const own = this.facts.renamed.get(name)?.name ?? name;
      const done = this.write("response.function_call_arguments.done", { ...at, name: own, arguments: text });
      return done + this.done(index, this.callItem(call, index, status, text));
    }
    const input = inputOf(text);
    const at = { item_id: this.idOf(index, "ctc"), output_index: index };
    const delta = input === "" ? "" : this.write("response.custom_tool_call_input.delta", { ...at, delta: input });
    const done = this.write("response.custom_tool_call_input.done", { ...at, input });
    return delta + done + this.done(index, this.callItem(call, index, status, input));
  }

  private callItem(
    { id = "", name: functionName, extra }: Call,
    index: number,
    status: "in_progress" | "completed" | "incomplete",
    text: string,
  ): ResponseItem {
    const { type = "function", name = functionName, namespace } = this.facts.renamed.get(functionName) ?? {};
    const more = extra === undefined ? {} : { extra_content: extra };
    const call = { status, call_id: id };
    if (type === "tool_search") {
      const own = { execution: "client", arguments: text === "" ? {} : (parseObject(text) ?? text) } as const;
      return { id: this.idOf(index, "tsc"), type: "tool_search_call", ...call, ...own, ...more };
    }
    const named = { ...call, name, ...(namespace === undefined ? {} : { namespace }) };
    return type === "custom"
      ? { id: this.idOf(index, "ctc"), type: "custom_tool_call", ...named, input: text, ...more }
      : { id: this.idOf(index, "fc"), type: "function_call", ...named, arguments: text, ...more };
  }

  private formOf(name: string): RenamedTool["type"] {
    return this.facts.renamed.get(name)?.type ?? "function";
  }

  private nextIndex(): number {
    if (this.output.length >= ITEMS_MAX) throw new ProviderError("failed", "the answer has no end of items");
    return this.output.length;
  }

  private added(index: number, item: ResponseItem): string {
    this.output[index] = item;
    return this.write("response.output_item.added", { output_index: index, item });
  }

  private done(index: number, item: ResponseItem): string {
    this.output[index] = item;
    return this.write("response.output_item.done", { output_index: index, item });
  }

  private idOf(index: number, prefix: string): string {
    return `${prefix}_${this.facts.id}_${index}`;
  }
}

/** Returns the text in the single argument `input` of a custom tool, or the whole text if the arguments have another form. */
function inputOf(text: string): string {
  const input = parseObject(text)?.["input"];
  return typeof input === "string" ? input : text;
}
