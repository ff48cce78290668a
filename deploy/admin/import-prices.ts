/**
 * Converts LiteLLM's prices (US dollars per token, second, image or character) to catalogue prices in credits. The conversion is exact and
 * uses no floats.
 */
import type { PricingText } from "#schemas/generated/types.ts";
import { parseDecimal } from "#shared/base/money.ts";

import { type Members, type Notes, ownOf } from "./import-notes.ts";

/** Credits per US dollar: 1 credit is 0.01 US dollar. */
const CREDITS_PER_DOLLAR = 100n;
const MILLION = 1_000_000n;
const PLACES_MAX = 9;

type Unit = NonNullable<PricingText["unit"]>;
type Rate = keyof PricingText;

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
  for (const [name, value] of Object.entries(members)) {
    if (!isPrice(name) || value === null) continue;
    const field = ownOf(FIELDS, name);
    const at = `${place}.${name}`;
    if (field === undefined || !UNITS[modality]?.includes(field.unit)) {
      notes.add(at, "a catalogue has no such price for this kind of model");
      continue;
    }
    const credits = creditsOf(value, field.factor);
    if (credits === undefined) {
      notes.add(at, `expected US dollars as a number of 0 or more that has at most ${PLACES_MAX} places in credits`);
      continue;
    }
    const rates = found.get(field.unit) ?? new Map<Rate, string>();
    found.set(field.unit, rates.set(field.rate, credits));
  }
  const [first, ...others] = UNITS[modality]?.filter((unit) => found.has(unit)) ?? [];
  if (first === undefined) return undefined;
  if (others.length > 0)
    notes.add(place, `a model has prices of one unit: ${first} was taken, not ${others.join(", ")}`);
  return { unit: first, ...Object.fromEntries(found.get(first) ?? []) };
}

/**
 * Merges two prices: each rate is the higher of the two, because a model with several sources has one price. If the units differ, only the
 * first price counts.
 */
export function dearest(first: PricingText | undefined, second: PricingText | undefined): PricingText | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first.unit !== second.unit) return first;
  const rates = Object.entries(second).filter(([rate, text]) => {
    const before = first[rate as Rate];
    return (
      rate !== "unit" && (before === undefined || parseDecimal(text, PLACES_MAX) > parseDecimal(before, PLACES_MAX))
    );
  });
  return { ...first, ...Object.fromEntries(rates) };
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
