/**
 * Contract of every provider. Adapters are pure: they build requests and parse responses and stream events. Only `http.ts` opens
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
  /** Integers of the request body that exceed the precision of a JavaScript number, with their exact values. */
  readonly exactIntegers?: ExactIntegers;
  /** Workspace of the caller. It is part of the pseudonyms of end users, so that no two workspaces share a pseudonym. */
  readonly workspaceId: string;
  /** Model name that the source's provider expects in the request. */
  readonly sourceModel: string;
  /** Output token limit for which credits are held. It is sent by families that require a limit if the client set none. */
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
  /** Traits of the source that differ from the newest models of its family. */
  readonly traits: ReadonlySet<Trait>;
  /** Adapts the finished body to the source, just before it is sent. Drops, renames and overrides parameters as the catalogue says. */
  readonly adapt: (body: Record<string, unknown>) => void;
  /** True if the model accepts audio. Otherwise audio fetched from a URL is rejected. */
  readonly takesAudio: boolean;
  /** Checks the request after the media at its URLs are fetched. @throws ProviderError for inputs that the model does not support */
  readonly checkFetched?: (request: ChatCompletionRequest) => Promise<void>;
}

/**
 * Usage report. Null means that the provider sent none, so that we count tokens ourselves. The value "impossible" means that the report
 * cannot be true; the call is then charged its held credits, with an alert.
 */
export type ChatUsage = TokenUsage | null | "impossible";

/** Complete response with OpenAI's choices. The pool adds id, created and model. */
export interface ChatResult {
  readonly choices: readonly Record<string, unknown>[];
  readonly usage: ChatUsage;
  /** Other top-level members for the client, such as system_fingerprint and service_tier. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * One stream event with the choices of an OpenAI chunk, without id, created and model. The usage of a later event replaces the usage of
 * earlier events.
 */
export interface ChatDelta {
  readonly choices: readonly Record<string, unknown>[];
  readonly usage?: ChatUsage;
  /** Input usage that the provider reported at the beginning of a stream. It is charged if the stream breaks. */
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
  /** Inputs, one per requested vector. Each is a text or an array of token numbers. */
  readonly inputs: readonly (string | readonly number[])[];
  /** Name of the model at the source. */
  readonly sourceModel: string;
  /** Requested number of dimensions of the vectors; undefined for the model's default. */
  readonly dimensions: number | undefined;
  /** The client's identifier of its end user, for sources that accept one. */
  readonly user?: string;
  readonly signal: AbortSignal;
  /** Drops, renames and overrides parameters of the finished request body as the catalogue says, just before the body is sent. */
  readonly adapt: (body: Record<string, unknown>) => void;
}

export interface EmbeddingsResult {
  /** One vector per input, in the order of the inputs. */
  readonly vectors: readonly Float32Array[];
  readonly usage: ChatUsage;
}

export interface EmbeddingsProvider {
  /**
   * Requests the embeddings from the provider and returns one vector per input.
   * @throws ProviderError when the provider call fails
   */
  embed(call: EmbeddingsCall): Promise<EmbeddingsResult>;
}

/** Adapters of a provider. An adapter is absent if the provider does not support its modality. */
export type ProviderAdapters = MediaAdapters & {
  readonly chat?: ChatProvider;
  readonly embeddings?: EmbeddingsProvider;
};

/**
 * Class of a failure, decided from status and body. `unknown` is neither success nor failure: paid work may exist at the provider, and its
 * outcome is unknown. `no_route` means that no source was called, because every circuit is open or no model of the chain supports the call.
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
  /** Our error message for the client whose call was `rejected`. */
  readonly say?: string;
  readonly isUnsent?: boolean;
  /** True for a `no_route` error if all sources refuse our key, account or model name. */
  readonly isSetup?: boolean;
  readonly param?: string | null;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderErrorClass;
  /** Error code for the client, such as context_length_exceeded. Undefined if the error class alone decides the code. */
  readonly code: RejectedCode | undefined;
  readonly param: string | null;
  /**
   * Internal error text, cut to 1,000 characters. It may contain a prompt. Therefore it is stored encrypted, and only `failureFacts` logs
   * it.
   */
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

  /** Returns a copy of the error that marks the request as never sent. */
  unsent(): ProviderError {
    return new ProviderError(this.kind, this.detail, { ...this.options, isUnsent: true });
  }
}
