/**
 * Converts JSON Schema to a subset of OpenAPI, for older models that do not accept JSON Schema. Source: ai.google.dev/api/caching#Schema.
 */

import { JSON_DEPTH_MAX } from "#shared/json/tokens.ts";

import { isMembers, type Members, membersOf } from "../json.ts";
import { unsupported } from "./rejected.ts";

/** Schema keywords that are copied unchanged. */
const PLAIN = [
  "title",
  "description",
  "format",
  "default",
  "example",
  "nullable",
  "required",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
] as const;

/** Schema keywords that the OpenAPI subset lacks. They are rejected: without them, values that the caller excluded would be valid. */
const UNSAYABLE = ["not", "if", "patternProperties", "prefixItems", "dependentSchemas", "contains"] as const;

/** Maximum number of schemas after references are resolved, because references can multiply. Real schemas are far smaller. */
const SCHEMAS_MAX = 10_000;

interface Scope {
  readonly root: Members;
  readonly param: string;
  schemas: number;
}

/**
 * Converts a schema with its references resolved. `additionalProperties` and numbers in `enum` are not supported and are omitted.
 * @param param request member with the schema, for the error
 * @throws ProviderError `rejected` for a recursive schema or unsupported keywords
 */
export function toOpenApi(schema: Members, param: string): Members {
  return convert(schema, { root: schema, param, schemas: 0 }, 0);
}

function convert(sourceSchema: Members, scope: Scope, depth: number): Members {
  // A recursive schema has no end; real schemas are far less nested.
  scope.schemas += 1;
  if (depth > JSON_DEPTH_MAX || scope.schemas > SCHEMAS_MAX) {
    throw unsupported(scope.param, "This model does not support a schema that refers to itself or is this large.");
  }
  const schema = typeof sourceSchema["$ref"] === "string" ? resolve(sourceSchema["$ref"], scope) : sourceSchema;
  if (schema !== sourceSchema) return convert({ ...schema, ...without(sourceSchema, "$ref") }, scope, depth + 1);
  for (const keyword of UNSAYABLE) {
    if (keyword in schema) throw unsupported(scope.param, `This model does not support a schema with ${keyword}.`);
  }
  const out: Members = {};
  for (const keyword of PLAIN) if (schema[keyword] !== undefined) out[keyword] = schema[keyword];
  const next = (value: unknown): Members => convert(isMembers(value) ? value : {}, scope, depth + 1);
  setType(schema, out);
  setEnum(schema, out);
  if (isMembers(schema["properties"])) {
    const entries = Object.entries(schema["properties"]);
    out["properties"] = Object.fromEntries(entries.map(([name, value]) => [name, next(value)]));
    out["propertyOrdering"] = entries.map(([name]) => name);
  }
  if (isMembers(schema["items"])) out["items"] = next(schema["items"]);
  const choices = membersOf(schema["anyOf"] ?? schema["oneOf"]);
  const options = choices.filter((choice) => choice["type"] !== "null");
  if (options.length < choices.length) out["nullable"] = true;
  if (options.length === 1) Object.assign(out, next(options[0]), out["nullable"] ? { nullable: true } : {});
  else if (options.length > 1) out["anyOf"] = options.map(next);
  for (const part of membersOf(schema["allOf"])) Object.assign(out, merged(out, next(part)));
  return out;
}

function setType(schema: Members, out: Members): void {
  const all = [schema["type"]].flat().filter((type) => typeof type === "string");
  const types = all.filter((type) => type !== "null").map((type) => type.toUpperCase());
  if (types.length < all.length) out["nullable"] = true;
  if (types.length === 1) out["type"] = types[0];
  if (types.length > 1) out["anyOf"] = types.map((type) => ({ type }));
}

function setEnum(schema: Members, out: Members): void {
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (!Array.isArray(values)) return;
  if (values.includes(null)) out["nullable"] = true;
  const texts = values.filter((value) => value !== null);
  if (texts.every((value) => typeof value === "string")) Object.assign(out, { type: "STRING", enum: texts });
}

/** Merges two schemas that both apply. Their properties and their lists of required properties are joined. */
function merged(left: Members, right: Members): Members {
  const joined: Members = { ...left, ...right };
  for (const name of ["properties"] as const) {
    if (isMembers(left[name]) && isMembers(right[name])) joined[name] = { ...left[name], ...right[name] };
  }
  for (const name of ["required", "propertyOrdering"] as const) {
    if (Array.isArray(left[name]) && Array.isArray(right[name])) {
      joined[name] = [...new Set([...(left[name] as unknown[]), ...(right[name] as unknown[])])];
    }
  }
  return joined;
}

/** Resolves a reference inside the schema itself. Other references are rejected. */
function resolve(reference: string, { root, param }: Scope): Members {
  let found: unknown = reference.startsWith("#") ? root : undefined;
  for (const step of reference.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isMembers(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  if (isMembers(found)) return found;
  throw unsupported(param, "The schema contains a reference to a missing definition.");
}

function without(members: Members, name: string): Members {
  const { [name]: _left, ...rest } = members;
  return rest;
}
