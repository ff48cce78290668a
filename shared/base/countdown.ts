/** A timeout that can be paused. */
export interface Countdown {
  /** Pauses the timeout. The remaining time is kept. */
  pause(): void;
  /** Continues the timeout with the remaining time. */
  resume(): void;
  /** Restarts the timeout with its full time. */
  restart(): void;
  stop(): void;
}

/** Starts a timeout that calls `onEnd` after `ms` milliseconds, not counting pauses. */
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
