/** Tools that a key is to list. */
import { findCapability } from "#shared/calls/capabilities/list.ts";
import { ApiError } from "#shared/errors.ts";

/** @returns without repeats, in order. @throws ApiError `unsupported_value` for a capability that there is not */
export function toolsAsked(asked: readonly string[] | null): readonly string[] | null {
  if (asked === null) return null;
  const unknown = asked.findIndex((entry) => isCapabilityId(entry) && !findCapability(entry));
  if (unknown < 0) return [...new Set(asked.map((entry) => entry.toLowerCase()))].toSorted();
  const param = `tools[${unknown}]`;
  throw new ApiError(
    "unsupported_value",
    `There is no capability ${asked[unknown]}; GET /v1/tools lists the capabilities.`,
    { param },
  );
}

/** Neither the id of a workflow nor a whole category. */
function isCapabilityId(entry: string): boolean {
  return entry.includes(".") && !entry.endsWith(".*");
}
