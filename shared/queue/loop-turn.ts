/**
 * The end of a turn of the event loop. Messages that were gathered within the turn are published first; then each socket sends what it
 * holds, in one piece.
 */
let telling: (() => void)[] = [];
let sending: (() => void)[] = [];
let isDue = false;

/** Runs it once, at the end of this turn. What it publishes goes out with the rest. */
export function tellAtTurnEnd(tell: () => void): void {
  telling.push(tell);
  awaitTurnEnd();
}

/** Runs it once, behind all that tell at the end of this turn. */
export function sendAtTurnEnd(send: () => void): void {
  sending.push(send);
  awaitTurnEnd();
}

function awaitTurnEnd(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  const tells = telling;
  telling = [];
  runEach(tells);
  // The client of NATS hands on what was published in a microtask of its own, which is queued by now.
  queueMicrotask(() => {
    isDue = false;
    const sends = sending;
    sending = [];
    runEach(sends);
    if (telling.length > 0 || sending.length > 0) awaitTurnEnd();
  });
}

/** Runs every step. The error of one is reported as uncaught, which ends a role; the steps behind it still run. */
export function runEach(steps: readonly (() => void)[]): void {
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      reportError(error);
    }
  }
}
