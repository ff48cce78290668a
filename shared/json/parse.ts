/**
 * Strict parsing of bytes to JSON: UTF-8 without repair, bounded depth, finite numbers. One scan of the text checks depth and numbers
 * before JSON.parse, which accepts a million levels. Large texts are parsed in pieces. Measured with Bun 1.4.4 on 2 busy cores, for
 * decoding, scan and parsing: 1.5 µs for 1 KB.
 */
import { ApiError } from "../base/errors.ts";
import { runWhole, type TimeSlices } from "../base/time-slices.ts";
import {
  checkedNumberEnd,
  invalid,
  JSON_AT_ONCE_BYTES_MAX,
  JSON_DEPTH_MAX,
  QUOTE,
  stringEnd,
  tooDeep,
} from "./tokens.ts";

export interface JsonBody {
  /** Received text without byte-order mark. It is forwarded unchanged, so that numbers and the order of members stay the same. */
  readonly text: string;
  readonly value: unknown;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns text and value of a JSON body. A member named `__proto__` is an ordinary own property of the value.
 * @throws ApiError 400 `invalid_json`: not UTF-8, not JSON, deeper than JSON_DEPTH_MAX, or a number that a double cannot represent;
 * `request_too_large` for more values and member names than JSON_PARTS_MAX
 */
export function readJson(bytes: Uint8Array, bounds?: JsonBounds): JsonBody {
  const text = decode(bytes);
  if (bytes.length > JSON_AT_ONCE_BYTES_MAX) return { text, value: runWhole(new JsonPieces(text, bounds).read()) };
  checkDepthAndNumbers(text);
  try {
    return { text, value: JSON.parse(text) as unknown };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw invalid(`The body is not valid JSON: ${locateSyntaxFault(text)}.`);
  }
}

/** Parses like `readJson`, but in time slices, because a large body would delay other calls. @throws the errors of `readJson` */
export async function readJsonInSlices(bytes: Uint8Array, slices: TimeSlices, bounds?: JsonBounds): Promise<JsonBody> {
  await slices.next();
  const text = decode(bytes);
  return { text, value: await slices.run(new JsonPieces(text, bounds).read()) };
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid("The body is not valid UTF-8.");
  }
}

/** Checks depth and numbers of a text before it is parsed. The text may still be invalid JSON afterwards. */
function checkDepthAndNumbers(text: string): void {
  const length = text.length;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if ((code | 0x20) === 0x7b) {
      // "[" and "{" differ in that bit only, as do "]" and "}"
      if (++depth > JSON_DEPTH_MAX) throw tooDeep(JSON_DEPTH_MAX, at);
    } else if ((code | 0x20) === 0x7d) depth--;
    else if (code >= 0x30 && code <= 0x39) at = checkedNumberEnd(text, at);
  }
}

// Parses JSON of many megabytes in pieces, so that the caller can yield between them. Each piece consists of whole members, parsed by the
// engine: one pass over the text finds their ends and checks depth and size before anything is allocated. Measured with Bun 1.4.4 on 2 busy
// cores: 32 MB of token numbers take 0.35 s and 32 MB of base64 0.1 s, a piece less than 1 ms.

/**
 * Maximum number of values and member names in a large text. The longest conversations have some thousand. An object with this many
 * distinct members takes 60 ms and 30 MB to parse and check.
 */
export const JSON_PARTS_MAX = 200_000;

export interface JsonBounds {
  /**
   * False if numbers do not count toward `partsMax`. Used for request types with long lists of numbers, which only the size of the text
   * limits.
   */
  readonly countsNumbers?: boolean;
  /** Maximum number of values and member names, and of items of one list. Default: JSON_PARTS_MAX. */
  readonly partsMax?: number;
}

/** Approximate size of a chunk, in characters; the last member may exceed it. */
const PIECE_CHARS = 65_536;
/** Number of chunks of a long string that are parsed before the generator yields. The chunks are joined at the end. */
const STRING_PIECES = 4;

