import type { CatalogueModel } from "#schemas/generated/types.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";

/** Returns the seconds that a price by the second counts: of the media that is made or heard, or of the provider's computing. */
export function secondsOf({ seconds_of: told, modality = "text" }: Partial<CatalogueModel>): "media" | "compute" {
  return told ?? (kindOfModality(modality)?.hasLength === true ? "media" : "compute");
}
