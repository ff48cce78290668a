/** Tools in the list of a key. */
import { CATEGORIES } from "#shared/calls/capabilities/entry.ts";
import { findCapability } from "#shared/calls/capabilities/list.ts";
import { ApiError } from "#shared/errors.ts";

/** Returns the tools sorted and without repeats. @throws ApiError `unsupported_value` for an unknown capability or category */
export function toolsAsked(asked: readonly string[] | null): readonly string[] | null {
  if (asked === null) return null;
  const unknown = asked.findIndex((entry) => isUnknown(entry.toLowerCase()));
  if (unknown < 0) return [...new Set(asked.map((entry) => entry.toLowerCase()))].toSorted();
  const param = `tools[${unknown}]`;
  throw new ApiError(
    "unsupported_value",
    `There is no capability ${asked[unknown]}; GET /v1/tools lists the capabilities.`,
    { param },
  );
}

/** Categories that a list may contain as a whole, `workflow` beside those of capabilities. */
const WHOLE: ReadonlySet<string> = new Set([...CATEGORIES, "workflow"].map((category) => `${category}.*`));

/** True for an entry that names neither a capability, nor a category. Ids of workflows, which have no dot, are not checked. */
function isUnknown(entry: string): boolean {
  if (!entry.includes(".")) return false;
  return entry.endsWith(".*") ? !WHOLE.has(entry) : !findCapability(entry);
}
