/** The catalogue as a process started here would read it. */
import type { Catalogue, Model } from "#shared/catalogue/catalogue.ts";
import { CatalogueError, sentence } from "#shared/catalogue/faults.ts";

import type { Command } from "./command.ts";
import { table, tableOr } from "./table.ts";

export const CATALOGUE_COMMANDS: readonly Command[] = [
  {
    name: "catalogue check",
    about: "validates files laid over ours, those of SLUICE_CATALOGUE unless named; exit code 1 when they are refused",
    arguments: ["file…"],
    async run(context, given) {
      try {
        const catalogue = await context.catalogue(given.rest.length > 0 ? given.rest : undefined);
        const unroutable = unroutableJson(catalogue);
        const summary = `the files are valid: ${catalogue.models.size} models can be served, ${unroutable.length} cannot`;
        const reasons = table(
          ["Model", "Cannot be served because"],
          unroutable.map((row) => [row.model, row.reason]),
        );
        return {
          json: { is_valid: true, version: catalogue.version, models: catalogue.models.size, unroutable, faults: [] },
          text: unroutable.length === 0 ? summary : `${summary}\n\n${reasons}`,
        };
      } catch (error) {
        if (!(error instanceof CatalogueError)) throw error;
        const faults = error.faults.map(({ file, line, place, message }) => ({
          file,
          line: line ?? null,
          place,
          message,
        }));
        const json = { is_valid: false, version: null, models: 0, unroutable: [], faults };
        return { json, text: error.faults.map(sentence).join("\n"), exitCode: 1 };
      }
    },
  },
  {
    name: "catalogue list",
    about: "models that can be served with sources and prices, and why others cannot",
    arguments: [],
    async run(context) {
      const catalogue = await context.catalogue();
      const models = [...catalogue.models.values()];
      const unroutable = unroutableJson(catalogue);
      return {
        json: { version: catalogue.version, models: models.map(modelJson), unroutable },
        text: tableOr(
          "the catalogue is empty",
          ["Model", "Modality", "Served by", "Price in credits, or why not"],
          [
            ...models.map((model) => [model.slug, model.modality, sourcesOf(model).join(", "), priceText(model)]),
            ...unroutable.map((row) => [row.model, "-", "-", row.reason]),
          ],
        ),
      };
    },
  },
];

function modelJson(model: Model): Record<string, unknown> {
  return { model: model.slug, modality: model.modality, sources: sourcesOf(model), pricing: model.pricing };
}

function unroutableJson(catalogue: Catalogue): { model: string; reason: string }[] {
  return Array.from(catalogue.unroutable, ([model, reason]) => ({ model, reason }));
}

function sourcesOf(model: Model): string[] {
  return model.sources.map(({ provider, model: name }) => `${provider}/${name}`);
}

/** `input_per_million 25, output_per_million 100`. */
function priceText(model: Model): string {
  const rates = Object.entries(model.pricing).filter(([field]) => field !== "unit" && field !== "currency");
  return rates.map(([field, text]) => `${field} ${text}`).join(", ");
}
