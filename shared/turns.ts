/** Lets a few in at a time; the others wait in the order they came. */
export class Turns {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(max: number) {
    this.free = max;
  }

  /** Resolves when there is room, with what gives it back. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    return () => {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    };
  }
}
