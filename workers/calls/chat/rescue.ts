/** Continues broken streams with another model: selects the streams that may be continued, the models, and their requests. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { completionTokens, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import type { UsagePart } from "#shared/ledger/adjust.ts";

import { type ChatProvider, ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/candidates.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import { type ChatMeter, type Metered, unitsOf } from "./meter.ts";
import type { Rendering } from "./render.ts";
import { contentText, StreamSoFar } from "./stream-so-far.ts";

/**
 * True if the caller allows other models to continue the stream, and the answer is a single plain text. A partial tool call or JSON
 * document cannot be continued by another model.
 */
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

/** Data for the continuation of an interrupted stream by another model. */
interface Continuation {
  readonly candidates: readonly Candidate<ChatProvider>[];
  readonly from: { readonly depth: number; readonly error: ProviderError };
  readonly request: ChatCompletionRequest;
  /** Text of the answer that the client has received so far. */
  readonly text: string;
  /** Content of the last message of the request: the caller's own beginning of the answer, then `text`, without trailing white space. */
  readonly begun: string;
}

/** Stream that another model may continue: its text so far, and the usage of the models whose streams broke off. */
export class StreamRescue {
  readonly soFar = new StreamSoFar();
  /** Sum of the usage of all interrupted attempts so far; undefined if there is none. */
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

  /**
   * Adds the usage of an attempt that `error` interrupted. Returns the candidates and the request for continuing the stream. Returns
   * undefined and adds nothing if the stream cannot be continued.
   */
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
      units: unitsOf(metered),
      is_estimated: metered.estimated !== undefined,
      amount: metered.nano.toString(),
      fault,
    }));
  }

  /**
   * Returns the text, preceded by the beginning of the answer if the request's last message provides one. White space at the end is
   * removed, because providers reject it.
   */
  private begun(text: string): string {
    const last = this.request.messages.at(-1);
    return ((isBegun(last) ? last.content : "") + text).trimEnd();
  }

  /**
   * Returns the candidates that can continue the answer, in the order of trying. Each model continues a stream only once. The candidates
   * count as fallbacks, because the hold must be increased by their possible cost.
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

/** Kinds of errors after which a stream is not continued: the provider may have charged for the call, or the client disconnected. */
const ENDS_A_STREAM: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown"]);

type Message = ChatCompletionRequest["messages"][number];

function isBegun(message: Message | undefined): message is Message & { readonly content: string } {
  return message?.role === "assistant" && typeof message.content === "string";
}

/**
 * Returns the request for the model that continues a stream: the caller's messages, followed by the beginning of the answer. Reasoning
 * effort is removed, because providers reject it together with a begun answer.
 * @param tokensSoFar output tokens written so far
 * @param modelTokensMax output limit of the model whose stream was interrupted
 * @returns undefined if the answer has already reached its token limit
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
    ...(before.tiers || last.tiers ? { tiers: sumOfCounts(before.tiers ?? {}, last.tiers ?? {}) } : {}),
  };
}

type Counts = Readonly<Record<string, number>>;

function sumOfCounts(one: Counts, other: Counts): Counts {
  const sum: Record<string, number> = { ...one };
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
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

/**
 * Maximum length of a repetition that is removed, in characters. A chunk that may repeat the earlier text is buffered until it differs from
 * that text.
 */
const REPEATED_MAX = 4_096;
/** Minimum length of a repetition that is removed, in characters. Shorter repetitions occur by chance. */
const REPEATED_MIN = 16;

export class Seam {
  private readonly tail: string;
  private readonly isWhole: boolean;
  private held = "";
  private isPast = false;
  /**
   * Text with which the continuing model is expected to begin, although the client already has it. `cameCharacters` is the number of its
   * characters that have arrived.
   */
  private expected: string;
  private cameCharacters = 0;

  /**
   * @param text full text that the client has received
   * @param expected text of any length that the continuing model is known to repeat first
   */
  constructor(text: string, expected = "") {
    this.expected = expected;
    this.tail = text.slice(-REPEATED_MAX);
    this.isWhole = text.length <= REPEATED_MAX;
  }

  /**
   * Adds the continuing model's next chunk. Returns the new text that can be sent now; empty while the buffered text may be a repetition.
   */
  add(piece: string): string {
    if (this.isPast) return piece;
    this.held += this.expected === "" ? piece : this.unexpected(piece);
    if (this.held === "") return "";
    return this.tail.includes(this.held) ? "" : this.end();
  }

  /** Ends the search for repetitions. Returns the new text among the buffered text. */
  end(): string {
    // An expected repetition that broke off is not new text either.
    const { held } = this;
    this.expected = "";
    this.isPast = true;
    this.held = "";
    return held.slice(this.repeated(held));
  }

  /**
   * Returns the part of a chunk after the expected repetition. The search for the expected repetition ends as soon as it has arrived
   * completely, or different text arrives.
   */
  private unexpected(piece: string): string {
    const { expected, cameCharacters: at } = this;
    const expectedPart = expected.slice(at, at + piece.length);
    if (
      piece.startsWith(expectedPart) &&
      (expectedPart.length === piece.length || at + expectedPart.length === expected.length)
    ) {
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

/**
 * Counts the characters in `held`, starting at `from`, that repeat the white space at the end of `text`. The model may repeat it, because
 * its request contained the text without trailing white space.
 */
function spaces(held: string, from: number, text: string): number {
  const end = text.slice(text.trimEnd().length);
  let count = 0;
  while (count < end.length && held[from + count] === end[count]) count += 1;
  return count;
}

/**
 * Returns the renderer of a continuing model. It renders into the same message, without repeated text.
 * @param rendering renderer of the model that began the stream, with its id and model
 * @param text full text that the client has received
 * @param repeated text that the new model repeats first; empty if it continues without repetition
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

/**
 * Members that are removed from the deltas of a continuing model, because the message already has a role and its reasoning precedes its
 * text.
 */
const OMITTED_MEMBERS = ["role", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;
