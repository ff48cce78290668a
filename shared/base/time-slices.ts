/**
 * Splits long work on the only thread of a process into slices. The event loop turns between any two slices, of any work, so that a short
 * request waits for one slice and not for the whole work.
 */

/** Longest slice of work, in milliseconds: a tenth of a delay that a caller notices. */
export const TIME_SLICE_MS = 5;

const waiting: (() => void)[] = [];

function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Time slices of one piece of work. */
export class TimeSlices {
  #endsAt = 0;

  /** True if the current slice is used up. */
  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Waits for the next slice, before a part that takes a whole slice, such as the first. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(resumeNext);
    });
    this.#endsAt = performance.now() + TIME_SLICE_MS;
  }

  /** Waits if the current slice is used up, between parts shorter than a slice. */
  async yieldIfOver(): Promise<void> {
    if (this.isOver) await this.next();
  }

  /** Runs work that yields between its parts. Returns its result. */
  async run<T>(work: Iterator<void, T>): Promise<T> {
    for (;;) {
      await this.yieldIfOver();
      const { done, value } = work.next();
      if (done === true) return value;
    }
  }
}

/** Runs the same work without yielding, if nothing else waits for the thread. */
export function runWhole<T>(work: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
