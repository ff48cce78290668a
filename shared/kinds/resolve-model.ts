/** Slug → model, for the endpoint that asks. Source: spec "Errors". */
import type { Modality } from "#schemas/generated/types.ts";
import { type Catalogue, type EmbeddingModel, isEmbeddingModel, type Model } from "#shared/catalogue/catalogue.ts";
import { ApiError } from "#shared/errors.ts";
import { endpointOf, isPricedMedia } from "#shared/catalogue/endpoints.ts";
import { MEDIA_MODALITIES } from "#shared/catalogue/media-modalities.ts";

/** @throws ApiError `model_not_found` */
export function resolveModel(catalogue: Pick<Catalogue, "models">, slug: string): Model {
  const model = catalogue.models.get(slug);
  if (!model) {
    throw new ApiError("model_not_found", "There is no such model; GET /v1/models lists those that can be called.", {
      param: "model",
    });
  }
  return model;
}

/** @throws ApiError `model_not_found`; `model_not_supported` when the model is of another kind */
export function resolveChatModel(catalogue: Catalogue, slug: string): Model {
  const model = resolveModel(catalogue, slug);
  if (!model.supports_chat) throw notSupported(model, "a model that chats");
  return model;
}

/** @throws ApiError as `resolveChatModel` */
export function resolveEmbeddingModel(catalogue: Catalogue, slug: string): EmbeddingModel {
  const model = resolveModel(catalogue, slug);
  if (!isEmbeddingModel(model)) throw notSupported(model, "a model of embeddings");
  return model;
}

/**
 * The model of a media call.
 * @param further modalities whose models are served as well
 * @throws ApiError as `resolveChatModel`
 */
export function resolveMediaModel(
  catalogue: Pick<Catalogue, "models">,
  slug: string,
  modality: Modality,
  further: readonly Modality[] = [],
): Model {
  const model = resolveModel(catalogue, slug);
  const isOfKind = model.modality === modality || further.includes(model.modality);
  const isServed = isOfKind && !model.supports_chat && isPricedMedia(model);
  if (!isServed) throw notSupported(model, MEDIA_MODALITIES[modality]?.one ?? `a model of modality ${modality}`);
  return model;
}

function notSupported(model: Model, wanted: string): ApiError {
  const path = endpointOf(model);
  const served = path === undefined ? "which no endpoint serves" : `which POST ${path} serves`;
  const message = `Expected ${wanted}, got ${model.slug}, a model of modality ${model.modality}, ${served}.`;
  return new ApiError("model_not_supported", message, { param: "model" });
}
