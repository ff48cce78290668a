import { BREAKER_ROWS } from "#shared/database/source-breaker.ts";
import { paced } from "#shared/config/pace.ts";

/** Thresholds and cooldowns of the circuit breaker, and bounds of the messages about it. */
export const BREAKER = {
  ...BREAKER_ROWS,
  /** Window for counting calls, dropped by buckets: long enough for a ratio, short enough to react. */
  windowMs: 10_000,
  bucketMs: 1_000,
  /** Fewest calls for a failure ratio. */
  ratioCallsMin: 10,
  ratioFailedMin: 0.5,
  /**
   * Consecutive failures that open the circuit. Busy sources produce such runs by chance: at 100 calls a second with 20 % failures, five
   * in a row occur every few seconds. One more failure is needed for every 50 successes in the window, up to 25.
   */
  runFailures: 5,
  runFailuresMax: 25,
  successesPerRunFailure: 50,
  /**
   * First cooldown, and its extension after each failed probe. A source that was down for a minute serves again within 20 s of its return,
   * after an hour within 30 s. A probe is one call of the whole fleet.
   */
  cooldownMs: 5_000,
  cooldownGrowth: 1.15,
  cooldownMsMax: 24_000,
  /** Cooldown of a source that refuses our key or does not have the model: neither is fixed within seconds. */
  downMs: 24_000,
  /** Jitter of cooldowns, as a share in both directions, so that sources that failed together are not probed together. */
  cooldownJitter: 0.2,
  /** Timeout of a request for the probe, and pause before the next request after a refusal. */
  probeAskMs: 500,
  probeAgainMs: paced(1_000),
  /** Minimum interval between messages with counts. State changes are sent immediately. */
  shareMs: paced(250),
  shareSourcesMax: 200,
  shareBytesMax: 512 * 1024,
  /** Most calls of one source in a message; a larger number is rejected as invalid. */
  shareCallsMax: 100_000,
  /** Interval of reads from Postgres while a circuit is open, and while none is. NATS delivers most changes. */
  syncMs: paced(2_000),
  idleSyncMs: 10_000,
  /** A row that is read this soon after the circuit closed is about to be deleted, and is ignored. */
  closedLagMs: 5_000,
  /** Longest name of a source, `provider/model`, that the catalogue allows. */
  sourceCharactersMax: 365,
} as const;
