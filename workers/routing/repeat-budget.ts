/**
 * Retry budget of a source for isolated failures. It is about a tenth of the calls that the source serves, so that retries never double the
 * load of a failing source.
 */

/** Token bucket of retries: capacity, tokens per successful call, and milliseconds per token. */
const PROVIDER_REPEATS = { tokensMax: 3, tokensPerCall: 0.1, msPerToken: 60_000, sourcesMax: 5_000 };

export interface RepeatBudget {
  /** Records a successful call of the source (`provider/model`). */
  succeeded(source: string): void;
  /** Takes one retry from the budget of the source. Returns false if none is left. */
  take(source: string): boolean;
}

interface Bucket {
  tokens: number;
  /** Time at which the bucket was last refilled. */
  at: number;
}

const { tokensMax, tokensPerCall, msPerToken, sourcesMax } = PROVIDER_REPEATS;

/**
 * Creates the retry budgets of all sources.
 * @param now milliseconds of a monotonic clock
 */
export function createRepeatBudget(now: () => number = () => performance.now()): RepeatBudget {
  const buckets = new Map<string, Bucket>();

  /** Returns the refilled bucket of a source. It gains one token per minute without a retry. */
  const bucketOf = (source: string): Bucket => {
    const at = now();
    const known = buckets.get(source);
    if (known) {
      known.tokens = Math.min(tokensMax, known.tokens + (at - known.at) / msPerToken);
      known.at = at;
      return known;
    }
    // Names come from the catalogue, so there are few; after many reloads, all buckets restart.
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
