/**
 * Selects the token rates of a call, by its service tier and the number of its input tokens. Pure. OpenAI and Anthropic report the service
 * tier in the answer; it may differ from the requested one. Sources: platform.openai.com/docs/api-reference/chat/object,
 * platform.claude.com/docs/en/api/service-tiers.
 */
import type { Price } from "./price.ts";
import {
  rateOf,
  SERVICE_TIERS,
  type ServiceTier,
  type TierRates,
  TOKEN_RATES,
  type TokenRate,
  type TokenRates,
} from "./rates.ts";

/** Value of `service_tier` that lets the provider choose the tier. */
const ANY_TIER = "auto";

/**
 * Returns the service tier whose rates a call pays; undefined for the price itself. A call never pays for a tier that it did not allow.
 * @param asked `service_tier` of the request
 * @param reported tier that the provider reported; if absent, the requested tier counts
 */
export function chargedTier(asked: string | null | undefined, reported: unknown): ServiceTier | undefined {
  const served = typeof reported === "string" && reported !== ANY_TIER ? reported : asked;
  return allowedTiers(asked).find((tier) => tier === served);
}

/** Returns the tiers with a price of their own that may serve a request, beside the standard tier. */
function allowedTiers(asked: string | null | undefined): readonly ServiceTier[] {
  return asked === ANY_TIER ? SERVICE_TIERS : SERVICE_TIERS.filter((tier) => tier === asked);
}

/** Returns the rates of a call. @param tier see `chargedTier`. A tier without a price of its own has the rates of the price. */
export function ratesOf(price: Price, tier: ServiceTier | undefined, inputTokens: number): Pick<Price, "tokenRates"> {
  const rates = (tier && price.serviceTiers?.[tier]) ?? price;
  return isLong(rates, inputTokens) ? rates.longContext : rates;
}

/** Returns true if the input of a call is so long that the rates for long contexts apply. */
function isLong(rates: TierRates, inputTokens: number): rates is TierRates & Required<Pick<TierRates, "longContext">> {
  return rates.longContext !== undefined && inputTokens > rates.longContext.aboveTokens;
}

/** Returns the names under which the usage record counts a call at other rates than the price itself; each count is 1. */
export function tierUnits(
  price: Price,
  tier: ServiceTier | undefined,
  inputTokens: number,
): Readonly<Record<string, number>> {
  const priced = tier !== undefined && price.serviceTiers?.[tier] !== undefined ? tier : undefined;
  const rates = (priced && price.serviceTiers?.[priced]) ?? price;
  return {
    ...(priced === undefined ? {} : { [`${priced}_requests`]: 1 }),
    ...(isLong(rates, inputTokens) ? { long_context_requests: 1 } : {}),
  };
}

/**
 * Returns all rates at which a request with at most `inputTokensMax` input tokens may be charged.
 * @param asked `service_tier` of the request
 */
export function possibleRates(price: Price, asked: string | null | undefined, inputTokensMax: number): TokenRates[] {
  const tiers = [price, ...allowedTiers(asked).flatMap((tier) => price.serviceTiers?.[tier] ?? [])];
  return tiers.flatMap((rates) =>
    isLong(rates, inputTokensMax) ? [rates.tokenRates, rates.longContext.tokenRates] : [rates.tokenRates],
  );
}

/**
 * Completes the rates of a service tier that has no rates for long contexts. A token then costs the higher of the tier's rate and the
 * model's rate for long contexts, so that no call costs less than at the provider.
 */
export function withDearerRates(tier: TierRates, long: TierRates["longContext"]): TierRates {
  if (tier.longContext !== undefined || long === undefined) return tier;
  const tokenRates: Partial<Record<TokenRate, bigint>> = {};
  for (const name of TOKEN_RATES) {
    if (tier.tokenRates[name] === undefined && long.tokenRates[name] === undefined) continue;
    const [own, other] = [rateOf(tier.tokenRates, name), rateOf(long.tokenRates, name)];
    tokenRates[name] = own > other ? own : other;
  }
  return { ...tier, longContext: { aboveTokens: long.aboveTokens, tokenRates } };
}
