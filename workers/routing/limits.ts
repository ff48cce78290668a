import { BREAKER_ROWS } from "#shared/database/source-breaker.ts";
import { paced } from "#shared/pace.ts";

/** Thresholds that take a source out of rotation, lengths of its cooldowns, and bounds of what a pool's workers tell each other about it. */
export const BREAKER = {
  ...BREAKER_ROWS,
  /** Calls are counted over this window, forgotten a bucket at a time: long enough for a ratio, short enough to act. */
  windowMs: 10_000,
  bucketMs: 1_000,
  /** Fewer calls make no ratio. */
  ratioCallsMin: 10,
  ratioFailedMin: 0.5,
  /**
   * Failures without a success between that take a source out. Where many calls succeed such runs come up by chance (one
   * call in five failing, a hundred calls a second: five in a row every few seconds), so it takes one more for every 50
   * successes of the window, never more than 25.
   */
  runFailures: 5,
  runFailuresMax: 25,
  successesPerRunFailure: 50,
  /**
   * The first cooldown, and by how much each failed trial lengthens it: a source that was away for a minute serves again within
   * 20 s of its return, one that was away for an hour within 30 s. A trial is one call of the whole fleet.
   */
  cooldownMs: 5_000,
  cooldownGrowth: 1.15,
  cooldownMsMax: 24_000,
  /** The cooldown of a source that refuses our key or has lost the model: that is not mended in seconds. */
  downMs: 24_000,
  /** Cooldowns differ by this share either way, so that sources that failed together are not tried together. */
  cooldownJitter: 0.2,
  /** Longest wait for Postgres when the trial is asked for; and the pause before it is asked for again, when it was not granted. */
  probeAskMs: 500,
  probeAgainMs: paced(1_000),
  /** Counts are told to the other workers this often at most; changes at once. */
  shareMs: paced(250),
  shareSourcesMax: 200,
  shareBytesMax: 512 * 1024,
  /** No worker ends more calls of one source than this between two messages: a message that says so is not believed. */
  shareCallsMax: 100_000,
  /** Postgres is read this often while the circuit of a source is open, and this often while none is: NATS tells of most changes. */
  syncMs: paced(2_000),
  idleSyncMs: 10_000,
  /** A row that Postgres still shows this soon after the source was back in rotation is about to be deleted. */
  closedLagMs: 5_000,
  /** `provider/model`, as long as the catalogue allows. */
  sourceCharactersMax: 365,
} as const;
