/**
 * Meters the usage of a chat call. Uses the provider's last usage report, or the tokens that this service counts if there is no report. If
 * a report has impossible numbers, the call is charged its full hold.
 */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import { completionTokens, NO_USAGE, promptTokens, type TokenUsage, usageUnits } from "#shared/calls/pricing/usage.ts";
import { priceChat, type Price } from "#shared/calls/pricing/price.ts";
import type { ServiceTier } from "#shared/calls/pricing/rates.ts";
import { chargedTier, tierUnits } from "#shared/calls/pricing/tiers.ts";
import { countingPrompt, countPrompt } from "#shared/tokens/count.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import { TOKENS_PER_IMAGE } from "#shared/calls/kinds/chat/usage.ts";

import type { ChatUsage } from "../../providers/provider.ts";

export interface Metered {
  readonly nano: bigint;
  readonly usage: TokenUsage;
  /** Reason why the usage was estimated by this service; undefined if the provider reported it. */
  readonly estimated: "missing" | "impossible" | "cut" | undefined;
  /** Names and counts of calls at other rates than those of the price itself, for the usage record. */
  readonly tiers?: Readonly<Record<string, number>>;
}

/** Maximum tokens that the model can read and write in one call. */
export interface TokenBounds {
  readonly input: number;
  readonly output: number;
  /**
   * Returns the maximum number of input tokens of this call's messages. It must serialize the whole request, so it is called only if a
   * usage report is unusually large.
   */
  readonly ownInput?: () => number;
}

/** Maximum tokens that providers add around a prompt, such as templates and preambles of tools. */
const TEMPLATE_TOKENS_MAX = 8_192;

/**
 * Factor by which a usage report may exceed the token limits that this service calculates for the call. Providers count reasoning and
 * templates differently, but never twice as much.
 */
const BOUND_SLACK = 2;
/** Maximum characters that are kept for the tokenizer. Further text counts as one token per four bytes. */
const TEXT_KEPT_MAX = 1_048_576;

export class ChatMeter {
  private readonly request: ChatCompletionRequest;
  private readonly price: Price;
  private readonly holdNano: bigint;
  private text = "";
  private pieces = 0;
  private bytesBeyond = 0;
  private inputTokens: number | undefined;
  private ownInput: number | undefined;
  report: ChatUsage = null;
  /** Input tokens that the provider reported at the beginning of the stream, before its final report. */
  inputReport: TokenUsage | undefined;
  outputBytes = 0;
  /** Service tier that the provider reported; undefined until it has reported one. */
  servedTier: unknown;

  private readonly tokensPerImage: number;
  private readonly bounds: TokenBounds | undefined;

  constructor(
    request: ChatCompletionRequest,
    price: Price,
    holdNano: bigint,
    tokensPerImage: number = TOKENS_PER_IMAGE,
    bounds?: TokenBounds,
  ) {
    this.tokensPerImage = tokensPerImage;
    this.request = request;
    this.price = price;
    this.holdNano = holdNano;
    this.bounds = bounds;
  }

  /**
   * Adds the choices of one stream delta, or of a complete answer, to the counts. Returns true if they contain output or a finish reason.
   */
  add(choices: readonly Record<string, unknown>[]): boolean {
    const before = this.pieces;
    let isFinish = false;
    for (const choice of choices) {
      isFinish ||= typeof choice["finish_reason"] === "string";
      this.collect(choice["delta"] ?? choice["message"]);
    }
    return isFinish || this.pieces > before;
  }

  /** Returns the final usage of a complete answer. */
  async settle(): Promise<Metered> {
    const report = this.believedReport();
    if (report === "impossible") return { nano: this.holdNano, usage: await this.estimate(), estimated: "impossible" };
    if (report !== null)
      return { nano: this.nanoOf(report), usage: report, estimated: undefined, ...this.tiersOf(report) };
    return this.estimated("missing");
  }

