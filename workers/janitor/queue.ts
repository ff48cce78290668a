/**
 * Sets metrics of the queue: waiting messages per lane and in the stream of batch messages, failed jobs, and dead letters. Also sets the
 * age of each pool's oldest undelivered message.
 */
import { type ConsumerInfo, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { commonNow } from "#shared/base/clock.ts";
import { type Database, isDataFault, type Queryable } from "#shared/database/client.ts";
import { countDeadLetters, recordDeadLetter } from "#shared/database/dead-letters.ts";
import { countDeliveries, dropExcessDeliveries } from "#shared/database/deliveries.ts";
import { countOutboxes } from "#shared/database/outboxes.ts";
import { withFleetSlots } from "#shared/database/pools.ts";
import { countSettleFaults } from "#shared/database/settle-faults.ts";
import { countPutOff, ROW_SWEEPS } from "#shared/database/sweep-retries.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import {
  BATCH_DURABLE,
  BATCH_STREAM,
  durableName,
  HEADERS,
  laneFilter,
  LANES,
  POOLS,
  streamName,
} from "#shared/queue/subjects.ts";
import { fitTopology, LANE_SETTINGS } from "#shared/queue/topology.ts";

/** Maximum number of ended webhook deliveries that are kept per workspace. The newest are kept. */
const DELIVERIES_KEPT_MAX = 100_000;

export async function watchQueue(context: { connection: NatsConnection; metrics: Metrics }): Promise<void> {
  const { queueDepth, queueUnacknowledged, queueUnacknowledgedMax } = context.metrics;
  const manager = await jetstreamManager(context.connection, { checkAPI: false });
  const watch = async (stream: string, durable: string, pool: string, lane: string): Promise<ConsumerInfo> => {
    const info = await manager.consumers.info(stream, durable);
    const { config, num_pending: waiting, num_ack_pending: unacknowledged } = info;
    queueDepth.set(waiting + unacknowledged, pool, lane);
    queueUnacknowledged.set(unacknowledged, pool, lane);
    queueUnacknowledgedMax.set(config.max_ack_pending ?? 0, pool, lane);
    return info;
  };
  await watch(BATCH_STREAM, BATCH_DURABLE, "intake", "batch");
  for (const pool of POOLS) {
    const waits: number[] = [0];
    for (const lane of LANES) {
      const info = await watch(streamName(pool), durableName(pool, lane), pool, lane);
      const storedAt = await findWaiting(manager, info, laneFilter(pool, lane));
      if (storedAt) waits.push((commonNow() - storedAt.getTime()) / 1_000);
    }
    context.metrics.queueOldestSeconds.set(Math.max(...waits), pool);
  }
}

/**
 * Returns the time of the oldest message that a durable consumer has not delivered, or undefined if there is none. Delivered messages stay
 * in the stream until their job has ended.
 */
async function findWaiting(
  manager: JetStreamManager,
  { stream_name: stream, num_pending: waiting, delivered }: ConsumerInfo,
  filter: string,
): Promise<Date | undefined> {
  if (waiting === 0) return undefined;
  const next = await manager.direct.getMessage(stream, { seq: delivered.stream_seq + 1, next_by_subj: filter });
  return next?.time;
}

/** Adjusts the limits of the queue to the number of slots that workers report. Only one janitor does this at a time. */
export async function fitQueue(context: {
  connection: NatsConnection;
  database: Database;
  log: Logger;
}): Promise<void> {
  await withFleetSlots(context.database, async (slots) => {
    for (const change of await fitTopology(context.connection, slots)) {
      context.log.info(change, "adapted a limit of the queue to the number of workers");
    }
  });
}

// Metrics of work that waits for an operator or for the next sweep.

export async function watchFailures(
  database: Queryable,
  metrics: Pick<Metrics, "settleFaults" | "sweepPutOff">,
): Promise<void> {
  metrics.settleFaults.set(await countSettleFaults(database));
  const counts = await countPutOff(database);
  for (const sweep of ROW_SWEEPS) metrics.sweepPutOff.set(counts.get(sweep) ?? 0, sweep);
}

/** Sets the metrics of the number and age of outbox entries that were not sent yet. */
export async function watchOutboxes(
  database: Queryable,
  { outboxDepth, outboxOldestSeconds }: Pick<Metrics, "outboxDepth" | "outboxOldestSeconds">,
): Promise<void> {
  for (const { outbox, depth, oldest_seconds } of await countOutboxes(database)) {
    outboxDepth.set(depth, outbox);
    outboxOldestSeconds.set(oldest_seconds, outbox);
  }
}

