/** Templates of workflows: the files of deploy/examples whose models and capabilities are available in this installation. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type { WorkflowTemplate } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";

import { readDefinition } from "./definition.ts";

const FOLDER = join(import.meta.dir, "../../deploy/examples");

/**
 * Reads all templates, sorted by name.
 * @throws Error that names an invalid template
 */
export async function loadTemplates(folder = FOLDER): Promise<readonly WorkflowTemplate[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  const templates = await Promise.all(
    names.map(async (name) => {
      const value: unknown = await Bun.file(join(folder, name)).json();
      const fault = validate("WorkflowTemplate", value);
      if (fault) throw new Error(`the template ${name} is not one: ${fault.message}`);
      return value as WorkflowTemplate;
    }),
  );
  return templates.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the templates whose models and capabilities are available. */
export function templatesFor(
  templates: readonly WorkflowTemplate[],
  surroundings: Parameters<typeof readDefinition>[1],
): readonly WorkflowTemplate[] {
  return templates.filter(({ definition }) => {
    try {
      readDefinition(definition, surroundings);
      return true;
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  });
}
