/**
 * Counts the pages of a PDF from its page tree. Objects are found in one scan of the file. The cross-reference table is not used, because
 * it may be damaged or false. Source: ISO 32000-1, 7.5 (objects, object streams) and 7.7.3 (page tree).
 */
import { inflateSync } from "node:zlib";

import { MediaError } from "#shared/children/media-error.ts";

import { PROBE_LIMITS } from "../limits.ts";

/** Location of an object's value: text that contains it, and offset. */
interface Place {
  readonly text: string;
  readonly at: number;
}

interface Found {
  readonly objects: Map<number, Place>;
  /** Catalog of the document, which refers to the page tree. The last trailer in the file is the newest one and names the catalog. */
  root: PdfValue | undefined;
  isEncrypted: boolean;
  remainingInflatedBytes: number;
}

/**
 * Returns the number of pages. Stops counting above `pagesMax`.
 * @throws MediaError corrupt, unsupported, too_large: the pages cannot be counted
 */
export function countPdfPages(bytes: Uint8Array, pagesMax: number): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  // Damaged values may be parsed again from inside: a few times the file's size is enough for every file that is not malicious.
  const budget: Budget = { remainingSteps: PROBE_LIMITS.pdfStepsBase + PROBE_LIMITS.pdfStepsPerByte * text.length };
  const found = findObjects(text, budget);
  const catalog = dictionaryAt(found, found.root, budget);
  const pages = countLeaves(found, catalog?.get("Pages"), pagesMax, budget);
  if (pages > 0) return pages;
  if (found.isEncrypted) throw new MediaError("unsupported", "The PDF is encrypted, and its pages cannot be counted.");
  throw new MediaError("corrupt", "The pages of the PDF cannot be found.");
}

const MARK = /(?<![0-9])(\d{1,10})[\0\t\n\f\r ]{1,8}\d{1,5}[\0\t\n\f\r ]{1,8}obj(?![A-Za-z])|\btrailer\b/g;

/** Finds objects by their number. If several have the same number, the last one counts. */
function findObjects(text: string, budget: Budget): Found {
  const { pdfInflatedBytesMax: remainingInflatedBytes } = PROBE_LIMITS;
  const found: Found = { objects: new Map(), root: undefined, isEncrypted: false, remainingInflatedBytes };
  const marks = new RegExp(MARK);
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const reader = new PdfReader(text, marks.lastIndex, budget);
    const value = read(reader);
    const number = mark[1];
    if (number !== undefined) found.objects.set(Number(number), { text, at: marks.lastIndex });
    if (!isDictionary(value)) continue;
    if (number === undefined || value.get("Type") === "XRef") takeTrailer(found, value);
    marks.lastIndex = reader.at;
    reader.space();
    if (number === undefined || !reader.takeKeyword("stream")) continue;
    if (!reader.takeKeyword("\r\n")) reader.takeKeyword("\n");
    const end = endOfStream(text, reader.at, value);
    if (value.get("Type") === "ObjStm") takeObjects(found, text.slice(reader.at, end), value, budget);
    marks.lastIndex = end;
  }
  return found;
}

function takeTrailer(found: Found, trailer: PdfDictionary): void {
  found.root = trailer.get("Root") ?? found.root;
  found.isEncrypted ||= trailer.has("Encrypt");
}

/**
 * Returns the offset at which a stream ends. Its content must be skipped, because it may look like objects. The stated length is used if
 * the stream really ends there.
 */
function endOfStream(text: string, from: number, dictionary: PdfDictionary): number {
  const length = dictionary.get("Length");
  if (
    typeof length === "number" &&
    /^[\0\t\n\f\r ]{0,8}endstream/.test(text.slice(from + length, from + length + 20))
  ) {
    return from + length;
  }
  const end = text.indexOf("endstream", from);
  return end < 0 ? text.length : end;
}

