/** Reads the schema files as data: their list, the names of their parts, and the targets of their references. */
import { join, posix } from "node:path";

import { Glob } from "bun";

export type Schema = Readonly<Record<string, unknown>>;

export interface SchemaFile {
  /** Path of the schema file relative to schemas/, with forward slashes. */
  readonly path: string;
  readonly title: string;
  readonly schema: Schema;
}

export const ROOT_DIR = join(import.meta.dir, "..", "..");
export const SCHEMAS_DIR = join(ROOT_DIR, "schemas");

/** Extension keyword that names the schema of a separately validated value. Clients read it as a reference to that schema. */
export const X_SCHEMA = "x-schema";

const TITLE = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Returns every `*.schema.json` below a folder, sorted by path.
 * @throws Error naming a file with an `$id`, or with a title that is missing, malformed or duplicate
 */
export async function readSchemaFiles(dir: string = SCHEMAS_DIR): Promise<readonly SchemaFile[]> {
  const found = await Array.fromAsync(new Glob("**/*.schema.json").scan({ cwd: dir }));
  const paths = found.map((path) => path.replaceAll("\\", "/")).toSorted();
  return Promise.all(
    paths.map(async (path) => {
      const schema = (await Bun.file(join(dir, path)).json()) as Schema;
      if (schema["$id"] !== undefined) throw new Error(`schemas/${path}: leave $id out, the path is the identity`);
      return { path, title: titleOf(schema, path), schema };
    }),
  );
}

/**
 * Returns every schema file and every member of its `$defs`, by name, with each reference replaced by `reference(name)`.
 * @throws Error that names the location of a dangling reference or a duplicate name
 */
export function namedParts(
  files: readonly SchemaFile[],
  reference: (name: string) => string,
): ReadonlyMap<string, Schema> {
  const names = new Map<string, string>();
  const taken = new Map<string, string>();
  for (const [place, name] of files.flatMap(namesOf)) {
    const other = taken.get(name);
    if (other !== undefined) throw new Error(`schemas/${place}: the title ${name} is taken by schemas/${other}`);
    taken.set(name, place);
    names.set(place, name);
  }
  const rewrite = (node: unknown, path: string): unknown => {
    if (Array.isArray(node)) return node.map((item) => rewrite(item, path));
    if (typeof node !== "object" || node === null) return node;
    if ("$ref" in node && Object.keys(node).length > 1) {
      throw new Error(`schemas/${path}: nothing may stand beside the reference to ${String(node.$ref)}`);
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => {
        if ((key !== "$ref" && key !== X_SCHEMA) || typeof value !== "string") return [key, rewrite(value, path)];
        const place = placeOf(path, value);
        const name = names.get(place);
        if (name === undefined) throw new Error(`schemas/${path}: nothing to refer to at ${place}`);
        return [key, reference(name)];
      }),
    );
  };
  return new Map(
    files.flatMap((file): [string, Schema][] => [
      [file.title, rewrite(withoutHead(file.schema), file.path) as Schema],
      ...Object.entries(partsOf(file)).map(([key, part]): [string, Schema] => [
        partName(file, key, part),
        rewrite(part, file.path) as Schema,
      ]),
    ]),
  );
}

/** Returns a file's schema without `$schema` and `$defs`. */
function withoutHead({ $schema: _dialect, $defs: _parts, ...schema }: Schema): Schema {
  return schema;
}

/** Returns the referenced schema if a schema is only a reference, otherwise the schema itself. A reference must be a key of `parts`. */
export function resolvePart(schema: Schema, parts: ReadonlyMap<string, Schema>): Schema {
  const name = schema["$ref"];
  if (typeof name !== "string") return schema;
  const part = parts.get(name);
  if (part === undefined) throw new Error(`no schema is called ${name}`);
  return part;
}

/** Returns the values of the discriminator (`tag`) that identify a branch of a union. */
export function tagValues(branch: Schema, tag: string): readonly unknown[] {
  const { const: value, enum: values } = (branch["properties"] as Record<string, Schema> | undefined)?.[tag] ?? {};
  if (value !== undefined) return [value];
  if (!Array.isArray(values))
    throw new Error(`${String(branch["title"])} has neither const nor enum for its discriminator ${tag}`);
  return values as readonly unknown[];
}

function namesOf(file: SchemaFile): [string, string][] {
  return [
    [file.path, file.title],
    ...Object.entries(partsOf(file)).map(([key, part]): [string, string] => [
      `${file.path}#/$defs/${key}`,
      partName(file, key, part),
    ]),
  ];
}

function partsOf(file: SchemaFile): Readonly<Record<string, Schema>> {
  return (file.schema["$defs"] ?? {}) as Readonly<Record<string, Schema>>;
}

/** Returns the title of a member of `$defs`, or else a name built from the title of its file. */
function partName(file: SchemaFile, key: string, part: Schema): string {
  if (part["title"] !== undefined) return titleOf(part, `${file.path}#/$defs/${key}`);
  return file.title + key.charAt(0).toUpperCase() + key.slice(1);
}

function placeOf(from: string, reference: string): string {
  const [file = "", pointer = ""] = reference.split("#");
  const path = file === "" ? from : posix.join(posix.dirname(from), file);
  return pointer === "" ? path : `${path}#${pointer}`;
}

function titleOf(schema: Schema, place: string): string {
  const title = schema["title"];
  if (typeof title === "string" && TITLE.test(title)) return title;
  throw new Error(`schemas/${place}: expected a title in PascalCase, got ${JSON.stringify(title)}`);
}
