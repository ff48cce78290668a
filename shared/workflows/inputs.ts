/** What a definition declares that its runs are given. */
import type { WorkflowInput } from "#schemas/generated/types.ts";

import type { DefinitionFault } from "./bindings.ts";
import { UNSAFE_KEYS } from "./expressions/scope.ts";

type Type = WorkflowInput["type"];

const IS: Readonly<Record<Type, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: Number.isSafeInteger,
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

const WORDS: Readonly<Record<Type, string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
};

export function* checkInputs(inputs: Readonly<Record<string, WorkflowInput>>, at: string): Generator<DefinitionFault> {
  for (const [name, { type, default: fallback }] of Object.entries(inputs)) {
    if (UNSAFE_KEYS.has(name)) yield { param: at, message: `Expected no input named ${name}.` };
    if (fallback === undefined || IS[type](fallback)) continue;
    yield { param: `${at}.${name}.default`, message: `Expected the default of ${name} to be ${WORDS[type]}.` };
  }
}
