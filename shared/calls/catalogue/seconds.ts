import type { CatalogueModel } from "#schemas/generated/types.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";

/** Of what a model that is priced by the second counts the seconds: what it makes or hears, or its provider's computing. */
export function secondsOf({ seconds_of: told, modality = "text" }: Partial<CatalogueModel>): "media" | "compute" {
  return told ?? (kindOfModality(modality)?.hasLength === true ? "media" : "compute");
}
