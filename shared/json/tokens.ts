/** Finds the ends of strings and numbers in a JSON text, for checks of depth and size. Only the parser decides if the text is valid. */
import { ApiError } from "../base/errors.ts";

/** Maximum depth of accepted JSON. Bun parses deeper JSON, but fails to serialize it from about 5·10⁴ levels. */
export const JSON_DEPTH_MAX = 64;

/**
 * Maximum size of JSON that is parsed at once, in bytes; larger JSON is parsed in chunks. At this size, parsing takes up to 2 ms (measured)
 * and the search for a syntax error 5 ms.
 */
export const JSON_AT_ONCE_BYTES_MAX = 65_536;

/** Maximum size of a small body, in bytes; larger bodies count as large. The largest chats stay below. */
export const SMALL_BODY_BYTES_MAX = 1_048_576;

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Maximum characters of a number without exponent that is always finite. The largest double has 309 digits. */
const FINITE_CHARS_MAX = 308;

/**
 * Number of characters of a string that our loop scans. The engine's search scans the remaining ones, because it is many times faster
 * there.
 */
const SHORT_STRING_CHARS = 48;

/**
 * Returns the position of the quote that closes the string opened at `open`. Returns the text's length if there is none.
 * @param limit last position searched
 */
export function stringEnd(text: string, open: number, limit = text.length): number {
  const near = Math.min(limit, open + SHORT_STRING_CHARS);
  let at = open + 1;
  for (; at < near; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1 || quote >= limit) return text.length;
    let escape = quote;
    while (escape > at && text.charCodeAt(escape - 1) === BACKSLASH) escape--;
    if ((quote - escape) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/**
 * Returns the position of a number's last character.
 * @param limit last position searched
 * @throws ApiError if a double cannot represent the number
 */
export function checkedNumberEnd(text: string, start: number, limit = text.length): number {
  let hasExponent = false;
  let at = start + 1;
  for (; at < limit; at++) {
    const code = text.charCodeAt(at);
    if ((code | 0x20) === 0x65) hasExponent = true;
    else if ((code < 0x30 || code > 0x39) && code !== 0x2e && code !== 0x2b && code !== 0x2d) break;
  }
  if ((hasExponent || at - start > FINITE_CHARS_MAX) && Number(text.slice(start, at)) === Infinity) {
    throw invalid(`The number at character ${start + 1} of the body is too large.`);
  }
  return at - 1;
}

export function tooDeep(depthMax: number, at: number): ApiError {
  return invalid(`The body is nested deeper than ${depthMax} levels at character ${at + 1}.`);
}

export function invalid(message: string): ApiError {
  return new ApiError("invalid_json", message);
}
