/**
 * JSON Schema → the OpenAPI subset of models before JSON Schema was taken as it is. Source: ai.google.dev/api/caching#Schema.
 */

import { JSON_DEPTH_MAX } from "#shared/json-tokens.ts";

import { isMembers, type Members, membersOf } from "../json.ts";
import { unsupported } from "./rejected.ts";

/** Taken as they are. */
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

/** Keywords that this dialect lacks and that cannot be left out: values the caller has ruled out would be let through. */
const UNSAYABLE = ["not", "if", "patternProperties", "prefixItems", "dependentSchemas", "contains"] as const;

/** References in place of references multiply: an honest schema stays far below. */
const SCHEMAS_MAX = 10_000;

interface Scope {
  readonly root: Members;
  readonly param: string;
  schemas: number;
}

/**
 * References are put in place. `additionalProperties` and numbers in `enum` have no place there and are left out.
 * @param param which request member the schema is, for the error
 * @throws ProviderError `rejected` for a schema that refers to itself or says what that dialect cannot
 */
export function toOpenApi(schema: Members, param: string): Members {
  return convert(schema, { root: schema, param, schemas: 0 }, 0);
}

function convert(given: Members, scope: Scope, depth: number): Members {
  // A schema that refers to itself has no end; an honest one is far flatter.
  scope.schemas += 1;
  if (depth > JSON_DEPTH_MAX || scope.schemas > SCHEMAS_MAX) {
    throw unsupported(scope.param, "This model does not support a schema that refers to itself or is this large.");
  }
  const schema = typeof given["$ref"] === "string" ? resolve(given["$ref"], scope) : given;
  if (schema !== given) return convert({ ...schema, ...without(given, "$ref") }, scope, depth + 1);
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

/** Both schemas hold: their members are joined, their required ones too. */
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

/** Only places inside the schema itself. */
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
