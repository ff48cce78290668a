/** What to do with a delivery, decided from facts alone. */

export interface DeliveryFacts {
  /** 1 on the first delivery. */
  readonly deliveries: number;
  readonly isReadable: boolean;
  /** Unix milliseconds. */
  readonly deadlineMs: number;
  readonly nowMs: number;
  readonly isCancelled: boolean;
}

/** `repeat`: another worker has it, or had it; nothing is left to do. */
export type DeliveryVerdict = "run" | "drop" | "lost" | "repeat" | "dead_letter";

export function decide(facts: DeliveryFacts): DeliveryVerdict {
  if (!facts.isReadable) return "dead_letter";
  if (facts.deliveries > 1) return "lost";
  if (facts.isCancelled || facts.nowMs >= facts.deadlineMs) return "drop";
  return "run";
}

/** Delay before a delivery is tried again after a failure of our own surroundings: 5 s · 4ⁿ ± 20 %, at most 60 s. */
export function nakDelayMs(deliveries: number, random: number = Math.random()): number {
  // 50 s with its 20 % is the minute: the longest wait is spread like the others.
  const base = Math.min(50_000, 5_000 * 4 ** Math.max(0, deliveries - 1));
  return Math.round(base * (0.8 + 0.4 * random));
}
