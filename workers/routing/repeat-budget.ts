/**
 * Budget for asking a source a second time after a failure that stood alone: for about a tenth of the calls that it serves, so
 * that a source in trouble never sees twice its calls.
 */

/** Repeats of a lone failure: how many a source can save up, what a call that ends well adds, and what time adds. */
const PROVIDER_REPEATS = { tokensMax: 3, tokensPerCall: 0.1, msPerToken: 60_000, sourcesMax: 5_000 };

export interface RepeatBudget {
  /** A call of the source (`provider/model`) ended well. */
  succeeded(source: string): void;
  /** Takes one repeat from the source's budget. False: none is left. */
  take(source: string): boolean;
}

interface Bucket {
  tokens: number;
  /** Time at which the tokens were last counted. */
  at: number;
}

const { tokensMax, tokensPerCall, msPerToken, sourcesMax } = PROVIDER_REPEATS;

/** @param now milliseconds of a clock that never goes back */
export function createRepeatBudget(now: () => number = () => performance.now()): RepeatBudget {
  const buckets = new Map<string, Bucket>();

  /** A minute without a repeat makes the next failure a lone one again. */
  const bucketOf = (source: string): Bucket => {
    const at = now();
    const known = buckets.get(source);
    if (known) {
      known.tokens = Math.min(tokensMax, known.tokens + (at - known.at) / msPerToken);
      known.at = at;
      return known;
    }
    // The names come from the catalogue, so there are few; after many reloads all begin anew.
    if (buckets.size >= sourcesMax) buckets.clear();
    const bucket = { tokens: 1, at };
    buckets.set(source, bucket);
    return bucket;
  };

  return {
    succeeded(source) {
      const bucket = bucketOf(source);
      bucket.tokens = Math.min(tokensMax, bucket.tokens + tokensPerCall);
    },
    take(source) {
      const bucket = bucketOf(source);
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
  };
}
