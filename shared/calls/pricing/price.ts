/**
 * Calculates charges in nano-credits from price and usage. Pure. Rates are bigints: nano-credits per million tokens, or per unit. An absent
 * token rate falls back to the plain input or output rate.
 */
import type { Model } from "#shared/calls/model.ts";
import { parseDecimal } from "#shared/base/money.ts";

import { rateOf, SERVICE_TIERS, type ServiceTier, type TierRates, TOKEN_RATES, type TokenRate } from "./rates.ts";
import { possibleRates, ratesOf, withDearerRates } from "./tiers.ts";
import { promptTokens, type TokenUsage } from "./usage.ts";

export type PriceUnit =
  | "per_token"
  | "per_request"
  | "per_image"
  | "per_second"
  | "per_minute"
  | "per_character"
  | "per_operation"
  | "per_megapixel";

/** Price of a call. Its own token rates are empty unless the unit is per_token. */
export interface Price extends TierRates {
  readonly unit: PriceUnit;
  /** Nano-credits per unit; 0 if the unit is per_token. */
  readonly unitRate: bigint;
  /** Rates of the service tiers that have a price of their own. */
  readonly serviceTiers?: Readonly<Partial<Record<ServiceTier, TierRates>>>;
  /** Share of the price that a batch line pays, in millionths. If absent, the share of the deployment applies. */
  readonly batchMillionths?: number;
}

/** Price in a queue message: the integers of `Price` as decimal text. */
export type SerializedPrice = Readonly<Record<string, string>>;

const MILLION = 1_000_000n;

/** Number of decimal places of `batch_factor`. */
export const BATCH_FACTOR_PLACES = 6;

/**
 * Converts the decimal price text of a catalogue file to exact rates.
 * @throws RangeError for a value that is not a decimal, is negative, or has a part smaller than a nano-credit
 */
export function parsePrice(pricing: Readonly<Record<string, unknown>>): Price {
  const unit = pricing["unit"] as PriceUnit;
  const batch = textIn(pricing, "batch_factor");
  const share = batch === undefined ? {} : { batchMillionths: Number(parseDecimal(batch, BATCH_FACTOR_PLACES)) };
  if (unit !== "per_token") {
    const field = priceField(unit);
    const unitRate = parseRate(pricing, field);
    if (unitRate === undefined) throw new RangeError(`expected ${field} for unit ${unit}`);
    return Object.freeze({ unit, tokenRates: Object.freeze({}), unitRate, ...share });
  }
  const own = parseRates(pricing);
  if (own.tokenRates.input_per_million === undefined)
    throw new RangeError("expected input_per_million for unit per_token");
  const serviceTiers: Partial<Record<ServiceTier, TierRates>> = {};
  for (const tier of SERVICE_TIERS) {
    const text = (pricing["service_tiers"] as Readonly<Record<string, unknown>> | undefined)?.[tier];
    if (text !== undefined) serviceTiers[tier] = withDearerRates(parseRates(text as typeof pricing), own.longContext);
  }
  const tiers = Object.keys(serviceTiers).length === 0 ? {} : { serviceTiers };
  return Object.freeze({ unit, ...own, unitRate: 0n, ...tiers, ...share });
}

function parseRates(text: Readonly<Record<string, unknown>>): TierRates {
  const tokenRates: Partial<Record<TokenRate, bigint>> = {};
  for (const field of TOKEN_RATES) {
    const value = parseRate(text, field);
    if (value !== undefined) tokenRates[field] = value;
  }
  const long = text["long_context"] as (Readonly<Record<string, unknown>> & { above_tokens: number }) | undefined;
  if (long === undefined) return { tokenRates: Object.freeze(tokenRates) };
  const longContext = Object.freeze({ aboveTokens: long.above_tokens, ...parseRates(long) });
  return { tokenRates: Object.freeze(tokenRates), longContext };
}

function parseRate(pricing: Readonly<Record<string, unknown>>, field: string): bigint | undefined {
  const text = textIn(pricing, field);
  if (text === undefined) return undefined;
  const value = parseDecimal(text, 9);
  if (value < 0n) throw new RangeError(`${field} must not be negative, got "${text}"`);
  return value;
}

function textIn(pricing: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const text = pricing[field];
  return typeof text === "string" ? text : undefined;
}

/**
 * Selects the price of a call from the model's price and its `price_variants`.
 * @param asked parameters of the call, including the model's defaults, without parameters for which the model has no field
 */
export function priceOf(
  model: Pick<Model, "price" | "price_variants">,
  asked: Readonly<Record<string, unknown>>,
): Price {
  const said: Readonly<Record<string, unknown>> = { ...asked, prompt_extend: asked["prompt_extend"] ?? true };
  const fits = model.price_variants?.find(({ when }) =>
    Object.entries(when).every(([name, value]) => said[name] === value),
  );
  return fits?.price ?? model.price;
}

/** Returns the member of the pricing that contains the rate of a unit: `per_megapixel` → `megapixel_price`. */
export function priceField(unit: string): string {
  return `${unit.slice("per_".length)}_price`;
}