// Metrics of deliveries, and deletion of deliveries above the limit of a workspace. Workers of the pool webhook find due deliveries themselves.

const BATCH = 1_000;

export async function watchDeliveries(
  database: Queryable,
  metrics: Pick<Metrics, "deliveriesDue" | "deliveriesFailed" | "deliveriesOldestSeconds">,
): Promise<void> {
  const { due, oldestSeconds, failed } = await countDeliveries(database);
  metrics.deliveriesDue.set(due);
  metrics.deliveriesOldestSeconds.set(oldestSeconds);
  metrics.deliveriesFailed.set(failed);
}

export async function sweepExcessDeliveries(database: Queryable, keptMax: number = DELIVERIES_KEPT_MAX): Promise<void> {
  while ((await dropExcessDeliveries(database, keptMax, BATCH)) > 0);
}

// A message at its delivery limit stays in the stream, invisible and uncounted. Advisories are only a hint, so this sweep reads the oldest
// messages: a message long past the deadline of its caller has no owner. It becomes a dead letter and is deleted by its sequence, since a
// filtered purge could delete others. Messages of durable jobs are skipped: a job may run long past the deadline of its message, and its row
// is authoritative (leases.ts, dispatch.ts). Notices of runs are only deleted: rows contain the same, and runs.ts sends new notices.

const LETTERS_MAX = 100;
/**
 * Maximum number of messages that one sweep reads per pool, including messages that it leaves unchanged. Each message needs one request to
 * NATS.
 */
const INSPECTED_MAX = 1_000;
/**
 * Time after a call's deadline at which its message counts as a dead letter, in milliseconds. No worker can still be processing the message
 * then.
 */
const AFTER_DEADLINE_MS = 2 * Math.max(...LANES.map((lane) => LANE_SETTINGS[lane].ackWaitMs));

export async function sweepDeadLetters(context: {
  connection: NatsConnection;
  database: Database;
  log: Logger;
  metrics: Metrics;
  now?: () => number;
}): Promise<number> {
  const { connection, database, log, metrics } = context;
  const now = (context.now ?? commonNow)();
  const manager = await jetstreamManager(connection, { checkAPI: false });
  let swept = 0;
  for (const pool of POOLS) {
    const stream = streamName(pool);
    const { state } = await manager.streams.info(stream);
    if (state.messages === 0) continue;
    let seq = state.first_seq;
    let taken = 0;
    // The batch lane contains durable jobs only.
    for (let inspected = 0; taken < LETTERS_MAX && inspected < INSPECTED_MAX && seq <= state.last_seq; inspected++) {
      const message = await manager.direct.getMessage(stream, { seq, next_by_subj: laneFilter(pool, "live") });
      if (!message) break;
      seq = message.seq + 1;
      const { durable, deadline_ms: deadlineMs, run_id: runId } = readMessage(message.data);
      // A message of a durable job only names the row to claim.
      if (durable === true) continue;
      // A message without a deadline is not ours; its age counts from its arrival.
      const since = typeof deadlineMs === "number" ? deadlineMs : message.time.getTime();
      if (now < since + AFTER_DEADLINE_MS) break;
      taken += 1;
      if (typeof runId === "string") {
        await manager.streams.deleteMessage(stream, message.seq);
        continue;
      }
      try {
        await recordDeadLetter(database, {
          stream,
          streamSeq: BigInt(message.seq),
          subject: message.subject,
          messageId: message.header.get(HEADERS.messageId) || null,
          reason: "undelivered",
          deliveries: 0,
          // A synchronous call whose caller is gone: its prompt must not be stored.
          body: new Uint8Array(),
          jobId: null,
        });
        await manager.streams.deleteMessage(stream, message.seq);
      } catch (error) {
        if (!isDataFault(error)) throw error;
        log.error(
          { err: error, stream, seq: message.seq },
          "a message could not be stored as a dead letter; later messages continue",
        );
        continue;
      }
      swept += 1;
      log.error(
        { stream, seq: message.seq, subject: message.subject },
        "stored a message without a finished delivery as a dead letter",
      );
    }
  }
  metrics.deadLetters.set(await countDeadLetters(database));
  return swept;
}

const decoder = new TextDecoder();

/** Parses the members of a message that the sweep needs; empty if the message is not a JSON object. */
function readMessage(body: Uint8Array): {
  readonly durable?: unknown;
  readonly deadline_ms?: unknown;
  readonly run_id?: unknown;
} {
  try {
    return (JSON.parse(decoder.decode(body)) as object | null) ?? {};
  } catch {
    return {};
  }
}
