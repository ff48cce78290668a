/** Builds the catalogue from merged entries. Determines which models can be routed, and why others cannot. */
import { createHash } from "node:crypto";

import type {
  CatalogueCapability,
  CatalogueModel,
  EmbeddingFacts,
  Modality,
  PresetEntry,
  PriceVariant,
  PricingText,
  ProviderEntry,
} from "#schemas/generated/types.ts";
import type { Preset } from "#shared/access/authenticate.ts";
import type {
  CapabilityTerms,
  Catalogue,
  Embedding,
  IdleSource,
  Model,
  Provider,
  Source,
  Surroundings,
} from "#shared/calls/model.ts";
import { parsePrice, priceField } from "#shared/calls/pricing/price.ts";

import { checkCapability, checkModel, checkPreset, checkProvider } from "./check.ts";
import { throwFaults } from "./faults.ts";
import { OUR_FOLDER } from "./layer.ts";
import type { Merged, MergedFiles } from "./merge.ts";
import { secondsOf } from "./seconds.ts";

/** Maximum inputs of one embeddings call, as for OpenAI; a model may accept fewer. */
const EMBEDDING_INPUTS_MAX = 2_048;

/**
 * Builds the frozen catalogue from these files and settings.
 * @throws CatalogueError that lists file, line and JSON path of each incomplete or contradictory entry
 */
export function buildCatalogue(files: MergedFiles, surroundings: Surroundings): Catalogue {
  throwFaults([
    ...[...files.providers.values()].filter(isEnabled).flatMap(checkProvider),
    ...[...files.presets.values()].filter(isEnabled).flatMap(checkPreset),
    ...[...files.capabilities.values()].flatMap(checkCapability),
    ...[...files.models.values()].filter(isEnabled).flatMap((model) => checkModel(model, files.providers)),
  ]);
  const providers = new Map(enabled(files.providers).map((entry) => [entry.id, buildProvider(entry)]));
  const presets = new Map(enabled(files.presets).map((entry) => [entry.name, buildPreset(entry)]));
  const models = new Map<string, Model>();
  const unroutable = new Map<string, string>();
  const missingKeys = new Map<string, readonly string[]>();
  const idleSources = new Map<string, IdleSource>();
  for (const entry of enabled(files.models)) {
    const obstacles = new Map(
      (entry.sources ?? []).map((source) => [source, obstacle(source, providers, surroundings)]),
    );
    for (const [source, reason] of obstacles) {
      const name = `${source.provider}/${source.model}`;
      const { models: others = [] } = idleSources.get(name) ?? {};
      if (reason !== undefined) idleSources.set(name, { reason, models: [...others, entry.slug] });
    }
    const sources = [...obstacles.keys()].filter((source) => obstacles.get(source) === undefined);
    if (entry.pricing === undefined) unroutable.set(entry.slug, "it has no price");
    else if (sources.length > 0) {
      const known = sources.map((one) => withLacks(one, providers.get(one.provider)?.family, entry.modality ?? "text"));
      models.set(entry.slug, buildModel(entry, entry.pricing, known));
    } else {
      unroutable.set(entry.slug, `no source of it can be called: ${[...new Set(obstacles.values())].join("; ")}`);
      const variables = missingVariables([...obstacles.keys()], files.providers, surroundings);
      if (surroundings.sandbox && variables.length > 0) missingKeys.set(entry.slug, variables);
    }
  }
  const capabilities = new Map([...files.capabilities].map(([id, { entry }]) => [id, buildCapability(entry)]));
  const content = { providers, presets, models, unroutable, capabilities };
  return Object.freeze({ version: versionOf(content), ...content, missingKeys, idleSources });
}

/** Returns the reason why a source cannot be called; undefined if it can be called. */
function obstacle(
  source: Source,
  providers: ReadonlyMap<string, Provider>,
  surroundings: Surroundings,
): string | undefined {
  const provider = providers.get(source.provider);
  if (provider === undefined) return `provider ${source.provider} is disabled`;
  if (provider.family === "sandbox" && !surroundings.sandbox) return "the sandbox is off";
  const variable = provider.api_key_env;
  return variable === undefined || surroundings.providerKey(variable) !== undefined
    ? undefined
    : `${variable} is not set`;
}

/** Returns the environment variables of missing API keys, for enabled providers that ship with the service. */
function missingVariables(
  sources: readonly Source[],
  providers: MergedFiles["providers"],
  { providerKey }: Surroundings,
): string[] {
  const variables = sources.flatMap(({ provider: id }) => {
    const provider = providers.get(id);
    const isShipped = provider?.origins.every(({ layer }) => layer.file.startsWith(`${OUR_FOLDER}/`)) === true;
    return isShipped && isEnabled(provider) ? (provider.entry.api_key_env ?? []) : [];
  });
  return [...new Set(variables)].filter((variable) => providerKey(variable) === undefined);
}

function buildProvider(entry: ProviderEntry): Provider {
  return deepFreeze({
    id: entry.id,
    family: entry.family ?? "sandbox",
    ...(entry.base_url !== undefined && { base_url: entry.base_url.replace(/\/+$/, "") }),
    ...(entry.api_key_env !== undefined && { api_key_env: entry.api_key_env }),
    ...(entry.breaker !== undefined && { breaker: entry.breaker }),
    ...(entry.on_disconnect !== undefined && { on_disconnect: entry.on_disconnect }),
    ...(entry.first_byte_ms !== undefined && { first_byte_ms: entry.first_byte_ms }),
    ...(entry.unknown_for_seconds !== undefined && { unknown_for_seconds: entry.unknown_for_seconds }),
    ...(entry.listed_within_seconds !== undefined && { listed_within_seconds: entry.listed_within_seconds }),
    ...(entry.media !== undefined && { media: entry.media }),
  });
}

