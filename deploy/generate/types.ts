/** Generates TypeScript types from the schema files. */
import { compile, type JSONSchema } from "json-schema-to-typescript";

import { SCHEMAS_DIR, type SchemaFile } from "./schema-files.ts";

const BANNER =
  "/** Written by deploy/generate.ts from schemas/*.schema.json: edit those, then run `npm run generate`. */";

/** Returns schemas/generated/types.ts: a type for each schema title, SchemaTypes, which maps titles to types, and SchemaName. */
export async function typesModule(files: readonly SchemaFile[]): Promise<string> {
  const umbrella: JSONSchema = {
    title: "SchemaTypes",
    description: "Title → type, for every schema that has a validator.",
    type: "object",
    additionalProperties: false,
    required: files.map((file) => file.title),
    properties: Object.fromEntries(files.map((file) => [file.title, { $ref: file.path }])),
  };
  const types = await compile(umbrella, "SchemaTypes", {
    cwd: `${SCHEMAS_DIR}/`,
    bannerComment: BANNER,
    ignoreMinAndMaxItems: true,
    style: { printWidth: 120 },
  });
  return `${types}\nexport type SchemaName = keyof SchemaTypes;\n`;
}
