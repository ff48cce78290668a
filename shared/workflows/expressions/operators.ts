/** Operators of expressions. Integers are bigint. Floating-point numbers, and all numbers from JSON, are number. Both can be mixed. */

import { JSON_DEPTH_MAX } from "#shared/json/tokens.ts";

import { isTextBefore } from "./characters.ts";
import { ExpressionFault, ITEM_UNITS, MEMBER_UNITS, typeOf, type Work } from "./work.ts";

export type BinaryOperator = "==" | "!=" | "in" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%";

const INT_MAX = 2n ** 63n - 1n;
const INT_MIN = -(2n ** 63n);
/** Limit beyond which no floating-point number equals an integer. */
const FRACTION_MAX = 2 ** 63;

/** Maximum depth of compared lists and objects. No value is deeper, and the depth is safe for the stack. */
const COMPARED_DEPTH_MAX = 4 * JSON_DEPTH_MAX;

/** Applies a binary operator. @throws ExpressionFault for values that the operator does not support */
export function applyBinary(operator: BinaryOperator, a: unknown, b: unknown, work: Work): unknown {
  switch (operator) {
    case "==":
      return isEqual(a, b, work);
    case "!=":
      return !isEqual(a, b, work);
    case "in":
      return isIn(a, b, work);
    case "<":
      return isBefore(operator, a, b, work);
    case ">":
      return isBefore(operator, b, a, work);
    case "<=":
      return isBefore(operator, a, b, work) || isEqual(a, b, work);
    case ">=":
      return isBefore(operator, b, a, work) || isEqual(a, b, work);
    case "+":
      if (typeof a === "string" && typeof b === "string") {
        work.spendText(a.length + b.length);
        return a + b;
      }
      if (Array.isArray(a) && Array.isArray(b)) {
        work.spend((a.length + b.length) * ITEM_UNITS);
        return (a as unknown[]).concat(b);
      }
      return calculate(operator, a, b);
    default:
      return calculate(operator, a, b);
  }
}

/** Returns the negation of a number. @throws ExpressionFault for other values, or if the result exceeds 64 bits */
export function negate(value: unknown): bigint | number {
  if (typeof value === "bigint") return inRange(-value);
  if (typeof value === "number") return -value;
  throw new ExpressionFault(`Expected a number after -, got ${typeOf(value)}.`);
}

/** Returns the integer unchanged. @throws ExpressionFault if it exceeds 64 bits */
export function inRange(value: bigint): bigint {
  if (value >= INT_MIN && value <= INT_MAX) return value;
  throw new ExpressionFault("Expected integers of 64 bits.");
}

function calculate(operator: "+" | "-" | "*" | "/" | "%", a: unknown, b: unknown): bigint | number {
  if (!isNumber(a) || !isNumber(b)) {
    throw new ExpressionFault(
      `Expected ${operator === "+" ? "two numbers, texts or lists" : "two numbers"} for ${operator}, got ${typeOf(a)} and ${typeOf(b)}.`,
    );
  }
  if (typeof a === "bigint" && typeof b === "bigint") {
    if (b === 0n && (operator === "/" || operator === "%")) throw new ExpressionFault("Expected no division by zero.");
    return inRange(INTEGERS[operator](a, b));
  }
  return FRACTIONS[operator](Number(a), Number(b));
}

const INTEGERS = {
  "+": (a: bigint, b: bigint) => a + b,
  "-": (a: bigint, b: bigint) => a - b,
  "*": (a: bigint, b: bigint) => a * b,
  "/": (a: bigint, b: bigint) => a / b,
  "%": (a: bigint, b: bigint) => a % b,
} as const;

const FRACTIONS = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
} as const;

function isBefore(operator: string, a: unknown, b: unknown, work: Work): boolean {
  if (isNumber(a) && isNumber(b)) return a < b;
  if (typeof a === "string" && typeof b === "string") {
    work.spend(a.length + b.length);
    return isTextBefore(a, b);
  }
  throw new ExpressionFault(
    `Expected two numbers or two texts for ${operator}, got ${[typeOf(a), typeOf(b)].toSorted().join(" and ")}.`,
  );
}

/**
 * Returns true if two values are equal. Values of different types differ, but an integer equals a floating-point number of the same value.
 */
function isEqual(a: unknown, b: unknown, work: Work, depth = 0): boolean {
  work.spend(ITEM_UNITS);
  if (depth > COMPARED_DEPTH_MAX) throw new ExpressionFault(`Expected values of at most ${COMPARED_DEPTH_MAX} levels.`);
  if (typeof a === "string" && typeof b === "string") {
    if (a.length !== b.length) return false;
    work.spend(a.length);
    return a === b;
  }
  if (isNumber(a) && isNumber(b)) return isSameNumber(a, b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, at) => isEqual(one, b[at], work, depth + 1));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = keysOf(a, work);
  return (
    keys.length === keysOf(b, work).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key], work, depth + 1))
  );
}

function isIn(value: unknown, of: unknown, work: Work): boolean {
  if (Array.isArray(of)) return of.some((one) => isEqual(value, one, work));
  if (isObject(of) && typeof value === "string") return Object.hasOwn(of, value);
  throw new ExpressionFault(
    `Expected a list, or a text and an object, for in, got ${typeOf(value)} and ${typeOf(of)}.`,
  );
}

export function keysOf(value: Readonly<Record<string, unknown>>, work: Work): string[] {
  const keys = Object.keys(value);
  work.spend(keys.length * MEMBER_UNITS);
  return keys;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSameNumber(a: bigint | number, b: bigint | number): boolean {
  if (typeof a === "bigint") return typeof b === "bigint" ? a === b : isSameMixed(a, b);
  return typeof b === "bigint" ? isSameMixed(b, a) : a === b;
}

/** Compares an integer and a floating-point number exactly. Converted to floating point, large integers would equal their neighbours. */
function isSameMixed(integer: bigint, fraction: number): boolean {
  return Number.isInteger(fraction) && Math.abs(fraction) <= FRACTION_MAX && BigInt(fraction) === integer;
}

function isNumber(value: unknown): value is bigint | number {
  return typeof value === "number" || typeof value === "bigint";
}
