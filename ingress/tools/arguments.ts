/** Reads and checks arguments of tool calls. */
import { arrived } from "#shared/json/contract-fault.ts";
import { ApiError } from "#shared/base/errors.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** Returns a text argument. @param absent default; undefined if the argument is required. @throws ApiError that names the argument */
export function textOf(args: Arguments, name: string, absent?: string): string {
  const value = args[name] ?? absent;
  if (typeof value === "string") return value;
  if (value === undefined)
    throw new ApiError("missing_required_parameter", `Missing required argument: ${name}.`, { param: name });
  throw new ApiError("unsupported_value", `Expected ${name} to be a string, got ${arrived("type", value)}.`, {
    param: name,
  });
}

/** Returns an integer argument. @param absent default. @throws ApiError that names the argument */
export function wholeNumberOf(args: Arguments, name: string, absent: number, max: number): number {
  const value = args[name] ?? absent;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  const message = `Expected ${name} to be a whole number from 1 to ${max}, got ${arrived("enum", value)}.`;
  throw new ApiError("unsupported_value", message, { param: name });
}