  /** Returns the usage of an interrupted call; undefined if no output was produced. */
  async settleCut(): Promise<Metered | undefined> {
    const report = this.believedReport();
    if (report !== null && report !== "impossible") return this.settle();
    if (this.pieces === 0) return undefined;
    return this.estimated("cut");
  }

  /**
   * Returns a cheap estimate of the usage so far, which is charged if this worker crashes. Each chunk counts as one output token, and four
   * characters as one input token.
   */
  soFar(): { nano: bigint; tokens: number } {
    this.inputTokens ??= this.boundedInput(roughInput(this.request, (part) => this.partTokens(part)));
    const input = this.believedInput() ?? { ...NO_USAGE, input: this.inputTokens };
    const usage: TokenUsage = { ...input, output: this.pieces };
    return {
      nano: this.atMostHeld(this.nanoOf(usage)),
      tokens: promptTokens(usage) + completionTokens(usage),
    };
  }

  /**
   * Counts the input tokens with our tokenizer. Anthropic's streams state the input tokens in their first event, before other providers
   * report them. The event loop remains available to other tasks during the count.
   */
  async countedInput(): Promise<TokenUsage> {
    const { request } = this;
    const counting = countingPrompt(await loadTokenizer(), request, (part) => this.partTokens(part));
    return { ...NO_USAGE, input: this.boundedInput(await new TimeSlices().run(counting)) };
  }

  /** Estimates the usage with our tokenizer, and returns its price. The charge is at most the hold. */
  private async estimated(why: "missing" | "cut"): Promise<Metered> {
    // The input report at the beginning of a stream may be lower than the final one. It therefore counts for interrupted calls only, and
    // does not replace a missing final report.
    const usage = await this.estimate(why === "cut" ? this.believedInput() : undefined);
    return { nano: this.atMostHeld(this.nanoOf(usage)), usage, estimated: why, ...this.tiersOf(usage) };
  }

  /** Service tier whose rates the call pays; undefined for the price itself. */
  private get tier(): ServiceTier | undefined {
    return chargedTier(this.request.service_tier, this.servedTier);
  }

  private nanoOf(usage: TokenUsage): bigint {
    return priceChat(this.price, usage, this.tier);
  }

  private tiersOf(usage: TokenUsage): Pick<Metered, "tiers"> {
    const tiers = tierUnits(this.price, this.tier, promptTokens(usage));
    return Object.keys(tiers).length === 0 ? {} : { tiers };
  }

  private atMostHeld(nano: bigint): bigint {
    return nano > this.holdNano ? this.holdNano : nano;
  }

  private boundedInput(tokens: number): number {
    return Math.min(tokens, this.bounds?.input ?? tokens);
  }

  /** Returns the provider's usage report, or `impossible` if its numbers exceed what the request could produce. */
  private believedReport(): ChatUsage {
    const { report, bounds } = this;
    if (report === null || report === "impossible" || bounds === undefined) return report;
    const isWithin = this.canBeInput(promptTokens(report)) && completionTokens(report) <= bounds.output * BOUND_SLACK;
    return isWithin ? report : "impossible";
  }

  private canBeInput(tokens: number): boolean {
    const { bounds } = this;
    if (bounds === undefined) return true;
    if (tokens > bounds.input * BOUND_SLACK) return false;
    if (tokens <= TEMPLATE_TOKENS_MAX || bounds.ownInput === undefined) return true;
    this.ownInput ??= bounds.ownInput();
    return tokens <= this.ownInput * BOUND_SLACK + TEMPLATE_TOKENS_MAX;
  }

  /**
   * Returns the input tokens that the provider reported at the beginning of the stream. Undefined if that report is missing or has
   * impossible numbers.
   */
  private believedInput(): TokenUsage | undefined {
    const { inputReport } = this;
    if (inputReport === undefined || promptTokens(inputReport) === 0) return undefined;
    if (!this.canBeInput(promptTokens(inputReport))) return undefined;
    return { ...inputReport, output: 0, audioOutput: 0, imageOutput: 0, reasoning: 0 };
  }

