/**
 * The one door through which data from outside becomes typed: validators compiled from schemas/, faults worded for
 * clients. Faults name what was expected and what arrived, never a text, a prompt or a key.
 */
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { validators } from "#schemas/generated/validators.js";

import { describeFault, type Fault } from "./contract-fault.ts";
import { ApiError } from "./errors.ts";

/** The first fault of a value against a schema, or null. Never throws, whatever the value is. */
export function validate(name: SchemaName, value: unknown): Fault | null {
  return isValid(name, value) ? null : faultOf(name, value);
}

/**
 * The same value, typed: members the schema does not name are kept.
 * @throws ApiError 400 with the code, sentence and param of the first fault, which is its cause
 */
export function parse<N extends SchemaName>(name: N, value: unknown): SchemaTypes[N] {
  if (isValid(name, value)) return value;
  const fault = faultOf(name, value);
  throw new ApiError(fault.code, fault.message, { param: fault.param, cause: fault });
}

function isValid<N extends SchemaName>(name: N, value: unknown): value is SchemaTypes[N] {
  return validators[name](value);
}

/** Faults of the last validation, which failed. */
function faultOf(name: SchemaName, value: unknown): Fault {
  return describeFault(validators[name].errors ?? [], value);
}
