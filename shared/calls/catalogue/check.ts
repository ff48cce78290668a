/** Checks complete entries after all files are merged. The schema has already checked each file separately. */
import type {
  CatalogueCapability,
  CatalogueModel,
  PresetEntry,
  PricingText,
  ProviderEntry,
} from "#schemas/generated/types.ts";

import { findCapability } from "#shared/calls/capabilities/list.ts";
import { priceField } from "#shared/calls/pricing/price.ts";
import { TOKEN_RATES } from "#shared/calls/pricing/rates.ts";

import { type CatalogueFault, quote } from "./faults.ts";
import { faultAt } from "./layer.ts";
import { secondsOf } from "./seconds.ts";
import type { Merged } from "./merge.ts";

const CHAT_INPUTS = ["text", "image", "audio", "file"];
/** Price units by which a chat or embeddings call can be metered. */
const CALL_UNITS = ["per_token", "per_request"];
/** Members of a pricing that contain further token rates. */
const TIER_MEMBERS: readonly string[] = ["long_context", "service_tiers"];
/** Members of a pricing that are no price of its unit. */
const NO_PRICE: ReadonlySet<string> = new Set(["unit", "currency", "batch_factor", ...TIER_MEMBERS]);

/** Returns the faults of one provider. */
export function checkProvider(provider: Merged<ProviderEntry>): CatalogueFault[] {
  const { id, family, base_url } = provider.entry;
  if (family === undefined) return [missing(provider, "family", `the provider ${quote(id)}`)];
  if (family === "sandbox") return [];
  if (base_url === undefined) return [missing(provider, "base_url", `the provider ${quote(id)}`)];
  if (isPlainUrl(base_url)) return [];
  // The address is not repeated, since a password may cause the fault.
  return [fault(provider, ["base_url"], "expected an http or https URL without credentials, query or fragment")];
}

/** Returns the faults of one preset. Both limits are required and may be null, so that no limit is omitted by mistake. */
export function checkPreset(preset: Merged<PresetEntry>): CatalogueFault[] {
  const limits = ["requests_per_minute", "daily_tokens"] as const;
  const absent = limits.filter((limit) => preset.entry[limit] === undefined);
  return absent.map((limit) => missing(preset, limit, `the preset ${quote(preset.entry.name)}`));
}

/** Returns the missing and contradictory members of one model. A model without a price has no fault; it is unroutable. */
export function checkModel(model: Merged<CatalogueModel>, providers: ReadonlyMap<string, unknown>): CatalogueFault[] {
  const { entry } = model;
  const needed: (keyof CatalogueModel)[] = ["modality", "owned_by", "created", "sources"];
  if (entry.supports_chat || entry.supports_embeddings) needed.push("max_context_tokens");
  if (entry.supports_chat) needed.push("max_output_tokens");
  const absent = needed.filter((field) => entry[field] === undefined);
  return [
    ...absent.map((field) => missing(model, field, `the model ${quote(entry.slug)}`)),
    ...checkSources(model, providers),
    ...(entry.supports_chat ? checkChat(model) : []),
    ...(entry.supports_embeddings ? checkEmbedding(model) : []),
    ...(entry.pricing === undefined ? [] : checkPricing(model, entry.pricing)),
    ...checkVariants(model),
    ...checkSeconds(model),
    ...checkFields(model),
  ];
}

/** Price units that every capability accepts, in addition to the units of its own price. */
const RUN_UNITS = ["per_operation", "per_second"];

/** Returns the faults of one capability's entry. */
export function checkCapability(merged: Merged<CatalogueCapability>): CatalogueFault[] {
  const { id, pricing } = merged.entry;
  const capability = findCapability(id);
  if (!capability) return [fault(merged, ["id"], `there is no capability ${quote(id)}`)];
  if (pricing === undefined) return [];
  const units = [...new Set([...RUN_UNITS, capability.pricing["unit"] ?? ""])];
  if (pricing.unit !== undefined && !units.includes(pricing.unit)) {
    const message = `expected ${units.join(" or ")} for the capability ${id}, got ${quote(pricing.unit)}`;
    return [fault(merged, ["pricing", "unit"], message)];
  }
  const members = [...TIER_MEMBERS, "batch_factor"].filter((member) => member in pricing);
  return [
    ...members.map((member) => fault(merged, ["pricing", member], "only the price of a model has this; remove it")),
    ...checkPrices(merged, pricing, `the capability ${quote(id)}`, []),
  ];
}

function checkVariants(model: Merged<CatalogueModel>): CatalogueFault[] {
  const { pricing, price_variants: variants } = model.entry;
  if (variants === undefined || (pricing?.unit !== undefined && pricing.unit !== "per_token")) return [];
  return [fault(model, ["price_variants"], "expected pricing of a unit other than per_token beside it")];
}

