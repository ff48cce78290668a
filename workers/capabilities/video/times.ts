/** From when to when something is shown. */
import { LIMITS } from "#shared/limits.ts";

import { number } from "../params.ts";

const TIME = { min: 0, max: LIMITS.videoSecondsMax, unit: "s" } as const;

export const TIMES = {
  start: number("When it comes; at the beginning where it is not given.", TIME),
  end: number("When it goes; at the end where it is not given.", TIME),
};

/** As FFmpeg's `enable` reads it; undefined: always. */
export function whileShown(start: number | undefined, end: number | undefined): string | undefined {
  if (start === undefined && end === undefined) return undefined;
  return `gte(t,${start ?? 0})*lt(t,${end ?? LIMITS.videoSecondsMax * 2})`;
}
