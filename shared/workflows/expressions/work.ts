/** Work limit of one evaluation: every processed node, character and item counts, so that no values make it slow. */

/** Maximum bytes of an expression's value, as JSON. */
export const EXPRESSION_VALUE_BYTES_MAX = 1_048_576;

/** Reason why an expression has no value, as a message for the author of a definition. */
export class ExpressionFault extends Error {}

/** Faults that `||`, `&&`, exists() and all() do not ignore. */
export class WorkExceeded extends ExpressionFault {}

/** Units of one evaluated node of an expression: about 100 ns, where a unit is about 10. */
export const NODE_UNITS = 10;
/** Units of a created or visited item of a list. */
export const ITEM_UNITS = 4;
/** Units of the name of an object's member: numeric names are allocated each time. */
export const MEMBER_UNITS = 10;
/** Units of a character of a parsed expression. */
export const PARSED_UNITS = 40;
/** Units of an ignored fault: an error with its stack is slow to create. */
export const FAULT_UNITS = 300;

export class Work {
  #left: number;
  readonly #within: Work | undefined;

  /** @param within work limit shared by several evaluations */
  constructor(units: number, within?: Work) {
    this.#left = units;
    this.#within = within;
  }

  get remaining(): number {
    return this.#left;
  }

  /** Counts work that is not limited. */
  count(units: number): void {
    this.#left -= units;
    this.#within?.count(units);
  }

  /** Call this before the work. @throws WorkExceeded */
  spend(units: number): void {
    this.#left -= units;
    this.#within?.spend(units);
    if (this.#left < 0) {
      throw new WorkExceeded(
        "The expression is too expensive. Use shorter texts and lists, or for_each for long lists.",
      );
    }
  }

  /** @throws WorkExceeded, or ExpressionFault for a text above the limit of an expression's value */
  spendText(chars: number): void {
    this.spend(chars);
    if (chars > EXPRESSION_VALUE_BYTES_MAX) {
      throw new ExpressionFault(`Expected a text of at most ${EXPRESSION_VALUE_BYTES_MAX} characters.`);
    }
  }
}

/** Returns the name of a value's type, for messages. */
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