  private async estimate(input?: TokenUsage): Promise<TokenUsage> {
    const tokenizer = await loadTokenizer();
    const countInput = (): number =>
      this.boundedInput(countPrompt(tokenizer, this.request, (part) => this.partTokens(part)));
    return {
      ...(input ?? { ...NO_USAGE, input: countInput() }),
      output: Math.min(
        tokenizer.count(this.text) + Math.ceil(this.bytesBeyond / 4),
        this.bounds?.output ?? Number.MAX_SAFE_INTEGER,
      ),
      estimated: true,
    };
  }

  /**
   * Estimates the tokens of a message part that is not text. An image counts as its upper bound; audio or a file counts by its size,
   * because only the provider can decode it.
   */
  private partTokens(part: Readonly<Record<string, unknown>>): number {
    return part["type"] === "image_url" ? this.tokensPerImage : Math.ceil(JSON.stringify(part).length / 6);
  }

  private collect(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const message = value as Record<string, unknown>;
    this.collectContent(message["content"]);
    this.collectAudio(message["audio"]);
    this.collectText(message["reasoning_content"] ?? message["reasoning"]);
    this.collectText(message["refusal"]);
    const calls = message["tool_calls"];
    if (!Array.isArray(calls)) return;
    for (const call of calls as Record<string, unknown>[]) {
      const fn = call["function"] as Record<string, unknown> | undefined;
      this.collectText(fn?.["name"]);
      this.collectText(fn?.["arguments"]);
      const custom = call["custom"] as Record<string, unknown> | undefined;
      this.collectText(custom?.["input"]);
    }
  }

  /** Collects the text of an answer for counting: plain text, or the text of content blocks and of Mistral's reasoning blocks. */
  private collectContent(content: unknown): void {
    if (!Array.isArray(content)) {
      this.collectText(content);
      return;
    }
    for (const block of content as (Record<string, unknown> | null)[]) {
      this.collectText(block?.["text"]);
      const thoughts = block?.["thinking"];
      if (!Array.isArray(thoughts)) continue;
      for (const thought of thoughts as (Record<string, unknown> | null)[]) this.collectText(thought?.["text"]);
    }
  }

  /** Counts audio as one chunk, in addition to the text of its transcript, because only the provider can measure audio. */
  private collectAudio(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const { transcript, data } = value as { transcript?: unknown; data?: unknown };
    this.collectText(transcript);
    if (typeof data === "string" && data !== "") this.pieces += 1;
  }

  private collectText(value: unknown): void {
    if (typeof value !== "string" || value === "") return;
    this.pieces += 1;
    this.outputBytes += value.length;
    if (this.text.length < TEXT_KEPT_MAX) this.text += value;
    else this.bytesBeyond += value.length;
  }
}

/** Returns a rough number of input tokens: one per four characters of text, and `partTokens` for all other message parts. */
function roughInput(
  request: ChatCompletionRequest,
  partTokens: (part: Readonly<Record<string, unknown>>) => number,
): number {
  let tokens = 0;
  for (const { content } of request.messages) {
    if (typeof content === "string") tokens += content.length / 4;
    if (!Array.isArray(content)) continue;
    for (const part of content as Readonly<Record<string, unknown>>[]) {
      const text = part["text"];
      tokens += typeof text === "string" ? text.length / 4 : partTokens(part);
    }
  }
  return Math.ceil(tokens);
}

/** Converts the usage to a charge of the ledger. */
export function chargeOf(metered: Metered): Charge {
  const { nano, usage, estimated } = metered;
  return { nano, units: unitsOf(metered), tokens: promptTokens(usage) + completionTokens(usage), estimated };
}

/** Returns the units of the usage record: the tokens, and the calls at other rates than those of the price itself. */
export function unitsOf({ usage, tiers }: Metered): Record<string, number> {
  return { ...usageUnits(usage), ...tiers };
}
