/** A breaker that lets through what it is told to, and remembers what it is told. */
import type { Breaker } from "#workers/routing/breaker.ts";

export interface FakeBreaker extends Breaker {
  /** `record:ok one`, `down two`, `forget three`, in order. */
  readonly told: string[];
}

/** @param answers what `admit` says of a source; "closed" for those not named */
export function fakeBreaker(
  answers: Readonly<Record<string, "closed" | "probe" | "open">> = {},
  cooldowns: Readonly<Record<string, number>> = {},
): FakeBreaker {
  const told: string[] = [];
  return {
    told,
    admit: (source) => Promise.resolve(answers[source] ?? "closed"),
    record: (source, result) => void told.push(`record:${result} ${source}`),
    down: (source) => void told.push(`down ${source}`),
    forget: (source) => void told.push(`forget ${source}`),
    retryInMs: (source) => cooldowns[source] ?? (answers[source] === "open" ? 4_000 : 0),
    isRefused: () => false,
    close: () => undefined,
  };
}
