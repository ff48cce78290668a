/** Limits the computing work of one evaluation. Every processed node, character and item counts, so that no value makes it slow. */

/** Maximum size of an expression's value as JSON, in bytes. */
export const EXPRESSION_VALUE_BYTES_MAX = 1_048_576;

/** Error of an expression without a value. Its message is for the author of the definition. */
export class ExpressionFault extends Error {}

/** Error for a spent work limit. Unlike other errors, `||`, `&&`, exists() and all() never ignore it. */
export class WorkExceeded extends ExpressionFault {}

/** Units of work for one evaluated node of an expression, about 100 ns. One unit is about 10 ns. */
export const NODE_UNITS = 10;
/** Units of work for a list item that is created or visited. */
export const ITEM_UNITS = 4;
/** Units of work for the name of an object's member. Numeric names are allocated again at each access. */
export const MEMBER_UNITS = 10;
/** Units of work for parsing one character of an expression. */
export const PARSED_UNITS = 40;
/** Units of work for an ignored error. It is high, because an error with its stack is slow to create. */
export const FAULT_UNITS = 300;

export class Work {
  #left: number;
  readonly #within: Work | undefined;

  /** Creates a work limit of `units`. @param within larger limit that several evaluations share */
  constructor(units: number, within?: Work) {
    this.#left = units;
    this.#within = within;
  }

  get remaining(): number {
    return this.#left;
  }

  /** Counts completed work without checking the limit. The next `spend` fails if the limit is exceeded. */
  count(units: number): void {
    this.#left -= units;
    this.#within?.count(units);
  }

  /** Counts work and checks the limit. Call this before the work. @throws WorkExceeded */
  spend(units: number): void {
    this.#left -= units;
    this.#within?.spend(units);
    if (this.#left < 0) {
      throw new WorkExceeded(
        "The expression is too expensive. Use shorter texts and lists, or for_each for long lists.",
      );
    }
  }

  /** Counts the work of a text. @throws WorkExceeded, or ExpressionFault for a text above the limit of an expression's value */
  spendText(chars: number): void {
    this.spend(chars);
    if (chars > EXPRESSION_VALUE_BYTES_MAX) {
      throw new ExpressionFault(`Expected a text of at most ${EXPRESSION_VALUE_BYTES_MAX} characters.`);
    }
  }
}

/** Returns the name of a value's type, for error messages. */
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
