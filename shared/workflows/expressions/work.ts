/** Bound on the work of one evaluation: every part, character and item that it goes through counts, so that no values make it slow. */

/** Bytes of an expression's value, as JSON. */
export const EXPRESSION_VALUE_BYTES_MAX = 1_048_576;

/** Why an expression has no value, in words for the author of a definition. */
export class ExpressionFault extends Error {}

/** Faults that `||`, `&&`, exists() and all() do not pass over. */
export class WorkExceeded extends ExpressionFault {}

/** Units of one evaluated part of an expression: about 100 ns, where a unit is about 10. */
export const NODE_UNITS = 10;
/** Units of an item of a list that is made or looked at. */
export const ITEM_UNITS = 4;
/** Units of the name of an object's member: names that are numbers are made anew each time. */
export const MEMBER_UNITS = 10;
/** Units of a character of an expression that is parsed. */
export const PARSED_UNITS = 40;
/** Units of a fault that is passed over: an error with its stack is slow to make. */
export const FAULT_UNITS = 300;

export class Work {
  #left: number;
  readonly #within: Work | undefined;

  /** @param within what several evaluations may do together */
  constructor(units: number, within?: Work) {
    this.#left = units;
    this.#within = within;
  }

  get left(): number {
    return this.#left;
  }

  /** Counts work that is done in any case. */
  count(units: number): void {
    this.#left -= units;
    this.#within?.count(units);
  }

  /** To be called before the work is done. @throws WorkExceeded */
  spend(units: number): void {
    this.#left -= units;
    this.#within?.spend(units);
    if (this.#left < 0) {
      throw new WorkExceeded(
        "The expression is too expensive. Use shorter texts and lists, or for_each for long lists.",
      );
    }
  }

  /** @throws WorkExceeded, or ExpressionFault for a text that is longer than an expression may give */
  spendText(chars: number): void {
    this.spend(chars);
    if (chars > EXPRESSION_VALUE_BYTES_MAX) {
      throw new ExpressionFault(`Expected a text of at most ${EXPRESSION_VALUE_BYTES_MAX} characters.`);
    }
  }
}

/** The type of a value as messages name it. */
export function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "text";
    case "bigint":
    case "number":
      return "a number";
    case "boolean":
      return "a boolean";
    default:
      return "an object";
  }
}
