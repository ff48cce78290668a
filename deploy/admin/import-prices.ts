/**
 * Converts LiteLLM's prices (US dollars per token, second, image or character) to catalogue prices in credits. The conversion is exact and
 * uses no floats.
 */
import type { PricingText } from "#schemas/generated/types.ts";
import { parseDecimal } from "#shared/base/money.ts";
import { TOKEN_RATES, type TokenRate } from "#shared/calls/pricing/rates.ts";

import { type Members, type Notes, ownOf } from "./import-notes.ts";

/** Credits per US dollar: 1 credit is 0.01 US dollar. */
const CREDITS_PER_DOLLAR = 100n;
const MILLION = 1_000_000n;
const PLACES_MAX = 9;

type Unit = NonNullable<PricingText["unit"]>;
type Rate = Exclude<keyof PricingText, "long_context" | "service_tiers">;

interface Field {
  readonly unit: Unit;
  readonly rate: Rate;
  /**
   * Number of LiteLLM's price units in one price unit of the catalogue. Example: 1,000,000 for a price per token, which the catalogue
   * states per million tokens.
   */
  readonly factor: bigint;
}

const token = (rate: Rate): Field => ({ unit: "per_token", rate, factor: MILLION });
const image: Field = { unit: "per_image", rate: "image_price", factor: 1n };

const FIELDS: Readonly<Record<string, Field>> = {
  input_cost_per_token: token("input_per_million"),
  output_cost_per_token: token("output_per_million"),
  cache_read_input_token_cost: token("cached_input_per_million"),
  cache_creation_input_token_cost: token("cache_write_per_million"),
  cache_creation_input_token_cost_above_1hr: token("cache_write_1h_per_million"),
  input_cost_per_audio_token: token("audio_input_per_million"),
  output_cost_per_audio_token: token("audio_output_per_million"),
  input_cost_per_image_token: token("image_input_per_million"),
  output_cost_per_image_token: token("image_output_per_million"),
  input_cost_per_request: { unit: "per_request", rate: "request_price", factor: 1n },
  input_cost_per_query: { unit: "per_request", rate: "request_price", factor: 1n },
  input_cost_per_character: { unit: "per_character", rate: "character_price", factor: 1n },
  input_cost_per_image: image,
  output_cost_per_image: image,
  input_cost_per_second: { unit: "per_minute", rate: "minute_price", factor: 60n },
};

/** Price units that the catalogue accepts for each modality. */
const UNITS: Readonly<Record<string, readonly Unit[]>> = {
  text: ["per_token", "per_request"],
  embedding: ["per_token", "per_request"],
  image: ["per_image", "per_token"],
  audio: ["per_character", "per_token", "per_request"],
  stt: ["per_minute", "per_token", "per_request"],
};

/** True for members of `litellm_params` and `model_info` that are prices. */
export function isPrice(name: string): boolean {
  return /(^|_)cost(_|$)/.test(name);
}

/**
 * Returns the catalogue prices among the members; undefined when none can be imported. Adds a note for each price that is not imported.
 * @param modality modality of the model; a price is not imported if the modality does not support its unit
 */
export function pricesOf(members: Members, modality: string, place: string, notes: Notes): PricingText | undefined {
  const found = new Map<Unit, Map<Rate, string>>();
  const tiers: TierPrice[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (!isPrice(name) || value === null) continue;
    const { base, ...tier } = tierOf(name);
    const field = ownOf(FIELDS, base);
    const at = `${place}.${name}`;
    if (
      field === undefined ||
      !UNITS[modality]?.includes(field.unit) ||
      (base !== name && field.unit !== "per_token")
    ) {
      notes.add(at, "a catalogue has no such price for this kind of model");
      continue;
    }
    const credits = creditsOf(value, field.factor);
    if (credits === undefined) {
      notes.add(at, `expected US dollars as a number of 0 or more that has at most ${PLACES_MAX} places in credits`);
      continue;
    }
    if (base !== name) {
      tiers.push({ ...tier, rate: field.rate as TokenRate, credits, at });
      continue;
    }
    const rates = found.get(field.unit) ?? new Map<Rate, string>();
    found.set(field.unit, rates.set(field.rate, credits));
  }
  const [first, ...others] = UNITS[modality]?.filter((unit) => found.has(unit)) ?? [];
  if (first === undefined) return undefined;
  if (others.length > 0)
    notes.add(place, `a model has prices of one unit: ${first} was taken, not ${others.join(", ")}`);
  const pricing: PricingText = { unit: first, ...Object.fromEntries(found.get(first) ?? []) };
  return first === "per_token" && tiers.length > 0 ? withTiers(pricing, tiers, modality === "text", notes) : pricing;
}

/**
 * Merges two prices: each rate is the higher of the two, because a model with several sources has one price. If the units differ, only the
 * first price counts.
 */
