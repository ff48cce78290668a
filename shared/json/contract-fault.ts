/** Converts Ajv's errors to one error for the client, in OpenAI's format: code, message, param. */
import type { SchemaError } from "#schemas/generated/validators.js";

import { didYouMean, nearNames } from "../base/near-names.ts";

export interface Fault {
  /** JSON path of the invalid parameter, such as `messages[0].content`; null for the whole body. */
  readonly param: string | null;
  /** Sentence with the expected and the received value. */
  readonly message: string;
  readonly code: "missing_required_parameter" | "unknown_parameter" | "unsupported_value" | "invalid_request";
  /** True if the value has the wrong type. */
  readonly isOfType: boolean;
}

interface Place {
  readonly param: string | null;
  readonly value: unknown;
}

/** Maximum length of a client's text that an error repeats, in characters. Such texts are enum values and member names. */
const ECHO_CHARS_MAX = 40;

/** Descriptions of the patterns in our schemas. A pattern without description is printed as it is. */
const PATTERN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "^[a-zA-Z0-9_-]{1,64}$": "have 1 to 64 characters of a-z, A-Z, 0-9, _ and -",
  "^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)": "be an http, https or data URL",
  "^[a-zA-Z0-9_-]{1,128}$": "have 1 to 128 characters of a-z, A-Z, 0-9, _ and -",
  "^[Hh][Tt][Tt][Pp][Ss]?://": "be an http or https address",
  "^[a-z][a-z0-9_]{0,63}$": "have 1 to 64 characters of a-z, 0-9 and _, and begin with a letter",
  "^[^\\u0000]*$": "contain no NUL character",
  "^[0-9]{1,19}$": "be a string of 1 to 19 digits",
  "^([a-z]+\\.([a-z0-9_]+|\\*)|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$":
    "be a capability such as image.resize, a category such as image.*, workflow.* or the id of a workflow",
};

const TYPE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  null: "null",
};

const COMPARISON_TEXTS: Readonly<Record<string, string>> = {
  ">=": "at least",
  "<=": "at most",
  ">": "greater than",
  "<": "less than",
};

/** Text of the expectation for a value, by schema keyword. `fallback` describes all other keywords. */
const EXPECTATIONS: Readonly<Record<string, (params: SchemaError["params"]) => string>> = {
  type: (params) =>
    `be ${either([params["type"]].flat().map((type) => TYPE_DESCRIPTIONS[String(type)] ?? String(type)))}`,
  enum: (params) => {
    const allowed = (params["allowedValues"] as unknown[]).map(String);
    return allowed.length === 1 ? `be ${allowed.join("")}` : `be one of ${allowed.join(", ")}`;
  },
  const: (params) => `be ${String(params["allowedValue"])}`,
  pattern: (params) => PATTERN_DESCRIPTIONS[String(params["pattern"])] ?? `match ${String(params["pattern"])}`,
  format: (params) => `be a valid ${String(params["format"])}`,
  minimum: comparison,
  maximum: comparison,
  exclusiveMinimum: comparison,
  exclusiveMaximum: comparison,
  multipleOf: (params) => `be a multiple of ${String(params["multipleOf"])}`,
  minLength: (params) => `have at least ${counted(params["limit"], "character")}`,
  maxLength: (params) => `have at most ${counted(params["limit"], "character")}`,
  minItems: (params) => `have at least ${counted(params["limit"], "item")}`,
  maxItems: (params) => `have at most ${counted(params["limit"], "item")}`,
  minProperties: (params) => `have at least ${counted(params["limit"], "member")}`,
  maxProperties: (params) => `have at most ${counted(params["limit"], "member")}`,
  uniqueItems: (params) => `not repeat an item, as items ${String(params["j"])} and ${String(params["i"])} do`,
};

/** Schema keywords whose errors occur only for values of the correct type. Their error code is `unsupported_value`. */
const VALUE_KEYWORDS = new Set([
  "enum",
  "const",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "discriminator",
]);

/** Maximum number of members of an object that are compared with a missing member's name. */
const COMPARED_MEMBERS_MAX = 64;

/**
 * Returns the fault that the client should fix first, from the errors of one validation of `root`.
 * @param namesAt returns the member names that the schema declares for an error's object, for suggestions
 */
export function describeFault<E extends SchemaError>(
  errors: readonly E[],
  root: unknown,
  namesAt: (error: E) => Iterable<string> = () => [],
): Fault {
  const relevant = mostRelevant(errors);
  const error = relevant[0];
  if (error === undefined)
    return { param: null, message: "The body does not meet its schema.", code: "invalid_request", isOfType: false };
  const place = locate(error.instancePath, root);
  const absent = missing(error);
  if (absent !== undefined) {
    const alternatives = [...new Set(relevant.map((other) => memberParam(place.param, missing(other) ?? "", false)))];
    const param = alternatives.length === 1 ? (alternatives[0] ?? null) : place.param;
    return {
      param,
      message: `Missing required parameter: ${either(alternatives)}.${misspelt(relevant, place.value, namesAt(error))}`,
      code: "missing_required_parameter",
      isOfType: false,
    };
  }
  const unknown = error.params["additionalProperty"] ?? error.params["unevaluatedProperty"];
  if (typeof unknown === "string") {
    const param = memberParam(place.param, unknown, false);
    return {
      param,
      message: unknownMember(param, unknown, namesAt(error)),
      code: "unknown_parameter",
      isOfType: false,
    };
  }
  if (error.propertyName !== undefined) {
    const param = memberParam(place.param, error.propertyName, false);
    return {
      param,
      message: `The name ${param} must ${expectation(relevant)}.`,
      code: "invalid_request",
      isOfType: false,
    };
  }
  return {
    param: place.param,
    message: `${place.param ?? "The body"} must ${expectation(relevant)}, got ${arrived(error.keyword, place.value)}.`,
    code: VALUE_KEYWORDS.has(error.keyword) ? "unsupported_value" : "invalid_request",
    isOfType: error.keyword === "type",
  };
}

