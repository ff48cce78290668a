/**
 * Reduces a JSON Schema to the keywords that Anthropic can enforce in answers and strict tools. Other constraints are written into the
 * schema's description, as in Anthropic's own SDK. Source: platform.claude.com/docs/en/build-with-claude/structured-outputs.
 */
import { isMembers, type Members } from "../json.ts";
import { unsupported } from "./rejected.ts";

const KEPT = ["$ref", "type", "title", "enum", "const", "default"] as const;

const FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Members of a JSON Schema that this file converts. All other members become text of the description. */
const HANDLED: ReadonlySet<string> = new Set([
  ...KEPT,
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "description",
  "anyOf",
  "oneOf",
  "allOf",
  "properties",
  "required",
  "additionalProperties",
  "items",
]);

/**
 * Converts a JSON Schema to one that Anthropic can enforce.
 * @throws ProviderError `rejected` for a schema that allows unlisted members or any value, because Anthropic cannot enforce it
 */
export function closedSchema(schema: unknown, param: string): Members {
  if (!isMembers(schema)) throw open(param);
  const closed: Members = {};
  const droppedKeywords: string[] = [];
  for (const name of KEPT) if (schema[name] !== undefined) closed[name] = schema[name];
  for (const name of ["$defs", "definitions"]) {
    if (isMembers(schema[name])) closed[name] = closeEach(schema[name], param);
  }
  for (const [from, to] of [
    ["anyOf", "anyOf"],
    ["oneOf", "anyOf"],
    ["allOf", "allOf"],
  ] as const) {
    const variants = schema[from];
    if (Array.isArray(variants)) closed[to] = variants.map((variant) => closedSchema(variant, param));
  }
  if (isOf(schema, "object")) closeObject(schema, closed, param);
  if (schema["items"] !== undefined) closed["items"] = closedSchema(schema["items"], param);
  for (const [name, value] of Object.entries(schema)) {
    if (HANDLED.has(name) || value === undefined) continue;
    const isKept = (name === "format" && FORMATS.has(value)) || (name === "minItems" && (value === 0 || value === 1));
    if (isKept) closed[name] = value;
    else droppedKeywords.push(`${name}: ${JSON.stringify(value)}`);
  }
  if (Object.keys(closed).length === 0) throw open(param);
  const { description } = schema;
  const texts = [
    ...(typeof description === "string" ? [description] : []),
    ...(droppedKeywords.length > 0 ? [droppedKeywords.join(", ")] : []),
  ];
  if (texts.length > 0) closed["description"] = texts.join("\n");
  return closed;
}

/**
 * Restricts an object schema to its listed members. Every value that is valid under the new schema is also valid under the original one.
 */
function closeObject(schema: Members, closed: Members, param: string): void {
  const { properties, additionalProperties, required } = schema;
  if (!isMembers(properties) && additionalProperties !== false) throw open(param);
  if (isMembers(additionalProperties)) throw open(param);
  closed["properties"] = closeEach(isMembers(properties) ? properties : {}, param);
  if (Array.isArray(required)) closed["required"] = required;
  closed["additionalProperties"] = false;
}

function closeEach(schemas: Members, param: string): Members {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closedSchema(schema, param)]));
}

function isOf(schema: Members, type: string): boolean {
  const declaredType = schema["type"];
  return (
    declaredType === type ||
    (Array.isArray(declaredType) && declaredType.includes(type)) ||
    isMembers(schema["properties"])
  );
}

function open(param: string): Error {
  return unsupported(
    param,
    "Expected a schema that lists every member with its type: this model does not support objects with free members.",
  );
}
