/**
 * Contract of every provider. Adapters are pure: they build requests and parse responses and stream events; only `http.ts` opens
 * connections. A provider without network (the sandbox) implements `ChatProvider` itself.
 */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { ExactIntegers } from "#shared/json/serialize.ts";
import type { Trait } from "#shared/calls/model.ts";
import { FAILURE_TEXT_CHARS_MAX } from "#shared/database/usage-failures.ts";
import type { Code } from "#shared/base/errors.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";

import type { MediaAdapters } from "./media.ts";

export interface ChatCall {
  /** Validated request body as the client sent it, including unknown fields. */
  readonly request: ChatCompletionRequest;
  /** Integers of the body that exceed the precision of a JavaScript number. */
  readonly exactIntegers?: ExactIntegers;
  /** Workspace of the caller, part of the pseudonyms of end users, so that no two workspaces share a pseudonym. */
  readonly workspaceId: string;
  /** Name of the model at the source. */
  readonly sourceModel: string;
  /** Output token limit for which credits are held; sent by families that require a limit when the client set none. */
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
  /** Differences between the source and the newest models of its family. */
  readonly traits: ReadonlySet<Trait>;
  /** Applies the source's gaps and defaults from the catalogue to the finished body, just before it is sent. */
  readonly adapt: (body: Record<string, unknown>) => void;
  /** True if the model accepts audio; otherwise audio behind a fetched address is rejected. */
  readonly takesAudio: boolean;
  /** Checks the request after its addresses are fetched. @throws ProviderError for inputs that the model does not support */
  readonly checkFetched?: (request: ChatCompletionRequest) => Promise<void>;
}

/**
 * Usage report. Null when the provider sent none; we then count tokens. "impossible" when the report cannot be true; the call then settles
 * at its hold, with an alert.
 */
export type ChatUsage = TokenUsage | null | "impossible";

/** Complete response: OpenAI's choices without id, created and model, which the pool adds. */
export interface ChatResult {
  readonly choices: readonly Record<string, unknown>[];
  readonly usage: ChatUsage;
  /** Other top-level members for the client, such as system_fingerprint and service_tier. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** One stream event: OpenAI chunk choices without id, created and model. A usage report replaces earlier reports. */
export interface ChatDelta {
  readonly choices: readonly Record<string, unknown>[];
  readonly usage?: ChatUsage;
  /** Input usage reported at the beginning of a stream; settles a stream that breaks. */
  readonly inputUsage?: TokenUsage;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface ChatProvider {
  complete(call: ChatCall): Promise<ChatResult>;
  /**
   * Yields deltas until the provider has finished. Returns normally only after a finish reason and the end of the response.
   * @throws ProviderError in all other cases
   */
  stream(call: ChatCall): AsyncGenerator<ChatDelta, void, void>;
}

export interface EmbeddingsCall {
  /** One text, or one array of token numbers, per requested vector. */
  readonly inputs: readonly (string | readonly number[])[];
  /** Name of the model at the source. */
  readonly sourceModel: string;
  /** Requested length of the vectors; undefined for the model's default. */
  readonly dimensions: number | undefined;
  /** The client's identifier of its end user, for sources that accept one. */
  readonly user?: string;
  readonly signal: AbortSignal;
  /** Same as in ChatCall. */
  readonly adapt: (body: Record<string, unknown>) => void;
}

export interface EmbeddingsResult {
  /** One vector per input, in the order of the inputs. */
  readonly vectors: readonly Float32Array[];
  readonly usage: ChatUsage;
}

export interface EmbeddingsProvider {
  /** @throws ProviderError */
  embed(call: EmbeddingsCall): Promise<EmbeddingsResult>;
}

/** Adapters of a provider; an absent member is an unsupported modality. */
export type ProviderAdapters = MediaAdapters & {
  readonly chat?: ChatProvider;
  readonly embeddings?: EmbeddingsProvider;
};

/**
 * Class of a failure, decided once from status and body. `unknown`: paid work may exist whose outcome is unknown; neither success nor
 * failure. `no_route`: no source was called, because every circuit is open or no model of the chain supports the call.
 */
export type ProviderErrorClass =
  | "rejected"
  | "refused"
  | "misconfigured"
  | "busy"
  | "failed"
  | "timeout"
  | "aborted"
  | "unknown"
  | "no_route";

/** Error codes of a `rejected` call. */
export type RejectedCode = Extract<
  Code,
  | "context_length_exceeded"
  | "unsupported_value"
  | "invalid_request"
  | "unprocessable_input"
  | "input_unavailable"
  | "file_not_found"
  | "unsafe_url"
  | "audio_not_supported_by_model"
  | "image_not_supported_by_model"
>;

export interface ProviderErrorOptions {
  readonly code?: RejectedCode;
  /** Our error message for the client of a `rejected` call. */
  readonly say?: string;
  readonly isUnsent?: boolean;
  /** True for a `no_route` whose sources all refuse our key, account or model name. */
  readonly isSetup?: boolean;
  readonly param?: string | null;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderErrorClass;
  /** Error code for the client where the class alone does not decide it, such as context_length_exceeded. */
  readonly code: RejectedCode | undefined;
  readonly param: string | null;
  /** Error text for adapters, cut to 1,000 characters. May contain a prompt: only failureFacts logs it; stored encrypted. */
  readonly detail: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly say: string | undefined;
  readonly isSetup: boolean;
  /** True when no byte of the request was sent, so a retry cannot be charged twice. */
  readonly isUnsent: boolean;
  private readonly options: ProviderErrorOptions;

  constructor(kind: ProviderErrorClass, detail: string, options: ProviderErrorOptions = {}) {
    super(`provider ${kind}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code;
    this.param = options.param ?? null;
    this.detail = detail.slice(0, FAILURE_TEXT_CHARS_MAX);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.say = options.say;
    this.isSetup = options.isSetup ?? false;
    this.isUnsent = options.isUnsent ?? false;
    this.options = options;
  }

  /** Returns the same error for a request that was never sent. */
  unsent(): ProviderError {
    return new ProviderError(this.kind, this.detail, { ...this.options, isUnsent: true });
  }
}
