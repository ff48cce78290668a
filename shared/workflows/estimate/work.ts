/** Limits the computing work of one estimate, including nested workflows, in units of the work of expressions. */
import type { TimeSlices } from "#shared/base/time-slices.ts";

import { Work } from "../expressions/work.ts";

/** Maximum work of one estimate including nested workflows, in units. Values beyond it count as unknown. */
export const ESTIMATE_WORK_MAX = 10_000_000;

/** Maximum units of work for reading all definitions of a run. */
export const ESTIMATE_READ_WORK_MAX = 20_000_000;

export class EstimateWork extends Work {
  readonly slices: TimeSlices;
  /** Work limit for reading all definitions of the run. */
  readonly reading = new Work(ESTIMATE_READ_WORK_MAX);

  constructor(slices: TimeSlices, units: number = ESTIMATE_WORK_MAX) {
    super(units);
    this.slices = slices;
  }

  /** True when the work limit is spent, so that values of expressions count as unknown. */
  get isSpent(): boolean {
    return this.remaining <= 0;
  }
}
