/** Latency counts in log-linear buckets, as HDR histograms keep them: 0.8 % resolution from 0.1 µs to 7 minutes. */

const TICK_MS = 0.0001;
const BUCKETS = 3_328;
const MAX_TICKS = 0xffff_ffff;

/** Bucket number → count, for the journey between processes. */
export type HistogramData = Readonly<Record<string, number>>;

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;

  record(ms: number): void {
    const ticks = Math.min(MAX_TICKS, Math.max(0, Math.round(ms / TICK_MS)));
    const index = bucketOf(ticks);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** Milliseconds below which the given share (0 to 1) of the values lies; NaN when empty. */
  percentile(share: number): number {
    if (this.#count === 0) return Number.NaN;
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let index = 0; index < BUCKETS; index += 1) {
      seen += this.#counts[index] ?? 0;
      if (seen >= wanted) return upperEdge(index) * TICK_MS;
    }
    return Number.NaN;
  }

  toJSON(): HistogramData {
    const data: Record<string, number> = {};
    for (const [index, count] of this.#counts.entries()) if (count > 0) data[index] = count;
    return data;
  }

  static merge(parts: readonly HistogramData[]): Histogram {
    const merged = new Histogram();
    for (const part of parts) {
      for (const [index, count] of Object.entries(part)) {
        merged.#counts[Number(index)] = (merged.#counts[Number(index)] ?? 0) + count;
        merged.#count += count;
      }
    }
    return merged;
  }
}

/** Exact below 256 ticks, then 128 buckets for each power of two. */
function bucketOf(ticks: number): number {
  if (ticks < 256) return ticks;
  const shift = 31 - Math.clz32(ticks) - 7;
  return shift * 128 + (ticks >>> shift);
}

function upperEdge(index: number): number {
  if (index < 256) return index;
  const shift = Math.floor(index / 128) - 1;
  return (index - shift * 128 + 1) * 2 ** shift - 1;
}
