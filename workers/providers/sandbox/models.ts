/**
 * The sandbox's chat models as data: the well-behaved one, variants of it, and one for each failure a client should
 * rehearse. What clients see of each, and the catalogue's own ones made of these, is in shared/catalogue/REHEARSAL.md.
 */

/** What a model does besides answering; nothing set means it answers at once. */
export interface SandboxModel {
  readonly description: string;
  /** Wait before anything is sent. */
  readonly firstTokenMs?: number;
  /** Unset means as fast as the reader takes them. */
  readonly tokensPerSecond?: number;
  /** Silence in the middle of the answer. */
  readonly silenceMs?: number;
  /** Silence between the finish reason of a stream and its usage. */
  readonly usageAfterMs?: number;
  /** Fails before anything is sent. */
  readonly failsWith?:
    | "refused"
    | "failed"
    | "busy"
    | "busy for long"
    | "busy at first"
    | "misconfigured"
    | "sometimes";
  /** Prompt tokens it takes, where they are fewer than the sandbox's others take. */
  readonly contextTokens?: number;
  /** Takes `temperature` at 1 only, as reasoning models of several vendors do. */
  readonly fixesTemperature?: true;
  /** Never sends anything; ends when the caller gives up. */
  readonly hangs?: true;
  /**
   * Stops after the first tokens: the connection breaks, an error event comes, or it stays open in silence for ever.
   * `error first`: the error event comes behind the role, before any token.
   */
  readonly breaksOff?: "cut" | "stall" | "error" | "error first";
  readonly reports?: "no usage" | "absurd usage" | "zero usage" | "negative usage" | "fractional usage";
  readonly writes?: "at length" | "without end" | "reasoning first" | "interleaved calls" | "in a huge frame";
  /** What becomes of an answer that was written well. */
  readonly spoils?: "filtered" | "empty arguments" | "malformed arguments";
}

export const SANDBOX_MODELS = {
  "sandbox-chat": {
    description: "Answers at once: says what it is asked to say, calls tools, fills schemas, looks at pictures.",
  },
  "sandbox-slow": {
    description: "Sends its first token after 3 s, then 20 tokens a second.",
    firstTokenMs: 3_000,
    tokensPerSecond: 20,
  },
  "sandbox-silent": {
    description: "Sends some tokens, is silent for 40 s, then finishes properly.",
    silenceMs: 40_000,
  },
  "sandbox-hang": {
    description: "Accepts the call and never answers.",
    hangs: true,
  },
  "sandbox-stall": {
    description: "Stops after the first tokens and never goes on.",
    breaksOff: "stall",
  },
  "sandbox-truncate": {
    description: "Breaks the stream off after the first tokens, without a finish reason.",
    breaksOff: "cut",
  },
  "sandbox-flaky": {
    description:
      "Fails about every second call, as overloaded or broken: with a seed always the same way (odd seeds fail), without one by the number of the call.",
    failsWith: "sometimes",
  },
  "sandbox-refuse": {
    description: "Declines every request on grounds of content.",
    failsWith: "refused",
  },
  "sandbox-filtered": {
    description: "Is stopped by a content filter after the first tokens, with the finish reason content_filter.",
    spoils: "filtered",
  },
  "sandbox-error": {
    description: "Fails every request with an internal error.",
    failsWith: "failed",
  },
  "sandbox-error-first": {
    description: "Begins a stream with the role alone, then sends an error event.",
    breaksOff: "error first",
  },
  "sandbox-error-midway": {
    description: "Sends an error event after the first tokens.",
    breaksOff: "error",
  },
  "sandbox-misconfigured": {
    description: "Refuses the service's own key for the provider.",
    failsWith: "misconfigured",
  },
  "sandbox-rate-limited": {
    description: "Turns every request away as one too many and says when to come back.",
    failsWith: "busy",
  },
  "sandbox-busy-once": {
    description: "Turns each call away the first time it is asked, says to come back in a second, and then answers.",
    failsWith: "busy at first",
  },
  "sandbox-busy-long": {
    description: "Turns every request away and says to come back in 30 s.",
    failsWith: "busy for long",
  },
  "sandbox-small-context": {
    description: "Takes prompts of at most 128 tokens.",
    contextTokens: 128,
  },
  "sandbox-no-temperature": {
    description: "Takes no other temperature than 1.",
    fixesTemperature: true,
  },
  "sandbox-no-usage": {
    description: "Answers, but reports no token usage.",
    reports: "no usage",
  },
  "sandbox-zero-usage": {
    description: "Answers, but reports that it read and wrote no tokens.",
    reports: "zero usage",
  },
  "sandbox-negative-usage": {
    description: "Answers, but reports a negative number of tokens.",
    reports: "negative usage",
  },
  "sandbox-fractional-usage": {
    description: "Answers, but reports half tokens.",
    reports: "fractional usage",
  },
  "sandbox-late-usage": {
    description: "Streams to the finish reason and reports its usage a second later.",
    usageAfterMs: 1_000,
  },
  "sandbox-bad-usage": {
    description: "Answers, but reports 10^18 tokens.",
    reports: "absurd usage",
  },
  "sandbox-long": {
    description: "Writes about 2,000 tokens, whatever was asked.",
    writes: "at length",
  },
  "sandbox-endless": {
    description: "Streams without end, whatever limit was set.",
    writes: "without end",
  },
  "sandbox-megabyte": {
    description: "Sends a frame of a megabyte in the middle: its member obfuscation is padding.",
    writes: "in a huge frame",
  },
  "sandbox-reasoning": {
    description: "Thinks aloud in reasoning_content before it answers.",
    writes: "reasoning first",
  },
  "sandbox-interleaved": {
    description: "Streams the arguments of parallel tool calls interleaved, a piece of each in turn.",
    writes: "interleaved calls",
  },
  "sandbox-empty-arguments": {
    description: "Calls tools with {} as arguments, whatever they require.",
    spoils: "empty arguments",
  },
  "sandbox-malformed-arguments": {
    description: "Calls tools with arguments that end in the middle and are no JSON.",
    spoils: "malformed arguments",
  },
} as const satisfies Readonly<Record<string, SandboxModel>>;

export type SandboxModelName = keyof typeof SANDBOX_MODELS;

/** The row of a model, or undefined when the sandbox has none of that name. */
export function sandboxModel(name: string): SandboxModel | undefined {
  return Object.hasOwn(SANDBOX_MODELS, name) ? SANDBOX_MODELS[name as SandboxModelName] : undefined;
}

/** Prompt tokens the sandbox takes; more are rejected as `context_length_exceeded`. */
export const SANDBOX_CONTEXT_TOKENS = 128_000;
