/** A timeout that can be paused. */
export interface Countdown {
  /** Stops the clock. */
  pause(): void;
  /** Continues with the remaining time. */
  resume(): void;
  /** Restarts with the full time. */
  restart(): void;
  stop(): void;
}

/** Calls `onEnd` after `ms` milliseconds of running time, unless stopped. */
export function startCountdown(ms: number, onEnd: () => void): Countdown {
  let remainingMs = ms;
  let startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined = setTimeout(onEnd, ms);
  const pause = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    remainingMs -= performance.now() - startedAt;
  };
  const resume = (): void => {
    if (timer !== undefined) return;
    startedAt = performance.now();
    timer = setTimeout(onEnd, Math.max(0, remainingMs));
  };
  return {
    pause,
    resume,
    restart() {
      pause();
      remainingMs = ms;
      resume();
    },
    stop: pause,
  };
}
