/** Converts the members of a schema to rows of a table. Nested members follow the object that contains them. */
import { mergedObject, type Resolve, type Schema, typesOf } from "./document.ts";

export interface Row {
  /** Name of the member with the names of the objects around it, such as `messages[].content`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly notes: string;
  /** Variant of a union that the member belongs to. Absent if every variant has the member. */
  readonly variant?: Variant;
}

export interface Variant {
  /** Path of the union, such as `messages[]`. Empty if the body itself is the union. */
  readonly path: string;
  /** Label of the variant as Markdown, such as `role` `"user"`, followed by the labels of the unions around it in parentheses. */
  readonly label: string;
}

/** Maximum nesting depth of the objects that a table shows. */
const DEPTH_MAX = 3;
/** Maximum number of nested rows that a page shows for one body. The page links to the schema, which contains all members. */
const NESTED_ROWS_MAX = 150;

export interface Rows {
  /** Rows of all members of the object itself, followed by the rows of nested members. */
  readonly rows: readonly Row[];
  /** True when some nested members are missing. */
  readonly isCut: boolean;
}

export function rowsOf(schema: Schema, resolve: Resolve): Rows {
  const own: Row[] = [];
  const nested: Row[] = [];
  let isCut = false;
  /** Variant of the union whose members are currently being added. Undefined for members that every variant has. */
  let current: Variant | undefined;
  addMembers(schema, "", 0, new Set());
  return { rows: [...own, ...nested], isCut };

  function add(plain: Row, depth: number): void {
    const row = current === undefined ? plain : { ...plain, variant: current };
    if (depth === 0) own.push(row);
    else if (nested.length < NESTED_ROWS_MAX) nested.push(row);
    else isCut = true;
  }

  function addMembers(node: Schema, prefix: string, depth: number, around: ReadonlySet<Schema>): void {
    const object = mergedObject(node, resolve);
    const resolved = resolve(node);
    if (around.has(resolved)) return;
    const inside = new Set([...around, resolved]);
    const { properties = {}, required = [] } = object;
    for (const [name, member] of Object.entries(properties)) {
      const full = prefix + name;
      const isRequired = required.includes(name);
      add({ name: full, type: typeText(member, resolve), isRequired, notes: notesOf(member, resolve) }, depth);
      if (depth < DEPTH_MAX && !isCut) addNested(member, full, depth + 1, inside);
    }
    addVariants(object, prefix, depth, inside);
  }

  /** Adds the members of an object, of the items of a list, or of the values of a map. */
  function addNested(member: Schema, name: string, depth: number, around: ReadonlySet<Schema>): void {
    const full = resolve(member);
    if (full.items) {
      addNested(full.items, `${name}[]`, depth, around);
      return;
    }
    if (typeof full.additionalProperties === "object" && !full.properties) {
      addNested(full.additionalProperties, `${name}.*`, depth, around);
      return;
    }
    addMembers(full, `${name}.`, depth, around);
  }

  function addVariants(object: Schema, prefix: string, depth: number, around: ReadonlySet<Schema>): void {
    const variants = (object.oneOf ?? object.anyOf ?? []).map((variant) => mergedObject(variant, resolve));
    const tag = object.discriminator?.propertyName ?? commonTag(variants, resolve);
    const outer = current;
    for (const full of variants) {
      const value = tag === undefined ? undefined : tagValue(full, tag, resolve);
      if (value === undefined || tag === undefined) {
        if (!full.properties && !full.items && !full.oneOf && !full.anyOf) continue;
        current = variantOf(outer, prefix, titleLabel(full, variants));
        addNestedVariant(full, prefix, depth, around);
        continue;
      }
      current = variantOf(outer, prefix, `${code(tag).replaceAll('"', "")} ${code(value)}`);
      add({ name: prefix + tag, type: code(value), isRequired: true, notes: full.description ?? "" }, depth);
      const { [tag]: _tag, ...others } = full.properties ?? {};
      addMembers({ ...full, properties: others }, prefix, depth, around);
    }
    current = outer;
  }

  function addNestedVariant(variant: Schema, prefix: string, depth: number, around: ReadonlySet<Schema>): void {
    const name = prefix.replace(/\.$/, "");
    if (variant.items && name !== "") addNested(variant, name, depth, around);
    else if (!variant.items) addMembers(variant, prefix, depth, around);
  }
}

/**
 * Returns the variant for the members of a nested union. Its label ends with the outer variant's label in parentheses. Without a label,
 * returns the outer variant.
 */
function variantOf(outer: Variant | undefined, prefix: string, label: string | undefined): Variant | undefined {
  if (label === undefined) return outer;
  return { path: prefix.replace(/\.$/, ""), label: outer === undefined ? label : `${label} (${outer.label})` };
}

