/**
 * Validation of all external data, by validators compiled from schemas/, with error messages for clients. Messages name the expected and
 * the received value, never a text, a prompt or a key.
 */
import shapes from "#schemas/generated/request-shapes.json" with { type: "json" };
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { validators } from "#schemas/generated/validators.js";

import { hasNullMember, memberNamesAt, type NullShapes, withoutNulls } from "./absent-nulls.ts";
import { describeFault, type Fault } from "./contract-fault.ts";
import { ApiError } from "../base/errors.ts";

/** Returns the first fault of a value against a schema, or null. Never throws. */
export function validate(name: SchemaName, value: unknown): Fault | null {
  return isValid(name, value) ? null : faultOf(name, value);
}

/**
 * Returns the same value, typed; unknown members are kept. Returns a copy without null optional members if there are any
 * (`absent-nulls.ts`).
 * @throws ApiError 400 with the code, message and param of the first fault, which is its cause
 */
export function parse<N extends SchemaName>(name: N, value: unknown): SchemaTypes[N] {
  const read = tryParse(name, value);
  if (!("fault" in read)) return read.value;
  const { fault } = read;
  throw new ApiError(fault.code, fault.message, { param: fault.param, cause: fault });
}

/**
 * Returns the value as `parse` does, or its first fault. Searching for nulls takes about as long as validating, so valid values are not
 * searched. The value's own members are checked first, because most nulls are there.
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

/** Returns the value without null optional members, for a value that another schema validates. */
export function withoutAbsent(name: SchemaName, value: object): object {
  return withoutNulls(value, name, SHAPES) as object;
}

const SHAPES: NullShapes = shapes;

function isValid<N extends SchemaName>(name: N, value: unknown): value is SchemaTypes[N] {
  return validators[name](value);
}

/** Returns the fault of the last validation, which failed. */
function faultOf(name: SchemaName, value: unknown): Fault {
  return describeFault(validators[name].errors ?? [], value, ({ instancePath }) =>
    memberNamesAt(value, name, SHAPES, instancePath),
  );
}
