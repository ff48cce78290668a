/** Continuation of broken streams by another model: the eligible streams, the models and their requests. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { completionTokens, promptTokens, type TokenUsage, usageUnits } from "#shared/calls/pricing/usage.ts";
import type { UsagePart } from "#shared/ledger/adjust.ts";

import { type ChatProvider, ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/candidates.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import type { ChatMeter, Metered } from "./meter.ts";
import type { Rendering } from "./render.ts";
import { contentText, StreamSoFar } from "./stream-so-far.ts";

/** True if the chain allows it and the answer is one plain text: no model can continue half of a tool call or document. */
export function mayBeContinued({ continue_streams: isAsked }: JobMessage, request: ChatCompletionRequest): boolean {
  const last = request.messages.at(-1);
  return (
    isAsked === true &&
    request.stream === true &&
    (request.n ?? 1) === 1 &&
    (request.tools?.length ?? 0) === 0 &&
    (request.functions?.length ?? 0) === 0 &&
    (request.response_format ?? { type: "text" }).type === "text" &&
    request.logprobs !== true &&
    (request.top_logprobs ?? 0) === 0 &&
    request.modalities?.includes("audio") !== true &&
    (last?.role !== "assistant" || typeof last.content === "string")
  );
}

/** Continuation of a stream that broke off. */
interface Continuation {
  readonly candidates: readonly Candidate<ChatProvider>[];
  readonly from: { readonly depth: number; readonly error: ProviderError };
  readonly request: ChatCompletionRequest;
  /** Text that the client has received. */
  readonly text: string;
  /** Last message of the request: the beginning that the caller wrote, then `text`, without white space at the end. */
  readonly begun: string;
}

/** Stream that may be continued: its text so far, and the usage of the models that broke off. */
export class StreamRescue {
  readonly soFar = new StreamSoFar();
  /** Sum of the usage of all parts so far; undefined if there is none. */
  took: Metered | undefined;
  private readonly parts: {
    readonly candidate: Candidate<ChatProvider>;
    readonly metered: Metered;
    readonly fault: ProviderErrorClass;
  }[] = [];
  private readonly candidates: readonly Candidate<ChatProvider>[];
  private readonly request: ChatCompletionRequest;

  constructor(candidates: readonly Candidate<ChatProvider>[], request: ChatCompletionRequest) {
    this.candidates = candidates;
    this.request = request;
  }

  /** Adds the usage of an attempt that broke off with `error`. Returns undefined, without a change, when no model can continue. */
  async after(error: unknown, attempt: Attempt<ChatProvider>, meter: ChatMeter): Promise<Continuation | undefined> {
    const { candidate, depth } = attempt;
    const { text } = this.soFar;
    if (!(error instanceof ProviderError) || ENDS_A_STREAM.has(error.kind) || !this.soFar.canContinue) return undefined;
    const candidates = this.candidatesAfter(candidate);
    const metered = candidates.length === 0 ? undefined : await meter.settleCut();
    if (metered === undefined) return undefined;
    const took = sumOf(this.took, metered);
    const begun = this.begun(text);
    const request = continuation(this.request, begun, completionTokens(took.usage), candidate.model.max_output_tokens);
    if (request === undefined) return undefined;
    this.took = took;
    this.parts.push({ candidate, metered, fault: error.kind });
    return { candidates, from: { depth, error }, request, text, begun };
  }

  usageParts(): UsagePart[] {
    return this.parts.map(({ candidate, metered, fault }) => ({
      model: candidate.model.slug,
      source: candidate.name,
      units: usageUnits(metered.usage),
      is_estimated: metered.estimated !== undefined,
      amount: metered.nano.toString(),
      fault,
    }));
  }

  /** Returns the caller's own beginning of the answer plus the text. Trailing white space is removed, since providers reject it. */
  private begun(text: string): string {
    const last = this.request.messages.at(-1);
    return ((isBegun(last) ? last.content : "") + text).trimEnd();
  }