/** Returns a label built from the schema's title, for one of several object variants without an identifying property. */
function titleLabel({ title }: Schema, variants: readonly Schema[]): string | undefined {
  const isOneOfSeveral = variants.filter(({ properties }) => properties).length > 1;
  return isOneOfSeveral && title !== undefined ? `schema \`${title}\`` : undefined;
}

/** Properties that may identify the variants of a union, if the schema names no discriminator. */
const TAGS = ["type", "role", "object"];

/** Returns the first property of `TAGS` that at least two variants have, each with a different value. */
function commonTag(variants: readonly Schema[], resolve: Resolve): string | undefined {
  return TAGS.find((tag) => {
    const values = variants.map((variant) => tagValue(variant, tag, resolve)).filter((value) => value !== undefined);
    return values.length > 1 && new Set(values).size === values.length;
  });
}

function tagValue({ properties = {} }: Schema, tag: string, resolve: Resolve): unknown {
  const { const: constant, enum: values } = resolve(properties[tag] ?? {});
  return constant ?? values?.[0];
}

/** Returns the type of a value as text, such as `string`, `array of objects`, `"user"` or `string or null`. */
export function typeText(schema: Schema, resolve: Resolve): string {
  const full = resolve(schema);
  if (full.const !== undefined) return code(full.const);
  const variants = full.oneOf ?? full.anyOf;
  if (variants && typesOf(full).length === 0) {
    const names = [...new Set(variants.map((variant) => typeText(variant, resolve)))];
    return names.length > 3 ? "object" : names.join(" or ");
  }
  const types = typesOf(full);
  if (types.length === 0 && full.enum)
    return [...new Set(full.enum.map((value) => (value === null ? "null" : typeof value)))].join(" or ");
  if (types.length === 0) return full.properties || full.allOf ? "object" : "any";
  return types.map((type) => (type === "array" ? arrayText(full, resolve) : type)).join(" or ");
}

function arrayText({ items }: Schema, resolve: Resolve): string {
  if (!items) return "array";
  const of = typeText(items, resolve);
  if (of === "any" || of.startsWith("`")) return "array";
  if (of.includes(" or ") || of.startsWith("array")) return `array of (${of})`;
  return `array of ${of}s`;
}

/** Returns the description, accepted values, default and bounds of a schema, as sentences. */
export function notesOf(schema: Schema, resolve: Resolve): string {
  const full = resolve(schema);
  const inner = full.items ? resolve(full.items) : {};
  const values = full.enum ?? inner.enum;
  const said = schema.description ?? full.description ?? "";
  const sentences = [
    said,
    values && values.length > 1 ? `One of ${values.map(code).join(", ")}.` : undefined,
    full.default === undefined || said.includes("Default") ? undefined : `Default: ${code(full.default)}.`,
    boundsOf(full, said),
    full.deprecated === true ? "Deprecated." : undefined,
  ];
  return sentences.filter((one) => one !== undefined && one !== "").join(" ");
}

/** Largest absolute value of a bound that the reference shows. Larger bounds are limits of 64-bit numbers, which do not help a reader. */
const BOUND_MAX = 1e15;

function boundsOf(
  { minimum, maximum, minLength, maxLength, minItems, maxItems, exclusiveMinimum }: Schema,
  said: string,
): string | undefined {
  const least = exclusiveMinimum === undefined ? minimum : undefined;
  const parts = [
    exclusiveMinimum === undefined ? undefined : `More than ${exclusiveMinimum}.`,
    rangeOf(least, maximum, ["", ""]),
    rangeOf(minLength, maxLength, [" character", " characters"]),
    rangeOf(minItems, maxItems, [" entry", " entries"]),
  ].filter((one) => one !== undefined);
  const unsaid = parts.filter((part) => !(part.match(/[\d.,]*\d/g) ?? []).every((number) => said.includes(number)));
  return unsaid.length === 0 ? undefined : unsaid.join(" ");
}

/** Formats a range of values. The third parameter is the unit in singular and plural, each with a space before it. */
function rangeOf(
  least: number | undefined,
  most: number | undefined,
  [one, several]: readonly [string, string],
): string | undefined {
  const isBound = (bound: number | undefined): bound is number => bound !== undefined && Math.abs(bound) <= BOUND_MAX;
  const said = (bound: number): string => bound.toLocaleString("en") + (bound === 1 ? one : several);
  if (isBound(least) && isBound(most)) {
    return least === most ? `Exactly ${said(least)}.` : `${least.toLocaleString("en")} to ${said(most)}.`;
  }
  if (isBound(least)) return least === 0 ? undefined : `At least ${said(least)}.`;
  return isBound(most) ? `At most ${said(most)}.` : undefined;
}

function code(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes("`") ? text : `\`${text}\``;
}
