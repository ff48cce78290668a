/** The schemas as OpenAPI 3.1 components: the same dialect, so only references change. */
import { namedParts, type SchemaFile } from "./schema-files.ts";

/** schemas/generated/components.json: `{ schemas }`, by name, sorted. */
export function componentsJson(files: readonly SchemaFile[]): string {
  const parts = namedParts(files, (name) => `#/components/schemas/${name}`);
  const schemas = Object.fromEntries([...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ schemas }, null, 2)}\n`;
}
