/**
 * Validates all external data with validators compiled from schemas/ and creates error messages for clients. Messages contain the expected
 * and the received value, but never a text, a prompt or a key.
 */
import shapes from "#schemas/generated/request-shapes.json" with { type: "json" };
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { validators } from "#schemas/generated/validators.js";

import { hasNullMember, memberNamesAt, type NullShapes, withoutNulls } from "./absent-nulls.ts";
import { describeFault, type Fault } from "./contract-fault.ts";
import { ApiError } from "../base/errors.ts";

/** Validates a value against a schema. Returns the first fault, or null if the value is valid. Never throws. */
export function validate(name: SchemaName, value: unknown): Fault | null {
  return isValid(name, value) ? null : faultOf(name, value);
}

/**
 * Validates a value and returns it with its type. Unknown members are kept. Optional members that are null are removed in a copy
 * (`absent-nulls.ts`).
 * @throws ApiError 400 with the code, message and param of the first fault; the fault is its cause
 */
export function parse<N extends SchemaName>(name: N, value: unknown): SchemaTypes[N] {
  const read = tryParse(name, value);
  if (!("fault" in read)) return read.value;
  const { fault } = read;
  throw new ApiError(fault.code, fault.message, { param: fault.param, cause: fault });
}

/**
 * Validates a value like `parse` but returns the first fault instead of throwing. Only an invalid value, or a value with a null at its top
 * level, is searched for nulls, because the search takes about as long as the validation.
 */
export function tryParse<N extends SchemaName>(
  name: N,
  input: unknown,
): { readonly value: SchemaTypes[N] } | { readonly fault: Fault } {
  const value = hasNullMember(input, SHAPES[name]) ? withoutNulls(input, name, SHAPES) : input;
  if (isValid(name, value)) return { value };
  const cleaned = withoutNulls(value, name, SHAPES);
  return cleaned !== value && isValid(name, cleaned) ? { value: cleaned } : { fault: faultOf(name, cleaned) };
}

/** Returns an object without its optional members that are null. Another schema validates the object afterwards. */
export function withoutAbsent(name: SchemaName, value: object): object {
  return withoutNulls(value, name, SHAPES) as object;
}

const SHAPES: NullShapes = shapes;

function isValid<N extends SchemaName>(name: N, value: unknown): value is SchemaTypes[N] {
  return validators[name](value);
}

/** Returns the fault of the last validation with this schema, which must have failed. */
function faultOf(name: SchemaName, value: unknown): Fault {
  return describeFault(validators[name].errors ?? [], value, ({ instancePath }) =>
    memberNamesAt(value, name, SHAPES, instancePath),
  );
}
