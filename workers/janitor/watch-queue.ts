/** Backlog as a metric: messages waiting per lane and before the batch door, age of the oldest message per pool. */
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import type { Metrics } from "#shared/metrics.ts";
import { BATCH_DURABLE, BATCH_STREAM, durableName, LANES, POOLS, streamName } from "#shared/queue/subjects.ts";

export async function watchQueue(context: { connection: NatsConnection; metrics: Metrics }): Promise<void> {
  const manager = await jetstreamManager(context.connection, { checkAPI: false });
  const intake = await manager.consumers.info(BATCH_STREAM, BATCH_DURABLE);
  context.metrics.queueDepth.set(intake.num_pending + intake.num_ack_pending, "intake", "batch");
  for (const pool of POOLS) {
    const { state } = await manager.streams.info(streamName(pool));
    const oldest = state.messages > 0 ? (Date.now() - Date.parse(state.first_ts)) / 1_000 : 0;
    context.metrics.queueOldestSeconds.set(Math.max(0, oldest), pool);
    for (const lane of LANES) {
      const consumer = await manager.consumers.info(streamName(pool), durableName(pool, lane));
      context.metrics.queueDepth.set(consumer.num_pending + consumer.num_ack_pending, pool, lane);
    }
  }
}
