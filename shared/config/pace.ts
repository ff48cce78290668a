/** Waits that tests shorten, all by the same factor SLUICE_PACE, so that their proportions stay. */
import { readPace } from "./config.ts";

// loadConfig, which every role calls first, rejects a malformed value.
const PACE = readPace() ?? 1;

/** Returns the milliseconds of a wait in this process; `ms` itself outside of tests. */
export function paced(ms: number): number {
  return Math.round(ms * PACE);
}
