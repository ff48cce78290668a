/** The catalogue as the rest of the service sees it: whole, checked, frozen. The files it comes from: README.md. */
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
  /** Switch of the circuit breaker, which rests sources that keep failing; absent: on. */
  readonly breaker?: "on" | "off";
  /** Treatment of a stream whose client left; absent: abort. */
  readonly on_disconnect?: "abort" | "drain";
  /** Timeout of a stream's first byte, in milliseconds; absent: the settings'. */
  readonly first_byte_ms?: number;
  /** Media that a chat request names by address is fetched by us (inline) or the provider (pass), if openai-compatible; absent: inline. */
  readonly media?: "inline" | "pass";
  /** The time for which a job without a verdict is asked about; absent: the setting's. */
  readonly unknown_for_seconds?: number;
  /** By when its list of jobs has what was taken; absent: that it has not proves nothing. */
  readonly listed_within_seconds?: number;
}

export interface Source {
  readonly provider: string;
  /** Share of the calls among its neighbours that have one; absent: it is asked in its place. */
  readonly weight?: number;
  /** The provider's own name of the model. */
  readonly model: string;
  /** Applied to a request in this order: members left out, members renamed, members set. */
  readonly drop_params?: readonly string[];
  readonly rename_params?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Our names of what an image is asked for → its fields; absent: those of its family. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Goes on with an answer that the messages end in. */
  readonly continues_assistant?: boolean;
  /** Members set where it does so, of the request and of its last message. */
  readonly continue_overrides?: Readonly<Record<string, unknown>>;
  readonly continue_message?: Readonly<Record<string, unknown>>;
  /** Its answer then begins with that message's text. */
  readonly continue_repeats?: boolean;
  /** Inputs of which it is never told, where it names no fields. */
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
  /** Absent: not known, the source decides. */
  readonly supports_json?: boolean;
  readonly max_context_tokens: number;
  readonly max_output_tokens: number;
  /** Most tokens one image of a prompt can cost. */
  readonly tokens_per_image_max?: number;
  /** Present for every embedding model. */
  readonly embedding?: Embedding;
  /** Timeout of a stream's first byte, in milliseconds; absent: its provider's, else the settings'. */
  readonly first_byte_ms?: number;
  /** Seconds that answers are kept for exact repeats without being asked to. */
  readonly cache_ttl_s?: number;
  /** Decimal text as in the file. */
  readonly pricing: Readonly<PricingText>;
  /** The same, parsed: nano-credits. */
  readonly price: Price;
  /** Other prices by what a call asks for; the first that fits is taken. */
  readonly price_variants?: readonly { readonly when: Readonly<PriceVariant["when"]>; readonly price: Price }[];
  /** Seconds that a price by the second counts: of media or of computing. */
  readonly seconds_of: "media" | "compute";
  /** Most, and typical, seconds of computing that a call can be charged. */
  readonly compute_seconds_max?: number;
  readonly compute_seconds_usual?: number;
  readonly allowed_params: Readonly<AllowedParams>;
  /** Routable ones only, in the order of the file; never empty. */
  readonly sources: readonly Source[];
  /** Absent when an operator's file sets a price without saying where it is from. */
  readonly price_source?: Readonly<PriceSource>;
}

/** Limits of an embedding model's inputs and vectors: the members of the file, with defaults for those it omits. */
export interface Embedding {
  /** Length of a vector when the caller asks for none. */
  readonly dimensions: number;
  /** Equal: the length cannot be chosen. */
  readonly dimensions_min: number;
  readonly dimensions_max: number;
  readonly inputs_max: number;
  /** Token numbers lie below it; absent: texts only. */
  readonly vocabulary?: number;
  /** Most inputs, and most tokens, of one request to a source; absent: as many as a call may bring. */
  readonly source_inputs_max?: number;
  readonly source_tokens_max?: number;
}

export type EmbeddingModel = Model & { readonly embedding: Embedding };

export function isEmbeddingModel(model: Model): model is EmbeddingModel {
  return model.supports_embeddings && model.embedding !== undefined;
}

export interface CapabilityTerms {
  readonly isDisabled: boolean;
  /** Absent: the price it ships with. */
  readonly price?: Price;
}

export interface IdleSource {
  readonly reason: string;
  /** Slugs of the models that name it. */
  readonly models: readonly string[];
}

export interface Catalogue {
  /** Short hash of the content: equal in all processes that read the same files with the same keys. */
  readonly version: string;
  /** Slug → model. Only models with a price and a routable source. */
  readonly models: ReadonlyMap<string, Model>;
  /** Slug → why the model is not among `models`. */
  readonly unroutable: ReadonlyMap<string, string>;
  /**
   * Slug of an unroutable model → key variables of shipped providers any of which makes it routable when set. Operators' own providers
   * are not shown to callers. Empty where the sandbox is off.
   */
  readonly missingKeys: ReadonlyMap<string, readonly string[]>;
  /** `provider/model` → why a source of the files cannot be called. */
  readonly idleSources: ReadonlyMap<string, IdleSource>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly presets: ReadonlyMap<string, Preset>;
  /** Id → what operators say of a capability; none for the rest. */
  readonly capabilities: ReadonlyMap<string, CapabilityTerms>;
}

/** Settings that decide which sources can be called. */
export interface Surroundings {
  /** True if models of the sandbox are offered. */
  readonly sandbox: boolean;
  /** Value of a key variable; undefined when it is not set. */
  readonly providerKey: (variable: string) => string | undefined;
}