/** Returns a fault if a model is charged per second of computing without `compute_seconds_max`. The cost would have no other bound. */
function checkSeconds(model: Merged<CatalogueModel>): CatalogueFault[] {
  const { slug, pricing, compute_seconds_max: max } = model.entry;
  if (pricing?.second_price === undefined || secondsOf(model.entry) === "media" || max !== undefined) return [];
  return [missing(model, "compute_seconds_max", `the model ${quote(slug)}, priced by the second of computing,`)];
}

type Declared = NonNullable<CatalogueModel["allowed_params"]>;

/**
 * Inputs that a source with `fields` must map to a field of its request. The function of each input returns true if the model lets callers
 * choose this input.
 */
const INPUT_OF: readonly (readonly [input: string, isDeclared: (declared: Declared) => boolean])[] = [
  ["n", ({ max_n: most = 1 }) => most > 1],
  ["size", ({ sizes }) => sizes !== undefined],
  ["image_size", ({ image_sizes: labels }) => labels !== undefined],
  ["duration", ({ durations }) => durations !== undefined],
  ["resolution", ({ resolutions }) => resolutions !== undefined],
  ["aspect_ratio", ({ aspect_ratios: ratios }) => ratios !== undefined],
  ["image", ({ accepts_input_image: accepts }) => accepts === true],
];

/**
 * Returns a fault for each input that a model offers but a source with `fields` does not send. A caller might otherwise pay for a choice
 * that never reaches the provider.
 */
function checkFields(model: Merged<CatalogueModel>): CatalogueFault[] {
  const { allowed_params: declared = {}, sources = [] } = model.entry;
  return sources.flatMap(({ fields, overrides }, index) =>
    INPUT_OF.filter(
      ([input, isDeclared]) => fields && isDeclared(declared) && !(input in { ...fields, ...overrides }),
    ).map(([input]) =>
      fault(
        model,
        ["sources", index, "fields"],
        `expected a field for ${input}, which allowed_params lets callers choose`,
      ),
    ),
  );
}

function checkSources(model: Merged<CatalogueModel>, providers: ReadonlyMap<string, unknown>): CatalogueFault[] {
  return (model.entry.sources ?? []).flatMap((source, index) =>
    providers.has(source.provider)
      ? []
      : [
          fault(
            model,
            ["sources", index, "provider"],
            `expected one of ${[...providers.keys()].join(", ")}, got ${quote(source.provider)}`,
          ),
        ],
  );
}

function checkChat(model: Merged<CatalogueModel>): CatalogueFault[] {
  const { max_context_tokens: context, max_output_tokens: output, allowed_params } = model.entry;
  const faults: CatalogueFault[] = [];
  if (context === 0) faults.push(fault(model, ["max_context_tokens"], "expected at least 1 for a chat model, got 0"));
  if (output === 0) faults.push(fault(model, ["max_output_tokens"], "expected at least 1 for a chat model, got 0"));
  if (context !== undefined && output !== undefined && output > context) {
    faults.push(fault(model, ["max_output_tokens"], `expected at most max_context_tokens (${context}), got ${output}`));
  }
  for (const [index, input] of (allowed_params?.supported_inputs ?? []).entries()) {
    if (CHAT_INPUTS.includes(input)) continue;
    const message = `expected one of ${CHAT_INPUTS.join(", ")} for a chat model, got ${quote(input)}`;
    faults.push(fault(model, ["allowed_params", "supported_inputs", index], message));
  }
  return faults;
}

function checkEmbedding(model: Merged<CatalogueModel>): CatalogueFault[] {
  const { slug, max_context_tokens: context, embedding } = model.entry;
  if (embedding?.dimensions === undefined) return [missing(model, "embedding.dimensions", `the model ${quote(slug)}`)];
  const faults: CatalogueFault[] = [];
  const { dimensions, dimensions_min: min = 1, dimensions_max: max } = embedding;
  if (context === 0) {
    faults.push(fault(model, ["max_context_tokens"], "expected at least 1 for an embedding model, got 0"));
  }
  if (max !== undefined && (dimensions < min || dimensions > max)) {
    const message = `expected a length that callers may ask for, ${min} to ${max}, got ${dimensions}`;
    faults.push(fault(model, ["embedding", "dimensions"], message));
  }
  if (max === undefined && embedding.dimensions_min !== undefined) {
    const message = "expected dimensions_max beside it: without that the length cannot be chosen";
    faults.push(fault(model, ["embedding", "dimensions_min"], message));
  }
  return faults;
}

