/** Checks a received workflow definition, and the workflows that it runs. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { readingDefinition } from "#shared/workflows/definition.ts";
import { checkNesting } from "#shared/workflows/nesting.ts";

import type { ReadBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";

/**
 * Checks a workflow definition and returns it.
 * @param body request body; its `work` runs the check in time slices
 * @param value definition to check
 * @param of workflow that gets the definition as its next version, with its latest definition. Absent for a definition without a stored
 * workflow
 * @throws ApiError `invalid_workflow_definition`; `overloaded`
 */
export function checkDefinition(
  {
    catalogue,
    availableCapabilities,
    database,
  }: Pick<IngressContext, "catalogue" | "availableCapabilities" | "database">,
  caller: Caller,
  body: Pick<ReadBody, "work">,
  value: unknown,
  of?: { readonly id: string; readonly earlier: WorkflowDefinition },
): Promise<WorkflowDefinition> {
  return body.work(async (slices) => {
    const capabilities = availableCapabilities.current();
    const surroundings = {
      catalogue: catalogue.current(),
      capability: (name: string) => capabilities.find((one) => one.id === name),
    };
    const { definition } = await slices.run(readingDefinition(value, surroundings));
    await checkNesting(database, { caller, id: of?.id, earlier: of?.earlier }, definition, slices);
    return definition;
  });
}
