/**
 * NATS intake: reads publishers' messages from the stream BATCH_IN in groups. For each message it admits the job, answers the publisher,
 * then acknowledges the message. If a step before the answer fails, the message is redelivered.
 */
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { TAGS_HEADER } from "#shared/calls/labels.ts";
import { commonNow } from "#shared/base/clock.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type Addressed, notifyPublisher } from "#shared/jobs/answer.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import { jobError } from "#shared/jobs/error.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";
import { JOB_LIFE_MS } from "#shared/queue/job-life.ts";
import { openPullLoop } from "#shared/queue/pull-loop.ts";
import type { Delivery } from "#shared/queue/puller.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import {
  BATCH_DURABLE,
  BATCH_STREAM,
  batchTarget,
  HEADERS,
  isPublisherReply,
  type Pool,
  type PublisherIdentity,
} from "#shared/queue/subjects.ts";

import { addressOf, type BatchArrival, type BatchContext, publisherOf, takeMessage, unlessRefused } from "./admit.ts";
import { type Answered, findKnown, refused } from "./answers.ts";

/**
 * Number of batch messages that an ingress handles at once. It is enough to fill a group, and small enough that a restart loses little
 * time.
 */
const INTAKE_SLOTS = 32;

/** Maximum number of messages that a process remembers as waiting for a rate window. Each takes 200 bytes of memory. */
export const WAITING_MESSAGES_MAX = 20_000;

/** Minimum and maximum redelivery delay of a message whose workspace's rate window is full, in milliseconds. */
const WINDOW_RETRY_MIN_MS = paced(1_000);
export const WINDOW_RETRY_MAX_MS = paced(60_000);

export interface Intake {
  /** Stops reading messages. Resolves when all messages read so far are answered or returned to the stream. */
  stop(): Promise<void>;
}

export interface IntakeContext extends BatchContext {
  readonly metrics: Metrics;
  readonly dispatcher: JobDispatcher;
}

/** Interval at which a message's acknowledgment deadline is extended, in milliseconds. It is well below the consumer's ack_wait. */
const BEAT_MS = paced(10_000);

