/** Slug → model, for the endpoint that asks. Source: spec "Errors". */
import type { Catalogue, Model } from "#shared/catalogue/catalogue.ts";
import { ApiError } from "#shared/errors.ts";

/** @throws ApiError `model_not_found`; `model_not_supported` when the model is of another kind */
export function resolveChatModel(catalogue: Catalogue, slug: string): Model {
  const model = catalogue.models.get(slug);
  if (!model) {
    throw new ApiError("model_not_found", "There is no such model; GET /v1/models lists those that can be called.", {
      param: "model",
    });
  }
  if (!model.supports_chat) {
    throw new ApiError("model_not_supported", `This model is of modality ${model.modality} and cannot chat.`, {
      param: "model",
    });
  }
  return model;
}
