/** Ajv's word on whether a value meets a client's schema, in bounded time. Loaded when the first schema is met. */
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { asRecord } from "./json.ts";
import { createPatternReader, type Work } from "./pattern.ts";

/** JSON pointers of the parts that do not fit, none for a valid value; undefined when Ajv cannot tell. */
export type Verify = (value: unknown) => readonly string[] | undefined;

/** Compiling takes about 4 ms for each 1,000 characters: a longer schema is filled and not verified. */
const SCHEMA_CHARACTERS_MAX = 32_768;
/** References followed and positions of patterns looked at for one value: both can multiply without end. */
const WORK_MAX = 50_000;
const COUNTER = "x-sandbox-counter";
/** The form that tuples had before 2020: Ajv's two classes each take one of both. */
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
      // Too many references, or some without end, which fill the stack.
      return undefined;
    }
  };
}

/** undefined for what Ajv does not take as a schema. */
function compile(text: string, work: Work): ValidateFunction | undefined {
  if (text.length > SCHEMA_CHARACTERS_MAX) return undefined;
  const readPattern = createPatternReader(work);
  // A pattern that cannot be read forbids nothing. Ajv tells patterns apart by toString.
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
  // Without it every object has a property called `constructor`.
  ownProperties: true,
  strict: false,
  validateSchema: false,
};
