/** Tools in the list of a key. */
import { findCapability } from "#shared/calls/capabilities/list.ts";
import { ApiError } from "#shared/errors.ts";

/** Returns the tools sorted and without repeats. @throws ApiError `unsupported_value` for an unknown capability */
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

/** True unless the entry is a workflow's id or a whole category. */
function isCapabilityId(entry: string): boolean {
  return entry.includes(".") && !entry.endsWith(".*");
}
