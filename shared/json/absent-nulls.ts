/**
 * Treats null for an optional member as absent, because SDKs send null for unset members. A member keeps its null if its schema accepts
 * null, if it is required, or if no schema declares it. A schema with REFUSES_NULL also keeps the null of an optional member, so that its
 * validator rejects it. Absence has a meaning there that a caller sending null may not intend (decision 0107).
 */
type Schema = Readonly<Record<string, unknown>>;

/** Schema keyword that makes the validator reject null for optional members. */
export const REFUSES_NULL = "x-svc-refuses-null";

/** Describes the optional members of a schema that count as absent when null, at every depth. It contains only JSON types. */
export interface NullShape {
  /** Names of the optional members that count as absent when null. */
  readonly optional?: readonly string[];
  /** Names of the other members of an object that accepts no further members. Used for suggestions only. */
  readonly names?: readonly string[];
  /** Null shapes of the named members' values. */
  readonly members?: Readonly<Record<string, NullShapeRef>>;
  /** Null shape for the values of members that the schema does not name. */
  readonly others?: NullShapeRef;
  /** Null shape of an array's items. */
  readonly items?: NullShapeRef;
  /** Name of the discriminator member, whose value selects one of `branches`. */
  readonly tag?: string;
  readonly branches?: Readonly<Record<string, NullShapeRef>>;
}

/** Null shape, or the name of one. */
export type NullShapeRef = NullShape | string;

/** Null shapes by schema name. A name is missing if its schema has no members that count as absent when null. */
export type NullShapes = Readonly<Record<string, NullShapeRef>>;

/** Returns the value without the nulls that mean absence. Returns the same object if there are none. */
export function withoutNulls(value: unknown, ref: NullShapeRef | undefined, shapes: NullShapes): unknown {
  if (ref === undefined || typeof value !== "object" || value === null) return value;
  if (typeof ref === "string") return withoutNulls(value, shapes[ref], shapes);
  if (Array.isArray(value)) return ref.items === undefined ? value : withoutNullsInList(value, ref.items, shapes);
  const { optional, members, others, tag, branches } = ref;
  const record = value as Readonly<Record<string, unknown>>;
  let changes: Map<string, unknown> | undefined;
  if (optional !== undefined) {
    for (const name of optional) if (record[name] === null) (changes ??= new Map()).set(name, undefined);
  }
  for (const name in others === undefined ? members : record) {
    const member = record[name];
    if (typeof member !== "object" || member === null) continue;
    const changed = withoutNulls(member, memberOf(members, name) ?? others, shapes);
    if (changed !== member) (changes ??= new Map()).set(name, changed);
  }
  const changed = changes === undefined ? value : withChanges(record, changes);
  if (tag === undefined || branches === undefined) return changed;
  const branch = record[tag];
  if (typeof branch !== "string" || !Object.hasOwn(branches, branch)) return changed;
  return withoutNulls(changed, branches[branch], shapes);
}

/**
 * Returns the member names that the schema of an object declares: of optional members, and of members that are objects or lists. For an
 * object that accepts no further members, returns all names.
 * @param pointer JSON pointer of the object within the value
 */
export function memberNamesAt(
  value: unknown,
  ref: NullShapeRef | undefined,
  shapes: NullShapes,
  pointer: string,
): readonly string[] {
  let inner = value;
  let shape = shapeOf(inner, ref, shapes);
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = Array.isArray(inner) ? shape?.items : (memberOf(shape?.members, key) ?? shape?.others);
    inner = (inner as Readonly<Record<string, unknown>> | null | undefined)?.[key];
    shape = shapeOf(inner, next, shapes);
  }
  const { optional = [], members = {}, names = [] } = shape ?? {};
  return [...new Set([...optional, ...Object.keys(members), ...names])];
}

/** Returns the null shape of a value. For a union, it is the shape of the branch that the discriminator selects. */
function shapeOf(value: unknown, ref: NullShapeRef | undefined, shapes: NullShapes): NullShape | undefined {
  const shape = typeof ref === "string" ? shapes[ref] : ref;
  if (typeof shape === "string") return shapeOf(value, shape, shapes);
  if (shape?.tag === undefined || shape.branches === undefined || typeof value !== "object") return shape;
  const tag = (value as Readonly<Record<string, unknown>> | null)?.[shape.tag];
  if (typeof tag !== "string" || !Object.hasOwn(shape.branches, tag)) return shape;
  return shapeOf(value, shape.branches[tag], shapes);
}

function memberOf(members: NullShape["members"], name: string): NullShapeRef | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** True if a direct optional member of the value is null. */
export function hasNullMember(value: unknown, ref: NullShapeRef | undefined): boolean {
  if (typeof value !== "object" || value === null || typeof ref !== "object") return false;
  return ref.optional?.some((name) => (value as Readonly<Record<string, unknown>>)[name] === null) === true;
}

/** Returns a copy with changed members. A change to undefined removes the member. */
function withChanges(record: Readonly<Record<string, unknown>>, changes: ReadonlyMap<string, unknown>): object {
  const all = Object.entries(record).map(([name, value]) => [name, changes.has(name) ? changes.get(name) : value]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as object;
}

function withoutNullsInList(list: readonly unknown[], items: NullShapeRef, shapes: NullShapes): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const item = list[at];
    if (typeof item !== "object" || item === null) continue;
    const changed = withoutNulls(item, items, shapes);
    if (changed !== item) (copy ??= [...list])[at] = changed;
  }
  return copy ?? list;
}

