/**
 * Runs functions at the end of a turn of the event loop. First, all messages that were collected in the turn are published. Then each
 * socket sends its buffered bytes together.
 */
let publishing: (() => void)[] = [];
let sending: (() => void)[] = [];
let isDue = false;

/** Calls `publish` once at the end of this turn of the event loop, before the sockets send. */
export function publishAtTickEnd(publish: () => void): void {
  publishing.push(publish);
  awaitTickEnd();
}

/** Calls `send` once at the end of this turn of the event loop, after all functions of `publishAtTickEnd`. */
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

/** Calls every function. An error is reported as uncaught, which stops the role; the following functions are still called. */
export function runEach(steps: readonly (() => void)[]): void {
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      reportError(error);
    }
  }
}
