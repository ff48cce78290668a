/** Reads histograms of latencies, which the SQL function latency_count makes. */

/** Decimal digits of a bucket's count. */
const COUNT_DIGITS = 12;
/** Buckets for each doubling of the latency. */
const BUCKETS_PER_DOUBLING = 4;

/**
 * Returns the latency that a share of the calls did not exceed, in milliseconds: the geometric middle of its bucket, at most 9.1 % from the
 * exact value. Returns null for an empty histogram.
 * @param histogram decimal number, in which each bucket has twelve digits; the last digits count the shortest latencies
 * @param calls number of calls in the histogram, so that only the longest latencies are read: a page has up to 10,000 histograms
 * @param share from 0 to 1
 */
export function latencyQuantile(histogram: string, calls: number, share: number): number | null {
  let left = calls - Math.ceil(calls * share);
  for (let bucket = Math.ceil(histogram.length / COUNT_DIGITS) - 1; bucket >= 0; bucket -= 1) {
    const end = histogram.length - bucket * COUNT_DIGITS;
    left -= Number(histogram.slice(Math.max(0, end - COUNT_DIGITS), end));
    if (left < 0) return Math.max(1, Math.round(2 ** ((bucket - 0.5) / BUCKETS_PER_DOUBLING)));
  }
  return null;
}