function checkPricing(model: Merged<CatalogueModel>, pricing: PricingText): CatalogueFault[] {
  const { unit } = pricing;
  const owner = `the model ${quote(model.entry.slug)}`;
  if (unit === undefined) return [missing(model, "pricing.unit", owner)];
  const kind = model.entry.supports_chat ? "a chat" : model.entry.supports_embeddings ? "an embedding" : undefined;
  if (kind !== undefined && !CALL_UNITS.includes(unit)) {
    const message = `expected ${CALL_UNITS.join(" or ")} for ${kind} model, got ${quote(unit)}`;
    return [fault(model, ["pricing", "unit"], message)];
  }
  const more = unit === "per_token" && model.entry.supports_chat ? ["output_per_million"] : [];
  return [...checkPrices(model, pricing, owner, more), ...checkTiers(model, pricing)];
}

/** Returns the faults of the rates for long contexts and service tiers. Only chat calls report the tier that served them. */
function checkTiers(model: Merged<CatalogueModel>, pricing: PricingText): CatalogueFault[] {
  const present = TIER_MEMBERS.filter((member) => member in pricing);
  if (present.length === 0) return [];
  if (pricing.unit !== "per_token" || model.entry.supports_chat !== true) {
    const message = "only the price per token of a chat model has this; remove it";
    return present.map((member) => fault(model, ["pricing", member], message));
  }
  const { long_context: long, service_tiers: tiers = {} } = pricing;
  const expected = TOKEN_RATES.filter((rate) => rate in pricing);
  const incomplete = (rates: object | undefined, path: readonly string[]): CatalogueFault[] =>
    rates === undefined
      ? []
      : expected
          .filter((rate) => !(rate in rates))
          .map((rate) => fault(model, [...path, rate], "expected this rate, because the price has it"));
  const longFaults = (rates: PricingText["long_context"], path: readonly string[]): CatalogueFault[] => [
    ...(rates !== undefined && rates.above_tokens === undefined
      ? [fault(model, [...path, "above_tokens"], "expected the number of input tokens above which the rates apply")]
      : []),
    ...incomplete(rates, path),
  ];
  return [
    ...longFaults(long, ["pricing", "long_context"]),
    ...Object.entries(tiers).flatMap(([tier, rates]) => [
      ...incomplete(rates, ["pricing", "service_tiers", tier]),
      ...longFaults(rates.long_context, ["pricing", "service_tiers", tier, "long_context"]),
    ]),
  ];
}

/**
 * Returns the faults of a model's prices.
 * @param more required prices in addition to the unit's own price
 */
function checkPrices(
  model: Merged<object>,
  pricing: PricingText,
  owner: string,
  more: readonly string[],
): CatalogueFault[] {
  const { unit } = pricing;
  if (unit === undefined) return [missing(model, "pricing.unit", owner)];
  const needed = [unit === "per_token" ? "input_per_million" : priceField(unit), ...more];
  const presentFields = Object.keys(pricing).filter((field) => !NO_PRICE.has(field));
  const isAccepted = (field: string): boolean =>
    unit === "per_token" ? field.endsWith("_per_million") : field === priceField(unit);
  return [
    ...needed
      .filter((field) => !presentFields.includes(field))
      .map((field) => missing(model, `pricing.${field}`, owner)),
    ...presentFields
      .filter((field) => !isAccepted(field))
      .map((field) =>
        fault(model, ["pricing", field], `this is no price of the unit ${unit}, which has ${needed.join(" and ")}`),
      ),
  ];
}

function missing(merged: Merged<object>, path: string, owner: string): CatalogueFault {
  return fault(merged, path.split("."), `${owner} lacks this, and no earlier file gives it`);
}

/** Returns a fault that names the file which set the member last. If no file sets the member, it names the last file with the entry. */
function fault(merged: Merged<object>, path: readonly (string | number)[], message: string): CatalogueFault {
  const origins = merged.origins.toReversed();
  const has = (entry: unknown, steps: readonly (string | number)[]): boolean =>
    steps.length === 0 ||
    (typeof entry === "object" &&
      entry !== null &&
      Object.hasOwn(entry, String(steps[0])) &&
      has((entry as Record<string, unknown>)[String(steps[0])], steps.slice(1)));
  const origin =
    origins.find((candidate) => has(candidate.entry, path)) ??
    origins.find((candidate) => has(candidate.entry, path.slice(0, 1))) ??
    origins[0];
  if (origin === undefined) throw new Error("a merged entry without an origin");
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return faultAt(origin.layer, origin.path + steps, message);
}

/** Returns true if a base URL has no credentials and no query. Credentials would be logged, and a query would precede the URL path. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}
