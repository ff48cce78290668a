/**
 * Finds the first syntax error of a JSON text and describes it: the engine's message differs by version and may quote the text. Much slower
 * than JSON.parse; called only after a failure, on a small text or part.
 */

export class SyntaxFault {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    this.at = at;
    this.expected = expected;
  }
}

/** Container around a part of a text: a list, an object, or none. */
export type Around = "[" | "{" | "";

const CLOSING = { "[": "]", "{": "}" } as const;
const LITERALS = ["true", "false", "null"];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WHITE_SPACE = /[ \t\n\r]*/y;
const PLAIN_CHARACTERS = /[\u0020\u0021\u0023-\u005b\u005d-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Returns the expectation and position, such as `expected "," or "}" at line 2, column 5`, without quoting the text. The caller must have
 * checked the depth, because this function is recursive.
 */
export function locateSyntaxFault(text: string): string {
  const fault = findSyntaxFault(text, 0, "");
  if (!fault) return "the parser refused it";
  if (text.length === skipSpace(text, 0)) return "it is empty";
  const before = text.slice(0, fault.at).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
  return `expected ${fault.expected} at ${place}${fault.at >= text.length ? ", where the body ends" : ""}`;
}

/**
 * Returns the first fault from a position on.
 * @param around container of the position; faults after its end are not found
 * @param isBehind true if a value of the container ends there; otherwise one begins, or the first may
 * @param isFirst true if nothing precedes the position in the container
 */
export function findSyntaxFault(
  text: string,
  from: number,
  around: Around,
  { isBehind = false, isFirst = false } = {},
): SyntaxFault | undefined {
  const at = skipSpace(text, from);
  return faultOf(() => {
    if (around === "") {
      const end = isBehind ? at : skipSpace(text, value(text, at));
      if (end < text.length) throw new SyntaxFault(end, "nothing more after the value");
      return;
    }
    const one = around === "[" ? value : member;
    if (isBehind) behindMember(text, at, CLOSING[around], one);
    else if (!isFirst || text.charAt(at) !== CLOSING[around]) members(text, at, CLOSING[around], one);
  });
}

/** Returns the first fault of a string, from a position inside it on. */
export function findStringFault(text: string, from: number): SyntaxFault | undefined {
  return faultOf(() => string(text, from - 1));
}

function faultOf(read: () => unknown): SyntaxFault | undefined {
  try {
    read();
    return undefined;
  } catch (fault) {
    if (fault instanceof SyntaxFault) return fault;
    throw fault;
  }
}

type One = (text: string, at: number) => number;

/** Returns the position after the value that starts at `at`. */
function value(text: string, at: number): number {
  const first = text.charAt(at);
  if (first === "{" || first === "[") {
    const inside = skipSpace(text, at + 1);
    if (text.charAt(inside) === CLOSING[first]) return inside + 1;
    return members(text, inside, CLOSING[first], first === "[" ? value : member);
  }
  if (first === '"') return string(text, at);
  const literal = LITERALS.find((word) => text.startsWith(word, at));
  if (literal !== undefined) return at + literal.length;
  const end = match(NUMBER, text, at);
  if (end === undefined) throw new SyntaxFault(at, "a value");
  return end;
}

function members(text: string, at: number, close: string, one: One): number {
  return behindMember(text, skipSpace(text, one(text, at)), close, one);
}

function behindMember(text: string, start: number, close: string, one: One): number {
  for (let at = start; ; at = skipSpace(text, one(text, skipSpace(text, at + 1)))) {
    if (text.charAt(at) === close) return at + 1;
    if (text.charAt(at) !== ",") throw new SyntaxFault(at, `"," or "${close}"`);
  }
}

function member(text: string, at: number): number {
  if (text.charAt(at) !== '"') throw new SyntaxFault(at, "a member name in double quotes");
  const colon = skipSpace(text, string(text, at));
  if (text.charAt(colon) !== ":") throw new SyntaxFault(colon, '":"');
  return value(text, skipSpace(text, colon + 1));
}

function string(text: string, open: number): number {
  let at = open + 1;
  for (;;) {
    at = match(PLAIN_CHARACTERS, text, at) ?? at;
    const next = text.charAt(at);
    if (next === '"') return at + 1;
    if (next === "") throw new SyntaxFault(at, "a closing quote");
    if (next !== "\\") throw new SyntaxFault(at, "an escape instead of a control character");
    const end = match(ESCAPE, text, at);
    if (end === undefined) throw new SyntaxFault(at, "a known escape");
    at = end;
  }
}

function skipSpace(text: string, at: number): number {
  return match(WHITE_SPACE, text, at) ?? at;
}

/** Returns the position after a match of a sticky expression at `at`. */
function match(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}
