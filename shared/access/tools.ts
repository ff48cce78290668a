/** Decides which tools a key may use, that is capabilities and workflows. A key with a list of tools cannot see other tools. */
import { ApiError } from "#shared/base/errors.ts";

import type { Caller } from "./authenticate.ts";

/** List entry that allows every workflow of the workspace. */
const WORKFLOWS = "workflow.*";

type Keyed = Pick<Caller, "tools">;

/** True if the key may use the tool. @param id id of a capability or a workflow */
export function mayUseTool({ tools }: Keyed, id: string): boolean {
  if (tools === undefined || tools.has(id)) return true;
  const [category, operation] = id.split(".");
  return tools.has(operation === undefined ? WORKFLOWS : `${category}.*`);
}

/** Checks that the caller may use a capability. @throws ApiError `capability_not_found` */
export function checkTool(caller: Keyed, id: string): void {
  if (!mayUseTool(caller, id)) throw noCapability();
}

export function noCapability(): ApiError {
  return new ApiError("capability_not_found", "There is no such capability; GET /v1/tools lists the capabilities.");
}

/** Returns the tools that the caller may use, in the given order. A key without restriction gets the same array. */
export function usableTools<Tool extends { readonly id: string }>(
  caller: Keyed,
  all: readonly Tool[],
): readonly Tool[] {
  return caller.tools === undefined ? all : all.filter(({ id }) => mayUseTool(caller, id));
}

/** True if a key with this list of tools could use nothing that the caller cannot use. @param list null for no restriction */
export function isWithinTools(list: readonly string[] | null, caller: Keyed): boolean {
  return caller.tools === undefined || (list !== null && list.every((entry) => mayUseTool(caller, entry)));
}

/**
 * Checks that the caller may send workflow definitions. Definitions may name any capability, so a key with a list of tools may not send
 * them. @throws ApiError `permission_denied`
 */
export function checkWritesDefinitions({ tools }: Keyed): void {
  if (tools === undefined) return;
  throw new ApiError(
    "permission_denied",
    "This key is restricted to a list of tools and cannot create or change workflows.",
  );
}
