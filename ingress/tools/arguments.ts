/** Arguments of tools, read one by one. */
import { arrived } from "#shared/contract-fault.ts";
import { ApiError } from "#shared/errors.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** @param absent its value where it is not given; undefined: it has to be. @throws ApiError naming it */
export function textOf(given: Arguments, name: string, absent?: string): string {
  const value = given[name] ?? absent;
  if (typeof value === "string") return value;
  if (value === undefined)
    throw new ApiError("missing_required_parameter", `Missing required argument: ${name}.`, { param: name });
  throw new ApiError("unsupported_value", `Expected ${name} to be a string, got ${arrived("type", value)}.`, {
    param: name,
  });
}

/** @throws ApiError naming it */
export function wholeNumberOf(given: Arguments, name: string, absent: number, max: number): number {
  const value = given[name] ?? absent;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  const message = `Expected ${name} to be a whole number from 1 to ${max}, got ${arrived("enum", value)}.`;
  throw new ApiError("unsupported_value", message, { param: name });
}