/** Returns the charge of a token usage in nano-credits. The sum is rounded up once. */
export function priceTokens({ tokenRates }: Pick<Price, "tokenRates">, usage: TokenUsage): bigint {
  const rate = (name: TokenRate): bigint => rateOf(tokenRates, name);
  const sum =
    BigInt(usage.input) * rate("input_per_million") +
    BigInt(usage.cachedInput) * rate("cached_input_per_million") +
    BigInt(usage.cacheWrite5m) * rate("cache_write_per_million") +
    BigInt(usage.cacheWrite1h) * rate("cache_write_1h_per_million") +
    BigInt(usage.audioInput) * rate("audio_input_per_million") +
    BigInt(usage.imageInput) * rate("image_input_per_million") +
    BigInt(usage.output) * rate("output_per_million") +
    BigInt(usage.audioOutput) * rate("audio_output_per_million") +
    BigInt(usage.imageOutput) * rate("image_output_per_million");
  return (sum + MILLION - 1n) / MILLION;
}

/**
 * Returns the charge of a chat call in nano-credits: by tokens, or the flat price of a model with a price per request.
 * @param tier service tier that served the call; undefined for the price itself
 */
export function priceChat(price: Price, usage: TokenUsage, tier?: ServiceTier): bigint {
  if (price.unit !== "per_token") return price.unitRate;
  return priceTokens(ratesOf(price, tier, promptTokens(usage)), usage);
}

/**
 * Returns the maximum charge of a chat call in nano-credits, for its hold. Every input token counts at the highest input rate that the
 * request can cause, every output token at the highest output rate. The most expensive service tier that can serve the request counts.
 */
export function boundChat(
  price: Price,
  bound: {
    inputTokens: number;
    outputTokens: number;
    hasAudioInput: boolean;
    hasImageInput: boolean;
    hasAudioOutput: boolean;
    /** Requested service tier. */
    serviceTier?: string | null | undefined;
  },
): bigint {
  if (price.unit !== "per_token") return price.unitRate;
  let most = 0n;
  for (const rates of possibleRates(price, bound.serviceTier, bound.inputTokens)) {
    const inputRates = [
      rates.input_per_million,
      // No known price list has a higher rate for cached input, but a hold must cover it.
      rates.cached_input_per_million,
      rates.cache_write_per_million,
      rates.cache_write_1h_per_million,
      bound.hasAudioInput ? rates.audio_input_per_million : undefined,
      bound.hasImageInput ? rates.image_input_per_million : undefined,
    ];
    const outputRates = [rates.output_per_million, bound.hasAudioOutput ? rates.audio_output_per_million : undefined];
    const sum = BigInt(bound.inputTokens) * maximum(inputRates) + BigInt(bound.outputTokens) * maximum(outputRates);
    if (sum > most) most = sum;
  }
  return (most + MILLION - 1n) / MILLION;
}

/** Returns the share of the price that a batch line pays. @param usualMillionths share of the deployment, in millionths */
export function batchLineOf(
  { batchMillionths }: Pick<Price, "batchMillionths">,
  usualMillionths: number,
): { readonly price_millionths: number } {
  return { price_millionths: batchMillionths ?? usualMillionths };
}

/** Prefixes of the rates of long contexts, and of their threshold, in a serialized price. */
const LONG = "long_context.";
const ABOVE = `${LONG}above_tokens`;

/** Serializes a price for a queue message, without `batchMillionths`. */
export function serializePrice(price: Price): SerializedPrice {
  const out: Record<string, string> = { unit: price.unit };
  if (price.unit !== "per_token") out["unit_rate"] = price.unitRate.toString();
  serializeRates(price, "", out);
  for (const [tier, rates] of Object.entries(price.serviceTiers ?? {})) serializeRates(rates, `${tier}.`, out);
  return out;
}

function serializeRates({ tokenRates, longContext }: TierRates, prefix: string, out: Record<string, string>): void {
  for (const field of TOKEN_RATES) {
    const value = tokenRates[field];
    if (value !== undefined) out[prefix + field] = value.toString();
  }
  if (longContext === undefined) return;
  out[prefix + ABOVE] = String(longContext.aboveTokens);
  serializeRates({ tokenRates: longContext.tokenRates }, prefix + LONG, out);
}

/** Parses the result of `serializePrice`. @throws SyntaxError if a rate is not the text of an integer */
export function deserializePrice(text: SerializedPrice): Price {
  const serviceTiers: Partial<Record<ServiceTier, TierRates>> = {};
  for (const tier of SERVICE_TIERS) {
    const rates = deserializeRates(text, `${tier}.`);
    if (rates.tokenRates.input_per_million !== undefined) serviceTiers[tier] = rates;
  }
  return {
    unit: text["unit"] as PriceUnit,
    ...deserializeRates(text, ""),
    unitRate: BigInt(text["unit_rate"] ?? "0"),
    ...(Object.keys(serviceTiers).length === 0 ? {} : { serviceTiers }),
  };
}

function deserializeRates(text: SerializedPrice, prefix: string): TierRates {
  const tokenRates: Partial<Record<TokenRate, bigint>> = {};
  for (const field of TOKEN_RATES) {
    const value = text[prefix + field];
    if (value !== undefined) tokenRates[field] = BigInt(value);
  }
  const above = text[prefix + ABOVE];
  if (above === undefined) return { tokenRates };
  const longContext = { aboveTokens: Number(above), ...deserializeRates(text, prefix + LONG) };
  return { tokenRates, longContext };
}

function maximum(rates: readonly (bigint | undefined)[]): bigint {
  let best = 0n;
  for (const rate of rates) if (rate !== undefined && rate > best) best = rate;
  return best;
}
