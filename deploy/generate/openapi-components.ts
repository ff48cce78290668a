/** Converts the JSON Schemas to OpenAPI 3.1 components, with explicit hints for client generators. */
import { namedParts, resolvePart, type Schema, type SchemaFile, tagValues, X_SCHEMA } from "./schema-files.ts";

const reference = (name: string): string => `#/components/schemas/${name}`;

/** JSON Schema keywords whose members are values, not schemas. */
const VALUES = new Set(["const", "enum", "default", "examples"]);
/** JSON Schema keywords that describe the members of an object. */
const SHAPES = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf"];

/** Returns schemas/generated/components.json: `{ schemas }`, with schemas sorted by name. */
export function componentsJson(files: readonly SchemaFile[]): string {
  const parts = namedParts(files, reference);
  const byReference = new Map([...parts].map(([name, part]) => [reference(name), part]));
  const spoken = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(spoken);
    if (typeof node !== "object" || node === null) return node;
    const schema = node as Schema;
    const { [X_SCHEMA]: target, type, ...rest } = schema;
    if (typeof target === "string") return { ...rest, $ref: target };
    const copy = mapValues(schema, (value, keyword) => {
      if (keyword === "properties") return mapValues(value as Schema, spoken);
      return VALUES.has(keyword) ? value : spoken(value);
    });
    if (type === "object" && !SHAPES.some((keyword) => keyword in schema)) copy["additionalProperties"] = true;
    const mapping = mappingOf(schema, byReference);
    return mapping === undefined ? copy : { ...copy, discriminator: mapping };
  };
  const schemas = Object.fromEntries(
    [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, part]) => [name, spoken(part)]),
  );
  return `${JSON.stringify({ schemas }, null, 2)}\n`;
}

function mapValues(members: Schema, change: (value: unknown, name: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)]));
}

/**
 * Returns a mapping from the discriminator's values to the branches of a union. Without it, client generators would use the branch's name
 * as the value.
 */
function mappingOf({ discriminator, oneOf }: Schema, parts: ReadonlyMap<string, Schema>): object | undefined {
  if (discriminator === undefined || !Array.isArray(oneOf)) return undefined;
  const { propertyName: tag } = discriminator as { readonly propertyName: string };
  const branches = (oneOf as { readonly $ref: string }[]).flatMap((branch) =>
    tagValues(resolvePart(branch, parts), tag).map((value) => [String(value), branch.$ref] as const),
  );
  return { propertyName: tag, mapping: Object.fromEntries(branches) };
}
