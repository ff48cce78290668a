/** Token rates of a price, of its service tiers, and of calls with a long input. Pure. */

export const TOKEN_RATES = [
  "input_per_million",
  "output_per_million",
  "cached_input_per_million",
  "cache_write_per_million",
  "cache_write_1h_per_million",
  "audio_input_per_million",
  "audio_output_per_million",
  "image_input_per_million",
  "image_output_per_million",
] as const;

export type TokenRate = (typeof TOKEN_RATES)[number];

/** Nano-credits per million tokens, by type of token. */
export type TokenRates = Readonly<Partial<Record<TokenRate, bigint>>>;

/** Token rates of a service tier. */
export interface TierRates {
  readonly tokenRates: TokenRates;
  /** Rates of a call with more than `aboveTokens` input tokens. They apply to all tokens of the call. */
  readonly longContext?: { readonly aboveTokens: number; readonly tokenRates: TokenRates };
}

/** Service tiers that may have a price of their own. Every other tier costs the price itself. */
export const SERVICE_TIERS = ["flex", "priority"] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Rate that applies if a price does not list a rate, by the name of the rate. */
const FALLBACKS: Readonly<Partial<Record<TokenRate, TokenRate>>> = {
  cached_input_per_million: "input_per_million",
  cache_write_per_million: "input_per_million",
  cache_write_1h_per_million: "cache_write_per_million",
  audio_input_per_million: "input_per_million",
  image_input_per_million: "input_per_million",
  audio_output_per_million: "output_per_million",
  image_output_per_million: "output_per_million",
};

/** Returns a rate in nano-credits per million tokens, or the rate that replaces a missing one. */
export function rateOf(rates: TokenRates, name: TokenRate): bigint {
  const fallback = FALLBACKS[name];
  return rates[name] ?? (fallback === undefined ? 0n : rateOf(rates, fallback));
}
