import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { Ajv, type FuncKeywordDefinition, type Options, str } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { loadJq } from "jq-wasm";

import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_PARAM_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { csvRows, type Delimiter, delimiterParam, recordsOf } from "../csv.ts";
import { defineCapability, input } from "../define.ts";
import { choice, custom, text } from "../params.ts";
import { CODE_PRICE, writeTextResult, textOf, unreadable, xmlOf } from "../text.ts";
import { isTomlTime, tomlOf } from "./toml.ts";
import { yamlOf } from "./yaml.ts";

/** Version of jq, as stated in the capability's description. */
export const JQ_VERSION = "1.8.2";

const FROM = ["auto", "json", "yaml", "toml", "xml", "csv"] as const;
type From = (typeof FROM)[number];

const READERS: Readonly<Record<Exclude<From, "auto">, (data: string, delimiter: Delimiter) => unknown>> = {
  json: (data) => JSON.parse(data),
  yaml: (data) => Bun.YAML.parse(data),
  toml: (data) => Bun.TOML.parse(data),
  xml: (data) => xmlOf(data),
  csv: (data, delimiter) => recordsOf(csvRows(data, delimiter), (name) => name),
};

export default defineCapability({
  id: "code.transform_json",
  display_name: "Transform data",
  description:
    "Converts between data formats: reads JSON, YAML, TOML, XML or CSV, optionally queries it with jq and validates it against a schema, and writes JSON, YAML or TOML.",
  long_description: `The order is: read, query, check, write. CSV becomes a list of objects, whose keys are the texts of the first row. A column without a name is \`column_2\` and a second \`a\` is \`a_2\`, by position; missing cells are null. YAML is written so that readers of YAML 1.1 keep texts such as \`12:30\`. Programs are written for jq ${JQ_VERSION}; several results become a list, no result is null. Modules and files cannot be read. Integers beyond ±9,007,199,254,740,991 are refused, because they would silently change; write them as text.`,
  output_modality: "text",
  input: { data: input("text", "The data.", { takesText: true }) },
  params: {
    from: choice("Format of the data.", FROM, { default: "auto" }),
    delimiter: delimiterParam("Delimiter of CSV data. `auto` detects it."),
    to: choice("Format of the result.", ["json", "yaml", "toml"], { default: "json" }),
    jq: text("Program for jq, applied to the data.", { max: 10_000 }),
    schema: custom<object>(
      {
        description:
          "JSON Schema that the result must satisfy, at most 65536 bytes as JSON: draft 2020-12, or 2019-09, 07 or 06 if `$schema` names it. `format` is not checked.",
        type: "object",
      },
      {},
    ),
  },
  rules: [{ rule: "short", path: "params.schema", bytesMax: CAPABILITY_PARAM_BYTES_MAX }],
  sample_input: { data: { text: '{"items":[{"name":"tea","price":4},{"name":"milk","price":1}]}' } },
  examples: [
    { title: "As formatted JSON", params: {} },
    {
      title: "Query with jq, as YAML",
      params: { jq: "[.items[] | select(.price > 2) | .name]", to: "yaml" },
    },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const data = await textOf(inputs.data);
    const from = params.from === "auto" ? guess(data) : params.from;
    let value: unknown;
    try {
      value = READERS[from](data, params.delimiter);
    } catch (error) {
      throw unreadable(from.toUpperCase(), error);
    }
    checkDepth(value);
    checkNumbers(value, data);
    // Only TOML and YAML have times; elsewhere times are text.
    if (params.to === "json" || params.jq !== undefined || params.schema !== undefined) value = withoutTimes(value);
    if (params.jq !== undefined || params.to === "json") checkFinite(value);
    if (params.jq !== undefined) value = resultOf(await queried(value, params.jq));
    const draft = params.schema && check(value, params.schema);
    return writeTextResult(folder, written(value, params.to), {
      name: `data.${params.to}`,
      mediaType: "text/plain",
      more: { from, ...(draft === undefined ? {} : { json_schema: draft }) },
    });
  },
});

/**
 * Returns the result of a jq program: a single result as it is, a list if there are several, null if there is none. @throws MediaError
 * unsupported
 */
function resultOf(written: string): unknown {
  const results = JSON.parse(written) as readonly unknown[];
  checkNumbers(results, written);
  checkFinite(results);
  return results.length > 1 ? results : (results[0] ?? null);
}

const DEPTH_MAX = 200;

/**
 * Limits the nesting depth of the output, because the size of indented output grows with the square of the depth. @throws MediaError
 * too_large
 */
function checkDepth(data: unknown): void {
  let level: readonly unknown[] = [data];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) {
      throw new MediaError("too_large", `Expected data nested at most ${DEPTH_MAX} deep, got more.`);
    }
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null
        ? Object.values(value).filter((one) => typeof one === "object" && one !== null)
        : [],
    );
  }
}

