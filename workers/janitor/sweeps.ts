/** Runs sweeps on their intervals, one at a time each; a sweep that fails is told and tried again at its next turn. */
import type { Logger } from "#shared/logger.ts";

export interface Sweep {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

export interface Sweeps {
  /** Resolves when no sweep runs any more. */
  stop(): Promise<void>;
}

/** The first turns are spread, so that a start does not do everything at once, and the rare ones soon after it. */
const FIRST_WITHIN_MS = 30_000;

export function startSweeps(log: Logger, sweeps: readonly Sweep[]): Sweeps {
  const running = new Set<Promise<void>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let isStopping = false;

  const turn = async (sweep: Sweep): Promise<void> => {
    try {
      await sweep.run();
    } catch (error) {
      log.warn({ err: error, sweep: sweep.name }, "sweep failed");
    }
  };
  const schedule = (sweep: Sweep, delayMs: number): void => {
    if (isStopping) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const work = turn(sweep).finally(() => {
        running.delete(work);
        // Jitter keeps several janitors from sweeping in step.
        schedule(sweep, sweep.everyMs * (0.9 + Math.random() * 0.2));
      });
      running.add(work);
    }, delayMs);
    timers.add(timer);
  };
  for (const sweep of sweeps) schedule(sweep, Math.random() * Math.min(FIRST_WITHIN_MS, sweep.everyMs));
  return {
    async stop() {
      isStopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}
