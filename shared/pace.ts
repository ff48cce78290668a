/** Waits that tests shorten, all by the one factor of SLUICE_PACE, so that their proportions stay. */
import { readPace } from "./config.ts";

// loadConfig, which every role calls first, refuses a malformed value.
const PACE = readPace() ?? 1;

/** The milliseconds of a wait in this process; `ms` itself outside of tests. */
export function paced(ms: number): number {
  return Math.round(ms * PACE);
}
