import { BREAKER_ROWS } from "#shared/database/source-breaker.ts";
import { paced } from "#shared/config/pace.ts";

/** Thresholds and cooldowns of the circuit breaker, and limits of its messages. */
export const BREAKER = {
  ...BREAKER_ROWS,
  /** Length of the counting window, which drops old counts by buckets. It is long enough for a ratio and short enough to react. */
  windowMs: 10_000,
  bucketMs: 1_000,
  /** Minimum number of calls from which a failure ratio is computed. */
  ratioCallsMin: 10,
  ratioFailedMin: 0.5,
  /**
   * Number of consecutive failures that open the circuit. Busy sources produce such runs by chance: at 100 calls a second with 20 %
   * failures, five in a row occur every few seconds. Therefore one more failure is needed for every 50 successes in the counting window, up
   * to 25.
   */
  runFailures: 5,
  runFailuresMax: 25,
  successesPerRunFailure: 50,
  /**
   * First cooldown, and its growth factor after each failed probe. A source that was down for a minute serves again within 20 s of its
   * return, after an hour within 30 s. A probe is one call of all workers together.
   */
  cooldownMs: 5_000,
  cooldownGrowth: 1.15,
  cooldownMsMax: 24_000,
  /** Cooldown of a source that refuses our key or does not have the model. Neither fault is fixed within seconds. */
  downMs: 24_000,
  /** Jitter of cooldowns, as a share in both directions. Without it, sources that failed together would be probed together. */
  cooldownJitter: 0.2,
  /** Timeout of a request for the right to probe. `probeAgainMs` is the delay of the next request after a denial. */
  probeAskMs: 500,
  probeAgainMs: paced(1_000),
  /** Minimum interval between messages with counts. State changes are sent immediately. */
  shareMs: paced(250),
  shareSourcesMax: 200,
  shareBytesMax: 512 * 1024,
  /** Maximum number of calls of one source in a message. A larger number is rejected as invalid. */
  shareCallsMax: 100_000,
  /** Interval of reads from Postgres while a circuit is open. `idleSyncMs` applies while none is open. NATS delivers most changes. */
  syncMs: paced(2_000),
  idleSyncMs: 10_000,
  /** Time after a circuit closed during which a row of it is ignored, because the row is about to be deleted. */
  closedLagMs: 5_000,
  /** Maximum length of a source's name, `provider/model`, that the catalogue allows. */
  sourceCharactersMax: 365,
} as const;
