/** Calls whose caller waits: admission, settle, and what ingress and worker hear of each other. */
import { paced } from "#shared/pace.ts";

export const CALLS_LIMITS = {
  /** NATS messages stay under this; larger requests travel as a claim check in S3 (design part 2). */
  messageBytesMax: 448 * 1024,
  streamMessageBytesMax: 512 * 1024,
  /** One reply frame; a longer answer is cut into parts of this size (server limit 1 MiB). */
  frameBytesMax: 256 * 1024,
  /** Calls gathered into one admission or settle statement; stays far below the 4,096-slot rate ring. */
  groupSizeMax: 256,
  /** Calls waiting for their group in one process; beyond it callers hear 503 `overloaded`. */
  groupQueueMax: 20_000,
  /**
   * A lone call waits this long for its workspace's rows before it joins the contended: as long as another statement and
   * its commit usually take, and no longer than the calls behind it can bear.
   */
  singleCallWaitMs: 30,
  /**
   * Contended workspaces wait this long together for locks: several statements of others with their commits on a slow
   * disk, and no more than their neighbours can bear once when one of them is locked for good.
   */
  contendedWaitMs: 200,
  /** A call of a locked workspace waits this long for the lock, then 503 (engine part 4). */
  lockTimeoutMs: 2_000,
  /** No frame for this long after the first one: the worker is taken for lost. */
  frameSilenceMs: paced(20_000),
  /** The worker asks this often whether the ingress that waits for it still lives, which shows that it lives itself. */
  ingressProbeMs: paced(2_000),
  /** The first time it asks this long after it took the call, so that quick calls cost no question. */
  ingressFirstProbeMs: paced(500),
  /** An ingress that lost its connection is back by then; one that is not is gone. With the above under 5 s. */
  ingressReturnMs: 1_500,
  /** An answer that costs more than was held is settled before it goes out, when its ingress has said that it is there. */
  presenceRetryMs: paced(250),
  /** The word that an answer was taken comes at once; it is asked for this late. */
  takenAskMs: 250,
  /** Calls that are answered before they are settled wait this long for others to be told of, and to be settled, with. */
  settleLingerMs: 5,
  /**
   * A server that crashed may hand out again what it had handed out (its record lags by 100 ms). Messages from before a
   * lost connection are asked about this late: a worker that had them has shown itself to the ingress by then.
   */
  reclaimMs: 2_500,
  /** An ingress that cannot be asked for this long, over all lost connections, is taken for gone. */
  reconsiderMs: 30_000,
  /** A worker that showed itself this recently lives, whatever a second delivery of its message says. */
  workerLivesMs: paced(5_000),
  /** A message that waited this long is asked about before it is run: its caller may have left while no worker heard it. */
  queuedLongMs: paced(2_000),
  /** A call whose worker has not asked by then is looked up in the queue: still waiting, or handed to a worker that died. */
  unclaimedMs: paced(3_000),
  /** The ingress records this often what it has relayed, so a lost worker's call can be settled. */
  relayRecordMs: paced(2_000),
  /** A hold of a synchronous call is swept this long after its deadline. */
  holdSlackMs: paced(30_000),
} as const;
