/**
 * Calculates charges in nano-credits from price and usage. Pure. Rates are bigints: nano-credits per million tokens, or per unit. An absent
 * token rate falls back to the plain input or output rate.
 */
import type { Model } from "#shared/calls/model.ts";
import { parseDecimal } from "#shared/base/money.ts";

import type { TokenUsage } from "./usage.ts";

export type PriceUnit =
  | "per_token"
  | "per_request"
  | "per_image"
  | "per_second"
  | "per_minute"
  | "per_character"
  | "per_operation"
  | "per_megapixel";

const TOKEN_RATES = [
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

type TokenRate = (typeof TOKEN_RATES)[number];

export interface Price {
  readonly unit: PriceUnit;
  /** Nano-credits per million tokens, by type of token; empty unless the unit is per_token. */
  readonly tokenRates: Readonly<Partial<Record<TokenRate, bigint>>>;
  /** Nano-credits per unit; 0 if the unit is per_token. */
  readonly unitRate: bigint;
}

/** Price in a queue message: the integers of `Price` as decimal text. */
export type SerializedPrice = Readonly<Record<string, string>>;

const MILLION = 1_000_000n;

/**
 * Converts the decimal price text of a catalogue file to exact rates.
 * @throws RangeError for a value that is not a decimal, is negative, or has a part smaller than a nano-credit
 */
export function parsePrice(pricing: Readonly<Record<string, string>>): Price {
  const unit = pricing["unit"] as PriceUnit;
  const rate = (field: string): bigint | undefined => {
    const text = pricing[field];
    if (text === undefined) return undefined;
    const value = parseDecimal(text, 9);
    if (value < 0n) throw new RangeError(`${field} must not be negative, got "${text}"`);
    return value;
  };
  if (unit !== "per_token") {
    const field = priceField(unit);
    const unitRate = rate(field);
    if (unitRate === undefined) throw new RangeError(`expected ${field} for unit ${unit}`);
    return Object.freeze({ unit, tokenRates: Object.freeze({}), unitRate });
  }
  const tokenRates: Partial<Record<TokenRate, bigint>> = {};
  for (const field of TOKEN_RATES) {
    const value = rate(field);
    if (value !== undefined) tokenRates[field] = value;
  }
  if (tokenRates.input_per_million === undefined) throw new RangeError("expected input_per_million for unit per_token");
  return Object.freeze({ unit, tokenRates: Object.freeze(tokenRates), unitRate: 0n });
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
export function priceTokens(price: Price, usage: TokenUsage): bigint {
  const rates = price.tokenRates;
  const input = rates.input_per_million ?? 0n;
  const output = rates.output_per_million ?? 0n;
  const sum =
    BigInt(usage.input) * input +
    BigInt(usage.cachedInput) * (rates.cached_input_per_million ?? input) +
    BigInt(usage.cacheWrite5m) * (rates.cache_write_per_million ?? input) +
    BigInt(usage.cacheWrite1h) * (rates.cache_write_1h_per_million ?? rates.cache_write_per_million ?? input) +
    BigInt(usage.audioInput) * (rates.audio_input_per_million ?? input) +
    BigInt(usage.imageInput) * (rates.image_input_per_million ?? input) +
    BigInt(usage.output) * output +
    BigInt(usage.audioOutput) * (rates.audio_output_per_million ?? output) +
    BigInt(usage.imageOutput) * (rates.image_output_per_million ?? output);
  return (sum + MILLION - 1n) / MILLION;
}

/** Returns the charge of a chat call in nano-credits: by tokens, or the flat price of a model with a price per request. */
export function priceChat(price: Price, usage: TokenUsage): bigint {
  return price.unit === "per_token" ? priceTokens(price, usage) : price.unitRate;
}

/**
 * Returns the maximum charge of a chat call in nano-credits, for its hold. Every input token counts at the highest input rate that the
 * request can cause, every output token at the highest output rate.
 */
export function boundChat(
  price: Price,
  bound: {
    inputTokens: number;
    outputTokens: number;
    hasAudioInput: boolean;
    hasImageInput: boolean;
    hasAudioOutput: boolean;
  },
): bigint {
  if (price.unit !== "per_token") return price.unitRate;
  const rates = price.tokenRates;
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
  return (sum + MILLION - 1n) / MILLION;
}

export function serializePrice(price: Price): SerializedPrice {
  const out: Record<string, string> = { unit: price.unit };
  if (price.unit !== "per_token") out["unit_rate"] = price.unitRate.toString();
  for (const field of TOKEN_RATES) {
    const value = price.tokenRates[field];
    if (value !== undefined) out[field] = value.toString();
  }
  return out;
}

/** Parses the result of `serializePrice`. @throws SyntaxError if a rate is not the text of an integer */
export function deserializePrice(text: SerializedPrice): Price {
  const tokenRates: Partial<Record<TokenRate, bigint>> = {};
  for (const field of TOKEN_RATES) {
    const value = text[field];
    if (value !== undefined) tokenRates[field] = BigInt(value);
  }
  return { unit: text["unit"] as PriceUnit, tokenRates, unitRate: BigInt(text["unit_rate"] ?? "0") };
}

function maximum(rates: readonly (bigint | undefined)[]): bigint {
  let best = 0n;
  for (const rate of rates) if (rate !== undefined && rate > best) best = rate;
  return best;
}
