/**
 * Resolves references among component schemas: collects the schemas that a document needs, and turns one schema into a separate document.
 */

type Schemas = Readonly<Record<string, object>>;

const PREFIX = "#/components/schemas/";
const REFERENCES = /"\$ref":"#\/components\/schemas\/([^"]+)"/g;

export function reference(name: string): { $ref: string } {
  return { $ref: PREFIX + name };
}

/**
 * Returns the schemas that `root` refers to, directly or through others, sorted by name.
 * @throws Error that names a reference to a missing schema
 */
export function reachable(root: unknown, schemas: Schemas): Record<string, object> {
  const found = new Map<string, object>();
  const waiting = [...names(root)];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (schema === undefined) throw new Error(`there is no schema ${name}`);
    found.set(name, schema);
    waiting.push(...names(schema));
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns a schema as a separate document for /schemas/{name}.json, with referenced schemas under `$defs`.
 * @returns undefined if no schema has that name
 */
export function standalone(name: string, schemas: Schemas): object | undefined {
  if (!Object.hasOwn(schemas, name)) return undefined;
  const parts = reachable(schemas[name], schemas);
  const local = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(local);
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        typeof value === "string" && value.startsWith(PREFIX) ? value.replace(PREFIX, "#/$defs/") : local(value),
      ]),
    );
  };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...(local(schemas[name]) as object),
    ...(Object.keys(parts).length === 0 ? {} : { $defs: local(parts) }),
  };
}

/**
 * Returns the schema names in all references of a node. The function searches the JSON text, because walking the objects at each start
 * takes twenty times as long.
 */
function names(node: unknown): string[] {
  return Array.from(JSON.stringify(node).matchAll(REFERENCES), ([, name = ""]) => name);
}
