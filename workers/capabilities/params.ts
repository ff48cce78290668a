/**
 * Declares the parameters of capabilities. Each parameter has a published JSON Schema and the TypeScript type that the capability's code
 * receives.
 */
import type { Schema } from "#shared/calls/capabilities/entry.ts";

export interface Param<T> {
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Type parameter as a member, so that TypeScript can infer it. The member is never set at run time. */
  readonly type?: T;
}

export type Params = Readonly<Record<string, Param<unknown>>>;

/** Type of the parameters that a capability's code receives. It has all members; optional ones without a default may be undefined. */
export type ParamsOf<P extends Params> = { readonly [Name in keyof P]: P[Name] extends Param<infer T> ? T : never };

/**
 * Says whether a caller must set a parameter: it has a default, is required, or neither. In the last case, the parameter is optional and
 * may be undefined.
 */
type Presence<T> = { readonly default?: T; readonly required?: true };
type Value<T, Options> = Options extends { readonly default: unknown } | { readonly required: true }
  ? T
  : T | undefined;

/** Units of params, published as `x-svc-unit`. */
export type Unit =
  | "px"
  | "s"
  | "ms"
  | "dB"
  | "LUFS"
  | "dBTP"
  | "Hz"
  | "kbit/s"
  | "fps"
  | "deg"
  | "dpi"
  | "mm"
  | "bytes"
  | "percent";

interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  readonly unit?: Unit;
}

function param<T, G extends Presence<T>>(schema: Schema, options: G): Param<Value<T, G>> {
  const { default: value, required } = options;
  return { schema: value === undefined ? schema : { ...schema, default: value }, isRequired: required === true };
}

function numberSchema(type: "integer" | "number", description: string, { min, max, unit }: NumberRange): Schema {
  return {
    description,
    type,
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(unit === undefined ? {} : { "x-svc-unit": unit }),
  };
}

export function integer<const G extends Presence<number> & NumberRange>(
  description: string,
  options: G,
): Param<Value<number, G>> {
  return param<number, G>(numberSchema("integer", description, options), options);
}

export function number<const G extends Presence<number> & NumberRange>(
  description: string,
  options: G,
): Param<Value<number, G>> {
  return param<number, G>(numberSchema("number", description, options), options);
}

export function flag(description: string, value: boolean): Param<boolean> {
  return param<boolean, { default: boolean }>({ description, type: "boolean" }, { default: value });
}

/**
 * Declares a parameter with a fixed list of values.
 * @param options `labels`: a display name for each value that needs one
 */
export function choice<
  const V extends string | number,
  const G extends Presence<V> & { readonly labels?: Readonly<Partial<Record<V, string>>> },
>(description: string, values: readonly V[], options: G): Param<Value<V, G>> {
  const labels = options.labels === undefined ? {} : { "x-svc-enum-labels": options.labels };
  const type = typeof values[0] === "number" ? "integer" : "string";
  return param<V, G>({ description, type, enum: values, ...labels }, options);
}

export function text<
  const G extends Presence<string> & { readonly min?: number; readonly max: number; readonly pattern?: string },
>(description: string, options: G): Param<Value<string, G>> {
  const { min = 1, max, pattern } = options;
  const schema = { description, type: "string", minLength: min, maxLength: max };
  return param<string, G>(pattern === undefined ? schema : { ...schema, pattern }, options);
}

export function color<const G extends Presence<string>>(description: string, options: G): Param<Value<string, G>> {
  return text(`${description} A hex colour such as #3366ff, or a CSS colour name.`, {
    ...options,
    max: 30,
    pattern: "^(?:#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,30})$",
  }) as Param<Value<string, G>>;
}

export function list<T, const G extends Presence<readonly T[]> & { readonly min?: number; readonly max: number }>(
  description: string,
  item: Param<T>,
  options: G,
): Param<Value<readonly T[], G>> {
  const { min = 1, max } = options;
  return param<readonly T[], G>(
    { description, type: "array", items: item.schema, minItems: min, maxItems: max },
    options,
  );
}

/** Declares a parameter by its JSON Schema, for types that no other function declares. */
export function custom<T, const G extends Presence<T> = Presence<T>>(schema: Schema, options: G): Param<Value<T, G>> {
  return param<T, G>(schema, options);
}

/** Returns the draft-07 schema of an object with exactly these members. */
export function objectSchema(members: Params, more: Schema = {}): Schema {
  const required = Object.entries(members).flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...more,
  };
}

/** Adds defaults to the parameters of a pipeline step, because the validator does not add them. */
export function withDefaults(params: Params, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const defaults = Object.entries(params).flatMap(([name, { schema }]) =>
    schema["default"] === undefined ? [] : [[name, schema["default"]] as const],
  );
  return { ...Object.fromEntries(defaults), ...values };
}

/** Positions within an area, named by compass direction. */
export const GRAVITIES = [
  "center",
  "north",
  "northeast",
  "east",
  "southeast",
  "south",
  "southwest",
  "west",
  "northwest",
] as const;
