/** The conformance tests of CEL whose values JSON can hold: an expression has the value that they state, or is refused. */
import { type SerializedIncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { tests as conformance } from "@bufbuild/cel-spec/testdata/conformance.js";
import { expect, test } from "bun:test";

import { compileCel } from "#shared/workflows/expressions/cel.ts";
import type { Scope } from "#shared/workflows/expressions/scope.ts";

const SCOPE: Scope = { inputs: {}, steps: {}, run: { id: "01a", attempt: 1 } };

/** Refused: types, functions and macros that definitions do not have. Wrong: the remainder of two doubles, which CEL does not have. */
const EXPECTED = { right: 681, refused: 1_005, wrong: ["mod_not_support: 47.5 % 5.5 is 3.5"] };

test("constant expressions of the specification", () => {
  const counts = { right: 0, refused: 0, wrong: [] as string[] };
  for (const { name, expr, value, isFault } of casesOf(conformance)) {
    const compiled = compileCel(expr);
    const resolved = "fault" in compiled ? compiled : compiled.evaluate(SCOPE);
    if ("fault" in resolved) counts[isFault ? "right" : "refused"] += 1;
    else if (!isFault && isSame(resolved.value, value)) counts.right += 1;
    else counts.wrong.push(`${name}: ${expr} is ${JSON.stringify(resolved.value)}`);
  }
  expect(counts).toEqual(EXPECTED);
});

interface Case {
  readonly name: string;
  readonly expr: string;
  readonly value: unknown;
  /** True if the evaluation must fail. */
  readonly isFault: boolean;
}

function* casesOf(suite: SerializedIncrementalTestSuite): Iterable<Case> {
  for (const { original } of suite.tests ?? []) {
    // Names of variables, containers and types belong to other hosts of CEL.
    if (original === undefined || "bindings" in original || "typeEnv" in original || "checkOnly" in original) continue;
    const { name = "", expr = "", value, evalError } = original as Original;
    const plain = value === undefined ? undefined : plainOf(value);
    if (evalError !== undefined) yield { name, expr, value: undefined, isFault: true };
    else if (plain !== undefined) yield { name, expr, value: plain.value, isFault: false };
  }
  for (const inner of suite.suites ?? []) yield* casesOf(inner);
}

interface Original {
  readonly name?: string;
  readonly expr?: string;
  readonly value?: Value;
  readonly evalError?: unknown;
}

/** A value in the JSON of Protocol Buffers. */
interface Value {
  readonly nullValue?: unknown;
  readonly boolValue?: boolean;
  readonly int64Value?: string | number;
  readonly uint64Value?: string | number;
  readonly doubleValue?: number | string;
  readonly stringValue?: string;
  readonly listValue?: { readonly values?: readonly Value[] };
  readonly mapValue?: { readonly entries?: readonly { readonly key: Value; readonly value: Value }[] };
}

/** Undefined for a value that JSON cannot hold. */
function plainOf(value: Value): { readonly value: unknown } | undefined {
  if ("nullValue" in value) return { value: null };
  if (value.boolValue !== undefined) return { value: value.boolValue };
  if (value.stringValue !== undefined) return { value: value.stringValue };
  const number = value.int64Value ?? value.uint64Value ?? value.doubleValue;
  if (number !== undefined) {
    const read = Number(number);
    const isExact = Number.isFinite(read) && (value.doubleValue !== undefined || Number.isSafeInteger(read));
    return isExact ? { value: read } : undefined;
  }
  if (value.listValue !== undefined) {
    const items = (value.listValue.values ?? []).map(plainOf);
    return items.includes(undefined) ? undefined : { value: items.map((one) => one?.value) };
  }
  if (value.mapValue === undefined) return undefined;
  const entries = (value.mapValue.entries ?? []).map(({ key, value: own }) => [key.stringValue, plainOf(own)] as const);
  if (entries.some(([key, own]) => key === undefined || own === undefined)) return undefined;
  return { value: Object.fromEntries(entries.map(([key, own]) => [key, own?.value])) };
}

function isSame(own: unknown, value: unknown): boolean {
  if (typeof own === "number" && typeof value === "number") return own === value;
  return Bun.deepEquals(own, value);
}
