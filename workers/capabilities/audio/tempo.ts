/** Returns filters that change the speed but not the pitch. Each filter slows down to one half at most. */
export function tempo(rate: number): string[] {
  if (rate === 1) return [];
  return rate < 0.5 ? ["atempo=0.5", ...tempo(rate * 2)] : [`atempo=${rate}`];
}