/** Reads the objects of a compressed stream. A stream that cannot be read, as in encrypted files, contains no relevant objects. */
function takeObjects(found: Found, stream: string, dictionary: PdfDictionary, budget: Budget): void {
  const text = inflated(found, stream, dictionary);
  const [count, first] = [dictionary.get("N"), dictionary.get("First")];
  if (text === undefined || typeof count !== "number" || typeof first !== "number") return;
  const reader = new PdfReader(text, 0, budget);
  for (let at = 0; at < count; at += 1) {
    const [number, offset] = [read(reader), read(reader)];
    if (typeof number !== "number" || typeof offset !== "number") return;
    found.objects.set(number, { text, at: first + offset });
  }
}

function inflated(found: Found, stream: string, dictionary: PdfDictionary): string | undefined {
  const named = dictionary.get("Filter");
  const filter = Array.isArray(named) && named.length === 1 ? (named as readonly PdfValue[])[0] : named;
  if (filter === undefined) return stream;
  if (filter !== "FlateDecode" || dictionary.has("DecodeParms")) return undefined;
  try {
    const bytes = inflateSync(Buffer.from(stream, "latin1"), {
      maxOutputLength: Math.max(1, found.remainingInflatedBytes),
    });
    found.remainingInflatedBytes -= bytes.length;
    return bytes.toString("latin1");
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "ERR_BUFFER_TOO_LARGE") return undefined;
    throw new MediaError("too_large", "The unpacked PDF is too large to be inspected.", { cause: error });
  }
}

/**
 * Counts the leaves below a node of the page tree, each as often as it is referenced. A cycle is counted until the budget or `pagesMax`
 * ends it.
 */
function countLeaves(found: Found, root: PdfValue | undefined, pagesMax: number, budget: Budget): number {
  let pages = 0;
  const nodes = [root];
  while (nodes.length > 0 && pages <= pagesMax) {
    const node = dictionaryAt(found, nodes.pop(), budget);
    if (node === undefined) continue;
    const kids = resolved(found, node.get("Kids"), budget);
    if (Array.isArray(kids)) for (const kid of kids as readonly PdfValue[]) nodes.push(kid);
    else if (node.get("Type") !== "Pages") pages += 1;
    if (nodes.length > PROBE_LIMITS.pdfNodesMax) {
      throw new MediaError("too_large", "The PDF has more pages than can be counted.");
    }
  }
  return pages;
}

function dictionaryAt(found: Found, value: PdfValue | undefined, budget: Budget): PdfDictionary | undefined {
  const known = resolved(found, value, budget);
  return isDictionary(known) ? known : undefined;
}

function resolved({ objects }: Found, value: PdfValue | undefined, budget: Budget): PdfValue | undefined {
  if (!isReference(value)) return value;
  const place = objects.get(value.object);
  return place && read(new PdfReader(place.text, place.at, budget));
}

/** Reads a value. Returns undefined for a damaged value; throws when the budget is used up. */
function read(reader: PdfReader): PdfValue | undefined {
  try {
    return reader.value();
  } catch (error) {
    if (error instanceof MediaError && error.fault === "corrupt") return undefined;
    throw error;
  }
}

function isDictionary(value: PdfValue | undefined): value is PdfDictionary {
  return value instanceof Map;
}

// Parser for the values of PDF files that a page tree uses. Source: ISO 32000-1, 7.2 and 7.3.

interface Reference {
  readonly object: number;
}

/** Parsed PDF value. Names are without leading slash. Strings, booleans and unknown values are null. */
type PdfValue = number | string | Reference | PdfDictionary | readonly PdfValue[] | null;
type PdfDictionary = ReadonlyMap<string, PdfValue>;

/** Number of characters and values that may still be processed, for the whole file. */
interface Budget {
  remainingSteps: number;
}

/** Maximum nesting depth of PDF values. Real documents nest a dozen levels. */
const DEPTH_MAX = 50;

