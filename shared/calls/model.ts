/** Types of the catalogue that the service uses. The catalogue is complete, checked and frozen. README.md describes its files. */
import type {
  AllowedParams,
  Modality,
  PriceSource,
  PriceVariant,
  PricingText,
  ProviderEntry,
  SourceEntry,
} from "#schemas/generated/types.ts";
import type { Preset } from "#shared/access/authenticate.ts";
import type { Price } from "#shared/calls/pricing/price.ts";

export interface Provider {
  readonly id: string;
  readonly family: NonNullable<ProviderEntry["family"]>;
  /** Base URL without a trailing slash; absent for the sandbox. */
  readonly base_url?: string;
  /** Environment variable of the API key; absent if the provider needs no key. */
  readonly api_key_env?: string;
  /** Enables the circuit breaker, which disables a failing source for a while. Default: on. */
  readonly breaker?: "on" | "off";
  /** Action for the provider's stream after the client has disconnected. Default: abort. */
  readonly on_disconnect?: "abort" | "drain";
  /** Timeout of a stream's first byte, in milliseconds. If absent, the value of the setting applies. */
  readonly first_byte_ms?: number;
  /** Decides who downloads media URLs in chat requests. `inline` (default): this service. `pass`: the provider, if openai-compatible. */
  readonly media?: "inline" | "pass";
  /** Time for which a job without known result is queried at the provider, in seconds. If absent, the value of the setting applies. */
  readonly unknown_for_seconds?: number;
  /**
   * Seconds after which the provider's list of jobs contains every accepted job. If absent, a job that is missing in the list may still
   * have been accepted.
   */
  readonly listed_within_seconds?: number;
}

export interface Source {
  readonly provider: string;
  /** Share of calls among adjacent sources with a weight. If absent, the source is called in its listed order. */
  readonly weight?: number;
  /** Provider's name of the model. */
  readonly model: string;
  /**
   * Changes of each request to the source, in this order: these members are removed, others are renamed (`rename_params`), others are set
   * (`overrides`).
   */
  readonly drop_params?: readonly string[];
  readonly rename_params?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Name of an input inside this service → field of the source's request. If absent, the fields of the provider's family apply. */
  readonly fields?: Readonly<Record<string, string>>;
  /** True if the source continues the text of a last message with the role assistant. */
  readonly continues_assistant?: boolean;
  /**
   * Members that are set when the source continues a message: in the request (`continue_overrides`) and in the last message
   * (`continue_message`).
   */
  readonly continue_overrides?: Readonly<Record<string, unknown>>;
  readonly continue_message?: Readonly<Record<string, unknown>>;
  /** True if the response of the source repeats the text of the message that it continues. The repetition is removed. */
  readonly continue_repeats?: boolean;
  /** Inputs that requests to the source never contain. Only used without `fields`. */
  readonly lacks?: readonly string[];
  /** Differences between the source and the newest models of its family. */
  readonly traits?: readonly Trait[];
}

export type Trait = NonNullable<SourceEntry["traits"]>[number];

export interface Model {
  readonly slug: string;
  readonly kind: "model" | "tool";
  readonly modality: Modality;
  readonly owned_by: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly supports_chat: boolean;
  readonly supports_embeddings: boolean;
  readonly supports_streaming: boolean;
  readonly supports_tools: boolean;
  /** True if the model supports JSON output. If absent, this is unknown: the request is sent, and the provider accepts or rejects it. */
  readonly supports_json?: boolean;
  readonly max_context_tokens: number;
  readonly max_output_tokens: number;
  /** Maximum number of tokens of one image in a prompt. */
  readonly tokens_per_image_max?: number;
  /** Limits of inputs and vectors; present for every embedding model. */
  readonly embedding?: Embedding;
  /** Timeout of a stream's first byte, in milliseconds. If absent, the provider's timeout applies, otherwise the setting. */
  readonly first_byte_ms?: number;
  /** Default time for which a response is cached for exact repeats of the request, in seconds. */
  readonly cache_ttl_s?: number;
  /** Prices as decimal text, as in the catalogue file. */
  readonly pricing: Readonly<PricingText>;
  /** Parsed price, in nano-credits. */
  readonly price: Price;
  /** Prices that replace `price` for certain parameters of the call. The first match is used. */
  readonly price_variants?: readonly { readonly when: Readonly<PriceVariant["when"]>; readonly price: Price }[];
  /** Seconds that a price per second counts: length of the media, or time of computing. */
  readonly seconds_of: "media" | "compute";
  /** Maximum time of computing for which a call can be charged, in seconds. `compute_seconds_usual` is the typical time. */
  readonly compute_seconds_max?: number;
  readonly compute_seconds_usual?: number;
  readonly allowed_params: Readonly<AllowedParams>;
  /** Sources that can be called, in the order of the catalogue file; never empty. */
  readonly sources: readonly Source[];
  /**
   * Reference of the prices, such as the URL of the provider's price page, and their date. Absent if an operator's file sets a price
   * without it.
   */
  readonly price_source?: Readonly<PriceSource>;
}

/** Limits of an embedding model's inputs and vectors. They come from the catalogue file, with defaults for omitted members. */
export interface Embedding {
  /** Default length of a vector. */
  readonly dimensions: number;
  /** Minimum length of a vector. If it equals the maximum, callers cannot choose the length. */
  readonly dimensions_min: number;
  readonly dimensions_max: number;
  readonly inputs_max: number;
  /** Number of token ids in the vocabulary; every id is smaller. If absent, the model accepts only texts. */
  readonly vocabulary?: number;
  /**
   * Maximum number of inputs (and of tokens, `source_tokens_max`) of one request to a source. If absent, only the limits of a call apply.
   */
  readonly source_inputs_max?: number;
  readonly source_tokens_max?: number;
}

export type EmbeddingModel = Model & { readonly embedding: Embedding };

export function isEmbeddingModel(model: Model): model is EmbeddingModel {
  return model.supports_embeddings && model.embedding !== undefined;
}

export interface CapabilityTerms {
  readonly isDisabled: boolean;
  /** Price set by the operator. If absent, the default price applies. */
  readonly price?: Price;
}

export interface IdleSource {
  readonly reason: string;
  /** Slugs of the models that list the source. */
  readonly models: readonly string[];
}

export interface Catalogue {
  /** Short hash of the content. It is equal in all processes with the same files and keys. */
  readonly version: string;
  /** Models by slug. Contains only models with a price and a source that can be called. */
  readonly models: ReadonlyMap<string, Model>;
  /** Reason why a model is not among `models`, by slug. */
  readonly unroutable: ReadonlyMap<string, string>;
  /**
   * For each unroutable model, by slug: the key variables of shipped providers. Setting any one of them makes the model routable.
   * Operators' own providers are not listed. Empty if the sandbox is off.
   */
  readonly missingKeys: ReadonlyMap<string, readonly string[]>;
  /** Reason why a configured source cannot be called, by `provider/model`. */
  readonly idleSources: ReadonlyMap<string, IdleSource>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly presets: ReadonlyMap<string, Preset>;
  /** Operators' settings of a capability, by id. Capabilities without settings are absent. */
  readonly capabilities: ReadonlyMap<string, CapabilityTerms>;
}

/** Settings that determine which sources of the catalogue can be called. */
export interface Surroundings {
  /** True if the models of the sandbox, a test provider, are available. */
  readonly sandbox: boolean;
  /** Returns the value of an API key's environment variable; undefined if it is not set. */
  readonly providerKey: (variable: string) => string | undefined;
}
