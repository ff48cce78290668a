/** JSON that a provider sent. */
import { LIMITS } from "#shared/limits.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The object a text holds; undefined when it is no JSON, no object, or nested deeper than LIMITS.jsonDepthMax: the
 * parser takes a million levels, but writing 30,000 of them again blocks the process for two seconds (measured).
 */
export function parseObject(text: string): Record<string, unknown> | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
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
      if (++depth > LIMITS.jsonDepthMax) return true;
    } else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}
