/** Tools of a key: the capabilities and workflows that it may run. A key with a list sees no others. */
import { ApiError } from "#shared/base/errors.ts";

import type { Caller } from "./authenticate.ts";

/** List entry for every workflow of the workspace. */
const WORKFLOWS = "workflow.*";

type Keyed = Pick<Caller, "tools">;

/** @param id of a capability or a workflow */
export function mayUseTool({ tools }: Keyed, id: string): boolean {
  if (tools === undefined || tools.has(id)) return true;
  const [category, operation] = id.split(".");
  return tools.has(operation === undefined ? WORKFLOWS : `${category}.*`);
}

/** @throws ApiError `capability_not_found` */
export function checkTool(caller: Keyed, id: string): void {
  if (!mayUseTool(caller, id)) throw noCapability();
}

export function noCapability(): ApiError {
  return new ApiError("capability_not_found", "There is no such capability; GET /v1/tools lists the capabilities.");
}

/** Returns the tools of the list that the caller may run, in order; the same list for an unrestricted key. */
export function usableTools<Tool extends { readonly id: string }>(
  caller: Keyed,
  all: readonly Tool[],
): readonly Tool[] {
  return caller.tools === undefined ? all : all.filter(({ id }) => mayUseTool(caller, id));
}

/** Returns true if a key with this list can run nothing that the caller cannot. @param list null for no restriction */
export function isWithinTools(list: readonly string[] | null, caller: Keyed): boolean {
  return caller.tools === undefined || (list !== null && list.every((entry) => mayUseTool(caller, entry)));
}

/** Inline definitions may name any capability. @throws ApiError `permission_denied` for a key with a list */
export function checkWritesDefinitions({ tools }: Keyed): void {
  if (tools === undefined) return;
  throw new ApiError(
    "permission_denied",
    "This key is restricted to a list of tools and cannot create or change workflows.",
  );
}
