/** Which models serve which kind of call. Source: spec "Errors". */
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { ApiError } from "#shared/errors.ts";

import { CHAT } from "./chat.ts";
import { EMBEDDINGS } from "./embeddings.ts";
import { IMAGE_EDITS } from "./images.ts";
import type { Kind } from "./kind.ts";
import { kindOfModality } from "./kinds.ts";

/** @throws ApiError `model_not_found` */
export function findModel(catalogue: Pick<Catalogue, "models">, slug: string): Model {
  const model = catalogue.models.get(slug);
  if (!model) {
    throw new ApiError("model_not_found", "There is no such model; GET /v1/models lists those that can be called.", {
      param: "model",
    });
  }
  return model;
}

/**
 * The model of a call.
 * @throws ApiError `model_not_found`; `model_not_supported` when the model takes no such calls
 */
export function modelOf(kind: Kind, catalogue: Pick<Catalogue, "models">, slug: string): Model {
  const model = findModel(catalogue, slug);
  if (kind.isOfKind(model) && (isOfWords(kind) || (!model.supports_chat && isPricedMedia(model)))) return model;
  const path = endpointOf(model);
  const served = path === undefined ? "which no endpoint serves" : `which POST ${path} serves`;
  const message = `Expected ${kind.nouns.one}, got ${slug}, a model of modality ${model.modality}, ${served}.`;
  throw new ApiError("model_not_supported", message, { param: "model" });
}

/** What a model of such a kind can do is said beside its modality. */
function isOfWords(kind: Kind): boolean {
  return kind === CHAT || kind === EMBEDDINGS;
}

/** A media model whose price counts what its calls come to. */
export function isPricedMedia({ modality, price }: Model): boolean {
  return kindOfModality(modality)?.units.includes(price.unit) === true;
}

/** The path of the endpoint that serves the model; undefined: none does. */
function endpointOf(model: Model): string | undefined {
  if (model.supports_chat) return CHAT.endpoint;
  if (model.supports_embeddings) return EMBEDDINGS.endpoint;
  if (!isPricedMedia(model)) return undefined;
  // A model that only changes images is of no use to the endpoint that makes them.
  return model.allowed_params.requires_input_image === true && model.modality === "image"
    ? IMAGE_EDITS.endpoint
    : kindOfModality(model.modality)?.endpoint;
}

/** A model that no endpoint serves yet is known, so that files can name it, but not offered. */
export function hasEndpoint(model: Model): boolean {
  return endpointOf(model) !== undefined;
}
