/**
 * Replaces values in kept bodies. Member names are found by a scan of the JSON text, without parsing it, so that a text that was cut off is
 * redacted too. All scans take linear time, whatever the text.
 */
import { PATTERNS } from "./patterns.ts";
import { REDACTED, type RedactedPattern, type RedactionRules } from "#shared/base/body-setting.ts";

const REDACTED_JSON = `"${REDACTED}"`;

/** Depth of JSON inside of strings that is scanned, such as the arguments of a tool call. */
const NESTED_MAX = 3;
/** Number of tokens after which the scan yields. */
const TOKENS_PER_YIELD = 512;

/** Returns true if the rules replace nothing. */
export function redactsNothing({ members, patterns }: RedactionRules): boolean {
  return members.length === 0 && patterns.length === 0;
}

/** Redacts a JSON text, which may be cut off at its end. Yields between its parts. */
export function redactingJson(text: string, { members, patterns }: RedactionRules): Generator<void, string> {
  return scan(text, { members: new Set(members), patterns }, 0);
}

/** Redacts a text that is not JSON. Only the patterns apply. */
export function redactText(text: string, { patterns }: Pick<RedactionRules, "patterns">): string {
  return patterns.reduce((redacted, pattern) => PATTERNS[pattern](redacted), text);
}

interface Rules {
  readonly members: ReadonlySet<string>;
  readonly patterns: readonly RedactedPattern[];
}

function* scan(text: string, rules: Rules, depth: number): Generator<void, string> {
  const parts: string[] = [];
  let copiedTo = 0;
  let tokens = 0;
  const replace = (from: number, to: number, by: string): number => {
    parts.push(text.slice(copiedTo, from), by);
    copiedTo = to;
    return to;
  };
  for (let at = 0; at < text.length;) {
    tokens += 1;
    if (tokens % TOKENS_PER_YIELD === 0) yield;
    const char = text.charAt(at);
    if (char === '"') {
      const { end, isClosed } = stringFrom(text, at);
      const colon = skipSpace(text, end);
      if (isClosed && text[colon] === ":") {
        const value = skipSpace(text, colon + 1);
        const name = contentOf(text.slice(at, end), isClosed).toLowerCase();
        at = rules.members.has(name) ? replace(value, valueEnd(text, value), REDACTED_JSON) : value;
      } else {
        const redacted = yield* redactString(text.slice(at, end), isClosed, rules, depth);
        at = redacted === undefined ? end : replace(at, end, redacted);
      }
    } else if (isNumberStart(char)) {
      const end = plainEnd(text, at);
      const number = text.slice(at, end);
      at = redactText(number, rules) === number ? end : replace(at, end, REDACTED_JSON);
    } else at += 1;
  }
  parts.push(text.slice(copiedTo));
  return parts.join("");
}

/** Redacts a string of a JSON text, given with its quotes. Returns undefined if nothing changes. */
function* redactString(
  token: string,
  isClosed: boolean,
  rules: Rules,
  depth: number,
): Generator<void, string | undefined> {
  const content = contentOf(token, isClosed);
  const isNested = depth < NESTED_MAX && /^\s*[[{]/.test(content);
  const scanned = isNested ? yield* scan(content, rules, depth + 1) : content;
  const redacted = redactText(scanned, rules);
  if (redacted === content) return undefined;
  const quoted = JSON.stringify(redacted);
  return isClosed ? quoted : quoted.slice(0, -1);
}

/** Returns the decoded content of a string of a JSON text, which may lack its end. Returns a text that is not valid JSON undecoded. */
function contentOf(token: string, isClosed: boolean): string {
  const raw = token.slice(1, isClosed ? -1 : undefined);
  if (!raw.includes("\\")) return raw;
  const whole = isClosed ? raw : withoutHalfEscape(raw);
  try {
    return JSON.parse(`"${whole}"`) as string;
  } catch {
    return raw;
  }
}

/** Removes an escape sequence that was cut off at the end of a text. */
function withoutHalfEscape(raw: string): string {
  const from = raw.lastIndexOf("\\", raw.length - 1);
  if (raw.length - from > HALF_ESCAPE_CHARS_MAX) return raw;
  let escapes = 1;
  while (raw[from - escapes] === "\\") escapes += 1;
  const isHalf = escapes % 2 === 1 && (from === raw.length - 1 || raw[from + 1] === "u");
  return isHalf ? raw.slice(0, from) : raw;
}

/** Longest beginning of an escape sequence, such as `\u00e`. */
const HALF_ESCAPE_CHARS_MAX = 5;

/** Returns the end of the string that begins at `at`, and whether it has a closing quote. */
function stringFrom(text: string, at: number): { readonly end: number; readonly isClosed: boolean } {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return { end: quote + 1, isClosed: true };
  }
  return { end: text.length, isClosed: false };
}

function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringFrom(text, at).end;
  if (first !== "{" && first !== "[") return plainEnd(text, at);
  let depth = 0;
  for (let end = at; end < text.length;) {
    const char = text[end];
    if (char === '"') {
      ({ end } = stringFrom(text, end));
      continue;
    }
    end += 1;
    if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    if (depth === 0) return end;
  }
  return text.length;
}

/** Returns the end of a number or literal. */
function plainEnd(text: string, at: number): number {
  PLAIN_END.lastIndex = at;
  return PLAIN_END.exec(text)?.index ?? text.length;
}

const PLAIN_END = /[\s,:"[\]{}]/g;

function skipSpace(text: string, at: number): number {
  let end = at;
  while (isSpace(text.charCodeAt(end))) end += 1;
  return end;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isNumberStart = (char: string): boolean => char === "-" || (char >= "0" && char <= "9");
