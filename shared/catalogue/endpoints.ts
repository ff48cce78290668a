/** Which models an endpoint of ours can serve. */
import { MEDIA_UNITS } from "#shared/pricing/media.ts";

import type { Model } from "./catalogue.ts";

/** A media model whose price counts what its calls come to. */
export function isPricedMedia({ modality, price }: Model): boolean {
  return MEDIA_UNITS[modality]?.includes(price.unit) === true;
}

/** A model that no endpoint serves yet is known, so that files can name it, but not offered. */
export function hasEndpoint(model: Model): boolean {
  return model.supports_chat || model.supports_embeddings || isPricedMedia(model);
}
