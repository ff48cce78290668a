/** The catalogue as the rest of the service sees it: whole, checked, frozen. The files it comes from: README.md. */
import type { AllowedParams, Modality, PriceSource, PricingText } from "#schemas/generated/types.ts";
import type { Price } from "#shared/pricing/price.ts";

export interface Provider {
  readonly id: string;
  readonly family: "sandbox" | "openai-compatible";
  /** Without a trailing slash; absent for the sandbox. */
  readonly base_url?: string;
  /** Absent: the provider needs no key. */
  readonly api_key_env?: string;
}

export interface Source {
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** Applied to a request in this order: members left out, members renamed, members set. */
  readonly drop_params?: readonly string[];
  readonly rename_params?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
}

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
  /** Decimal text as in the file. */
  readonly pricing: Readonly<PricingText>;
  /** The same, parsed: nano-credits. */
  readonly price: Price;
  readonly allowed_params: Readonly<AllowedParams>;
  /** Routable ones only, in the order of the file; never empty. */
  readonly sources: readonly Source[];
  /** Absent when an operator's file sets a price without saying where it is from. */
  readonly price_source?: Readonly<PriceSource>;
}

export interface Preset {
  readonly name: string;
  /** Calls in any 60 seconds for the whole workspace; null is no limit. */
  readonly requests_per_minute: number | null;
  /** Tokens in a UTC day; null is no limit. */
  readonly daily_tokens: number | null;
}

export interface Catalogue {
  /** Short hash of the content: equal in all processes that read the same files with the same keys. */
  readonly version: string;
  /** Slug → model. Only models with a price and a routable source. */
  readonly models: ReadonlyMap<string, Model>;
  /** Slug → why the model is not among `models`. */
  readonly unroutable: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly presets: ReadonlyMap<string, Preset>;
}

/** What decides which sources can be called. */
export interface Surroundings {
  /** Whether models of the sandbox are offered. */
  readonly sandbox: boolean;
  /** Value of a key variable; undefined when it is not set. */
  readonly providerKey: (variable: string) => string | undefined;
}
