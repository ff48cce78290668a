/**
 * The contract every provider meets. An adapter is pure: request out, answer in, stream events in; `http.ts` alone
 * opens connections. A provider that needs no network (sandbox) implements `ChatProvider` itself.
 */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { ExactIntegers } from "#shared/exact-integers.ts";
import type { Trait } from "#shared/calls/model.ts";
import { FAILURE_TEXT_CHARS_MAX } from "#shared/database/usage-failures.ts";
import type { Code } from "#shared/errors.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";

import type { MediaAdapters } from "./media.ts";

export interface ChatCall {
  /** The validated body as the client sent it, unknown fields included. */
  readonly request: ChatCompletionRequest;
  /** Integers of the body that numbers cannot hold. */
  readonly exactIntegers?: ExactIntegers;
  /** Workspace of the caller: pseudonyms of end users are made with it, so that no two workspaces share one. */
  readonly workspaceId: string;
  /** The source's own name of the model. */
  readonly sourceModel: string;
  /** Output tokens the hold was made for; a family that requires a limit sends this when the client set none. */
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
  /** Ways in which the source differs from its family's newest models. */
  readonly traits: ReadonlySet<Trait>;
  /** The source's gaps and defaults from the catalogue, applied to the finished body just before it is sent. */
  readonly adapt: (body: Record<string, unknown>) => void;
  /** True if the model takes audio; if not, audio that is found behind an address is refused. */
  readonly takesAudio: boolean;
  /** Looks at the request once its addresses are fetched. @throws ProviderError for what the model does not take */
  readonly checkFetched?: (request: ChatCompletionRequest) => Promise<void>;
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
  /** The provider's word on the input alone, from the beginning of a stream: what a stream that is cut is settled with. */
  readonly inputUsage?: TokenUsage;
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

export interface EmbeddingsCall {
  /** One text, or one array of token numbers, for each vector wanted. */
  readonly inputs: readonly (string | readonly number[])[];
  /** The source's own name of the model. */
  readonly sourceModel: string;
  /** Length of the vectors wanted; undefined leaves it to the model. */
  readonly dimensions: number | undefined;
  /** The client's name for its end user, for sources that take it. */
  readonly user?: string;
  readonly signal: AbortSignal;
  /** Same as in ChatCall. */
  readonly adapt: (body: Record<string, unknown>) => void;
}

export interface EmbeddingsResult {
  /** One per input, in its order. */
  readonly vectors: readonly Float32Array[];
  readonly usage: ChatUsage;
}

export interface EmbeddingsProvider {
  /** @throws ProviderError */
  embed(call: EmbeddingsCall): Promise<EmbeddingsResult>;
}

/** Adapters of a provider; an absent member is a modality it does not offer. */
export type ProviderAdapters = MediaAdapters & {
  readonly chat?: ChatProvider;
  readonly embeddings?: EmbeddingsProvider;
};

/**
 * Decided once, from status and body. `unknown`: paid work may exist whose end cannot be
 * told; never success, never failure. `no_route`: no source could be asked, since the circuit of each is open after
 * failures or no model of the chain can take the call.
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

/** Codes that a `rejected` call may return. */
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
  /** Our sentence for the client of a `rejected` call. */
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
  /** A client-visible code where the class alone does not decide it, such as context_length_exceeded. */
  readonly code: RejectedCode | undefined;
  readonly param: string | null;
  /** Cut to 1,000 characters, for adapters to judge by. It may contain a prompt: logged by failureFacts alone, and kept sealed. */
  readonly detail: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly say: string | undefined;
  readonly isSetup: boolean;
  /** No byte of the request left us, so repeating it cannot pay twice. */
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

  /** The same, of a request that never left us. */
  unsent(): ProviderError {
    return new ProviderError(this.kind, this.detail, { ...this.options, isUnsent: true });
  }
}
