/**
 * Chooses the model that a call is sent to first, and its fallbacks. They come from the request's `models`, else from the workspace's
 * fallback chain. A chain with weights draws the first model for each call, end user or conversation.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import { rendezvousRank } from "#shared/base/rendezvous.ts";
import type { Sticky } from "#shared/database/fallback-chains.ts";

import { checkLengths } from "./fallback-chains.ts";
import type { Kind } from "./kinds/kind.ts";
import { findCallable, type Limited, type Models, modelOf } from "./kinds/models.ts";
import type { Model } from "./model.ts";

/** Name of the usage label that contains the requested model of a call whose first model was drawn or whose request named fallbacks. */
const CHAIN_LABEL = "chain";

/** Members of a request that determine its models. */
export interface ModelRequest {
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
  readonly user?: string | null | undefined;
  readonly safety_identifier?: string | null | undefined;
  readonly prompt_cache_key?: string | null | undefined;
}

/** Identifies the draw of a call. The same values draw the same model, so that a repeated admission never moves a call. */
export interface Draw {
  /** Id of the call. Turns of one tool loop share the id of their first turn. */
  readonly id: string;
  /** Id of the conversation, if the request names none. */
  readonly conversation?: string | undefined;
  /** End user of the call, if the request names none. */
  readonly endUser?: string | undefined;
}

/** Fallbacks of a call. */
export interface ModelRoute {
  /** Slugs of the fallback models in the order of attempts. */
  readonly fallbacks: readonly string[];
  /** True if the next capable model continues an interrupted stream. */
  readonly continuesStreams: boolean;
  /** Labels of the usage record; absent for the plain chain of the requested model. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface ModelChoice {
  /** Model that the caller requested. */
  readonly requested: Model;
  /** Models that may be tried first, in order. The next one is used if a model does not accept the request. */
  readonly first: readonly [Model, ...Model[]];
  /** Returns the fallbacks of a call that begins with this model; undefined for the plain chain of the requested model. */
  readonly routeOf: (first: Model) => ModelRoute | undefined;
}

/**
 * Resolves the models of a request for its caller.
 * @throws the errors of `modelOf` for the requested model; the errors of `requestedFallbacks`
 */
export function chooseModels(
  kind: Kind,
  catalogue: Models,
  caller: Caller,
  request: ModelRequest,
  draw: Draw,
): ModelChoice {
  const { model: slug, models } = request;
  const requested = modelOf(kind, catalogue, caller, slug, models?.[0] === slug ? "models[0]" : "model");
  if (models != null) {
    const fallbacks = requestedFallbacks(kind, catalogue, caller, requested, models);
    const route = { fallbacks, continuesStreams: false, labels: { [CHAIN_LABEL]: slug } };
    return { requested, first: [requested], routeOf: () => route };
  }
  const weighted = caller.chainWeights?.get(slug);
  if (weighted === undefined) return { requested, first: [requested], routeOf: () => undefined };
  const fallbacks = caller.fallbackChains?.get(slug) ?? [];
  const all = [slug, ...fallbacks];
  const { weights, sticky } = weighted;
  const seed = seedOf(caller.workspaceId, slug, stickyValue(sticky, request, draw) ?? draw.id);
  const [first, ...others] = drawOrder(all, weights, seed).flatMap((one) =>
    one === slug ? requested : (findCallable(kind, catalogue, one) ?? []),
  );
  return {
    requested,
    first: [first ?? requested, ...others],
    routeOf: (model) => ({
      fallbacks: all.filter((one) => one !== model.slug),
      continuesStreams: caller.continuedChains?.has(slug) === true,
      labels: { [CHAIN_LABEL]: slug },
    }),
  };
}

/**
 * Returns the first model of the choice that accepts the request, with the result of its check and its route.
 * @param check checks the request against a model
 * @throws ApiError of the requested model, if no model accepts the request
 */
export function firstAccepting<Checked>(
  choice: ModelChoice,
  check: (model: Model) => Checked,
): { readonly model: Model; readonly checked: Checked; readonly route: ModelRoute | undefined } {
  const { requested, first, routeOf } = choice;
  const accepted = (model: Model) => ({ model, checked: check(model), route: routeOf(model) });
  for (const model of first) {
    if (first.length === 1) break;
    try {
      return accepted(model);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return accepted(requested);
}

/**
 * Checks the fallbacks that a request names, and returns them without the requested model.
 * @throws the errors of `modelOf`; ApiError `unsupported_value`, `model_not_supported`; its param is `models[i]`
 */
function requestedFallbacks(
  kind: Kind,
  catalogue: Models,
  caller: Limited,
  requested: Model,
  models: readonly string[],
): readonly string[] {
  const skipped = models[0] === requested.slug ? 1 : 0;
  return models.slice(skipped).map((slug, index) => {
    const param = `models[${index + skipped}]`;
    modelOf(kind, catalogue, caller, slug, param);
    if (slug === requested.slug || models.indexOf(slug) < index + skipped) {
      throw new ApiError("unsupported_value", `Expected each model once, got ${slug} again.`, { param });
    }
    checkLengths(catalogue, requested.slug, slug, param);
    return slug;
  });
}

/**
 * Returns the fallbacks that the known members of a request name; undefined if there are none or calls of this kind cannot name them.
 * @throws the errors of `requestedFallbacks`
 */
export function namedFallbacks(
  kind: Kind,
  catalogue: Models,
  caller: Limited,
  requested: Model,
  { models }: { readonly models?: unknown },
): readonly string[] | undefined {
  const canName = kind.name === "chat" || kind.name === "embeddings";
  if (!canName || !Array.isArray(models) || !models.every((one) => typeof one === "string")) return undefined;
  return requestedFallbacks(kind, catalogue, caller, requested, models);
}

/** Returns the value that calls with the same draw have in common; undefined if each call draws. */
function stickyValue(
  sticky: Sticky | null,
  { user, safety_identifier: safety, prompt_cache_key: key }: ModelRequest,
  { conversation, endUser }: Draw,
): string | undefined {
  if (sticky === null) return undefined;
  return (sticky === "user" ? (user ?? safety ?? endUser) : (key ?? conversation)) ?? undefined;
}

function seedOf(workspaceId: string, chain: string, value: string): string {
  return `${workspaceId}\n${chain}\n${value}`;
}

/**
 * Returns the models of a chain in the order in which they are tried as the first one: drawn by weight, then those without weight in the
 * order of the chain. Weighted rendezvous hashing: a rank depends on its own model alone, so that a changed weight only moves calls to or
 * from this model.
 */
export function drawOrder(
  slugs: readonly string[],
  weights: Readonly<Record<string, number>>,
  seed: string,
): readonly string[] {
  const weightOf = (slug: string): number => weights[slug] ?? 0;
  const ranked = slugs.flatMap((slug) =>
    weightOf(slug) > 0 ? [{ slug, rank: rendezvousRank(slug, weightOf(slug), seed) }] : [],
  );
  const drawn = ranked.toSorted((a, b) => a.rank - b.rank).map(({ slug }) => slug);
  return [...drawn, ...slugs.filter((slug) => weightOf(slug) === 0)];
}
