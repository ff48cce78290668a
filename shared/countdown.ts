/** A time limit that can stand still. */
export interface Countdown {
  /** From now on time does not count. */
  pause(): void;
  /** The rest of its time counts on. */
  resume(): void;
  /** It has all of its time again, from now on. */
  restart(): void;
  stop(): void;
}

/** Calls `onEnd` once `ms` milliseconds have passed, unless it is stopped. */
export function startCountdown(ms: number, onEnd: () => void): Countdown {
  let leftMs = ms;
  let startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined = setTimeout(onEnd, ms);
  const pause = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    leftMs -= performance.now() - startedAt;
  };
  const resume = (): void => {
    if (timer !== undefined) return;
    startedAt = performance.now();
    timer = setTimeout(onEnd, Math.max(0, leftMs));
  };
  return {
    pause,
    resume,
    restart() {
      pause();
      leftMs = ms;
      resume();
    },
    stop: pause,
  };
}
