/** Work of one estimate in all, the workflows that its steps run included, in units of the work of expressions. */
import { LIMITS } from "#shared/limits.ts";
import type { TimeSlices } from "#shared/time-slices.ts";

import { Work } from "../expressions/work.ts";

export class EstimateWork extends Work {
  readonly slices: TimeSlices;
  /** Work that may be done to read all definitions that it comes to. */
  readonly reading = new Work(LIMITS.estimateReadWorkMax);

  constructor(slices: TimeSlices, units: number = LIMITS.estimateWorkMax) {
    super(units);
    this.slices = slices;
  }

  /** From then on, what only an expression tells is not known. */
  get isSpent(): boolean {
    return this.left <= 0;
  }
}
