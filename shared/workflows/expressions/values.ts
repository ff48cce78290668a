/** Measures values that expressions read and return, and converts them to JSON. */

import type { Resolved } from "./scope.ts";
import { EXPRESSION_VALUE_BYTES_MAX } from "./work.ts";

/** Returns the approximate size of a value as JSON, in bytes. Stops counting soon after `bytesMax`. */
export function bytesOf(value: unknown, bytesMax: number): number {
  let bytes = 0;
  const visit = (one: unknown): void => {
    if (bytes > bytesMax) return;
    if (typeof one === "string") bytes += one.length + 2;
    else if (Array.isArray(one)) {
      bytes += one.length + 2;
      for (const each of one) visit(each);
    } else if (typeof one === "object" && one !== null) {
      for (const key in one) {
        bytes += key.length + 4;
        visit((one as Record<string, unknown>)[key]);
      }
    } else bytes += 8;
  };
  visit(value);
  return bytes;
}

/** Converts a CEL value to JSON. Returns the reason if the value is too large or has no JSON form. */
export function plain(value: unknown): Resolved {
  const bytesMax = EXPRESSION_VALUE_BYTES_MAX;
  if (bytesOf(value, bytesMax) > bytesMax) {
    return { fault: `Expected an expression to return at most ${bytesMax} bytes.` };
  }
  try {
    return { value: converted(value) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

/** Converts a CEL value to JSON. @throws Error for values without a JSON form */
function converted(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "bigint") {
    if (Number.isSafeInteger(Number(value))) return Number(value);
    throw new Error("Expected an expression to return integers below 2^53.");
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw new Error("Expected an expression to return finite numbers.");
  }
  if (Array.isArray(value)) return value.map(converted);
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, converted(one)]));
  }
  throw new Error(
    "Expected an expression to return a JSON value: text, a number, a boolean, null, a list or an object.",
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