/** Maximum number of declared members that an error lists. */
const LISTED_MEMBERS_MAX = 8;

/** Returns the error message for an undeclared member. @param names declared members of the same object */
function unknownMember(param: string, name: string, names: Iterable<string>): string {
  const known = [...new Set(names)];
  const isListed = known.length > 0 && known.length <= LISTED_MEMBERS_MAX;
  const hint = didYouMean(known, name) || (isListed ? ` Expected ${either(known)}.` : "");
  return `${param} is not a known parameter.${hint}`;
}

/** Returns a hint about an undeclared member whose name is similar to that of a missing member; "" if there is none. */
function misspelt(errors: readonly SchemaError[], value: unknown, names: Iterable<string>): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const known = new Set(names);
  const sent = Object.keys(value)
    .slice(0, COMPARED_MEMBERS_MAX)
    .filter((name) => !known.has(name));
  for (const error of errors) {
    const absent = missing(error);
    const [near] = absent === undefined ? [] : nearNames(sent, absent);
    if (absent !== undefined && near !== undefined) return ` Did you mean ${absent} instead of ${near}?`;
  }
  return "";
}

/**
 * Returns the errors to report. For a union, these are the errors of the branch that the client most likely meant. It is the branch whose
 * errors lie deepest in the value. Among equally deep errors, an error other than a wrong type shows that the branch has the right type.
 */
function mostRelevant<E extends SchemaError>(all: readonly E[]): readonly E[] {
  const errors = withoutOtherBranches(all);
  const depth = (error: E): number => error.instancePath.split("/").length + (missing(error) === undefined ? 0 : 1);
  const deepestDepth = Math.max(...errors.map(depth));
  const deepest = errors.filter((error) => depth(error) === deepestDepth);
  const first = deepest.find((error) => error.keyword !== "type") ?? deepest[0];
  if (first === undefined) return [];
  const isAlternative = (error: E): boolean =>
    error.keyword === first.keyword && error.instancePath === first.instancePath;
  const union = errors.some((error) => error.keyword === "anyOf" || error.keyword === "oneOf");
  const isOneOfSeveral = ["type", "required", "const"].includes(first.keyword);
  return union && isOneOfSeveral ? deepest.filter(isAlternative) : [first];
}

/** Removes the errors of union branches that do not match the value. A constant member of such a branch differs from the client's value. */
function withoutOtherBranches<E extends SchemaError>(errors: readonly E[]): readonly E[] {
  const others = errors.flatMap(({ keyword, schemaPath }) => {
    const branch =
      keyword === "const" ? /^(.*\/anyOf\/\d+\/)properties\/[^/]+\/const$/.exec(schemaPath)?.[1] : undefined;
    return branch === undefined ? [] : [branch];
  });
  const remaining = errors.filter(({ schemaPath }) => !others.some((branch) => schemaPath.startsWith(branch)));
  return remaining.some(({ keyword }) => keyword !== "anyOf") ? remaining : errors;
}

function missing(error: SchemaError): string | undefined {
  const property = error.params["missingProperty"];
  return typeof property === "string" ? property : undefined;
}

function expectation(errors: readonly SchemaError[]): string {
  const [error] = errors;
  if (error === undefined) return "meet its schema";
  if (error.keyword === "type") {
    return EXPECTATIONS["type"]?.({ type: errors.flatMap((other) => other.params["type"]) }) ?? "";
  }
  if (error.keyword === "const" && errors.length > 1) {
    return `be one of ${errors.map((other) => String(other.params["allowedValue"])).join(", ")}`;
  }
  return EXPECTATIONS[error.keyword]?.(error.params) ?? "have one of the documented forms";
}

/** Resolves a JSON pointer. Returns the value and its path in the notation for clients. */
function locate(instancePath: string, root: unknown): Place {
  let param: string | null = null;
  let value = root;
  for (const token of instancePath.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    param = memberParam(param, key, Array.isArray(value));
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[key];
  }
  return { param, value };
}

/** Returns the path of a member in the notation of `Fault.param`, such as `messages[0].content`. */
export function memberParam(param: string | null, key: string, isIndex: boolean): string {
  if (isIndex) return `${param ?? ""}[${key}]`;
  const short = key.length > ECHO_CHARS_MAX ? `${key.slice(0, ECHO_CHARS_MAX)}…` : key;
  return param === null ? short : `${param}.${short}`;
}

/** Describes the received value for an error message. Repeats only numbers, booleans, null and short strings given for an enum. */
export function arrived(keyword: string, value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `an array of ${counted(value.length, "item")}`;
  if (typeof value === "object") return "an object";
  if (typeof value !== "string") return "nothing";
  const isChoice = keyword === "enum" || keyword === "const";
  if (isChoice && value.length <= ECHO_CHARS_MAX) return JSON.stringify(value);
  return value === "" ? "an empty string" : `a string of ${counted(value.length, "character")}`;
}

function comparison(params: SchemaError["params"]): string {
  return `be ${COMPARISON_TEXTS[String(params["comparison"])] ?? ""} ${String(params["limit"])}`;
}

function counted(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function either(alternatives: readonly string[]): string {
  const unique = [...new Set(alternatives)];
  return unique.length < 2 ? unique.join("") : `${unique.slice(0, -1).join(", ")} or ${unique.at(-1) ?? ""}`;
}