export function dearest(first: PricingText | undefined, second: PricingText | undefined): PricingText | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first.unit !== second.unit) return first;
  const { batch_factor: factor, ...merged } = dearer(withTiersOf(first, second), withTiersOf(second, first));
  // A source without a factor charges the full price for a batch line.
  const hasFactor = first.batch_factor !== undefined && second.batch_factor !== undefined;
  return completed({ ...merged, ...(hasFactor && factor !== undefined && { batch_factor: factor }) });
}

/**
 * Returns a price with every tier that another price has. A source without a tier serves its calls at its plain rates, so these are the
 * rates of the tier.
 */
function withTiersOf(price: PricingText, other: PricingText): PricingText {
  const plain: RatesText = Object.fromEntries(
    TOKEN_RATES.flatMap((rate) => (price[rate] === undefined ? [] : [[rate, price[rate]]])),
  );
  const longOf = (rates: RatesText, like: PricingText["long_context"]): PricingText["long_context"] =>
    like?.above_tokens === undefined ? undefined : { above_tokens: like.above_tokens, ...rates };
  const long = price.long_context ?? longOf(plain, other.long_context);
  const names = (["flex", "priority"] as const).filter(
    (name) => price.service_tiers?.[name] ?? other.service_tiers?.[name],
  );
  const tiers = names.map((name) => {
    const { long_context: own, ...rates } = price.service_tiers?.[name] ?? { ...plain };
    const like = longOf(rates, long ?? other.service_tiers?.[name]?.long_context);
    const tierLong = own ?? (like && long ? dearer(like, long) : like);
    return [name, { ...rates, ...(tierLong && { long_context: tierLong }) }] as const;
  });
  return {
    ...price,
    ...(long && { long_context: long }),
    ...(tiers.length > 0 && { service_tiers: Object.fromEntries(tiers) }),
  };
}

function dearer<Value extends object>(first: Value, second: Value): Value {
  const merged = { ...first } as Record<string, unknown>;
  for (const [name, value] of Object.entries(second) as [string, unknown][]) {
    const before = merged[name];
    if (before === undefined) merged[name] = value;
    else if (typeof before === "number" && typeof value === "number") merged[name] = Math.min(before, value);
    else if (typeof before === "object" && typeof value === "object")
      merged[name] = dearer(before as object, value as object);
    else if (typeof before === "string" && typeof value === "string" && name !== "unit" && name !== "currency")
      merged[name] = higher(before, value);
  }
  return merged as Value;
}

function higher(one: string, other: string): string {
  return parseDecimal(other, PLACES_MAX) > parseDecimal(one, PLACES_MAX) ? other : one;
}

// Prices of service tiers, long contexts and batches. LiteLLM names them by a suffix, such as `_above_272k_tokens_flex`.

interface Tier {
  readonly tier: "flex" | "priority" | "batches" | undefined;
  /** Number of input tokens above which the price applies. */
  readonly aboveTokens: number | undefined;
}

interface TierPrice extends Tier {
  readonly rate: TokenRate;
  readonly credits: string;
  readonly at: string;
}

const TIER_SUFFIX = /_(?:above_(\d{1,5})k_tokens|(flex|priority|batches))$/;

/** Splits the name of a price into the name of the price that it replaces, and its tier. */
function tierOf(name: string): Tier & { readonly base: string } {
  let [base, tier, aboveTokens]: [string, Tier["tier"], number | undefined] = [name, undefined, undefined];
  for (let suffix = TIER_SUFFIX.exec(base); suffix !== null; suffix = TIER_SUFFIX.exec(base)) {
    base = base.slice(0, suffix.index);
    if (suffix[1] === undefined) tier = suffix[2] as Tier["tier"];
    else aboveTokens = Number(suffix[1]) * 1_000;
  }
  return { base, tier, aboveTokens };
}

type RatesText = Partial<Record<TokenRate, string>>;

