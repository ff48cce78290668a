/** Bodies with null for members that they do not have, from the published document. */
import { REFUSES_NULL } from "#shared/json/absent-nulls.ts";

type Schema = Readonly<Record<string, unknown>>;

export interface Published {
  /** Returns the schema that a reference names, or the schema itself. */
  resolved(schema: Schema): Schema;
  acceptsNull(schema: Schema): boolean;
}

/** Returns the body with null for each absent optional member whose schema neither accepts nor refuses null, at every depth. */
export function withNulls(published: Published, schema: Schema, value: unknown): unknown {
  const { properties = {}, items, oneOf, anyOf, discriminator, required = [] } = published.resolved(schema);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item) => withNulls(published, items as Schema, item));
  }
  const given = value as Readonly<Record<string, unknown>>;
  const { propertyName: tag = "", mapping = {} } = (discriminator ?? {}) as {
    readonly propertyName?: string;
    readonly mapping?: Readonly<Record<string, string>>;
  };
  if (Array.isArray(oneOf) && discriminator !== undefined) {
    const branch = mapping[String(given[tag])];
    return branch === undefined ? value : withNulls(published, { $ref: branch }, value);
  }
  if (Array.isArray(anyOf) && Object.keys(properties as Schema).length === 0) {
    const [branch, ...more] = (anyOf as readonly Schema[]).filter((one) => published.resolved(one)["properties"]);
    return branch === undefined || more.length > 0 ? value : withNulls(published, branch, value);
  }
  const all = Object.entries(properties as Readonly<Record<string, Schema>>).flatMap(([name, member]) => {
    if (Object.hasOwn(given, name)) return [[name, withNulls(published, member, given[name])] as const];
    const isLeft = (required as readonly string[]).includes(name) || REFUSES_NULL in member;
    return isLeft || published.acceptsNull(member) ? [] : [[name, null] as const];
  });
  return { ...given, ...Object.fromEntries(all) };
}

/** Returns the body once for each required member whose schema refuses null, with null for that member. */
export function* withoutOne(
  published: Published,
  schema: Schema,
  body: object,
): Generator<{ readonly name: string; readonly body: object }> {
  const { properties = {}, required = [] } = published.resolved(schema);
  for (const name of required as readonly string[]) {
    const member = (properties as Readonly<Record<string, Schema>>)[name];
    if (member !== undefined && !published.acceptsNull(member)) yield { name, body: { ...body, [name]: null } };
  }
}
