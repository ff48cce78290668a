/**
 * Turns JSON Schemas into form fields, and the texts of the fields into request bodies. A draft contains the text of each field by its
 * path, such as `params.width`.
 */

/** The part of JSON Schema that requests and capabilities use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  /** Unit of a number, such as `px`. */
  readonly "x-svc-unit"?: string;
  readonly "x-svc-enum-labels"?: Readonly<Record<string, string>>;
  /** Sources of a file: `file_id`, `url`, `base64`, `text`. Present only for files. */
  readonly "x-svc-value-sources"?: readonly string[];
  /** Kinds of files that a field for files accepts, such as `image`. Absent: all. */
  readonly kinds?: readonly string[];
  /** Suggested values of a text that accepts others too. */
  readonly suggestions?: readonly string[];
}

export type Draft = Readonly<Record<string, string>>;

export type FieldKind =
  | "file"
  | "files"
  | "choice"
  | "boolean"
  | "number"
  | "text"
  | "long text"
  | "list"
  | "group"
  | "json";

/** Length from which a text gets several lines, in characters. */
const LONG_CHARS = 1_000;

export function kindOf(schema: Schema): FieldKind {
  const { items, properties } = schema;
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (schema["x-svc-value-sources"] !== undefined) return "file";
  if (types.length !== 1) return "json";
  if (schema.enum !== undefined) return "choice";
  switch (types[0]) {
    case "boolean":
      return "boolean";
    case "integer":
    case "number":
      return "number";
    case "string":
      return (schema.maxLength ?? 0) > LONG_CHARS ? "long text" : "text";
    case "array":
      if (items?.["x-svc-value-sources"] !== undefined) return "files";
      return items !== undefined && isScalar(items) ? "list" : "json";
    default:
      return properties !== undefined && Object.values(properties).every(isScalar) ? "group" : "json";
  }
}

function isScalar(schema: Schema): boolean {
  return ["choice", "boolean", "number", "text", "long text"].includes(kindOf(schema));
}

/** Path of the text of a file, beside the path of its id or URL. */
export function textPath(path: string): string {
  return `${path}#text`;
}

/** Number of fields of a list of files. */
export function filesCount({ minItems = 1 }: Schema, draft: Draft, path: string): number {
  const numbers = Object.keys(draft).flatMap((key) => {
    const place = key.startsWith(`${path}.`) ? Number.parseInt(key.slice(path.length + 1), 10) : Number.NaN;
    return Number.isNaN(place) ? [] : [place + 1];
  });
  return Math.max(minItems, 1, ...numbers);
}

/**
 * Returns the value of a field; undefined if its texts are empty, so that the API's default applies.
 * @throws Error for a text that is no number or no JSON
 */
function readDraft(schema: Schema, draft: Draft, path: string): unknown {
  const text = (draft[path] ?? "").trim();
  switch (kindOf(schema)) {
    case "file":
      return readFile(draft, path);
    case "files": {
      const files = Array.from({ length: filesCount(schema, draft, path) }, (_, place) =>
        readFile(draft, `${path}.${place}`),
      );
      const given = files.filter((file) => file !== undefined);
      return given.length === 0 ? undefined : given;
    }
    case "choice":
      return schema.enum?.find((value) => scalarText(value) === text);
    case "boolean":
      return text === "" ? undefined : text === "true";
    case "number":
      return text === "" ? undefined : numberIn(text, path);
    case "list":
      return text === "" ? undefined : text.split(",").map((one) => scalarIn(schema.items ?? {}, one.trim(), path));
    case "group":
      return readGroup(schema, draft, path);
    case "json":
      return text === "" ? undefined : jsonIn(text, path);
    default:
      return text === "" ? undefined : (draft[path] ?? "");
  }
}

/** Returns the members of an object that are set; undefined if none is. @throws Error as for a field */
export function readGroup(
  { properties = {} }: Schema,
  draft: Draft,
  path: string,
): Record<string, unknown> | undefined {
  const prefix = path === "" ? "" : `${path}.`;
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    const value = readDraft(schema, draft, prefix + name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Returns the names of required members that have no value. */
export function missingIn(
  { required = [] }: Schema,
  value: Readonly<Record<string, unknown>> | undefined,
): readonly string[] {
  return required.filter((name) => value?.[name] === undefined);
}

function readFile(draft: Draft, path: string): Record<string, string> | undefined {
  const typed = draft[textPath(path)] ?? "";
  if (typed !== "") return { text: typed };
  const source = (draft[path] ?? "").trim();
  if (source === "") return undefined;
  return /^file-[\w-]+$/.test(source) ? { file_id: source } : { url: source };
}

function scalarIn(schema: Schema, text: string, path: string): unknown {
  return schema.type === "integer" || schema.type === "number" ? numberIn(text, path) : text;
}

function numberIn(text: string, path: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`Expected ${path} to be a number, got “${text}”.`);
  return value;
}

function jsonIn(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Expected ${path} to be JSON: ${error instanceof Error ? error.message : "it cannot be read"}.`, {
      cause: error,
    });
  }
}

/** Returns the texts of the fields for a value, such as an example. */
function draftOf(schema: Schema, value: unknown, path: string): Draft {
  if (value === undefined || value === null) return {};
  switch (kindOf(schema)) {
    case "file":
      return fileDraft(value as Readonly<Record<string, string>>, path);
    case "files":
      return Object.assign(
        {},
        ...(value as readonly Record<string, string>[]).map((file, place) => fileDraft(file, `${path}.${place}`)),
      ) as Draft;
    case "list":
      return { [path]: (value as readonly unknown[]).join(", ") };
    case "group":
      return groupDraft(schema, value as Readonly<Record<string, unknown>>, path);
    case "json":
      return { [path]: JSON.stringify(value, null, 2) };
    default:
      return { [path]: scalarText(value) };
  }
}

export function groupDraft({ properties = {} }: Schema, value: Readonly<Record<string, unknown>>, path: string): Draft {
  const prefix = path === "" ? "" : `${path}.`;
  const parts = Object.entries(properties).map(([name, schema]) => draftOf(schema, value[name], prefix + name));
  return Object.assign({}, ...parts) as Draft;
}

function fileDraft({ file_id: fileId, url, text }: Readonly<Record<string, string>>, path: string): Draft {
  return text === undefined ? { [path]: fileId ?? url ?? "" } : { [textPath(path)]: text };
}

/** Returns the text of a scalar value. */
export function scalarText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a readable label of a member, such as `Frames per second` for `frames_per_second`. */
export function labelOf(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