  /**
   * Returns the sources that can continue an answer, in order. Each model continues a stream once. They are entered like fallbacks, since
   * the hold must grow by their possible cost.
   */
  private candidatesAfter(broken: Candidate<ChatProvider>): Candidate<ChatProvider>[] {
    const at = this.candidates.findIndex(({ name, model }) => name === broken.name && model === broken.model);
    const spent = this.parts.length === 0 ? undefined : broken.model;
    return this.candidates
      .slice(at + 1)
      .filter(({ source, model }) => source.continues_assistant === true && model !== spent)
      .map((candidate) => ({ ...candidate, isFallback: true }));
  }
}

/** Kinds of errors after which a provider may have charged for the call, or the client left; the stream is then not continued. */
const ENDS_A_STREAM: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown"]);

type Message = ChatCompletionRequest["messages"][number];

function isBegun(message: Message | undefined): message is Message & { readonly content: string } {
  return message?.role === "assistant" && typeof message.content === "string";
}

/**
 * Returns the request for the continuing model: the beginning of the answer follows the messages. Reasoning effort is removed, because
 * providers reject reasoning before a begun answer.
 * @param tokensSoFar tokens written so far; `modelTokensMax`: output limit of the model that broke off
 * @returns undefined when the text has reached its token limit
 */
function continuation(
  asked: ChatCompletionRequest,
  begun: string,
  tokensSoFar: number,
  modelTokensMax: number,
): ChatCompletionRequest | undefined {
  const { reasoning_effort: _effort, effort_only: _only, ...request } = asked;
  const askedLimit = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const limit = askedLimit === undefined ? undefined : Math.min(askedLimit, modelTokensMax);
  if ((limit ?? modelTokensMax) <= tokensSoFar) return undefined;
  const messages = isBegun(request.messages.at(-1)) ? request.messages.slice(0, -1) : request.messages;
  const message = { role: "assistant" as const, content: begun };
  return {
    ...request,
    ...(limit === undefined ? {} : { max_completion_tokens: limit - tokensSoFar }),
    messages: [...messages, message],
  };
}

/** Adds up the usage and charge of the models that served a continued stream. */
export function sumOf(before: Metered | undefined, last: Metered): Metered;
export function sumOf(before: Metered | undefined, last: Metered | undefined): Metered | undefined;
export function sumOf(before: Metered | undefined, last: Metered | undefined): Metered | undefined {
  if (before === undefined || last === undefined) return last ?? before;
  const isImpossible = before.estimated === "impossible" || last.estimated === "impossible";
  return {
    nano: before.nano + last.nano,
    usage: plus(before.usage, last.usage),
    estimated: isImpossible ? "impossible" : (last.estimated ?? before.estimated),
  };
}

export function tookSoFar(took: Metered | undefined): { readonly nano: bigint; readonly tokens: number } {
  if (took === undefined) return { nano: 0n, tokens: 0 };
  return { nano: took.nano, tokens: promptTokens(took.usage) + completionTokens(took.usage) };
}

function plus(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    input: one.input + other.input,
    cachedInput: one.cachedInput + other.cachedInput,
    cacheWrite5m: one.cacheWrite5m + other.cacheWrite5m,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    audioInput: one.audioInput + other.audioInput,
    imageInput: one.imageInput + other.imageInput,
    output: one.output + other.output,
    audioOutput: one.audioOutput + other.audioOutput,
    imageOutput: one.imageOutput + other.imageOutput,
    reasoning: one.reasoning + other.reasoning,
    estimated: one.estimated || other.estimated,
  };
}

// Joins a stream with its continuation by another model: text that this model repeats at its beginning is removed. Such models rarely
// repeat text, so only an unambiguous repetition is removed. Pure.

/** Longest recognised repetition, in characters; pieces are buffered until they differ from the text. */
const REPEATED_MAX = 4_096;
/** Shortest recognised repetition, in characters: shorter ones occur by chance. */
const REPEATED_MIN = 16;

