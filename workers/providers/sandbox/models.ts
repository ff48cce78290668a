/**
 * The sandbox's test models: the well-behaved ones, variants of them, and one for each failure that a client should be
 * tested against. What clients see of each is told in schemas/docs/reference/test-models.md.
 */
import { paced } from "#shared/pace.ts";

import { ProviderError } from "../provider.ts";

/** Behaviour of a model besides answering; without further members it answers at once. */
export interface SandboxModel {
  readonly kind: "chat" | "embeddings" | "media";
  /** Wait before anything is sent. */
  readonly delayMs?: number;
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
  /** A job whose end can never be learned. */
  readonly isLost?: true;
  /** Submissions are answered with 502, as by a gateway: `answer` has taken the job by then, `start` never does. */
  readonly loses?: "answer" | "start";
  /**
   * Stops after the first tokens or bytes: the connection breaks, an error event comes, or it stays open in silence for
   * ever. `error first`: the error event comes behind the role, before any token.
   */
  readonly breaksOff?: "cut" | "stall" | "error" | "error first";
  readonly reports?: "no usage" | "absurd usage" | "zero usage" | "negative usage" | "fractional usage";
  readonly writes?: "at length" | "without end" | "reasoning first" | "interleaved calls" | "in a huge frame";
  /** A picture comes back as it is, so many times as wide and as high. */
  readonly enlarges?: number;
  /** Damage to an answer that was written well. */
  readonly spoils?: "filtered" | "empty arguments" | "malformed arguments";
}