/** A list or an object that is open at the current position. */
interface Frame {
  readonly around: Around;
  readonly openAt: number;
  /** Position in the text up to which the container's content has been parsed and added to `into`. */
  fromAt: number;
  /** Start of the current member, including its name. */
  memberAt: number;
  /** True if the current member was already parsed separately. Its value ends at `fromAt`. */
  isBehindValue: boolean;
  /** Content of the container parsed so far. Undefined for a small container, which is parsed in one piece with its neighbours. */
  into?: unknown[] | Record<string, unknown>;
}

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ESCAPE_CHARS = 6;
const BLANK = /[ \t\n\r]*/y;

export class JsonPieces {
  private readonly text: string;
  private readonly countsNumbers: boolean;
  private readonly partsMax: number;
  private readonly pieceChars: number;
  private readonly root: Frame = frameOf("", -1);
  private readonly frames: Frame[] = [this.root];
  private parts = 0;

  constructor(
    text: string,
    { countsNumbers = true, partsMax = JSON_PARTS_MAX }: JsonBounds = {},
    pieceChars = PIECE_CHARS,
  ) {
    this.text = text;
    this.countsNumbers = countsNumbers;
    this.partsMax = partsMax;
    this.pieceChars = pieceChars;
  }

  /** Returns the parsed value. Yields between chunks. @throws ApiError `invalid_json`, `request_too_large` */
  *read(): Generator<void, unknown> {
    const { length } = this.text;
    for (let at = 0; at < length;) {
      const { reached, isAtLongString } = this.skim(at, Math.min(length, at + this.pieceChars));
      this.readMembers();
      at = isAtLongString ? yield* this.readString(reached) : reached;
      yield;
    }
    return this.end();
  }

