/** The catalogue for the rest of the service: complete, checked, frozen. Format of its files: README.md. */
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
  /** Without a trailing slash; absent for the sandbox. */
  readonly base_url?: string;
  /** Absent: the provider needs no key. */
  readonly api_key_env?: string;
  /** Enables the circuit breaker, which disables failing sources for a while; default: on. */
  readonly breaker?: "on" | "off";
  /** Handling of a stream whose client disconnected; default: abort. */
  readonly on_disconnect?: "abort" | "drain";
  /** Timeout of a stream's first byte, in milliseconds; absent: the setting's. */
  readonly first_byte_ms?: number;
  /** Downloader of media URLs in chat requests: us (inline, the default) or the provider, if openai-compatible (pass). */
  readonly media?: "inline" | "pass";
  /** Period of querying a job without a verdict, in seconds; absent: the setting's. */
  readonly unknown_for_seconds?: number;
  /** Seconds after which its list contains every accepted job; absent: a job missing in the list proves nothing. */
  readonly listed_within_seconds?: number;
}

export interface Source {
  readonly provider: string;
  /** Share of calls among adjacent sources with a weight; absent: the source is called in its listed order. */
  readonly weight?: number;
  /** The provider's name of the model. */
  readonly model: string;
  /** Applied to a request in this order: members removed, members renamed, members set. */
  readonly drop_params?: readonly string[];
  readonly rename_params?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Our names of image inputs → its fields; absent: those of its family. */
  readonly fields?: Readonly<Record<string, string>>;
  /** True if it continues a response that ends the messages. */
  readonly continues_assistant?: boolean;
  /** Members to set in that case, of the request and of its last message. */
  readonly continue_overrides?: Readonly<Record<string, unknown>>;
  readonly continue_message?: Readonly<Record<string, unknown>>;
  /** True if its response then repeats that message's text. */
  readonly continue_repeats?: boolean;
  /** Inputs that it never receives, if it has no `fields`. */
  readonly lacks?: readonly string[];
  /** Differences from its family's newest models. */
  readonly traits?: readonly Trait[];
}

export type Trait = NonNullable<SourceEntry["traits"]>[number];

export interface Model {
  readonly slug: string;
  readonly kind: "model" | "tool";
  readonly modality: Modality;
  readonly owned_by: string;
  /** Unix seconds. */
  readonly created: number;
  readonly supports_chat: boolean;
  readonly supports_embeddings: boolean;
  readonly supports_streaming: boolean;
  readonly supports_tools: boolean;
  /** Absent: unknown, the source decides. */
  readonly supports_json?: boolean;
  readonly max_context_tokens: number;
  readonly max_output_tokens: number;
  /** Maximum tokens of one image in a prompt. */
  readonly tokens_per_image_max?: number;
  /** Present for every embedding model. */
  readonly embedding?: Embedding;
  /** Timeout of a stream's first byte, in milliseconds; absent: its provider's, else the setting's. */
  readonly first_byte_ms?: number;
  /** Seconds for which responses are cached for exact repeats by default. */
  readonly cache_ttl_s?: number;
  /** Decimal text as in the file. */
  readonly pricing: Readonly<PricingText>;
  /** The parsed price, in nano-credits. */
  readonly price: Price;
  /** Other prices by parameters of the call; the first match is used. */
  readonly price_variants?: readonly { readonly when: Readonly<PriceVariant["when"]>; readonly price: Price }[];
  /** Kind of seconds in a price per second: of media or of computing. */
  readonly seconds_of: "media" | "compute";
  /** Maximum, and typical, seconds of computing that a call can be charged. */
  readonly compute_seconds_max?: number;
  readonly compute_seconds_usual?: number;
  readonly allowed_params: Readonly<AllowedParams>;
  /** Routable sources only, in the order of the file; never empty. */
  readonly sources: readonly Source[];
  /** Absent if an operator's file sets a price without its source. */
  readonly price_source?: Readonly<PriceSource>;
}

/** Limits of an embedding model's inputs and vectors: the members of the file, with defaults for those it omits. */
export interface Embedding {
  /** Default length of a vector. */
  readonly dimensions: number;
  /** If equal, the length cannot be chosen. */
  readonly dimensions_min: number;
  readonly dimensions_max: number;
  readonly inputs_max: number;
  /** Upper bound of token numbers, exclusive; absent: texts only. */
  readonly vocabulary?: number;
  /** Maximum inputs, and maximum tokens, of one request to a source; absent: as many as a call may contain. */
  readonly source_inputs_max?: number;
  readonly source_tokens_max?: number;
}

export type EmbeddingModel = Model & { readonly embedding: Embedding };

export function isEmbeddingModel(model: Model): model is EmbeddingModel {
  return model.supports_embeddings && model.embedding !== undefined;
}

export interface CapabilityTerms {
  readonly isDisabled: boolean;
  /** Absent: the default price. */
  readonly price?: Price;
}

export interface IdleSource {
  readonly reason: string;
  /** Slugs of the models that name it. */
  readonly models: readonly string[];
}

export interface Catalogue {
  /** Short hash of the content: equal in all processes with the same files and keys. */
  readonly version: string;
  /** Slug → model. Only models with a price and a routable source. */
  readonly models: ReadonlyMap<string, Model>;
  /** Slug → reason why the model is not among `models`. */
  readonly unroutable: ReadonlyMap<string, string>;
  /**
   * Slug of an unroutable model → key variables of shipped providers any of which makes it routable when set. Operators' own providers
   * are not listed. Empty if the sandbox is off.
   */
  readonly missingKeys: ReadonlyMap<string, readonly string[]>;
  /** `provider/model` → reason why a configured source cannot be called. */
  readonly idleSources: ReadonlyMap<string, IdleSource>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly presets: ReadonlyMap<string, Preset>;
  /** Id → operators' settings of a capability, if there are any. */
  readonly capabilities: ReadonlyMap<string, CapabilityTerms>;
}

/** Settings that determine which sources can be called. */
export interface Surroundings {
  /** True if models of the sandbox are available. */
  readonly sandbox: boolean;
  /** Returns the value of a key variable; undefined if it is not set. */
  readonly providerKey: (variable: string) => string | undefined;
}
