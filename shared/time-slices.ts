/**
 * Long work on the only thread of a process, cut into slices: between any two of them, of whatever work, the event loop goes round
 * once, so that a short request waits for one slice and not for the whole.
 */

/** Longest stretch of long work before others have their turn: a tenth of what a caller notices. */
export const TIME_SLICE_MS = 5;

const waiting: (() => void)[] = [];

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/** Time slices of one piece of work. */
export class TimeSlices {
  #endsAt = 0;

  /** True where the work is to rest before it goes on. */
  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Waits for the next slice: in front of a part that takes as long as one, such as the first. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(goOn);
    });
    this.#endsAt = performance.now() + TIME_SLICE_MS;
  }

  /** The same where this slice is over: between parts that take less than one. */
  async rest(): Promise<void> {
    if (this.isOver) await this.next();
  }

  /** Drives work that stops between its parts. Returns what it gives in the end. */
  async run<T>(work: Iterator<void, T>): Promise<T> {
    for (;;) {
      await this.rest();
      const { done, value } = work.next();
      if (done === true) return value;
    }
  }
}

/** The same work without rests, where no other waits for the thread. */
export function runWhole<T>(work: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
