/** Validates the input values of a run against the inputs that its definition declares. */
import type { WorkflowInput } from "#schemas/generated/types.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { refuseMisspelt } from "#shared/json/misspelt-members.ts";
import { ApiError } from "#shared/base/errors.ts";
import { didYouMean } from "#shared/base/near-names.ts";

import type { DefinitionFault } from "./bindings.ts";
import { UNSAFE_KEYS } from "./expressions/scope.ts";

const RUN_INPUT_BYTES_MAX = 4_194_304;

type Type = WorkflowInput["type"];

const IS: Readonly<Record<Type, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: Number.isSafeInteger,
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

const TYPE_DESCRIPTIONS: Readonly<Record<Type, string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
};

/**
 * Returns the input of a run, with defaults added. Returns undefined if the request contains no input and no input has a default.
 * @throws ApiError `invalid_request` or `missing_required_parameter` that names the input
 */
export function readRunInput(
  declared: Readonly<Record<string, WorkflowInput>>,
  input: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  checkInputBytes(input);
  refuseUndeclared(declared, Object.keys(input ?? {}));
  const values = valuesOf(declared, input ?? {});
  return input === undefined && Object.keys(values).length === 0 ? undefined : values;
}

/**
 * Rejects a request for a run whose misspelt members would start it without its input, or without the limit of its cost.
 * @throws ApiError `unknown_parameter` that names the member
 */
export function refuseMisspeltMembers(request: { readonly input?: unknown; readonly max_credits?: unknown }): void {
  refuseMisspelt(request, ["input", "max_credits"]);
}

/** Checks the size of an input. @throws ApiError `invalid_request` for an input above the limit */
export function checkInputBytes(input: Readonly<Record<string, unknown>> | undefined): void {
  const bytes = input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input));
  if (bytes <= RUN_INPUT_BYTES_MAX) return;
  const message = `Expected an input of at most ${RUN_INPUT_BYTES_MAX} bytes, got ${bytes}; refer to large files by their ids.`;
  throw new ApiError("invalid_request", message, { param: "input" });
}

/**
 * Validates an input of which some values are unknown before a run.
 * @param open names of inputs with unknown values
 * @throws the errors of `readRunInput` that occur for every possible value of the unknown inputs
 */
export function readKnownInput(
  declared: Readonly<Record<string, WorkflowInput>>,
  known: Readonly<Record<string, unknown>>,
  open: readonly string[],
): Readonly<Record<string, unknown>> {
  refuseUndeclared(declared, [...Object.keys(known), ...open]);
  return valuesOf(Object.fromEntries(Object.entries(declared).filter(([name]) => !open.includes(name))), known);
}

function refuseUndeclared(declared: Readonly<Record<string, WorkflowInput>>, inputNames: readonly string[]): void {
  const unknown = inputNames.find((name) => !Object.hasOwn(declared, name));
  if (unknown === undefined) return;
  const names = Object.keys(declared);
  const shortName = unknown.slice(0, 64);
  const known = names.length === 0 ? "The workflow declares no inputs." : `The workflow declares ${names.join(", ")}.`;
  const message = `Unknown input "${shortName}". ${known}${didYouMean(names, unknown)}`;
  throw new ApiError("invalid_request", message, { param: `input.${shortName}` });
}

/** Returns the values of the declared inputs. Null counts as absent. */
function valuesOf(
  declared: Readonly<Record<string, WorkflowInput>>,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, { type, required, default: fallback }] of Object.entries(declared)) {
    const value = input[name] ?? fallback;
    const param = `input.${name}`;
    if (value === undefined || value === null) {
      if (required !== true) continue;
      throw new ApiError("missing_required_parameter", `Missing required input "${name}".`, { param });
    }
    if (!IS[type](value)) {
      const message = `Expected ${param} to be ${TYPE_DESCRIPTIONS[type]}, got ${arrived("type", value)}.`;
      throw new ApiError("invalid_request", message, { param });
    }
    values[name] = value;
  }
  return values;
}

export function* checkInputs(inputs: Readonly<Record<string, WorkflowInput>>, at: string): Generator<DefinitionFault> {
  for (const [name, { type, default: fallback }] of Object.entries(inputs)) {
    if (UNSAFE_KEYS.has(name)) yield { param: at, message: `Expected no input named ${name}.` };
    if (fallback === undefined || IS[type](fallback)) continue;
    yield {
      param: `${at}.${name}.default`,
      message: `Expected the default of ${name} to be ${TYPE_DESCRIPTIONS[type]}.`,
    };
  }
}
