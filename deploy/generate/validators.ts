/** Compiles every schema file to standalone validation code with Ajv, bundled without imports. */
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";

import { REFUSES_NULL } from "#shared/json/absent-nulls.ts";
import { withShortCounts } from "#shared/base/text-limits.ts";

import {
  namedParts,
  resolvePart,
  ROOT_DIR,
  type Schema,
  type SchemaFile,
  tagValues,
  X_SCHEMA,
} from "./schema-files.ts";

const BANNER = "/** Written by deploy/generate.ts from schemas/: edit those, then run `npm run generate`. */\n";

/** Extension keywords that schemas may contain and validators ignore (spec "Schema caveats"). */
const EXTENSIONS = ["x-svc-unit", "x-svc-enum-labels", "x-svc-value-sources", REFUSES_NULL, X_SCHEMA];

/** Keywords that do not affect validity. Omitting them makes the generated code a fifth smaller. */
const ANNOTATIONS = new Set(["title", "description", "deprecated", "examples", "default"]);

/**
 * JSON Schema keywords whose member names are chosen by the schema's author. For example, a property called `title` is not an annotation.
 */
const NAME_MAPS = new Set(["properties", "patternProperties", "dependentSchemas", "dependentRequired"]);

/** Returns schemas/generated/validators.js, which exports `validators`, a record from schema title to validation function. */
export async function validatorsModule(files: readonly SchemaFile[]): Promise<string> {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    discriminator: true,
    // contracts.ts writes the messages, since it knows the value
    messages: false,
    code: { source: true, esm: true, lines: true },
  });
  addFormats(ajv);
  // The library's format also accepts `urn:uuid:…`, which the database rejects.
  ajv.addFormat("uuid", /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i);
  ajv.addVocabulary(EXTENSIONS);
  const parts = namedParts(files, (name) => name);
  for (const [name, part] of parts) ajv.addSchema(compilable(part, parts), name);
  const titles = files.map((file) => file.title);
  const code = standaloneCode(ajv, Object.fromEntries(titles.map((title) => [`validate${title}`, title])));
  const record = titles.map((title) => `  ${title}: validate${title},`).join("\n");
  const counted = withShortCounts(code.replaceAll(/^export const /gm, "const "));
  return bundle(`${counted}\nexport const validators = {\n${record}\n};\n`);
}

/**
 * Prepares a schema for Ajv. Removes annotations. Adds an enum that checks the tag of a discriminated union before its branches. Ajv's own
 * error for an unknown tag does not list the accepted values.
 */
function compilable(schema: Schema, parts: ReadonlyMap<string, Schema>): Schema {
  const inner = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inner);
    return typeof node === "object" && node !== null ? compilable(node as Schema, parts) : node;
  };
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "enum" || keyword === "const") copy[keyword] = value;
    else if (NAME_MAPS.has(keyword)) copy[keyword] = mapValues(value as Schema, inner);
    else if (!ANNOTATIONS.has(keyword)) copy[keyword] = inner(value);
  }
  const { discriminator, oneOf, ...rest } = copy as { discriminator?: { propertyName: string }; oneOf?: Schema[] };
  if (discriminator === undefined || oneOf === undefined) return copy;
  const tag = discriminator.propertyName;
  const accepted = oneOf.flatMap((branch) => tagValues(resolvePart(branch, parts), tag));
  return {
    ...rest,
    type: "object",
    allOf: [
      { type: "object", required: [tag], properties: { [tag]: { type: "string", enum: accepted } } },
      { type: "object", discriminator, oneOf },
    ],
  };
}

function mapValues(members: Schema, change: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
}

/** Bundles Ajv's output into one module. Ajv's code calls `require` for its helpers, which Node rejects in a module. */
async function bundle(code: string): Promise<string> {
  const entry = join(ROOT_DIR, "validators-entry.js");
  const built = await Bun.build({
    entrypoints: [entry],
    files: { [entry]: code },
    root: ROOT_DIR,
    target: "node",
    format: "esm",
  });
  const output = built.outputs[0];
  if (!built.success || output === undefined)
    throw new Error(`bundling failed: ${built.logs.map((log) => log.message).join("; ")}`);
  // The bundler's comments contain paths relative to its working directory, and its indentation doubles the size.
  return BANNER + (await output.text()).replaceAll(/^(\s+|\/\/.*\n)/gm, "");
}

/** Returns schemas/generated/validators.d.ts, the types of the validators. */
export function validatorsDeclaration(): string {
  return `import type { SchemaName } from "./types.ts";

/** Members of an Ajv error that the generated validators set. */
export interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Name of the invalid member, when the error is about a member's name. */
  readonly propertyName?: string;
}

export interface Validator {
  (value: unknown): boolean;
  /** Errors of the last call that returned false. The next call overwrites them. */
  errors?: readonly SchemaError[] | null;
}

export const validators: Readonly<Record<SchemaName, Validator>>;
`;
}
