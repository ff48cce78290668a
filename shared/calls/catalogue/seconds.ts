import type { CatalogueModel } from "#schemas/generated/types.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";

/** Returns the kind of seconds that a price per second counts: of created or transcribed media, or of the provider's computing. */
export function secondsOf({ seconds_of: declared, modality = "text" }: Partial<CatalogueModel>): "media" | "compute" {
  return declared ?? (kindOfModality(modality)?.hasLength === true ? "media" : "compute");
}
