/** Parses JSON from a provider or a client into objects, lists and texts. */
import { JSON_DEPTH_MAX } from "#shared/json/tokens.ts";

export type Members = Record<string, unknown>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a JSON text and returns its object. Undefined for invalid JSON, other values, or nesting deeper than JSON_DEPTH_MAX. The parser
 * accepts a million levels, but serializing 30,000 levels blocks the process for two seconds (measured).
 */
export function parseObject(text: string): Members | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    // "[" and "{" differ only in this bit, as do "]" and "}".
    else if ((code | 0x20) === 0x7b) {
      if (++depth > JSON_DEPTH_MAX) return true;
    } else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object; otherwise an empty object. */
export function objectOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** Returns the members of a list that are objects; empty if the value is no list. */
export function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

/** Returns the value if it is a text; otherwise an empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the value if it is a non-empty text; otherwise undefined. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
