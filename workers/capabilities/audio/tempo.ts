/**
 * Returns filters that change the speed but not the pitch. One filter can slow down to half speed at most, so lower speeds need several.
 */
export function tempo(rate: number): string[] {
  if (rate === 1) return [];
  return rate < 0.5 ? ["atempo=0.5", ...tempo(rate * 2)] : [`atempo=${rate}`];
}
