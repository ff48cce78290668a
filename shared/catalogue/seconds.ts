import type { CatalogueModel } from "#schemas/generated/types.ts";

/** What these make has a length, and is paid by it unless the entry says otherwise. */
const MADE_BY_LENGTH: ReadonlySet<string> = new Set(["video", "music", "audio", "stt"]);

/** Of what a model that is priced by the second counts the seconds: what it makes or hears, or its provider's computing. */
export function secondsOf({ seconds_of: told, modality = "text" }: Partial<CatalogueModel>): "media" | "compute" {
  return told ?? (MADE_BY_LENGTH.has(modality) ? "media" : "compute");
}
