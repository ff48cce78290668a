/**
 * Checks a fallback chain when a caller stores it. A call follows only one level of fallbacks. The worker skips models that leave the
 * catalogue later.
 */
import { type Catalogue, isEmbeddingModel, type Model } from "./model.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";
import {
  type FallbackChainRow,
  listFallbackChains,
  lockFallbackChains,
  setFallbackChain,
  type Sticky,
} from "#shared/database/fallback-chains.ts";
import { LOCKED, retryStatement, LOCK_TIMEOUT_MS } from "#shared/database/retry.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { KindName } from "#shared/calls/kinds/kind.ts";
import { isPricedKind, KINDS, kindOfModality } from "#shared/calls/kinds/kinds.ts";
import { noSuchModel } from "#shared/calls/kinds/models.ts";

/** Maximum number of chains of a workspace. Every look-up of a key reads all of them. */
export const FALLBACK_CHAINS_MAX = 200;

/** Maximum number of fallbacks of a model. The attempts of a longer chain would exceed any client's timeout. */
const FALLBACKS_MAX = 10;

export interface FallbackChain {
  /** Slug of the requested model. */
  readonly model: string;
  /** Slugs of the fallback models, in the order of attempts. */
  readonly fallbacks: readonly string[];
  /** Weight of every model of the chain, by slug; absent if the requested model is always tried first. */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  readonly sticky?: Sticky | undefined;
}

/**
 * Stores a chain and replaces the model's current one. Writes in one workspace are serialized, so that two concurrent writes cannot form a
 * cycle.
 * @throws ApiError of `checkFallbacks` and `checkNoCycle`; `invalid_request` if the workspace has too many chains; `overloaded` if other
 * writers keep the lock
 */
export async function storeFallbackChain(
  database: Database,
  catalogue: Catalogue,
  workspaceId: string,
  change: FallbackChain & { readonly continueStreams?: boolean; readonly actor: Actor },
): Promise<FallbackChainRow> {
  checkFallbacks(catalogue, change);
  checkWeights(catalogue, change);
  const store = (): Promise<FallbackChainRow | typeof LOCKED> =>
    database.transaction(async (tx) => {
      if (!(await lockFallbackChains(tx, workspaceId))) return LOCKED;
      const stored = await listFallbackChains(tx, workspaceId);
      const present = stored.find(({ model }) => model === change.model);
      if (present === undefined && stored.length >= FALLBACK_CHAINS_MAX) throw tooMany();
      checkNoCycle(stored, change);
      return (await setFallbackChain(tx, workspaceId, change)) ?? present ?? LOCKED;
    });
  return retryStatement(store, {
    forMs: LOCK_TIMEOUT_MS,
    pauseMs: 10,
    pauseMaxMs: 200,
    isFinal: () => true,
    locked: () =>
      new ApiError("overloaded", "Another request is changing the workspace's fallback chains; try again shortly."),
  });
}

/**
 * Checks a chain against the catalogue.
 * @throws ApiError `model_not_found`, `model_not_supported`, `unsupported_value`, `invalid_request`; its param is `model`, `fallbacks` or
 * `fallbacks[i]`
 */
export function checkFallbacks(catalogue: Catalogue, { model, fallbacks }: FallbackChain): void {
  const kind = kindOf(catalogue, model, "model");
  if (fallbacks.length < 1 || fallbacks.length > FALLBACKS_MAX) {
    throw new ApiError("invalid_request", `Expected 1 to ${FALLBACKS_MAX} fallbacks, got ${fallbacks.length}.`, {
      param: "fallbacks",
    });
  }
  for (const [index, fallback] of fallbacks.entries()) {
    const param = `fallbacks[${index}]`;
    const fallbackKind = kindOf(catalogue, fallback, param);
    if (fallbackKind !== kind) {
      const message = `Fallbacks of ${model} must be ${nameOf(kind)}; ${fallback} is one of the ${nameOf(fallbackKind)}.`;
      throw new ApiError("model_not_supported", message, { param });
    }
    checkLengths(catalogue, model, fallback, param);
    if (fallback === model) {
      throw new ApiError("unsupported_value", `A model cannot be its own fallback; remove ${model}.`, { param });
    }
    if (fallbacks.indexOf(fallback) < index) {
      throw new ApiError("unsupported_value", `Expected each model once, got ${fallback} again.`, { param });
    }
  }
}

