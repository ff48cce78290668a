/**
 * The sandbox's chat models as data: the well-behaved one, variants of it, and one for each failure a client should
 * rehearse. The documentation and the catalogue take names and descriptions from here.
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
  /** Fails before anything is sent. */
  readonly failsWith?: "refused" | "failed" | "busy" | "sometimes";
  /** Never sends anything; ends when the caller gives up. */
  readonly hangs?: true;
  /** Stops after the first tokens: the connection breaks, or stays open in silence for ever. */
  readonly breaksOff?: "cut" | "stall";
  readonly reports?: "no usage" | "absurd usage";
  readonly writes?: "at length" | "reasoning first" | "interleaved calls";
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
  "sandbox-error": {
    description: "Fails every request with an internal error.",
    failsWith: "failed",
  },
  "sandbox-rate-limited": {
    description: "Turns every request away as one too many and says when to come back.",
    failsWith: "busy",
  },
  "sandbox-no-usage": {
    description: "Answers, but reports no token usage.",
    reports: "no usage",
  },
  "sandbox-bad-usage": {
    description: "Answers, but reports a number of tokens that cannot be true.",
    reports: "absurd usage",
  },
  "sandbox-long": {
    description: "Writes about 2,000 tokens, whatever was asked.",
    writes: "at length",
  },
  "sandbox-reasoning": {
    description: "Thinks aloud in reasoning_content before it answers.",
    writes: "reasoning first",
  },
  "sandbox-interleaved": {
    description: "Streams the arguments of parallel tool calls interleaved, a piece of each in turn.",
    writes: "interleaved calls",
  },
} as const satisfies Readonly<Record<string, SandboxModel>>;

export type SandboxModelName = keyof typeof SANDBOX_MODELS;

/** The row of a model, or undefined when the sandbox has none of that name. */
export function sandboxModel(name: string): SandboxModel | undefined {
  return Object.hasOwn(SANDBOX_MODELS, name) ? SANDBOX_MODELS[name as SandboxModelName] : undefined;
}

/** Prompt tokens the sandbox takes; more are rejected as `context_length_exceeded`. */
export const SANDBOX_CONTEXT_TOKENS = 128_000;
