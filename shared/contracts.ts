/**
 * The one door through which data from outside becomes typed: validators compiled from schemas/, faults worded for
 * clients. Faults name what was expected and what arrived, never a text, a prompt or a key.
 */
import shapes from "#schemas/generated/request-shapes.json" with { type: "json" };
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { validators } from "#schemas/generated/validators.js";

import { hasNullMember, memberNamesAt, type NullShapes, withoutNulls } from "./absent-nulls.ts";
import { describeFault, type Fault } from "./contract-fault.ts";
import { ApiError } from "./errors.ts";

/** The first fault of a value against a schema, or null. Never throws, whatever the value is. */
export function validate(name: SchemaName, value: unknown): Fault | null {
  return isValid(name, value) ? null : faultOf(name, value);
}

/**
 * The same value, typed: members the schema does not name are kept. A copy without them where optional members are null, see
 * `absent-nulls.ts`.
 * @throws ApiError 400 with the code, sentence and param of the first fault, which is its cause
 */
export function parse<N extends SchemaName>(name: N, value: unknown): SchemaTypes[N] {
  const read = tryParse(name, value);
  if (!("fault" in read)) return read.value;
  const { fault } = read;
  throw new ApiError(fault.code, fault.message, { param: fault.param, cause: fault });
}

/**
 * The value as `parse` returns it, or its first fault. A search for nulls takes about as long as the validation, so valid values are not
 * searched. The members of the value itself are asked before: most nulls are there.
 */
export function tryParse<N extends SchemaName>(
  name: N,
  given: unknown,
): { readonly value: SchemaTypes[N] } | { readonly fault: Fault } {
  const value = hasNullMember(given, SHAPES[name]) ? withoutNulls(given, name, SHAPES) : given;
  if (isValid(name, value)) return { value };
  const rest = withoutNulls(value, name, SHAPES);
  return rest !== value && isValid(name, rest) ? { value: rest } : { fault: faultOf(name, rest) };
}

/** The value without the nulls of its optional members, where another checks it. */
export function withoutAbsent(name: SchemaName, value: object): object {
  return withoutNulls(value, name, SHAPES) as object;
}

const SHAPES: NullShapes = shapes;

function isValid<N extends SchemaName>(name: N, value: unknown): value is SchemaTypes[N] {
  return validators[name](value);
}

/** Faults of the last validation, which failed. */
function faultOf(name: SchemaName, value: unknown): Fault {
  return describeFault(validators[name].errors ?? [], value, ({ instancePath }) =>
    memberNamesAt(value, name, SHAPES, instancePath),
  );
}
