/** Converts catalogue models to the format that clients receive. */
import type { ModelEntry, Pricing } from "#schemas/generated/types.ts";
import { creditsNumber } from "#shared/base/money.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import type { TierRates } from "#shared/calls/pricing/rates.ts";
import { hasEndpoint } from "#shared/calls/kinds/models.ts";

import type { Catalogue, Model } from "./model.ts";

export interface ModelList {
  readonly object: "list";
  readonly data: readonly ModelEntry[];
}

/**
 * Returns the models of a catalogue that can be called. Models of real providers come first, in the catalogue's order, then `sandbox-chat`,
 * then the other test models. Models of the kind `tool` are included only on request.
 */
export function listModels(catalogue: Catalogue, options: { readonly includeTools: boolean }): ModelList {
  const models = [...catalogue.models.values()].filter((model) =>
    model.kind === "tool" ? options.includeTools : hasEndpoint(model),
  );
  const inOrder = models.toSorted((a, b) => listRank(catalogue, a) - listRank(catalogue, b));
  return { object: "list", data: inOrder.map(modelEntry) };
}

/** Slug of the test model that new users call first. */
const FIRST_TEST_MODEL = "sandbox-chat";

/** Returns the position of a model's group in the list: 0 for real models, 1 for the first test model, 2 for other test models. */
function listRank({ providers }: Catalogue, { slug, sources }: Model): number {
  if (sources.some(({ provider }) => providers.get(provider)?.family !== "sandbox")) return 0;
  return slug === FIRST_TEST_MODEL ? 1 : 2;
}

/** Returns the model with this slug if clients can call it; otherwise undefined. */
export function findCallable({ models }: Catalogue, slug: string): Model | undefined {
  const model = models.get(slug);
  return model && model.kind !== "tool" && hasEndpoint(model) ? model : undefined;
}

/** Returns the entry of a model in the API. It contains only members of the API and no information about our sources. */
export function modelEntry(model: Model): ModelEntry {
  return {
    id: model.slug,
    object: "model",
    created: model.created,
    owned_by: model.owned_by,
    permission: [],
    root: model.slug,
    parent: null,
    _svc: {
      ...(model.kind === "tool" ? { kind: "tool" } : {}),
      modality: model.modality,
      supports_chat: model.supports_chat,
      supports_embeddings: model.supports_embeddings,
      supports_streaming: model.supports_streaming,
      supports_tools: model.supports_tools,
      max_context_tokens: model.max_context_tokens,
      max_output_tokens: model.max_output_tokens,
      pricing: pricingNumbers(model.price),
      allowed_params: structuredClone(model.allowed_params),
    },
  };
}

/** Returns a price as numbers in credits, for display only. Charges are calculated with the bigints. */
export function pricingNumbers(price: Price): Pricing {
  const { unit, unitRate, batchMillionths, serviceTiers } = price;
  const tiers = Object.entries(serviceTiers ?? {}).map(([tier, rates]) => [tier, rateNumbers(rates)] as const);
  return {
    currency: "credits",
    unit,
    ...(unit === "per_token"
      ? rateNumbers(price)
      : { [`${unit.slice("per_".length)}_price`]: creditsNumber(unitRate) }),
    ...(tiers.length === 0
      ? {}
      : { service_tiers: Object.fromEntries(tiers) as NonNullable<Pricing["service_tiers"]> }),
    ...(batchMillionths === undefined ? {} : { batch_factor: batchMillionths / 1_000_000 }),
  };
}

function rateNumbers({ tokenRates, longContext }: TierRates): Record<string, unknown> {
  const rates = Object.entries(tokenRates).map(([field, nano]) => [field, creditsNumber(nano)] as const);
  const long = longContext && {
    above_tokens: longContext.aboveTokens,
    ...rateNumbers({ tokenRates: longContext.tokenRates }),
  };
  return { ...Object.fromEntries(rates), ...(long && { long_context: long }) };
}