export const SANDBOX_MODELS = {
  "sandbox-chat": { kind: "chat" },
  "sandbox-slow": { kind: "chat", delayMs: paced(3_000), tokensPerSecond: 20 },
  "sandbox-silent": { kind: "chat", silenceMs: paced(40_000) },
  "sandbox-hang": { kind: "chat", hangs: true },
  "sandbox-stall": { kind: "chat", breaksOff: "stall" },
  "sandbox-truncate": { kind: "chat", breaksOff: "cut" },
  "sandbox-flaky": { kind: "chat", failsWith: "sometimes" },
  "sandbox-refuse": { kind: "chat", failsWith: "refused" },
  "sandbox-filtered": { kind: "chat", spoils: "filtered" },
  "sandbox-error": { kind: "chat", failsWith: "failed" },
  "sandbox-error-first": { kind: "chat", breaksOff: "error first" },
  "sandbox-error-midway": { kind: "chat", breaksOff: "error" },
  "sandbox-misconfigured": { kind: "chat", failsWith: "misconfigured" },
  "sandbox-rate-limited": { kind: "chat", failsWith: "busy" },
  "sandbox-busy-once": { kind: "chat", failsWith: "busy at first" },
  "sandbox-busy-long": { kind: "chat", failsWith: "busy for long" },
  "sandbox-small-context": { kind: "chat", contextTokens: 128 },
  "sandbox-no-temperature": { kind: "chat", fixesTemperature: true },
  "sandbox-no-usage": { kind: "chat", reports: "no usage" },
  "sandbox-zero-usage": { kind: "chat", reports: "zero usage" },
  "sandbox-negative-usage": { kind: "chat", reports: "negative usage" },
  "sandbox-fractional-usage": { kind: "chat", reports: "fractional usage" },
  "sandbox-late-usage": { kind: "chat", usageAfterMs: paced(1_000) },
  "sandbox-bad-usage": { kind: "chat", reports: "absurd usage" },
  "sandbox-long": { kind: "chat", writes: "at length" },
  "sandbox-endless": { kind: "chat", writes: "without end" },
  "sandbox-megabyte": { kind: "chat", writes: "in a huge frame" },
  "sandbox-reasoning": { kind: "chat", writes: "reasoning first" },
  "sandbox-interleaved": { kind: "chat", writes: "interleaved calls" },
  "sandbox-empty-arguments": { kind: "chat", spoils: "empty arguments" },
  "sandbox-malformed-arguments": { kind: "chat", spoils: "malformed arguments" },
  "sandbox-embed": { kind: "embeddings" },
  "sandbox-embed-error": { kind: "embeddings", failsWith: "failed" },
  "sandbox-embed-flaky": { kind: "embeddings", failsWith: "sometimes" },
  "sandbox-embed-rate-limited": { kind: "embeddings", failsWith: "busy" },
  "sandbox-embed-hang": { kind: "embeddings", hangs: true },
  "sandbox-embed-no-usage": { kind: "embeddings", reports: "no usage" },
  "sandbox-embed-bad-usage": { kind: "embeddings", reports: "absurd usage" },
  "sandbox-image": { kind: "media" },
  "sandbox-image-slow": { kind: "media", delayMs: paced(5_000) },
  "sandbox-image-error": { kind: "media", failsWith: "failed" },
  "sandbox-image-refuse": { kind: "media", failsWith: "refused" },
  "sandbox-upscale": { kind: "media", enlarges: 2 },
  "sandbox-tts": { kind: "media" },
  "sandbox-tts-slow": { kind: "media", delayMs: paced(5_000) },
  "sandbox-tts-error": { kind: "media", failsWith: "failed" },
  "sandbox-tts-refuse": { kind: "media", failsWith: "refused" },
  "sandbox-tts-truncate": { kind: "media", breaksOff: "cut" },
  "sandbox-stt": { kind: "media" },
  "sandbox-stt-slow": { kind: "media", delayMs: paced(5_000) },
  "sandbox-stt-error": { kind: "media", failsWith: "failed" },
  "sandbox-stt-refuse": { kind: "media", failsWith: "refused" },
  "sandbox-video": { kind: "media" },
  "sandbox-video-slow": { kind: "media", delayMs: paced(5_000) },
  "sandbox-video-error": { kind: "media", failsWith: "failed" },
  "sandbox-video-refuse": { kind: "media", failsWith: "refused" },
  "sandbox-video-hang": { kind: "media", hangs: true },
  "sandbox-video-lost": { kind: "media", isLost: true },
  "sandbox-video-unanswered": { kind: "media", loses: "answer" },
  "sandbox-video-untaken": { kind: "media", loses: "start" },
  "sandbox-music": { kind: "media" },
  "sandbox-music-slow": { kind: "media", delayMs: paced(5_000) },
  "sandbox-music-error": { kind: "media", failsWith: "failed" },
  "sandbox-music-refuse": { kind: "media", failsWith: "refused" },
  "sandbox-3d": { kind: "media" },
  "sandbox-3d-slow": { kind: "media", delayMs: paced(5_000) },
  "sandbox-3d-error": { kind: "media", failsWith: "failed" },
  "sandbox-3d-refuse": { kind: "media", failsWith: "refused" },
  "sandbox-3d-remesh": { kind: "media" },
  "sandbox-3d-retexture": { kind: "media" },
  "sandbox-3d-segment": { kind: "media" },
  "sandbox-3d-rig": { kind: "media" },
} as const satisfies Readonly<Record<string, SandboxModel>>;

/** Prompt tokens the sandbox takes; more are rejected as `context_length_exceeded`. */
export const SANDBOX_CONTEXT_TOKENS = 128_000;

export const SANDBOX_EMBEDDING = { dimensions: 256, dimensionsMax: 1_024, inputTokensMax: 8_192 } as const;

/** The row of a model. @throws ProviderError misconfigured, for a model that the sandbox does not have or of another kind */
export function sandboxModel(name: string, kind: SandboxModel["kind"]): SandboxModel {
  const model: SandboxModel | undefined = Object.hasOwn(SANDBOX_MODELS, name)
    ? SANDBOX_MODELS[name as keyof typeof SANDBOX_MODELS]
    : undefined;
  if (model?.kind === kind) return model;
  throw new ProviderError("misconfigured", `the sandbox has no ${kind} model ${name}`);
}
