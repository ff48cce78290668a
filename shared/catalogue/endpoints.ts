/** Which models an endpoint of ours can serve. */
import type { Model } from "./catalogue.ts";
import { MEDIA_MODALITIES } from "./media-modalities.ts";

/** A media model whose price counts what its calls come to. */
export function isPricedMedia({ modality, price }: Model): boolean {
  return MEDIA_MODALITIES[modality]?.units.includes(price.unit) === true;
}

/** The path of the endpoint that serves the model; undefined: none does. */
export function endpointOf(model: Model): string | undefined {
  if (model.supports_chat) return "/v1/chat/completions";
  if (model.supports_embeddings) return "/v1/embeddings";
  if (!isPricedMedia(model)) return undefined;
  // A model that only changes images is of no use to the endpoint that makes them.
  return model.allowed_params.requires_input_image === true && model.modality === "image"
    ? "/v1/images/edits"
    : MEDIA_MODALITIES[model.modality]?.path;
}

/** A model that no endpoint serves yet is known, so that files can name it, but not offered. */
export function hasEndpoint(model: Model): boolean {
  return model.supports_chat || model.supports_embeddings || isPricedMedia(model);
}
