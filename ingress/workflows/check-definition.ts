/** A definition as it came in: read whole, and the workflows that it runs looked at. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/admission/authenticate.ts";
import { readDefinition } from "#shared/workflows/definition.ts";
import { checkNesting } from "#shared/workflows/nesting.ts";

import type { IngressContext } from "../context.ts";

/**
 * @param of the workflow whose definition it is, and its latest definition so far
 * @throws ApiError `invalid_workflow_definition`
 */
export async function checkDefinition(
  { catalogue, offered, database }: Pick<IngressContext, "catalogue" | "offered" | "database">,
  caller: Caller,
  value: unknown,
  of?: { readonly id: string; readonly earlier: WorkflowDefinition },
): Promise<WorkflowDefinition> {
  const capabilities = offered.current();
  const { definition } = readDefinition(value, {
    catalogue: catalogue.current(),
    capability: (name) => capabilities.find((one) => one.id === name),
  });
  await checkNesting(database, { caller, id: of?.id, earlier: of?.earlier }, definition);
  return definition;
}
