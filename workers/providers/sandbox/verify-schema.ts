/** Validates values against a client's schema with Ajv, in limited time. Loaded for the first schema. */
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { asRecord } from "./json.ts";
import { createPatternReader, type Work } from "./pattern.ts";

/** Returns the JSON pointers of invalid parts, empty for a valid value; undefined if Ajv cannot decide. */
export type Verify = (value: unknown) => readonly string[] | undefined;

/** Longest schema that is compiled, at about 4 ms per 1,000 characters: longer schemas are filled but not verified. */
const SCHEMA_CHARACTERS_MAX = 32_768;
/** Most references and pattern positions for one value, since both can multiply without limit. */
const WORK_MAX = 50_000;
const COUNTER = "x-sandbox-counter";
/** Tuple syntax before 2020: Ajv has a separate class for each syntax. */
const OLD_TUPLE = /"items"\s*:\s*\[/;

/** @param schema as JSON text */
export function createVerify(schema: string): Verify {
  const work: Work = { left: 0 };
  const validate = compile(schema, work);
  return (value) => {
    work.left = WORK_MAX;
    try {
      if (validate === undefined || validate(value)) return validate && [];
      return (validate.errors ?? []).map((error) => error.instancePath);
    } catch {
      // Too many references, or endless recursion that exhausted the stack.
      return undefined;
    }
  };
}

/** Returns undefined for an invalid or too long schema. */
function compile(text: string, work: Work): ValidateFunction | undefined {
  if (text.length > SCHEMA_CHARACTERS_MAX) return undefined;
  const readPattern = createPatternReader(work);
  // An unreadable pattern allows everything. Ajv distinguishes patterns by toString.
  const engine = (source: string): { test(text: string): boolean; toString(): string } => ({
    test: (one) => readPattern(source)?.matches(one) ?? true,
    toString: () => source,
  });
  const options = { ...OPTIONS, code: { regExp: Object.assign(engine, { code: "engine" }) } };
  const ajv = OLD_TUPLE.test(text) ? new Ajv(options) : new Ajv2020(options);
  addFormats(ajv);
  const count = (): boolean => {
    work.left -= 1;
    if (work.left < 0) throw new Error(`expected at most ${WORK_MAX} references in a value`);
    return true;
  };
  ajv.addKeyword({ keyword: COUNTER, schema: false, errors: false, validate: count });
  try {
    return ajv.compile(JSON.parse(text, withCounter) as object);
  } catch {
    return undefined;
  }
}

function withCounter(_key: string, value: unknown): unknown {
  const { $ref, $dynamicRef } = asRecord(value);
  return typeof ($ref ?? $dynamicRef) === "string" ? { ...asRecord(value), [COUNTER]: true } : value;
}

const OPTIONS: Options = {
  allErrors: true,
  inlineRefs: false,
  logger: false,
  meta: false,
  // Without this option, every object would have a property `constructor`.
  ownProperties: true,
  strict: false,
  validateSchema: false,
};