export function startIntake(context: IntakeContext, connection: NatsConnection): Intake {
  const { log, metrics, dispatcher } = context;
  const windows = createWindows();
  const waiting = createWaitingMessages();
  const crowds = createCrowds((subjects) => countBatchMessages(connection, subjects));

  const handle = async (message: Delivery): Promise<void> => {
    try {
      await take(message);
    } catch (error) {
      metrics.batchMessages.inc("failed");
      log.warn({ err: error, deliveries: message.deliveries }, "a batch message is redelivered after an error");
      message.nak(laterMs(1_000 * 2 ** Math.min(6, message.deliveries)));
    }
  };

  const take = async (message: Delivery): Promise<void> => {
    const target = batchTarget(message.subject);
    if (!target) {
      metrics.batchMessages.inc("refused");
      log.warn("dropped a batch message whose subject has no pool, workspace and key");
      message.term("no such subject");
      return;
    }
    const { pool, workspaceId, keyId } = target;
    const [reply, key] = [replyOf(context, message, target), message.header(HEADERS.idempotencyKey)];
    const place = `${message.streamSeq}:${message.storedAtNanos}`;
    const caller = await unlessRefused(publisherOf(context, target));
    if (caller instanceof ApiError) {
      // Not stored: no preset limits the number of such messages, and each would be a row.
      const job = addressOf({ caller: { workspaceId, memberId: keyId }, key, place, reply });
      await conclude(message, pool, refused(job, jobError(caller)));
      return;
    }
    const fullKey = `${workspaceId} ${keyId}`;
    const arrival: BatchArrival = {
      pool,
      caller,
      key,
      place,
      reply,
      data: message.data,
      tags: message.header(TAGS_HEADER),
      deliveries: message.deliveries,
      starves: windows.starves(fullKey, message.storedAtMs),
    };
    const openInMs = windows.openInMs(fullKey);
    if (openInMs > 0) {
      const job = addressOf(arrival);
      // A repeat may belong to a job that was admitted long ago. A redelivery was looked up at its first delivery.
      const mayBeKnown = message.deliveries === 1 && job.publisher_key !== null;
      const known = mayBeKnown ? await findKnown(context, job, message.data) : undefined;
      if (known) await conclude(message, pool, known);
      else await wait(message, pool, job, openInMs);
      return;
    }
    const taken = await takeMessage(context, arrival);
    if (taken.kind === "full") {
      if (taken.isWindow) windows.isFull(fullKey, taken.waitMs);
      await wait(message, pool, addressOf(arrival), taken.waitMs);
      return;
    }
    if (taken.foundOpen) windows.wasOpen(fullKey);
    await conclude(message, pool, taken);
  };

  const conclude = async (
    message: Delivery,
    pool: Pool,
    { job, jobReply, dispatch, isRun, outcome }: Answered,
  ): Promise<void> => {
    waiting.forget(job.id);
    notifyPublisher(connection, job, jobReply);
    message.ack();
    metrics.batchMessages.inc(outcome);
    log.info({ job_id: job.id, workspace_id: job.workspace_id, outcome, code: jobReply.error?.code }, "batch message");
    if (isRun) notifyRun(connection, { ...job, lane: "batch" });
    if (!dispatch) return;
    const deadline = new Date(commonNow() + JOB_LIFE_MS);
    await dispatcher.send(pool, "batch", [{ ...job, ...dispatch, deadline }], "admitted");
  };

  /**
   * Returns a message to the stream for redelivery after about `openInMs` milliseconds, and answers `waiting` at its first delivery. Only the
   * first of several messages with one Idempotency-Key stays. Messages over the workspace's limit are dropped, as JetStream does for a key.
   */
  const wait = async (message: Delivery, pool: Pool, job: Addressed, openInMs: number): Promise<void> => {
    if (message.deliveries === 1 && (await crowds.isCrowded(pool, job.workspace_id))) {
      message.ack();
      metrics.batchMessages.inc("dropped");
      return;
    }
    if (!waiting.isFirst(job.id, message.streamSeq)) {
      notifyPublisher(connection, job, { status: "waiting" });
      message.ack();
      metrics.batchMessages.inc("repeated");
      return;
    }
    if (message.deliveries === 1) notifyPublisher(connection, job, { status: "waiting" });
    metrics.batchMessages.inc("waiting");
    message.nak(laterMs(openInMs));
  };

  const loop = openPullLoop({
    connection,
    role: "ingress",
    stream: BATCH_STREAM,
    durable: BATCH_DURABLE,
    log,
    beatMs: BEAT_MS,
    capacity: (held) => INTAKE_SLOTS - held,
    handle,
  });
  return {
    async stop() {
      await loop.stop();
      await loop.finish();
    },
  };
}

/** Returns the reply subject of a message if it lies below the inbox of the publisher's key; null otherwise. */
function replyOf(
  { metrics, log }: Pick<IntakeContext, "metrics" | "log">,
  message: Delivery,
  publisher: PublisherIdentity,
): string | null {
  const reply = message.header(HEADERS.reply);
  if (reply === "") return null;
  if (isPublisherReply(reply, publisher)) return reply;
  metrics.batchRepliesIgnored.inc();
  const { workspaceId, keyId } = publisher;
  log.warn(
    { workspace_id: workspaceId, key_id: keyId },
    "ignored a batch message's reply address outside its workspace",
  );
  return null;
}

/** Returns a redelivery delay with jitter, so that messages that wait for the same event are not redelivered together. */
function laterMs(ms: number): number {
  const bounded = Math.min(WINDOW_RETRY_MAX_MS, Math.max(WINDOW_RETRY_MIN_MS, ms));
  return Math.round(Math.min(WINDOW_RETRY_MAX_MS, bounded * (1 + 0.2 * Math.random())));
}

// Messages that wait for their workspace's rate window, as seen by this process. The first of several messages with one Idempotency-Key waits; the
// others are answered and leave the stream.

interface WaitingMessages {
  /**
   * Records a waiting message and returns true. Returns false if an earlier message with the same job id already waits; this message is
   * then not needed.
   */
  isFirst(jobId: string, seq: number): boolean;
  /** Removes the recorded waiting message of a job that has been admitted or refused. */
  forget(jobId: string): void;
}

interface Known {
  readonly seq: number;
  /** Time of the message's last delivery, in milliseconds of the clock `now`. */
  readonly seenAt: number;
}

/**
 * Time for which a waiting message is remembered after its last delivery, in milliseconds. A waiting message is redelivered within less
 * than half of this time. A message that is not redelivered may have been lost with its stream.
 */
const BELIEVED_MS = 2.5 * WINDOW_RETRY_MAX_MS;