  /** Scans the text up to `stop`, or up to the start of a string that is longer than a chunk. Returns the position reached. */
  private skim(from: number, stop: number): { readonly reached: number; readonly isAtLongString: boolean } {
    const { text } = this;
    let at = from;
    for (; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.count(at);
        const end = stringEnd(text, at, at + this.pieceChars);
        if (end === text.length) return { reached: at, isAtLongString: true };
        at = end;
      } else if (code === COMMA) this.endMember(at);
      else if ((code | 0x20) === 0x7b) this.enter(code === 0x7b ? "{" : "[", at);
      else if ((code | 0x20) === 0x7d) this.exit(code === 0x7d ? "{" : "[", at);
      else if (code >= 0x30 && code <= 0x39) at = this.passNumber(at);
      // A letter that each literal contains once.
      else if (code === 0x74 || code === 0x66 || code === 0x6e) this.count(at);
    }
    return { reached: at, isAtLongString: false };
  }

  private count(at: number): void {
    this.parts += 1;
    if (this.parts > this.partsMax) throw this.tooMany("values and names of members", at);
  }

  private passNumber(start: number): number {
    if (this.countsNumbers) this.count(start);
    const end = checkedNumberEnd(this.text, start, Math.min(this.text.length, start + this.pieceChars));
    if (end < start + this.pieceChars - 1) return end;
    throw this.tooLong("number", start);
  }

  private enter(around: Around, at: number): void {
    this.count(at);
    if (this.frames.push(frameOf(around, at)) > JSON_DEPTH_MAX + 1) throw tooDeep(JSON_DEPTH_MAX, at);
  }

  private exit(around: Around, at: number): void {
    const frame = this.last;
    if (frame === this.root) throw this.faultIn(frame);
    this.frames.pop();
    if (frame.into === undefined) return;
    if (frame.around !== around) throw this.faultIn(frame);
    const isEmpty = frame.fromAt === frame.openAt + 1 && this.isBlank(frame.fromAt, at);
    if (frame.isBehindValue) this.expectBlank(frame, at);
    else if (!isEmpty) this.readUpTo(frame, at);
    this.attach(this.last, frame.into, frame.openAt, at + 1);
  }

  private endMember(at: number): void {
    const frame = this.last;
    if (frame === this.root) throw this.faultIn(frame);
    if (frame.isBehindValue) {
      this.expectBlank(frame, at);
      frame.isBehindValue = false;
      frame.fromAt = at + 1;
    }
    frame.memberAt = at + 1;
  }

  /** Parses the complete members of every list and object that is open at the current position. */
  private readMembers(): void {
    for (const frame of this.frames) {
      frame.into ??= frame.around === "{" ? {} : [];
      if (frame.memberAt <= frame.fromAt) continue;
      this.readUpTo(frame, frame.memberAt - 1);
      frame.fromAt = frame.memberAt;
    }
  }

  private readUpTo(frame: Frame, to: number): void {
    const { fromAt, into } = frame;
    const members = this.text.slice(fromAt, to);
    if (Array.isArray(into)) {
      const items = this.parse(frame, `[${members}]`) as unknown[];
      if (items.length === 0) throw this.faultIn(frame);
      for (const item of items) into.push(item);
      // Growing a longer list would move more items at once.
      if (into.length > this.partsMax) throw this.tooMany("items of a list", to);
    } else if (into) {
      const read = this.parse(frame, `{${members}}`) as object;
      if (Object.keys(read).length === 0) throw this.faultIn(frame);
      putAll(into, read);
    }
  }

  /** Adds a separately parsed value to its container. In an object, the member's name precedes the value. */
  private attach(frame: Frame, value: unknown, from: number, to: number): void {
    const { memberAt, into, isBehindValue } = frame;
    const isNameless = Array.isArray(into);
    if (isBehindValue || (isNameless && !this.isBlank(memberAt, from))) throw this.faultIn(frame);
    if (isNameless) into.push(value);
    else if (into) {
      const [name = ""] = Object.keys(this.parse(frame, `{${this.text.slice(memberAt, from)}[]}`) as object);
      putAll(into, Object.fromEntries([[name, value]]));
    }
    frame.isBehindValue = true;
    frame.fromAt = to;
  }

  /** Parses a string that is longer than a chunk. Returns the position directly behind the string. */
  private *readString(open: number): Generator<void, number> {
    const { text, last } = this;
    if (last.around === "{" && this.isBlank(last.memberAt, open)) {
      const isCut = text.length - open <= this.pieceChars;
      throw isCut ? this.refusal(findStringFault(text, open + 1)) : this.tooLong("name", open);
    }
    const parts: string[] = [];
    for (let from = open + 1; ;) {
      const cut = cutOf(text, from, Math.min(text.length, from + STRING_PIECES * this.pieceChars));
      const piece = text.slice(from, cut);
      const length = stringEnd(piece, -1);
      try {
        parts.push(JSON.parse(`"${piece.slice(0, length)}"`) as string);
      } catch (cause) {
        if (!(cause instanceof SyntaxError)) throw cause;
        throw this.refusal(findStringFault(text, from));
      }
      if (length < piece.length) {
        const behind = from + length + 1;
        this.attach(last, parts.join(""), open, behind);
        return behind;
      }
      if (cut === text.length) throw this.refusal(findStringFault(text, cut));
      from = cut;
      yield;
    }
  }

  private end(): unknown {
    const { root, last, text } = this;
    if (last !== root) throw this.faultIn(last);
    if (!root.isBehindValue) return this.parse(root, text);
    this.expectBlank(root, text.length);
    return (root.into as unknown[])[0];
  }

  private parse(frame: Frame, json: string): unknown {
    try {
      return JSON.parse(json) as unknown;
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw this.faultIn(frame);
    }
  }

  private get last(): Frame {
    return this.frames.at(-1) ?? this.root;
  }

  private isBlank(from: number, to: number): boolean {
    BLANK.lastIndex = from;
    BLANK.test(this.text);
    return BLANK.lastIndex >= to;
  }

  private expectBlank(frame: Frame, to: number): void {
    if (!this.isBlank(frame.fromAt, to)) throw this.faultIn(frame);
  }

  /** Finds the syntax error in the unparsed text of a container, which is little more than a chunk. */
  private faultIn({ around, openAt, fromAt, isBehindValue }: Frame): ApiError {
    const isFirst = fromAt === openAt + 1;
    return this.refusal(findSyntaxFault(this.text, fromAt, around, { isBehind: isBehindValue, isFirst }));
  }

  private refusal(fault: SyntaxFault | undefined): ApiError {
    if (!fault) return invalid("The body is not valid JSON: the parser refused it.");
    const end = fault.at >= this.text.length ? ", where the body ends" : "";
    return invalid(`The body is not valid JSON: expected ${fault.expected} at character ${fault.at + 1}${end}.`);
  }

  private tooLong(what: "name" | "number", at: number): ApiError {
    return invalid(`The ${what} at character ${at + 1} of the body has more than ${this.pieceChars} characters.`);
  }

  private tooMany(what: string, at: number): ApiError {
    const message = `Expected at most ${this.partsMax} ${what} in the body, got more at character ${at + 1}.`;
    return new ApiError("request_too_large", message);
  }
}

