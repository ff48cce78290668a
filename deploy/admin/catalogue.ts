/** The catalogue as a process started here would read it. */
import type { Model } from "#shared/calls/model.ts";
import { sentence } from "#shared/calls/catalogue/faults.ts";
import { checkCatalogue, sourcesOf, unroutableModels } from "#shared/operators/catalogue.ts";

import type { Command } from "./command.ts";
import { table } from "./table.ts";

export const CATALOGUE_COMMANDS: readonly Command[] = [
  {
    usage: "catalogue check [file…]",
    about: "Validates catalogue files, by default those of SLUICE_CATALOGUE. The exit code is 1 when they are refused.",
    needs: "nothing",
    async run(context, given) {
      const files = given.rest.length > 0 ? given.rest : undefined;
      const { verdict, faults } = await checkCatalogue(() => context.catalogue(files));
      if (!verdict.is_valid) return { json: verdict, text: faults.map(sentence).join("\n"), exitCode: 1 };
      const { models, unroutable } = verdict;
      const summary = `the files are valid: ${models} models can be served, ${unroutable.length} cannot`;
      const reasons = table(
        ["Model", "Cannot be served because"],
        unroutable.map((row) => [row.model, row.reason]),
      );
      return { json: verdict, text: unroutable.length === 0 ? summary : `${summary}\n\n${reasons}` };
    },
  },
  {
    usage: "catalogue list",
    about: "Lists the models with sources and prices, and why others cannot be served.",
    needs: "nothing",
    async run(context) {
      const catalogue = await context.catalogue();
      const models = [...catalogue.models.values()];
      const unroutable = unroutableModels(catalogue);
      return {
        json: { version: catalogue.version, models: models.map(modelJson), unroutable },
        text: table(
          ["Model", "Modality", "Served by", "Price in credits, or why not"],
          [
            ...models.map((model) => [model.slug, model.modality, sourceNames(model).join(", "), priceText(model)]),
            ...unroutable.map((row) => [row.model, "-", "-", row.reason]),
          ],
        ),
      };
    },
  },
];

function modelJson(model: Model): Record<string, unknown> {
  return { model: model.slug, modality: model.modality, sources: sourceNames(model), pricing: model.pricing };
}

function sourceNames(model: Model): string[] {
  return sourcesOf(model).map(({ provider, model: name }) => `${provider}/${name}`);
}

/** `input_per_million 25, output_per_million 100`. */
function priceText(model: Model): string {
  const rates = Object.entries(model.pricing).filter(([field]) => field !== "unit" && field !== "currency");
  return rates.map(([field, text]) => `${field} ${text}`).join(", ");
}
