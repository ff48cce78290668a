/**
 * Splits long computations on the only thread of a process into time slices. The event loop turns between any two slices of all
 * computations. A short request therefore waits for one slice and not for the whole computation.
 */

/** Maximum duration of a slice, in milliseconds: a tenth of a delay that a caller notices. */
export const TIME_SLICE_MS = 5;

const waiting: (() => void)[] = [];

function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Time slices of one computation. */
export class TimeSlices {
  #endsAt = 0;

  /** True if the current slice is used up. */
  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Waits for the next slice. Call this before a part that takes a whole slice, such as the first. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(resumeNext);
    });
    this.#endsAt = performance.now() + TIME_SLICE_MS;
  }

  /** Waits for the next slice if the current one is used up. Call this between parts shorter than a slice. */
  async yieldIfOver(): Promise<void> {
    if (this.isOver) await this.next();
  }

  /** Runs a computation that yields between its parts, in slices. Returns its result. */
  async run<T>(work: Iterator<void, T>): Promise<T> {
    for (;;) {
      await this.yieldIfOver();
      const { done, value } = work.next();
      if (done === true) return value;
    }
  }
}

/**
 * Runs a computation that yields between its parts, but without pauses. Use it only where blocking the thread is acceptable. Returns the
 * computation's result.
 */
export function runWhole<T>(work: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
