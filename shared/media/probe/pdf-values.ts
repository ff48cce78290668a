/** Parser for the values of PDF files that a page tree uses. Source: ISO 32000-1, 7.2 and 7.3. */
import { MediaError } from "#shared/children/media-error.ts";

export interface Reference {
  readonly object: number;
}

/** Names without leading slash; strings, booleans and unknown values are null. */
export type PdfValue = number | string | Reference | PdfDictionary | readonly PdfValue[] | null;
export type PdfDictionary = ReadonlyMap<string, PdfValue>;

/** Remaining characters and values that may be processed, for the whole file. */
export interface Budget {
  left: number;
}

/** Maximum depth; real documents nest a dozen levels. */
const DEPTH_MAX = 50;

const SPACE = /[\0\t\n\f\r ]*/y;
const NAME = /\/([^\0\t\n\f\r ()<>[\]{}/%]{0,200})/y;
const REFERENCE = /(\d{1,10})[\0\t\n\f\r ]{1,8}\d{1,5}[\0\t\n\f\r ]{1,8}R(?![A-Za-z0-9])/y;
const NUMBER = /[+-]?\d{0,20}\.?\d{0,20}/y;
const WORD = /[a-zA-Z]{1,20}/y;

export class PdfReader {
  readonly text: string;
  at: number;
  private readonly budget: Budget;

  /** @param text one character per byte */
  constructor(text: string, at: number, budget: Budget) {
    this.text = text;
    this.at = at;
    this.budget = budget;
  }

  /** @throws MediaError corrupt for an invalid value, too_large when the budget is used up */
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
    if (this.take(WORD)) return null;
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

  /** Returns true if the keyword is at the position, and moves past it. */
  word(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private dictionary(depth: number): PdfDictionary {
    const members = new Map<string, PdfValue>();
    this.at += 2;
    for (this.space(); !this.word(">>"); this.space()) {
      if (this.text[this.at] !== "/") throw corrupt();
      const name = this.name();
      members.set(name, this.value(depth + 1));
    }
    return members;
  }

  private array(depth: number): readonly PdfValue[] {
    const values: PdfValue[] = [];
    this.at += 1;
    for (this.space(); !this.word("]"); this.space()) values.push(this.value(depth + 1));
    return values;
  }

  private name(): string {
    this.spend(1);
    const name = this.take(NAME)?.[1] ?? "";
    return name.replace(/#([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }

  /** Balanced parentheses need no escape. */
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
    this.budget.left -= steps;
    if (this.budget.left < 0) throw new MediaError("too_large", "The PDF is too complex to be inspected.");
  }
}

export function isReference(value: PdfValue | undefined): value is Reference {
  return typeof value === "object" && value !== null && "object" in value;
}

function corrupt(): MediaError {
  return new MediaError("corrupt", "The PDF is damaged.");
}
