/** Every bound of the service in one place: a unit in the name, the reason beside it. */

export const LIMITS = {
  /** Deeper JSON parses in Bun but cannot be written again from about 5·10⁴ (lesson IN-1). */
  jsonDepthMax: 64,
  /** A body has this long to arrive, plus its size at 64 KB/s (lesson IN-5: Bun never cuts a dripping body). */
  bodyReadBaseMs: 10_000,
  bodyReadBytesPerSecond: 65_536,
  /** NATS messages stay under this; larger requests travel as a claim check in S3 (design part 2). */
  messageBytesMax: 448 * 1024,
  streamMessageBytesMax: 512 * 1024,
  /** One reply frame; a longer answer is cut into parts of this size (server limit 1 MiB). */
  frameBytesMax: 256 * 1024,
  /** Held for a chat call that sets no output limit (design part 4). */
  chatDefaultOutputTokens: 8_192,
  /** Calls gathered into one admission or finish statement; stays far below the 4,096-slot rate ring. */
  groupSizeMax: 256,
  /** Calls waiting for their group in one process; beyond it callers hear 503 `overloaded`. */
  groupQueueMax: 20_000,
  /**
   * Contended workspaces wait this long together for locks: several statements of others with their commits on a slow
   * disk, and no more than their neighbours can bear once when one of them is locked for good.
   */
  contendedWaitMs: 200,
  /** A call of a locked workspace waits this long for the lock, then 503 (engine part 4). */
  lockTimeoutMs: 2_000,
  /** SSE comment at most every 10 s of silence (spec of streams); we send it a little earlier. */
  keepaliveMs: 8_000,
  /** No frame for this long after the first one: the worker is taken for lost. */
  frameSilenceMs: 20_000,
  /** The worker asks this often whether the ingress that waits for it still lives, which shows that it lives itself. */
  ingressProbeMs: 2_000,
  /** The first time it asks this long after it took the call, so that quick calls cost no question. */
  ingressFirstProbeMs: 500,
  /** An ingress that lost its connection is back by then; one that is not is gone. With the above under 5 s (fault F5). */
  ingressReturnMs: 1_500,
  /**
   * A server that crashed may hand out again what it had handed out (its record lags by 100 ms). Messages from before a
   * lost connection are asked about this late: whoever had them has shown itself to the ingress by then.
   */
  reclaimMs: 2_500,
  /** A worker that showed itself this recently lives, whatever a second delivery of its message says. */
  workerLivesMs: 5_000,
  /** A message that waited this long is asked about before it is run: its caller may have left while no worker heard it. */
  queuedLongMs: 2_000,
  /** A call whose worker has not asked by then is looked up in the queue: still waiting, or handed to a worker that died. */
  unclaimedMs: 3_000,
  /** The ingress records this often what it has relayed, so a lost worker's call can be settled. */
  relayRecordMs: 2_000,
  /** Frames or bytes held for a reader that does not read; deltas are merged beyond it. */
  relayFramesMax: 256,
  relayBytesMax: 1_048_576,
  /** A reader that takes nothing for this long is cut. */
  readerStuckMs: 30_000,
  /** Tokens after the first leave in batches of this age or size (lesson STR-14). */
  deltaBatchMs: 20,
  deltaBatchBytes: 1_024,
  /** One provider answer, after inflation. */
  providerBytesMax: 64 * 1_048_576,
  /** One line of a provider's event stream. */
  sseLineBytesMax: 4 * 1_048_576,
  /** A key is believed this long without asking the database; the promise to revoke within 1 s rests on it. */
  keyCacheMs: 900,
  keyCacheMax: 50_000,
  /** A hold of a synchronous call is swept this long after its deadline. */
  holdSlackMs: 30_000,
} as const;

/** Tokens a picture is held and counted for where the catalogue gives no bound. */
export const TOKENS_PER_IMAGE = 4_096;
