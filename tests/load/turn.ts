/** One turn of a closed loop: so much work at once until the time is over. */

export interface Turn {
  readonly runs: number;
  readonly perSecond: number;
  /** Milliseconds of one run, the middle one of all. */
  readonly p50: number;
}

export async function closedLoop(seconds: number, inFlight: number, work: () => Promise<void>): Promise<Turn> {
  const times: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < endsAt) {
        const at = performance.now();
        await work();
        times.push(performance.now() - at);
      }
    }),
  );
  return {
    runs: times.length,
    perSecond: (times.length * 1_000) / (performance.now() - startedAt),
    p50: median(times),
  };
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
