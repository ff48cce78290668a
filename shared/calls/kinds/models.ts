/** Finds the model of a call and checks that the model serves calls of this kind. */
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { ApiError } from "#shared/base/errors.ts";

import type { Kind } from "./kind.ts";
import { didYouMean } from "#shared/base/near-names.ts";
import { isPricedKind, KINDS, kindOfModality } from "./kinds.ts";

/** Part of the catalogue that contains its models, and the reasons for which models have no usable source. */
export type Models = Pick<Catalogue, "models"> & Partial<Pick<Catalogue, "unroutable" | "missingKeys">>;

/**
 * Returns the model with this slug.
 * @param param member of the request that contains the slug
 * @throws ApiError `model_not_found`; `model_unavailable` for a model without a usable source. If the sandbox is on, the message contains
 * the key variable of a shipped provider, because the caller is then usually the operator.
 */
export function findModel({ models, unroutable, missingKeys }: Models, slug: string, param = "model"): Model {
  const model = models.get(slug);
  if (model) return model;
  if (unroutable?.has(slug) !== true) throw noSuchModel(models, slug, param);
  const variables = missingKeys?.get(slug);
  const message =
    variables === undefined
      ? "The model is known to this service but not set up. Use a model that GET /v1/models lists, or ask the operator of the service."
      : `The model ${slug} is not set up: set ${variables.join(" or ")} where the service starts, or use a model that GET /v1/models lists.`;
  throw new ApiError("model_unavailable", message, { param, shouldRetry: false });
}

/**
 * Returns the error for an unknown model, which suggests a similar slug.
 * @param param member of the request that contains the slug
 */
export function noSuchModel(models: Catalogue["models"], slug: string, param: string): ApiError {
  const message = `There is no such model.${didYouMean(models.keys(), slug)} GET /v1/models lists the models that can be called.`;
  return new ApiError("model_not_found", message, { param });
}

/**
 * Returns the model of a call.
 * @param param member of the request that contains the slug
 * @throws the errors of `findModel`; ApiError `model_not_supported` if the model does not serve calls of this kind
 */
export function modelOf(kind: Kind, catalogue: Models, slug: string, param = "model"): Model {
  const model = findModel(catalogue, slug, param);
  if (isCalledBy(kind, model)) return model;
  const path = kindOfCall(model)?.endpoint;
  const served = path === undefined ? "No endpoint serves it" : `Call POST ${path}`;
  const message = `Expected ${kind.nouns.one}, got ${slug}, a model of modality ${model.modality}. ${served}.`;
  throw new ApiError("model_not_supported", message, { param });
}

/** Returns a model that calls of this kind can use; undefined if the catalogue has no such model. */
export function findCallable(kind: Kind, { models }: Models, slug: string): Model | undefined {
  const model = models.get(slug);
  return model && isCalledBy(kind, model) ? model : undefined;
}

/**
 * Returns true if calls of this kind can use the model. For media, the model's price must have a unit of its modality, and it must not be a
 * chat model.
 */
function isCalledBy(kind: Kind, model: Model): boolean {
  if (!kind.isOfKind(model)) return false;
  if (!isPricedKind(kind)) return true;
  return !model.supports_chat && kindOfModality(model.modality)?.units.includes(model.price.unit) === true;
}

/**
 * Determines the kind of a call from its model and members.
 * @param members known members of the body
 * @returns undefined for a model without endpoint
 */
export function kindOfCall(model: Model, members: Readonly<Record<string, unknown>> = {}): Kind | undefined {
  return Object.values(KINDS).find((kind) => isCalledBy(kind, model) && kind.isMeantBy?.(model, members) !== false);
}

/** Returns true if an endpoint serves the model. A model without endpoint may appear in catalogue files, but is not listed. */
export function hasEndpoint(model: Model): boolean {
  return kindOfCall(model) !== undefined;
}
