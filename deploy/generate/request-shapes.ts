/** Generates null shapes from the request schemas. A null shape lists the members of a request that are removed when they are null. */
import { nullShapeOf, type NullShapeRef } from "#shared/json/absent-nulls.ts";

import { namedParts, type SchemaFile } from "./schema-files.ts";

/** Schemas outside `requests/` that describe untrusted values. */
const READ: readonly string[] = ["BatchMessage", "ResponsesMessage", "ResponsesTypedItem", "WorkflowDefinition"];

/** Returns schemas/generated/request-shapes.json: the null shapes by schema name, including every shape that another one references. */
export function requestShapesJson(files: readonly SchemaFile[]): string {
  const parts = namedParts(files, (name) => name);
  const part = (name: string) => parts.get(name) ?? {};
  const shapes: Record<string, NullShapeRef> = {};
  const add = (name: string): void => {
    if (Object.hasOwn(shapes, name)) return;
    const shape = nullShapeOf(part(name), part);
    if (shape === undefined) return;
    shapes[name] = shape;
    for (const inner of referencesIn(shape)) add(inner);
  };
  for (const { path, title } of files) if (path.startsWith("requests/") || READ.includes(title)) add(title);
  const sorted = Object.entries(shapes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`;
}

function* referencesIn(shape: NullShapeRef | undefined): Generator<string> {
  if (typeof shape === "string") yield shape;
  if (typeof shape !== "object") return;
  const { members = {}, others, items, branches = {} } = shape;
  for (const inner of [...Object.values(members), others, items, ...Object.values(branches)])
    yield* referencesIn(inner);
}
