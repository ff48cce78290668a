/** JSON that a provider or a client sent, and what it may turn out to be. */
import { JSON_DEPTH_MAX } from "#shared/json-tokens.ts";

export type Members = Record<string, unknown>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The object a text holds; undefined when it is no JSON, no object, or nested deeper than JSON_DEPTH_MAX: the
 * parser takes a million levels, but writing 30,000 of them again blocks the process for two seconds (measured).
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
    // "[" and "{" differ in that bit alone, as do "]" and "}"
    else if ((code | 0x20) === 0x7b) {
      if (++depth > JSON_DEPTH_MAX) return true;
    } else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one for everything that is none. */
export function objectOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** The objects of a list; anything else in it is passed over. */
export function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

/** The text, or the empty one for everything that is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text that says something; undefined for everything else. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