export class Seam {
  private readonly tail: string;
  private readonly isWhole: boolean;
  private held = "";
  private isPast = false;
  /** Text that the new model repeats first, and the number of its characters that have arrived. */
  private expected: string;
  private cameCharacters = 0;

  /**
   * @param text full text that the client has received
   * @param expected text that this model is known to repeat first, of any length
   */
  constructor(text: string, expected = "") {
    this.expected = expected;
    this.tail = text.slice(-REPEATED_MAX);
    this.isWhole = text.length <= REPEATED_MAX;
  }

  /** Returns the new part of the model's next piece; a piece that may repeat the text is buffered until that is decided. */
  add(piece: string): string {
    if (this.isPast) return piece;
    this.held += this.expected === "" ? piece : this.unexpected(piece);
    if (this.held === "") return "";
    return this.tail.includes(this.held) ? "" : this.end();
  }

  /** Returns the new part of all buffered text. */
  end(): string {
    // An expected repetition that broke off is not new text either.
    const { held } = this;
    this.expected = "";
    this.isPast = true;
    this.held = "";
    return held.slice(this.repeated(held));
  }

  /** Returns the part of a piece after the expected text, which is dropped when it, or other text, has arrived. */
  private unexpected(piece: string): string {
    const { expected, cameCharacters: at } = this;
    const expectedPart = expected.slice(at, at + piece.length);
    if (piece.startsWith(expectedPart) && (expectedPart.length === piece.length || at + expectedPart.length === expected.length)) {
      this.cameCharacters += expectedPart.length;
      if (this.cameCharacters === expected.length) this.expected = "";
      return piece.slice(expectedPart.length);
    }
    this.expected = "";
    return expected.slice(0, at) + piece;
  }

  private repeated(held: string): number {
    const { tail } = this;
    for (let length = Math.min(held.length, tail.length); length >= REPEATED_MIN; length--) {
      if (tail.endsWith(held.slice(0, length))) return length;
    }
    const text = tail.trimEnd();
    // A short text that the model started again; a single word may repeat by chance.
    if (this.isWhole && /\S\s+\S/.test(text) && held.startsWith(text))
      return text.length + spaces(held, text.length, tail);
    return spaces(held, 0, tail);
  }
}

/** Counts the white space of `held` at `from` that repeats the end of the text: the model received the text without it. */
function spaces(held: string, from: number, text: string): number {
  const end = text.slice(text.trimEnd().length);
  let count = 0;
  while (count < end.length && held[from + count] === end[count]) count += 1;
  return count;
}

/**
 * Returns the rendering of a continuing model: into the same message, without repeated text.
 * @param rendering rendering of the model that began the stream, with its id and model
 * @param text full text that the client has received
 * @param repeated text that the new model repeats first; empty if it continues at once
 */
export function continuedRendering(rendering: Rendering, text: string, repeated: string): Rendering {
  const seam = new Seam(text, repeated);
  return {
    ...rendering,
    chunk(delta) {
      const { delta: added, finish_reason: reason = null, ...choice } = delta.choices[0] ?? {};
      const { content, ...members } = (added ?? {}) as Record<string, unknown>;
      for (const name of OMITTED_MEMBERS) delete members[name];
      const isEnd = typeof reason === "string";
      const fresh = seam.add(contentText(content)) + (isEnd ? seam.end() : "");
      const saying = fresh === "" ? members : { ...members, content: fresh };
      const isSaid = Object.keys(saying).length > 0;
      const said = { ...delta, choices: [{ ...choice, delta: saying, finish_reason: null }] };
      const ended = { ...delta, choices: [{ ...choice, delta: {}, finish_reason: reason }] };
      const texts = [isSaid ? rendering.chunk(said) : "", isEnd ? rendering.chunk(ended) : ""];
      const text = texts.join("");
      return text === "" && texts.includes(undefined) ? undefined : text;
    },
  };
}

/** Members of a delta that are omitted: a message has one role, and its reasoning precedes its text. */
const OMITTED_MEMBERS = ["role", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;