function guess(data: string): Exclude<From, "auto"> {
  const start = data.trimStart();
  if (start.startsWith("<")) return "xml";
  const hasMembers = /^[ \t]*(?:[\w.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*=/m.test(start);
  if (hasMembers && /^\[\[?[\w."' -]+\]\]?[ \t]*(?:#.*)?$/m.test(start)) return "toml";
  if (/^[{[]/.test(start)) return "json";
  if (hasMembers && !/^[\w.-]+:(?:\s|$)/m.test(start)) return "toml";
  // A first line with delimiters and further lines: YAML would read them as one string.
  return /^[^-:,{}#&*!|>%@`\s][^:\n]*[,;\t][^:\n]*\n\s*\S/.test(start) ? "csv" : "yaml";
}

/** True if the data or any nested value meets the condition. A TOML date or time counts as a single value. */
function has(data: unknown, is: (value: unknown) => boolean): boolean {
  if (is(data)) return true;
  if (typeof data !== "object" || data === null || isTomlTime(data)) return false;
  return Object.values(data).some((one) => has(one, is));
}

/**
 * Matches integers beyond 2^53 that are written with all digits, in decimal, hexadecimal or octal form. A number such as 1e21 does not
 * match, because it is meant as a float.
 */
const LONG_INTEGER = /(?<![\w."'])(?:\d{16,}|0x[\da-f]{14,}|0o[0-7]{18,})(?![\w."'])/i;

/**
 * Rejects integers that would silently change when stored as a double.
 * @throws MediaError unsupported
 */
function checkNumbers(value: unknown, data: string): void {
  const isUnsafe = (one: unknown): boolean => Number.isInteger(one) && !Number.isSafeInteger(one);
  if (!LONG_INTEGER.test(data) || !has(value, isUnsafe)) return;
  const said = `Expected integers of at most ${Number.MAX_SAFE_INTEGER}, got a larger one: write it as text.`;
  throw new MediaError("unsupported", said);
}

/** Rejects values that contain infinite numbers or NaN. @throws MediaError unsupported */
function checkFinite(value: unknown): void {
  if (!has(value, (one) => typeof one === "number" && !Number.isFinite(one))) return;
  throw new MediaError("unsupported", "Expected numbers that JSON can hold, got an infinite one or NaN.");
}

function withoutTimes(value: unknown): unknown {
  if (!has(value, isTomlTime)) return value;
  return JSON.parse(JSON.stringify(value, (_name, one: unknown) => (Number.isNaN(one) ? null : one)));
}

const OLDEST_AJV = (options: Options): Ajv =>
  new Ajv(options).addMetaSchema(createRequire(import.meta.url)("ajv/dist/refs/json-schema-draft-06.json") as object);

/** Validators for the drafts of JSON Schema. The key is the end of the URL in `$schema`. */
const DRAFTS: Readonly<Record<string, (options: Options) => Ajv>> = {
  "draft/2020-12/schema": (options) => new Ajv2020(options),
  "draft/2019-09/schema": (options) => new Ajv2019(options),
  "draft-07/schema": OLDEST_AJV,
  "draft-06/schema": OLDEST_AJV,
};

// Inherited properties, such as `constructor`, are not members of the data.
const AJV_OPTIONS: Options = { strict: false, logger: false, ownProperties: true };

/** Keyword `multipleOf` with decimal arithmetic. Ajv itself divides doubles, so that 19.99 would not be a multiple of 0.01. */
const MULTIPLE_OF: FuncKeywordDefinition = {
  keyword: "multipleOf",
  type: "number",
  schemaType: "number",
  validate: isMultiple,
  error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
};

/** True if the value is a multiple of the divisor. Both are compared as the decimal numbers that the caller wrote. */
function isMultiple(divisor: number, value: number): boolean {
  const [one, other] = [decimal(value), decimal(divisor)];
  const exponent = Math.min(one.exponent, other.exponent);
  const scaled = (number: typeof one): bigint => number.digits * 10n ** BigInt(number.exponent - exponent);
  return scaled(one) % scaled(other) === 0n;
}

/** Returns the shortest decimal number that represents the same double. */
function decimal(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [, whole = "0", part = "", power = "0"] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return { digits: BigInt(whole + part), exponent: Number(power) - part.length };
}

/** Validates the value and returns the schema's draft. @throws MediaError invalid, corrupt */
function check(value: unknown, schema: object): string {
  const draft = draftOf(schema);
  const ajv = DRAFTS[draft]?.(AJV_OPTIONS)?.removeKeyword("multipleOf").addKeyword(MULTIPLE_OF);
  if (!ajv) {
    const known = Object.keys(DRAFTS).map((one) => /\d.*(?=\/)/.exec(one)?.[0]);
    throw new MediaError("invalid", `Expected params.schema.$schema to name draft ${known.join(", ")} of JSON Schema.`);
  }
  const undecided = undecidedIn(schema, draft);
  if (undecided !== undefined) {
    throw new MediaError("unsupported", `Expected params.schema without ${undecided}, which cannot be checked here.`);
  }
  let isValid: boolean;
  try {
    isValid = ajv.validate(schema, value);
  } catch (error) {
    throw new MediaError("invalid", `Expected params.schema to be a JSON Schema: ${String(error).slice(0, 200)}`, {
      cause: error,
    });
  }
  if (!isValid)
    throw new MediaError("corrupt", `The data does not meet the schema: ${ajv.errorsText().slice(0, 300)}.`);
  return draft;
}

/**
 * Returns the name of a schema member that Ajv evaluates differently from the specification; undefined if there is none. Ajv ignores
 * members named `__proto__`, treats dynamic references as plain ones, and misses items and properties that other keywords have evaluated.
 */
function undecidedIn(schema: object, draft: string): string | undefined {
  const names = new Set<string>();
  let hasBareIf = false;
  const pending: object[] = [schema];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    hasBareIf ||= Object.hasOwn(one, "if") && !(Object.hasOwn(one, "then") && Object.hasOwn(one, "else"));
    for (const [name, value] of Object.entries(one)) {
      names.add(name);
      if (typeof value === "object" && value !== null) pending.push(value as object);
    }
  }
  if (names.has("__proto__")) return "__proto__";
  // Ajv returns a promise for such a schema.
  if (names.has("$async")) return "$async";
  if (!draft.startsWith("draft/")) return undefined;
  const reference = ["$dynamicRef", "$recursiveRef"].find((name) => names.has(name));
  if (reference !== undefined) return reference;
  if (names.has("unevaluatedProperties") && hasBareIf)
    return "unevaluatedProperties beside an if without then and else";
  const applied = ["contains", "anyOf", "oneOf", "if"].find((name) => names.has(name));
  return names.has("unevaluatedItems") && applied !== undefined ? `unevaluatedItems beside ${applied}` : undefined;
}

/** Returns the schema's draft. Without `$schema`, it is 2020-12, or an older draft if `items` is a list. */
function draftOf(schema: object): string {
  const { $schema } = schema as { readonly $schema?: unknown };
  if (typeof $schema === "string") return /^https?:\/\/json-schema\.org\/(.*?)#?$/.exec($schema)?.[1] ?? $schema;
  const newest = new Ajv2020(AJV_OPTIONS);
  if (newest.validateSchema(schema) === true) return "draft/2020-12/schema";
  const isOld = newest.errors?.some(
    ({ instancePath, keyword }) => keyword === "type" && instancePath.endsWith("/items"),
  );
  return isOld === true ? "draft-07/schema" : "draft/2020-12/schema";
}

function written(value: unknown, to: "json" | "yaml" | "toml"): string {
  if (to === "json") return `${JSON.stringify(value, null, 2)}\n`;
  if (to === "yaml") return yamlOf(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MediaError("invalid", "Expected an object for params.to toml, got another value.");
  }
  return tomlOf(value as Record<string, unknown>);
}

let compiled: WebAssembly.Module | undefined;

function moduleOfJq(): WebAssembly.Module {
  const path = createRequire(import.meta.url).resolve("jq-wasm/jq.wasm");
  return (compiled ??= new WebAssembly.Module(readFileSync(path)));
}

/**
 * Runs a jq program, and returns its results as one JSON list. Each program gets a new jq instance, because an instance is unusable after
 * it exceeds its memory or depth.
 * @throws MediaError invalid
 */
async function queried(value: unknown, program: string): Promise<string> {
  const jq = await loadJq({ wasmModule: moduleOfJq() });
  let ran: ReturnType<typeof jq.raw>;
  try {
    // The list brackets suppress partial output of a failing program, and prevent a program that jq parses as an option.
    ran = jq.raw(JSON.stringify(value), `[${program}\n]`, ["-c"]);
  } catch (error) {
    throw refusal("it needs more memory or depth than jq has here", error);
  }
  if (ran.exitCode !== 0) throw refusal(saidBy(ran.stderr), new Error(`jq ended with ${ran.exitCode}`));
  return ran.stdout.trim() === "" ? "[]" : ran.stdout;
}

function refusal(why: string, cause: unknown): MediaError {
  return new MediaError("invalid", `Expected params.jq to be a program that runs: ${why}.`, { cause });
}

/** Returns the first sentence of jq's error. File names are removed, and positions refer to the caller's program. */
function saidBy(printed: string): string {
  const [line = ""] = printed.split("\n");
  const sentence = line.replace(/^jq: error(?: \(at [^)]*\))?:? /, "").trim();
  const [, said, row, column] = /^(.*) at <top-level>, line (\d+), column (\d+):?$/.exec(sentence) ?? [];
  const place = row === undefined ? "" : ` (line ${row}, column ${Number(column) - (row === "1" ? 1 : 0)})`;
  return `${(said ?? sentence).slice(0, 200) || "it fails"}${place}`.replace(/\.$/, "");
}
