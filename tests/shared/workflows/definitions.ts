/** Reading definitions against this version's models and capabilities. */
import { expect } from "bun:test";

import { findCapability } from "#shared/calls/capabilities/list.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type CompiledDefinition, readDefinition } from "#shared/workflows/definition.ts";

export const catalogue = await loadCatalogue(await loadOurLayers(), [], {
  sandbox: true,
  providerKey: () => undefined,
});

export function read(definition: unknown): CompiledDefinition {
  return readDefinition(definition, { catalogue, capability: findCapability });
}

/** The place of the first fault, and what is said of it. */
export function refusal(definition: unknown): readonly [string | null, string] {
  try {
    read(definition);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe("invalid_workflow_definition");
    return [error.param, error.message];
  }
  throw new Error("it was not refused");
}