/** Adds the prices of tiers to a price. @param isChat true if the model may have other tiers than batches */
function withTiers(pricing: PricingText, prices: readonly TierPrice[], isChat: boolean, notes: Notes): PricingText {
  const ratesFor = (tier: Tier["tier"], isLong: boolean): RatesText | undefined => {
    const rates: RatesText = {};
    for (const one of prices) {
      if (one.tier !== tier || (one.aboveTokens !== undefined) !== isLong) continue;
      const before = rates[one.rate];
      rates[one.rate] = before === undefined ? one.credits : higher(before, one.credits);
    }
    return Object.keys(rates).length === 0 ? undefined : rates;
  };
  const longOf = (tier: Tier["tier"]): PricingText["long_context"] => {
    const rates = ratesFor(tier, true);
    const limits = prices.filter((one) => one.tier === tier).flatMap((one) => one.aboveTokens ?? []);
    if (rates === undefined) return undefined;
    const above_tokens = Math.min(...limits);
    if (limits.some((limit) => limit !== above_tokens)) {
      const at = prices.find((one) => one.tier === tier && one.aboveTokens !== undefined)?.at ?? "";
      notes.add(at, `a price has one threshold: the highest of these prices apply above ${above_tokens} input tokens`);
    }
    return { above_tokens, ...rates };
  };
  const batches = ratesFor("batches", false);
  const factor = batches && factorOf(pricing, batches);
  const batch = factor === undefined ? {} : { batch_factor: factor };
  if (!isChat) {
    const others = prices.filter((one) => one.tier !== "batches" || one.aboveTokens !== undefined);
    for (const { at } of others) notes.add(at, "a catalogue has no such price for this kind of model");
    return { ...pricing, ...batch };
  }
  const long = longOf(undefined);
  const serviceTiers = (["flex", "priority"] as const).flatMap((tier) => {
    const [rates, longRates] = [ratesFor(tier, false), longOf(tier)];
    if (rates === undefined && longRates === undefined) return [];
    return [[tier, { ...rates, ...(longRates && { long_context: longRates }) }] as const];
  });
  return completed({
    ...pricing,
    ...(long && { long_context: long }),
    ...(serviceTiers.length > 0 && { service_tiers: Object.fromEntries(serviceTiers) }),
    ...batch,
  });
}

/** Returns the share of the price that a batch costs: the highest share of its rates, rounded up to millionths; undefined if none is known. */
function factorOf(pricing: PricingText, batches: RatesText): string | undefined {
  const shares = (Object.entries(batches) as [TokenRate, string][]).flatMap(([rate, text]) => {
    const [full, part] = [parseDecimal(pricing[rate] ?? "0", PLACES_MAX), parseDecimal(text, PLACES_MAX)];
    return full === 0n || part === 0n ? [] : [(part * MILLION + full - 1n) / full];
  });
  if (shares.length === 0) return undefined;
  const most = shares.reduce((one, other) => (other > one ? other : one));
  return decimalText(most < MILLION ? most : MILLION, 6);
}

/**
 * Adds the rates that tiers lack to a price, because a catalogue requires each rate of the price in each tier. An added rate is the higher
 * of the price's rate and the rate that replaces it in the tier.
 */
function completed({ long_context: long, service_tiers: tiers, ...pricing }: PricingText): PricingText {
  return {
    ...pricing,
    ...(long && { long_context: completedRates(long, pricing) }),
    ...(tiers && {
      service_tiers: Object.fromEntries(
        Object.entries(tiers).map(([tier, { long_context: own, ...rates }]) => {
          const whole = completedRates(rates, pricing);
          return [tier, { ...whole, ...(own && { long_context: completedRates(own, whole) }) }];
        }),
      ),
    }),
  };
}

function completedRates<Rates extends RatesText>(rates: Rates, base: RatesText): Rates {
  const whole: RatesText = { ...rates };
  for (const rate of TOKEN_RATES) {
    const [own, plain] = [base[rate], rate.includes("output") ? "output_per_million" : "input_per_million"] as const;
    if (whole[rate] !== undefined || own === undefined) continue;
    whole[rate] = higher(own, rates[plain] ?? own);
  }
  return whole as Rates;
}

/**
 * Converts US dollars per LiteLLM unit to credits per `factor` such units, as decimal text. Returns undefined if `dollars` is not a number
 * of 0 or more, or the result has too many decimal places.
 */
export function creditsOf(dollars: unknown, factor: bigint): string | undefined {
  const text = typeof dollars === "number" || typeof dollars === "string" ? String(dollars).trim() : "";
  // Bounded: a text of a million digits takes minutes as a number.
  const [, whole = "", fraction = "", power = "0"] =
    /^(\d{0,60})(?:\.(\d{0,60}))?(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? [];
  const digits = `${whole}${fraction}`;
  if (digits === "") return undefined;
  const places = fraction.length - Number(power);
  const scaled = BigInt(digits) * CREDITS_PER_DOLLAR * factor * 10n ** BigInt(Math.max(0, -places));
  return decimalText(scaled, Math.max(0, places));
}

/** Returns `scaled` ÷ 10^`places` as decimal text without trailing zeros; undefined when more than nine decimal places are needed. */
function decimalText(scaled: bigint, places: number): string | undefined {
  const digits = scaled.toString().padStart(places + 1, "0");
  const at = digits.length - places;
  const fraction = digits.slice(at).replace(/0+$/, "");
  if (fraction.length > PLACES_MAX) return undefined;
  return fraction === "" ? digits.slice(0, at) : `${digits.slice(0, at)}.${fraction}`;
}