const SPACE = /[\0\t\n\f\r ]*/y;
const NAME = /\/([^\0\t\n\f\r ()<>[\]{}/%]{0,200})/y;
const REFERENCE = /(\d{1,10})[\0\t\n\f\r ]{1,8}\d{1,5}[\0\t\n\f\r ]{1,8}R(?![A-Za-z0-9])/y;
const NUMBER = /[+-]?\d{0,20}\.?\d{0,20}/y;
const KEYWORD = /[a-zA-Z]{1,20}/y;

class PdfReader {
  readonly text: string;
  at: number;
  private readonly budget: Budget;

  /**
   * Creates a reader that starts at offset `at`.
   * @param text one character per byte
   */
  constructor(text: string, at: number, budget: Budget) {
    this.text = text;
    this.at = at;
    this.budget = budget;
  }

  /** Parses the value at the current position. @throws MediaError corrupt for an invalid value, too_large when the budget is used up */
  value(depth = 0): PdfValue {
    if (depth > DEPTH_MAX) throw new MediaError("corrupt", "The PDF is nested too deeply.");
    this.space();
    this.spend(1);
    const next = this.text[this.at];
    if (next === "/") return this.name();
    if (next === "<") return this.text[this.at + 1] === "<" ? this.dictionary(depth) : this.skipTo(">");
    if (next === "[") return this.array(depth);
    if (next === "(") return this.string();
    const reference = this.take(REFERENCE);
    if (reference) return { object: Number(reference[1]) };
    const number = this.take(NUMBER)?.[0] ?? "";
    if (number !== "") return Number(number);
    if (this.take(KEYWORD)) return null;
    throw corrupt();
  }

  /** Skips white space and comments. */
  space(): void {
    for (;;) {
      const from = this.at;
      this.take(SPACE);
      this.spend(this.at - from);
      if (this.text[this.at] !== "%") return;
      const end = /[\r\n]/g;
      end.lastIndex = this.at;
      const found = end.exec(this.text)?.index ?? this.text.length;
      this.spend(found - this.at);
      this.at = found;
    }
  }

  /** Skips the keyword if it is at the current position. Returns false if it is not. */
  takeKeyword(keyword: string): boolean {
    if (!this.text.startsWith(keyword, this.at)) return false;
    this.at += keyword.length;
    return true;
  }

  private dictionary(depth: number): PdfDictionary {
    const members = new Map<string, PdfValue>();
    this.at += 2;
    for (this.space(); !this.takeKeyword(">>"); this.space()) {
      if (this.text[this.at] !== "/") throw corrupt();
      const name = this.name();
      members.set(name, this.value(depth + 1));
    }
    return members;
  }

  private array(depth: number): readonly PdfValue[] {
    const values: PdfValue[] = [];
    this.at += 1;
    for (this.space(); !this.takeKeyword("]"); this.space()) values.push(this.value(depth + 1));
    return values;
  }

  private name(): string {
    this.spend(1);
    const name = this.take(NAME)?.[1] ?? "";
    return name.replace(/#([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }

  /** Skips a string in parentheses. Balanced parentheses inside it need no escape. */
  private string(): null {
    let open = 0;
    const from = this.at;
    for (; this.at < this.text.length; this.at += 1) {
      const next = this.text[this.at];
      if (next === "\\") this.at += 1;
      else if (next === "(") open += 1;
      else if (next === ")" && --open === 0) break;
    }
    this.at += 1;
    this.spend(this.at - from);
    return null;
  }

  private skipTo(end: string): null {
    const found = this.text.indexOf(end, this.at);
    const next = found < 0 ? this.text.length : found + end.length;
    this.spend(next - this.at);
    this.at = next;
    return null;
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }

  private spend(steps: number): void {
    this.budget.remainingSteps -= steps;
    if (this.budget.remainingSteps < 0) throw new MediaError("too_large", "The PDF is too complex to be inspected.");
  }
}

function isReference(value: PdfValue | undefined): value is Reference {
  return typeof value === "object" && value !== null && "object" in value;
}

function corrupt(): MediaError {
  return new MediaError("corrupt", "The PDF is damaged.");
}
