/**
 * The contract every provider meets. An adapter is pure: request out, answer in, stream events in; `http.ts` alone
 * opens connections. A provider that needs no network (sandbox) implements `ChatProvider` itself.
 */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";

import type { TokenUsage } from "#shared/pricing/usage.ts";

export interface ChatCall {
  /** The validated body as the client sent it, unknown fields included. */
  readonly request: ChatCompletionRequest;
  /** The source's own name of the model. */
  readonly sourceModel: string;
  /** Output tokens the hold was made for; a family that requires a limit sends this when the client set none. */
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
  /** The source's gaps and defaults from the catalogue, applied to the finished body just before it is sent. */
  readonly adapt: (body: Record<string, unknown>) => void;
}

/**
 * A usage report: null when the provider sent none (we then count), "impossible" when it sent one that cannot be true
 * (the call then settles at its hold, with an alert).
 */
export type ChatUsage = TokenUsage | null | "impossible";

/** A whole answer: OpenAI's choices, without id, created and model, which the pool adds. */
export interface ChatResult {
  readonly choices: readonly Record<string, unknown>[];
  readonly usage: ChatUsage;
  /** Further top-level members to pass on, such as system_fingerprint and service_tier. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** One stream event: OpenAI chunk choices, without id, created and model. A usage report replaces earlier ones. */
export interface ChatDelta {
  readonly choices: readonly Record<string, unknown>[];
  readonly usage?: ChatUsage;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface ChatProvider {
  complete(call: ChatCall): Promise<ChatResult>;
  /**
   * Yields deltas until the provider is done. Ends normally only when a finish reason was seen and the upstream was
   * read to its end. @throws ProviderError on everything else
   */
  stream(call: ChatCall): AsyncGenerator<ChatDelta, void, void>;
}

/** Decided once, from status and body (shared/providers paper, part 2). */
export type ProviderErrorClass = "rejected" | "refused" | "misconfigured" | "busy" | "failed" | "timeout" | "aborted";

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderErrorClass;
  /** A client-visible code where the class alone does not decide it, such as context_length_exceeded. */
  readonly code: "context_length_exceeded" | "unsupported_value" | "invalid_request" | undefined;
  readonly param: string | null;
  /** For the log only, cut to 500 characters; never shown to a client. */
  readonly detail: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderErrorClass,
    detail: string,
    options: {
      code?: "context_length_exceeded" | "unsupported_value" | "invalid_request";
      param?: string | null;
      status?: number;
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(`provider ${kind}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code;
    this.param = options.param ?? null;
    this.detail = detail.slice(0, 500);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
