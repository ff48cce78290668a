/**
 * Test models of the sandbox: regular models, variants of them, and one model for each failure that clients should be tested against.
 * schemas/docs/reference/test-models.md describes each model for clients.
 */
import { paced } from "#shared/config/pace.ts";

import { ProviderError } from "../provider.ts";

/** Behaviour of a test model. A model without optional members answers immediately and without faults. */
export interface SandboxModel {
  readonly kind: "chat" | "embeddings" | "media";
  /** Delay before the first output, in milliseconds. */
  readonly delayMs?: number;
  /** Output tokens per second. Default: as fast as the client reads. */
  readonly tokensPerSecond?: number;
  /** Silence in the middle of the answer, in milliseconds. */
  readonly silenceMs?: number;
  /** Silence between the finish reason of a stream and its usage, in milliseconds. */
  readonly usageAfterMs?: number;
  /** Failure that the model returns before any output. */
  readonly failsWith?:
    | "refused"
    | "failed"
    | "busy"
    | "busy for long"
    | "busy at first"
    | "misconfigured"
    | "sometimes";
  /** Context limit in prompt tokens, if lower than SANDBOX_CONTEXT_TOKENS. */
  readonly contextTokens?: number;
  /** True if only a `temperature` of 1 is accepted, as by reasoning models of several vendors. */
  readonly fixesTemperature?: true;
  /** True for a model that never sends any output. The call ends when the caller aborts. */
  readonly hangs?: true;
  /** True for a model whose jobs have an outcome that stays unknown. */
  readonly isLost?: true;
  /**
   * Part of a job submission that is lost. The submission returns 502, as from a gateway. With `answer`, the provider accepted the job and
   * only its response is lost. With `start`, the provider never received the job.
   */
  readonly loses?: "answer" | "start";
  /**
   * Interruption after the first tokens or bytes: a broken connection, an error event, or endless silence. With `error first`, the error
   * event follows the role, before any token.
   */
  readonly breaksOff?: "cut" | "stall" | "error" | "error first";
  readonly reports?: "no usage" | "absurd usage" | "zero usage" | "negative usage" | "fractional usage";
  readonly writes?: "at length" | "without end" | "reasoning first" | "interleaved calls" | "in a huge frame";
  /** Factor by which width and height of an image are enlarged. The image is not changed otherwise. */
  readonly enlarges?: number;
  /** Damage that is applied to a finished answer. */
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

/** Context limit of the sandbox, in prompt tokens. Longer prompts are rejected with `context_length_exceeded`. */
export const SANDBOX_CONTEXT_TOKENS = 128_000;

export const SANDBOX_EMBEDDING = { dimensions: 256, dimensionsMax: 1_024, inputTokensMax: 8_192 } as const;

/** Returns a test model by name. @throws ProviderError misconfigured, for an unknown model or a model of another kind */
export function sandboxModel(name: string, kind: SandboxModel["kind"]): SandboxModel {
  const model: SandboxModel | undefined = Object.hasOwn(SANDBOX_MODELS, name)
    ? SANDBOX_MODELS[name as keyof typeof SANDBOX_MODELS]
    : undefined;
  if (model?.kind === kind) return model;
  throw new ProviderError("misconfigured", `the sandbox has no ${kind} model ${name}`);
}
