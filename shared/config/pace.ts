/** Timeouts and pauses that tests shorten. All are multiplied by the same factor SLUICE_PACE, so that their proportions stay. */
import { readPace } from "./config.ts";

// loadConfig, which every role calls first, rejects a malformed value.
const PACE = readPace() ?? 1;

/** Returns the duration `ms` multiplied by this process' pace, in milliseconds. Outside of tests, returns `ms` unchanged. */
export function paced(ms: number): number {
  return Math.round(ms * PACE);
}
