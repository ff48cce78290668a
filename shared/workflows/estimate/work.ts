/** Work of one estimate in all, the workflows that its steps run included, in units of the work of expressions. */
import type { TimeSlices } from "#shared/time-slices.ts";

import { Work } from "../expressions/work.ts";

/** Work of one estimate, with the workflows that it comes to: what is beyond counts as not known. */
export const ESTIMATE_WORK_MAX = 10_000_000;

/** Units of work to read all definitions that a run comes to. */
export const ESTIMATE_READ_WORK_MAX = 20_000_000;

export class EstimateWork extends Work {
  readonly slices: TimeSlices;
  /** Work that may be done to read all definitions that it comes to. */
  readonly reading = new Work(ESTIMATE_READ_WORK_MAX);

  constructor(slices: TimeSlices, units: number = ESTIMATE_WORK_MAX) {
    super(units);
    this.slices = slices;
  }

  /** From then on, what only an expression tells is not known. */
  get isSpent(): boolean {
    return this.left <= 0;
  }
}
