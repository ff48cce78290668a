/** A definition as it came in: read whole, and the workflows that it runs looked at. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/admission/authenticate.ts";
import { readerOf } from "#shared/workflows/access.ts";
import { readDefinition } from "#shared/workflows/definition.ts";
import { checkNesting } from "#shared/workflows/nesting.ts";

import type { IngressContext } from "../context.ts";

/** @param id of the workflow whose definition it is. @throws ApiError `invalid_workflow_definition` */
export async function checkDefinition(
  { catalogue, offered, database }: Pick<IngressContext, "catalogue" | "offered" | "database">,
  caller: Caller,
  id: string | undefined,
  value: unknown,
): Promise<WorkflowDefinition> {
  const capabilities = offered.current();
  const { definition } = readDefinition(value, {
    catalogue: catalogue.current(),
    capability: (name) => capabilities.find((one) => one.id === name),
  });
  await checkNesting(database, readerOf(caller), id, definition);
  return definition;
}