/** Checks the weights of a chain, whose models are already checked. @throws ApiError `unsupported_value`, `model_not_supported` */
function checkWeights(catalogue: Catalogue, { model, fallbacks, weights, sticky }: FallbackChain): void {
  if (weights === undefined) {
    if (sticky === undefined) return;
    const message = `Expected weights in a chain with sticky ${sticky}: set weight, and a weight for each fallback that is drawn.`;
    throw new ApiError("unsupported_value", message, { param: "sticky" });
  }
  if (kindOf(catalogue, model, "model") === "embeddings") {
    const message = `Expected no weights in the chain of ${model}: vectors of different embedding models cannot be compared.`;
    throw new ApiError("model_not_supported", message, { param: "weight" });
  }
  if (fallbacks.some((slug) => (weights[slug] ?? 0) > 0)) return;
  const message = "Expected a fallback with a weight of at least 1; without one, remove all weights.";
  throw new ApiError("unsupported_value", message, { param: "fallbacks" });
}

/** Models of a chain, without their weights. */
type Links = Pick<FallbackChain, "model" | "fallbacks">;

/**
 * Checks that a new chain forms no cycle with the stored ones.
 * @param stored chains of the workspace, which form no cycle among themselves
 * @throws ApiError `unsupported_value` that lists the path of models that leads back to the model
 */
export function checkNoCycle(stored: readonly Links[], { model, fallbacks }: Links): void {
  const chains = new Map(stored.map((chain) => [chain.model, chain.fallbacks]));
  for (const [index, fallback] of fallbacks.entries()) {
    const way = wayTo(model, fallback, chains);
    if (way === undefined) continue;
    throw new ApiError(
      "unsupported_value",
      `A chain must not lead back to its own model, got ${[model, ...way].join(" → ")}.`,
      { param: `fallbacks[${index}]` },
    );
  }
}

/** Returns the shortest path of models from `start` to `target` through the chains, including both. */
function wayTo(
  target: string,
  start: string,
  chains: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const ways = [[start]];
  const seen = new Set([start]);
  for (const way of ways) {
    for (const next of chains.get(way.at(-1) ?? "") ?? []) {
      if (next === target) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

/** Group of models that can replace each other in a chain: the models of one kind of call, or of one modality. */
type Sort = KindName | Model["modality"];

function nameOf(sort: Sort): string {
  const kind = kindOfModality(sort as Model["modality"]) ?? KINDS[sort as KindName];
  return kind?.nouns.all ?? `models of modality ${sort}`;
}

/** Returns the kind of calls or the modality of a model. All models of a chain must have the same one. @throws ApiError */
function kindOf(catalogue: Catalogue, slug: string, param: string): Sort {
  const model = catalogue.models.get(slug);
  if (!model) throw noSuchModel(catalogue.models, slug, param);
  const textKind = Object.values(KINDS).find((kind) => !isPricedKind(kind) && kind.isOfKind(model));
  if (textKind) return textKind.name;
  if (kindOfModality(model.modality) !== undefined) return model.modality;
  const why = `The model ${slug} cannot be in a fallback chain: models of modality ${model.modality} have no fallbacks.`;
  throw new ApiError("model_not_supported", why, { param });
}

/**
 * Rejects an embedding model as fallback if it shares no vector length with the requested model, because no call could use it. @throws
 * ApiError
 */
export function checkLengths(
  { models }: Pick<Catalogue, "models">,
  slug: string,
  fallback: string,
  param: string,
): void {
  const [asked, other] = [models.get(slug), models.get(fallback)].map((model) => model && lengthsOf(model));
  if (!asked || !other || (other.min <= asked.max && asked.min <= other.max)) return;
  const message = `Expected models with vectors of the same length: ${slug} returns ${asked.description}, ${fallback} ${other.description}.`;
  throw new ApiError("model_not_supported", message, { param });
}

function lengthsOf(model: Model) {
  if (model.supports_chat || !isEmbeddingModel(model)) return undefined;
  const { dimensions_min: min, dimensions_max: max } = model.embedding;
  return { min, max, description: min === max ? `${max} numbers` : `${min} to ${max} numbers` };
}

function tooMany(): ApiError {
  return new ApiError(
    "invalid_request",
    `A workspace has at most ${FALLBACK_CHAINS_MAX} fallback chains; delete one first.`,
    { param: "model" },
  );
}
