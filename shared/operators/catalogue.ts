/** Summarizes and checks the model catalogue for operators. */
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { CatalogueError, type CatalogueFault } from "#shared/calls/catalogue/faults.ts";

export type Unroutable = {
  readonly model: string;
  readonly reason: string;
};

export function unroutableModels({ unroutable }: Pick<Catalogue, "unroutable">): Unroutable[] {
  return Array.from(unroutable, ([model, reason]) => ({ model, reason }));
}

/** Returns the sources of a model that can be called. */
export function sourcesOf({ sources }: Pick<Model, "sources">): { provider: string; model: string }[] {
  return sources.map(({ provider, model }) => ({ provider, model }));
}

export interface CatalogueVerdict {
  readonly is_valid: boolean;
  readonly version: string | null;
  /** Number of models that the catalogue would serve. */
  readonly models: number;
  readonly unroutable: Unroutable[];
  readonly faults: { file: string; line: number | null; place: string; message: string }[];
}

/** Creates a catalogue to check it. Returns the models and sources that it would serve, or its faults. */
export async function checkCatalogue(
  make: () => Catalogue | Promise<Catalogue>,
): Promise<{ readonly verdict: CatalogueVerdict; readonly faults: readonly CatalogueFault[] }> {
  try {
    const catalogue = await make();
    const unroutable = unroutableModels(catalogue);
    const { version, models } = catalogue;
    return { verdict: { is_valid: true, version, models: models.size, unroutable, faults: [] }, faults: [] };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    const faults = error.faults.map(({ file, line, place, message }) => ({ file, line: line ?? null, place, message }));
    return { verdict: { is_valid: false, version: null, models: 0, unroutable: [], faults }, faults: error.faults };
  }
}
