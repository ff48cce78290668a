/** One running service for the stories of what providers answer. Each says at its import which models it needs. */
import { type Bed, type BedOptions, startBed } from "./bed.ts";
import type { BedModel } from "./families.ts";

const models: BedModel[] = [];
const providers: Record<string, string> = {};
let started: Promise<Bed> | undefined;

/** Offers models, and providers of the story's own, on the service that is not started yet. */
export function offerModels(more: Required<Pick<BedOptions, "models">> & Pick<BedOptions, "providers">): void {
  if (started !== undefined) throw new Error("the service has begun");
  models.push(...more.models);
  Object.assign(providers, more.providers);
}

export function sharedBed(): Promise<Bed> {
  started ??= startBed({ janitor: false, models, providers });
  return started;
}
