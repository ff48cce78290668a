/**
 * Work at the end of a turn of the event loop: first, messages that were collected in the turn are published; then each socket sends its
 * buffer in one piece.
 */
let publishing: (() => void)[] = [];
let sending: (() => void)[] = [];
let isDue = false;

/** Runs `tell` once at the end of this turn, before the sockets send. */
export function publishAtTickEnd(publish: () => void): void {
  publishing.push(publish);
  awaitTickEnd();
}

/** Runs `send` once at the end of this turn, after all functions of `tellAtTurnEnd`. */
export function sendAtTickEnd(send: () => void): void {
  sending.push(send);
  awaitTickEnd();
}

function awaitTickEnd(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(endTick);
}

function endTick(): void {
  const publishes = publishing;
  publishing = [];
  runEach(publishes);
  // The NATS client writes published messages in a microtask of its own, which is queued by now.
  queueMicrotask(() => {
    isDue = false;
    const sends = sending;
    sending = [];
    runEach(sends);
    if (publishing.length > 0 || sending.length > 0) awaitTickEnd();
  });
}

/** Runs every step. An error is reported as uncaught, which ends a role; the following steps still run. */
export function runEach(steps: readonly (() => void)[]): void {
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      reportError(error);
    }
  }
}