export function createWaitingMessages(now: () => number = () => performance.now()): WaitingMessages {
  /** First waiting message of each job, by job id, in the order of last delivery. */
  const first = new Map<string, Known>();
  return {
    isFirst(jobId, seq) {
      const known = first.get(jobId);
      if (known && known.seq < seq && now() - known.seenAt < BELIEVED_MS) return false;
      first.delete(jobId);
      first.set(jobId, { seq, seenAt: now() });
      if (first.size > WAITING_MESSAGES_MAX) {
        for (const oldest of first.keys()) {
          first.delete(oldest);
          break;
        }
      }
      return true;
    },
    forget: (jobId) => void first.delete(jobId),
  };
}

// Rate windows that batch messages wait for, as seen by this process, by workspace and key.

interface Windows {
  /** Returns the time until the rate window may have capacity, in milliseconds. 0 or negative: the message may be admitted now. */
  openInMs(key: string): number;
  isFull(key: string, waitMs: number): void;
  /** Records that a message found capacity in the rate window. */
  wasOpen(key: string): void;
  /**
   * Returns true if a message stored at that time has waited longer than a rate window lasts, and no message has found capacity meanwhile.
   * Other calls then use up the capacity, so the message is admitted even if the window is full.
   */
  starves(key: string, storedAtMs: number): boolean;
}

const WINDOW_MS = 60_000;
/** Number of remembered rate windows at which windows without recent messages are removed. */
const SWEEP = 1_000;

interface Seen {
  fullUntil: number;
  openAt: number;
}

export function createWindows(now: () => number = () => Date.now()): Windows {
  const seen = new Map<string, Seen>();
  // The successes of messages before this process started are unknown.
  const startedAt = now();

  const of = (key: string): Seen => {
    const known = seen.get(key);
    if (known) return known;
    if (seen.size >= SWEEP) {
      for (const [name, { fullUntil, openAt }] of seen) {
        if (fullUntil < now() && openAt < now() - WINDOW_MS) seen.delete(name);
      }
    }
    const fresh = { fullUntil: 0, openAt: startedAt };
    seen.set(key, fresh);
    return fresh;
  };

  return {
    openInMs: (key) => (seen.get(key)?.fullUntil ?? 0) - now(),
    isFull(key, waitMs) {
      of(key).fullUntil = now() + waitMs;
    },
    wasOpen(key) {
      of(key).openAt = now();
    },
    starves: (key, storedAtMs) => Math.max(storedAtMs, seen.get(key)?.openAt ?? startedAt) < now() - WINDOW_MS,
  };
}

// Limits the number of batch messages of a workspace in the stream. JetStream limits the messages of a subject, which is one key; without
// this limit a workspace with many keys could fill the stream.

/** Maximum number of waiting messages per workspace and pool. The limit of a single key is the same. */
export const WAITING_PER_WORKSPACE_MAX = 360;

/** Time for which a cached message count is used, in milliseconds. */
const COUNT_MS = 2_000;
/** Maximum number of cached message counts. */
const COUNTS_MAX = 1_000;

interface Crowds {
  /**
   * Returns true if the workspace has more waiting messages in the stream than allowed. Returns false if the NATS server cannot be reached.
   */
  isCrowded(pool: Pool, workspaceId: string): Promise<boolean>;
}

/**
 * Creates the limit of waiting messages.
 * @param count returns the number of messages in the stream whose subject matches the filter `subjects`
 */
export function createCrowds(count: (subjects: string) => Promise<number>, now = () => performance.now()): Crowds {
  const counts = new Map<string, { readonly at: number; readonly count: Promise<number> }>();
  return {
    async isCrowded(pool, workspaceId) {
      const subjects = `batch.${pool}.${workspaceId}.*`;
      let known = counts.get(subjects);
      if (!known || now() - known.at > COUNT_MS) {
        if (counts.size >= COUNTS_MAX) counts.clear();
        known = { at: now(), count: count(subjects).catch(() => 0) };
        counts.set(subjects, known);
      }
      return (await known.count) > WAITING_PER_WORKSPACE_MAX;
    },
  };
}

/** Returns the number of messages in the batch stream whose subject matches the filter. */
export async function countBatchMessages(connection: NatsConnection, subjects: string): Promise<number> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const { state } = await manager.streams.info(BATCH_STREAM, { subjects_filter: subjects });
  return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
}
