/** Commands that check and list the catalogue as a process started on this machine would read it. */
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { sentence } from "#shared/calls/catalogue/faults.ts";
import { ADMIN } from "#shared/base/command-lines.ts";
import { checkCatalogue, sourcesOf, unroutableModels } from "#shared/operators/catalogue.ts";

import type { Command } from "./command.ts";
import { table } from "./table.ts";

export const CATALOGUE_COMMANDS: readonly Command[] = [
  {
    usage: "catalogue check [file…]",
    about:
      "Validates catalogue files, by default those of SLUICE_CATALOGUE. Lists their models, with the reason for each that cannot be " +
      "served. The exit code is 1 when a file is refused.",
    needs: "nothing",
    async run(context, input) {
      const files = input.rest.length > 0 ? input.rest : undefined;
      let catalogue: Catalogue | undefined;
      const { verdict, faults } = await checkCatalogue(async () => (catalogue = await context.catalogue(files)));
      if (catalogue === undefined) return { json: verdict, text: faults.map(sentence).join("\n"), exitCode: 1 };
      return { json: verdict, text: verdictText(catalogue, await context.modelsIn(files)) };
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

/**
 * Formats the result of a catalogue check.
 * @param own slugs of the models in the checked files; all other models ship with the service
 */
function verdictText({ models, unroutable }: Catalogue, own: readonly string[]): string {
  const rows = own.map((slug) => {
    const model = models.get(slug);
    if (model) return [slug, sourceNames(model).join(", "), priceText(model)];
    return [slug, "-", `cannot be served: ${unroutable.get(slug) ?? "it is disabled"}`];
  });
  const idle = [...unroutable.keys()].filter((slug) => !own.includes(slug)).length;
  const parts = [
    `the files are valid: ${models.size} models can be served, ${unroutable.size} cannot`,
    ...(own.length > 0 ? [table(["Model of the files", "Served by", "Price in credits, or why not"], rows)] : []),
    ...(idle > 0
      ? [
          `${idle} models that ship with the service cannot be served here. Most need a provider's key; ` +
            `${ADMIN} catalogue list names each reason.`,
        ]
      : []),
  ];
  return parts.join("\n\n");
}

function modelJson(model: Model): Record<string, unknown> {
  return { model: model.slug, modality: model.modality, sources: sourceNames(model), pricing: model.pricing };
}

function sourceNames(model: Model): string[] {
  return sourcesOf(model).map(({ provider, model: name }) => `${provider}/${name}`);
}

/** Formats the prices of a model, such as `input_per_million 25, output_per_million 100, priority (input_per_million 50)`. */
function priceText({ pricing }: Model): string {
  const { unit: _unit, currency: _currency, service_tiers: tiers, ...prices } = pricing;
  return membersText({ ...prices, ...tiers });
}

function membersText(members: object): string {
  return Object.entries(members)
    .map(([name, value]: [string, unknown]) =>
      typeof value === "object" && value !== null ? `${name} (${membersText(value)})` : `${name} ${String(value)}`,
    )
    .join(", ");
}
