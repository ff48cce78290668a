import type { CatalogueModel } from "#schemas/generated/types.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";

/** Returns which seconds a price per second counts: the length of the created or transcribed media, or the provider's computing time. */
export function secondsOf({ seconds_of: declared, modality = "text" }: Partial<CatalogueModel>): "media" | "compute" {
  return declared ?? (kindOfModality(modality)?.hasLength === true ? "media" : "compute");
}
