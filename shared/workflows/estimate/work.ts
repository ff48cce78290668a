/** What one estimate does in all, the workflows that its steps run included, in units of the work of expressions. */
import { Work } from "../expressions/work.ts";

/** About 10 ms, after which others have their turn. */
const TURN_UNITS = 1_000_000;

export class EstimateWork extends Work {
  #leftAtTurn: number;

  constructor(units: number) {
    super(units);
    this.#leftAtTurn = units;
  }

  /** From then on, what only an expression tells is not known. */
  get isSpent(): boolean {
    return this.left <= 0;
  }

  /** To be called between parts of the work. */
  async turn(): Promise<void> {
    if (this.#leftAtTurn - this.left < TURN_UNITS) return;
    this.#leftAtTurn = this.left;
    await new Promise(setImmediate);
  }
}