function frameOf(around: Around, openAt: number): Frame {
  return { around, openAt, fromAt: openAt + 1, memberAt: openAt + 1, isBehindValue: false };
}

/** Returns the position at which a string, valid up to `from`, can be cut without splitting an escape: `to`, or slightly before it. */
function cutOf(text: string, from: number, to: number): number {
  if (to === text.length) return to;
  let last = to - 1;
  while (last > to - ESCAPE_CHARS && text.charCodeAt(last) !== BACKSLASH) last -= 1;
  if (text.charCodeAt(last) !== BACKSLASH) return to;
  let first = last;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  // In a row of backslashes, every second one is escaped.
  return (last - first) % 2 === 0 ? last : last + 1;
}

/**
 * Adds members to an object as JSON.parse does: a later member replaces an earlier one of the same name. `__proto__` is an ordinary member.
 */
function putAll(into: Record<string, unknown>, members: object): void {
  for (const [name, value] of Object.entries(members)) {
    if (name !== "__proto__") into[name] = value;
    else Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
  }
}

// Finds the first syntax error of a JSON text and describes it: the engine's message differs by version and may quote the text. Much slower
// than JSON.parse; called only after a failure, on a small text or part.

class SyntaxFault {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    this.at = at;
    this.expected = expected;
  }
}

/** Container that surrounds a position in a JSON text: list, object, or none. */
type Around = "[" | "{" | "";

const CLOSING = { "[": "]", "{": "}" } as const;
const LITERALS = ["true", "false", "null"];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WHITE_SPACE = /[ \t\n\r]*/y;
const PLAIN_CHARACTERS = /[\u0020\u0021\u0023-\u005b\u005d-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Returns a description of the first syntax error, such as `expected "," or "}" at line 2, column 5`, without quoting the text. The caller
 * must have checked the depth, because this function is recursive.
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
 * Returns the first syntax error at or behind a position.
 * @param around container that surrounds the position; errors after its end are not found
 * @param isBehind true if a value of the container ends at the position; otherwise a value begins there, or the first one may
 * @param isFirst true if nothing precedes the position in the container
 */
function findSyntaxFault(
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

/** Returns the first syntax error of a string, starting at a position inside the string. */
function findStringFault(text: string, from: number): SyntaxFault | undefined {
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

/** Returns the position directly behind the value that starts at `at`. */
function value(text: string, at: number): number {
  const first = text.charAt(at);
  if (first === "{" || first === "[") {
    const inside = skipSpace(text, at + 1);
    if (text.charAt(inside) === CLOSING[first]) return inside + 1;
    return members(text, inside, CLOSING[first], first === "[" ? value : member);
  }
  if (first === '"') return string(text, at);
  const literal = LITERALS.find((candidate) => text.startsWith(candidate, at));
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

/** Matches a sticky regular expression at `at`. Returns the position directly behind the match; undefined if there is none. */
function match(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}