/**
 * Returns the null shape of a schema; undefined if none of its members counts as absent when null, and it accepts further members.
 * @param part returns the schema of a reference
 */
export function nullShapeOf(schema: Schema, part: (name: string) => Schema): NullShapeRef | undefined {
  return shapeOfAny([schema], part);
}

/**
 * Returns the null shape of a value that matches any of these schemas. Branches of a union without discriminator are merged into one
 * schema.
 */
function shapeOfAny(schemas: readonly Schema[], part: (name: string) => Schema): NullShapeRef | undefined {
  const [first, ...more] = schemas.filter(({ type }) => type !== "null");
  if (first === undefined) return undefined;
  if (more.length === 0 && typeof first["$ref"] === "string") return first["$ref"];
  const all = schemas.flatMap((one) => alternatives(one, part));
  const names = new Set(all.flatMap(({ properties = {} }) => Object.keys(properties as Schema)));
  const optional: string[] = [];
  const members: Record<string, NullShapeRef> = {};
  for (const name of names) {
    const holders = all.filter(
      ({ properties }) => properties !== undefined && Object.hasOwn(properties as Schema, name),
    );
    const own = holders.map(({ properties }) => (properties as Readonly<Record<string, Schema>>)[name] ?? {});
    const isOptional = holders.some(({ required }) => !((required ?? []) as readonly string[]).includes(name));
    if (isOptional && !own.some((one) => REFUSES_NULL in one || acceptsNull(one, part))) optional.push(name);
    const inner = shapeOfAny(own, part);
    if (inner !== undefined) members[name] = inner;
  }
  const shapeOfKeyword = (keyword: string): NullShapeRef | undefined => {
    const inner = all.flatMap((one) => (isObject(one[keyword]) ? [one[keyword]] : []));
    return inner.length === 0 ? undefined : shapeOfAny(inner, part);
  };
  const [others, items] = [shapeOfKeyword("additionalProperties"), shapeOfKeyword("items")];
  const isClosed = all.some(({ additionalProperties }) => additionalProperties === false);
  const rest = isClosed ? [...names].filter((name) => !optional.includes(name) && !Object.hasOwn(members, name)) : [];
  const shape: NullShape = {
    ...(optional.length === 0 ? {} : { optional }),
    ...(rest.length === 0 ? {} : { names: rest }),
    ...(Object.keys(members).length === 0 ? {} : { members }),
    ...(others === undefined ? {} : { others }),
    ...(items === undefined ? {} : { items }),
    ...tagged(all, part),
  };
  return Object.keys(shape).length === 0 ? undefined : shape;
}

/** Returns the schema itself, and the branches of its unions without discriminator. */
function alternatives(schema: Schema, part: (name: string) => Schema): readonly Schema[] {
  const { $ref: name, anyOf, oneOf, allOf, discriminator } = schema;
  if (typeof name === "string") return alternatives(part(name), part);
  const unions = [anyOf, discriminator === undefined ? oneOf : undefined, allOf];
  const branches = unions.flatMap((union) => (union ?? []) as readonly Schema[]);
  return [schema, ...branches.flatMap((branch) => alternatives(branch, part))];
}

/** Returns the discriminator and the branches of a union. @throws Error if the schema has two unions with a discriminator */
function tagged(all: readonly Schema[], part: (name: string) => Schema): Pick<NullShape, "branches" | "tag"> {
  const [union, ...more] = all.filter(({ discriminator }) => discriminator !== undefined);
  if (union === undefined) return {};
  if (more.length > 0) throw new Error("two discriminated unions in one place");
  const { propertyName: tag } = union["discriminator"] as { readonly propertyName: string };
  const branches = (union["oneOf"] as readonly Schema[]).flatMap((branch) => {
    const shape = shapeOfAny([branch], part);
    const [whole = {}] = alternatives(branch, part);
    const { const: value, enum: values = [value] } =
      (whole["properties"] as Readonly<Record<string, Schema>>)[tag] ?? {};
    return shape === undefined ? [] : (values as readonly unknown[]).map((one) => [String(one), shape] as const);
  });
  return { tag, branches: Object.fromEntries(branches) };
}

/** True if the schema accepts null. A schema that does not restrict the type also accepts it. */
export function acceptsNull(schema: Schema, part: (name: string) => Schema): boolean {
  const { $ref: name, const: value, enum: values, type, anyOf, oneOf, allOf } = schema;
  if (typeof name === "string") return acceptsNull(part(name), part);
  const accepts = (one: Schema): boolean => acceptsNull(one, part);
  return (
    (!("const" in schema) || value === null) &&
    (values === undefined || (values as readonly unknown[]).includes(null)) &&
    (type === undefined || [type].flat().includes("null")) &&
    [anyOf, oneOf].every((union) => union === undefined || (union as readonly Schema[]).some(accepts)) &&
    ((allOf ?? []) as readonly Schema[]).every(accepts)
  );
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
