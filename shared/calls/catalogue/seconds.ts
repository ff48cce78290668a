import type { CatalogueModel } from "#schemas/generated/types.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";

/** Returns the meaning of a price per second: seconds of the created or transcribed media, or seconds of the provider's computing. */
export function secondsOf({ seconds_of: declared, modality = "text" }: Partial<CatalogueModel>): "media" | "compute" {
  return declared ?? (kindOfModality(modality)?.hasLength === true ? "media" : "compute");
}
