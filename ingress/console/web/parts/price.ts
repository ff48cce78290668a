/** Prices of models and capabilities with their units. */
import type { CapabilityEntry, ModelEntry, Pricing } from "#schemas/generated/types.ts";

const UNITS: Readonly<Record<Pricing["unit"], string>> = {
  per_token: "million tokens",
  per_request: "call",
  per_image: "image",
  per_second: "second",
  per_minute: "minute",
  per_character: "million characters",
  per_operation: "run",
  per_megapixel: "megapixel",
};

/** Number of units of a shown price: a single character costs too little to be read. */
const COUNTS: Partial<Record<Pricing["unit"], number>> = { per_character: 1_000_000 };

/** Returns a price in one sentence, such as `10 credits per million input tokens, 40 per million output tokens`. */
function priceText(pricing: Pricing): string {
  if (pricing.unit === "per_token") {
    const { input_per_million: input = 0, output_per_million: output } = pricing;
    return `${creditsText(input)} per million input tokens${output === undefined ? "" : `, ${output} per million output tokens`}`;
  }
  return `${creditsText(unitPrice(pricing))} per ${UNITS[pricing.unit]}`;
}

/** Returns the hint of a field for a model: its price. Undefined while the models are loading. @param entry the chosen model, if it is listed */
export function modelHint(
  models: readonly ModelEntry[] | undefined,
  entry: ModelEntry | undefined,
): string | undefined {
  if (models === undefined) return undefined;
  return entry ? priceText(entry._svc.pricing) : "The list does not contain this name. The call may still work.";
}

/** Returns the price of a capability with its minimum charge, such as `0.1 credits per megapixel, at least 0.5 megapixels`. */
export function capabilityPriceText({ pricing, minimum_megapixels: least }: CapabilityEntry): string {
  if (pricing === undefined) return "Free";
  return least === undefined ? priceText(pricing) : `${priceText(pricing)}, at least ${least} megapixels`;
}

function creditsText(credits: number): string {
  return credits === 1 ? "1 credit" : `${credits} credits`;
}

/** Returns the price of a unit that is not a token, in credits. */
function unitPrice(pricing: Pricing): number {
  const name = `${pricing.unit.replace("per_", "")}_price` as keyof Pricing;
  const exact = Number(pricing[name] ?? 0) * (COUNTS[pricing.unit] ?? 1);
  return Number(exact.toPrecision(12));
}

export interface Rate {
  readonly name: string;
  readonly credits: number;
  readonly per: string;
}

/** Returns all rates of a price: of tokens by kind, of long inputs and of service tiers. */
export function ratesOf(pricing: Pricing): readonly Rate[] {
  if (pricing.unit !== "per_token") return [{ name: "Price", credits: unitPrice(pricing), per: UNITS[pricing.unit] }];
  const tiers = Object.entries(pricing.service_tiers ?? {}) as readonly (readonly [string, object])[];
  const long = pricing.long_context;
  return [
    ...tokenRates(pricing, ""),
    ...(long === undefined ? [] : tokenRates(long, `, above ${long.above_tokens.toLocaleString("en")} input tokens`)),
    ...tiers.flatMap(([tier, rates]) => tokenRates(rates, `, tier ${tier}`)),
  ];
}

function tokenRates(rates: object, suffix: string): readonly Rate[] {
  return Object.entries(rates).flatMap(([name, credits]) => {
    const kind = /^(.*)_per_million$/.exec(name)?.[1];
    if (kind === undefined || typeof credits !== "number") return [];
    const words = kind.replaceAll("_", " ");
    return [{ name: words.slice(0, 1).toUpperCase() + words.slice(1) + suffix, credits, per: UNITS.per_token }];
  });
}

/** Returns a price for a table whose head names the credits, such as `10 in, 40 out / M tokens`. */
export function shortPrice(pricing: Pricing): string {
  if (pricing.unit !== "per_token")
    return `${unitPrice(pricing).toLocaleString("en", { maximumFractionDigits: 12 })} / ${UNITS[pricing.unit]}`;
  const { input_per_million: input = 0, output_per_million: output } = pricing;
  return output === undefined ? `${input} / M tokens` : `${input} in, ${output} out / M tokens`;
}