function buildPreset(entry: PresetEntry): Preset {
  return Object.freeze({
    name: entry.name,
    requests_per_minute: entry.requests_per_minute ?? null,
    daily_tokens: entry.daily_tokens ?? null,
  });
}

function buildCapability({ disabled = false, pricing }: CatalogueCapability): CapabilityTerms {
  return deepFreeze({ isDisabled: disabled, ...(pricing !== undefined && { price: parsePrice({ ...pricing }) }) });
}

/** Builds a model from a checked entry. */
function buildModel(entry: CatalogueModel, pricing: PricingText, sources: readonly Source[]): Model {
  const { supports_json, tokens_per_image_max, cache_ttl_s, price_source, price_variants } = entry;
  const { compute_seconds_max, compute_seconds_usual } = entry;
  const allowed = entry.allowed_params ?? {};
  const supportsChat = entry.supports_chat ?? false;
  return deepFreeze({
    slug: entry.slug,
    kind: entry.kind ?? "model",
    modality: entry.modality ?? "text",
    owned_by: entry.owned_by ?? "",
    created: entry.created ?? 0,
    supports_chat: supportsChat,
    supports_embeddings: entry.supports_embeddings ?? false,
    supports_streaming: entry.supports_streaming ?? false,
    supports_tools: entry.supports_tools ?? false,
    ...(supports_json !== undefined && { supports_json }),
    max_context_tokens: entry.max_context_tokens ?? 0,
    max_output_tokens: entry.max_output_tokens ?? 0,
    ...(tokens_per_image_max !== undefined && { tokens_per_image_max }),
    ...(entry.supports_embeddings && entry.embedding && { embedding: buildEmbedding(entry.embedding) }),
    ...(entry.first_byte_ms !== undefined && { first_byte_ms: entry.first_byte_ms }),
    ...(cache_ttl_s !== undefined && { cache_ttl_s }),
    pricing: { currency: "credits" as const, ...pricing },
    price: parsePrice({ ...pricing }),
    ...(price_variants !== undefined && { price_variants: price_variants.map((one) => buildVariant(one, pricing)) }),
    seconds_of: secondsOf(entry),
    ...(compute_seconds_max !== undefined && { compute_seconds_max }),
    ...(compute_seconds_usual !== undefined && { compute_seconds_usual }),
    allowed_params: supportsChat ? { supported_inputs: ["text"], ...allowed } : allowed,
    sources,
    ...(price_source !== undefined && { price_source }),
  });
}

function buildVariant({ when, price }: PriceVariant, { unit = "per_request" }: PricingText) {
  return { when, price: parsePrice({ unit, [priceField(unit)]: price }) };
}

function buildEmbedding(facts: EmbeddingFacts): Embedding {
  const { dimensions = 0, dimensions_min, dimensions_max, inputs_max = EMBEDDING_INPUTS_MAX, ...rest } = facts;
  const canChoose = dimensions_max !== undefined;
  return {
    dimensions,
    dimensions_min: canChoose ? (dimensions_min ?? 1) : dimensions,
    dimensions_max: dimensions_max ?? dimensions,
    inputs_max,
    ...rest,
  };
}

function isEnabled(merged: Merged<{ disabled?: boolean }>): boolean {
  return merged.entry.disabled !== true;
}

function enabled<Entry extends { disabled?: boolean }>(entries: ReadonlyMap<string, Merged<Entry>>): Entry[] {
  return [...entries.values()].filter(isEnabled).map((merged) => merged.entry);
}

/** Returns a hash of the catalogue's content as twelve hex digits. Every process with the same content computes the same value. */
function versionOf(content: Omit<Catalogue, "version" | "missingKeys" | "idleSources">): string {
  const text = JSON.stringify(content, (_key, value: unknown) => {
    if (value instanceof Map) return [...value];
    return typeof value === "bigint" ? value.toString() : value;
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null && !Object.isFrozen(member)) deepFreeze(member as object);
  }
  return Object.freeze(value);
}

// Inputs that sources without `fields` never receive, because their family has no default field for them.

type Lacks = Readonly<Partial<Record<Modality, readonly string[]>>>;

/**
 * Inputs that the adapters of a provider family never send, by family and modality. A test compares this table with the default fields
 * under workers/providers.
 */
const FAMILIES: Readonly<Partial<Record<Provider["family"], Lacks>>> = {
  "openai-compatible": { image: ["seed", "negative_prompt"], video: ["video", "seed", "negative_prompt"] },
  gemini: { image: ["negative_prompt", "mask"], upscale: ["mask"], video: ["negative_prompt"] },
  fal: { image: ["negative_prompt", "mask"], upscale: ["mask"] },
  replicate: { image: ["negative_prompt"] },
  elevenlabs: { audio: ["instructions"], music: ["seed"] },
  deepgram: { audio: ["instructions"] },
};

/** Returns the source with the names of the inputs that requests to this source never contain, as `lacks`. */
export function withLacks(source: Source, family: Provider["family"] | undefined, modality: Modality): Source {
  // Veo's older operations support both; a source of Gemini selects them with this override.
  const isVeo = family === "gemini" && source.overrides?.["api"] === "predictLongRunning";
  const lacks = source.fields || family === undefined || isVeo ? undefined : FAMILIES[family]?.[modality];
  return lacks === undefined ? source : { ...source, lacks };
}
