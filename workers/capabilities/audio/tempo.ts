/** Filters that play faster or slower at the same pitch: one slows down to a half at most. */
export function tempo(rate: number): string[] {
  if (rate === 1) return [];
  return rate < 0.5 ? ["atempo=0.5", ...tempo(rate * 2)] : [`atempo=${rate}`];
}
